"""What `manage.py serve` makes of the demonstration's accounts, whose passwords are published. Nothing is started here."""

import pytest
from django.core.management import CommandError, call_command

from annotation.models import User
from annotation.people.tokens import make_token, token_of
from leaderboard.demo.load import LOG_INS, PASSWORD
from leaderboard.management.commands import serve

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def demonstration(monkeypatch):
    for name, password, _ in LOG_INS:
        User.objects.create_user(name, password=password)
    monkeypatch.setattr(serve, "load_demo", lambda say: None)
    monkeypatch.setattr(serve, "_must_be_free", lambda host, port: None)
    monkeypatch.setattr(serve, "call_command", lambda *words, **options: None)  # the database is migrated


@pytest.fixture
def run(monkeypatch, client):
    """run(*words): who could sign in while it ran."""

    def command(*words):
        signed_in = []

        def meanwhile(*_, **__):
            signed_in.extend(name for name, _, _ in LOG_INS if client.login(username=name, password=PASSWORD))
            raise KeyboardInterrupt

        monkeypatch.setattr(serve.subprocess, "Popen", meanwhile)
        with pytest.raises(KeyboardInterrupt):
            call_command("serve", *words)
        return signed_in

    return command


def test_they_work_only_while_the_demonstration_runs(run, client):
    _, key = make_token(User.objects.get(username="admin"), "test")
    assert run("--demo") == ["annotator", "researcher", "admin"]
    assert not client.login(username="admin", password=PASSWORD)
    assert run() == []
    assert token_of(key) is None
    assert len(run("--demo")) == 3


def test_a_data_folder_of_before_is_closed_by_serve(run, client):
    client.force_login(User.objects.get(username="admin"))
    assert run() == [] and client.get("/account/").status_code == 302


def test_who_chose_a_password_of_their_own_stays(run, client):
    admin = User.objects.get(username="admin")
    admin.set_password("a password of my own")
    admin.save()
    run()
    assert client.login(username="admin", password="a password of my own")


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.7", "example.org", "::"])  # noqa: S104
def test_it_does_not_listen_beyond_this_machine_unless_told(run, host, monkeypatch):
    monkeypatch.setattr(serve.subprocess, "Popen", None)  # nothing is started
    with pytest.raises(CommandError, match="published"):
        call_command("serve", "--demo", "--host", host)
    assert len(run("--demo", "--host", host, "--demo-for-everybody")) == 3
    assert len(run("--demo", "--host", "127.0.0.2")) == len(run("--demo", "--host", "localhost")) == 3


class TestTheFirstAdmin:
    @pytest.fixture
    def greeting(self, capsys, monkeypatch):
        """greeting(): what serve says when it runs."""
        monkeypatch.delenv("FIRST_ADMIN_KEY", raising=False)
        monkeypatch.setenv("FIRST_ADMIN_KEY", "")  # so that what the command sets is undone
        monkeypatch.delenv("FIRST_ADMIN_KEY")

        def said(*words):
            monkeypatch.setattr(serve._Processes, "__enter__", lambda processes: processes)
            monkeypatch.setattr(serve, "_wait_until_served", lambda *_: None)
            monkeypatch.setattr(serve._Processes, "watch", lambda *_: None)
            call_command("serve", *words)
            return capsys.readouterr().out

        return said

    def test_the_terminal_says_where_it_is_made_and_the_code_for_other_machines(self, greeting, monkeypatch):
        User.objects.all().delete()
        said = greeting()
        assert "http://127.0.0.1:8000/first/" in said and serve.os.environ["FIRST_ADMIN_KEY"] in said

    def test_a_server_on_every_address_is_named_as_this_machine_reaches_it(self, greeting):
        User.objects.all().delete()
        said = greeting("--host", "0.0.0.0", "--port", "8123")  # noqa: S104
        assert "Comparena is at http://127.0.0.1:8123/\n" in said and "http://127.0.0.1:8123/first/" in said
        assert "0.0.0.0" not in said and "ALLOWED_HOSTS" in said and "its port 8123 is published" in said  # noqa: S104

    def test_a_server_with_a_name_is_named_by_it(self, greeting, settings):
        """Behind a proxy nobody is believed to sit at the machine, so the code is asked of everybody."""
        User.objects.all().delete()
        settings.SITE_URL = "https://judge.example.org"
        said = greeting("--host", "0.0.0.0")  # noqa: S104
        assert "Comparena is at https://judge.example.org/\n" in said and "https://judge.example.org/first/.\n" in said
        assert f"It asks for this code: {serve.os.environ['FIRST_ADMIN_KEY']}" in said
        assert "on this machine" not in said and "127.0.0.1" not in said

    def test_a_server_on_one_address_is_named_by_that(self, greeting):
        assert "Comparena is at http://192.0.2.7:8000/\nThere is" in greeting("--host", "192.0.2.7")

    def test_where_there_is_an_admin_there_is_no_code(self, greeting):
        User.objects.create_superuser("root", password="a-long-password")
        said = greeting()
        assert "/first/" not in said and "createsuperuser" not in said and "FIRST_ADMIN_KEY" not in serve.os.environ
