"""The first admin is made on a page: from the machine itself, or with the code of the terminal; once."""

import threading

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client, RequestFactory

from annotation.models import User
from annotation.people import first_admin
from core.errors import Refused

pytestmark = pytest.mark.django_db
ROOT = {"username": "root", "password1": "a-long-pass-phrase", "password2": "a-long-pass-phrase"}
AWAY = {"REMOTE_ADDR": "192.0.2.7"}
CODE = "abcd-efgh-jkmn-pqrs"


@pytest.fixture
def client():
    """A browser on the server's machine."""
    return Client(SERVER_NAME="localhost")


@pytest.fixture
def code(settings):
    settings.FIRST_ADMIN_KEY = CODE


class TestOnTheMachineItself:
    def test_the_home_page_leads_to_it_and_it_makes_an_admin_who_is_signed_in(self, client):
        assert "/first/" in client.get("/").content.decode() and "/first/" in client.get("/login/").content.decode()
        assert client.get("/first/").status_code == 200
        assert client.post("/first/", ROOT).url == "/"
        admin = User.objects.get()
        assert (admin.username, admin.is_staff, admin.is_superuser, admin.may_create_campaigns) == ("root", True, True, True)
        assert admin.check_password(ROOT["password1"])
        home = client.get("/").content.decode()
        assert "New campaign" in home and "You are the admin" in home

    def test_it_is_gone_when_there_is_an_admin_also_one_who_may_not_sign_in(self, client):
        User.objects.create_user("old", is_staff=True, is_active=False)
        assert client.get("/first/").status_code == client.post("/first/", ROOT).status_code == 404
        assert "/first/" not in client.get("/").content.decode() and User.objects.count() == 1

    def test_an_account_without_rights_does_not_close_it(self, client):
        User.objects.create_user("bob")
        assert client.get("/first/").status_code == 200

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"password1": "12345678", "password2": "12345678"}, "entirely numeric"),
            ({"password1": "comparena", "password2": "comparena"}, "too easy to guess"),
            ({"username": "rootuser9", "password1": "rootuser91", "password2": "rootuser91"}, "too similar"),
            ({"password2": "another-pass-phrase"}, "match"),
            ({"username": ""}, "required"),
        ],
    )
    def test_what_is_wrong_is_said_and_nobody_is_made(self, client, change, said):
        page = client.post("/first/", ROOT | change)
        assert page.status_code == 422 and said in page.content.decode() and not User.objects.exists()

    @pytest.mark.parametrize(
        "extra",
        [
            AWAY,
            {"REMOTE_ADDR": ""},
            {"HTTP_X_FORWARDED_FOR": "127.0.0.1"},
            {"HTTP_X_FORWARDED_PROTO": "https"},
            {"HTTP_FORWARDED": "for=127.0.0.1"},
            {"HTTP_X_REAL_IP": "127.0.0.1"},
            {"HTTP_VIA": "1.1 proxy"},
            {"HTTP_HOST": "judge.example.org"},
        ],
    )
    def test_nobody_else_finds_it(self, client, settings, extra):
        settings.ALLOWED_HOSTS = ["*"]
        assert client.get("/first/", **extra).status_code == client.post("/first/", ROOT, **extra).status_code == 404
        assert "/first/" not in client.get("/", **extra).content.decode() and not User.objects.exists()

    @pytest.mark.parametrize("behind", [{"PROXIES": 1}, {"HTTPS": True}])
    def test_where_a_proxy_is_expected_this_machine_is_not_believed(self, client, settings, behind):
        for name, value in behind.items():
            setattr(settings, name, value)
        assert client.get("/first/").status_code == 404

    @pytest.mark.parametrize(
        ("near", "host"),
        [("127.0.0.1", "localhost:8000"), ("127.4.5.6", "127.0.0.1"), ("::1", "[::1]:8000"), ("::ffff:127.0.0.1", "localhost")],
    )
    def test_every_name_of_this_machine_will_do(self, settings, near, host):
        settings.ALLOWED_HOSTS = ["*"]
        assert first_admin.is_from_this_machine(RequestFactory().get("/", REMOTE_ADDR=near, HTTP_HOST=host))


class TestWithTheCode:
    def test_it_lets_somebody_elsewhere_make_the_admin(self, client, code):
        assert "Code" in client.get("/first/", **AWAY).content.decode()
        typed = {"code": "  ABCD efgh-jkmn pqrs "}
        assert client.post("/first/", ROOT | typed, **AWAY).status_code == 302
        assert User.objects.get().is_admin
        assert client.get("/first/", **AWAY).status_code == client.post("/first/", ROOT | typed, **AWAY).status_code == 404

    @pytest.mark.parametrize("typed", ["", "abcd-efgh-jkmn-pqrt", "abcd", "é"])
    def test_a_wrong_one_makes_nobody(self, client, code, typed):
        assert client.post("/first/", ROOT | {"code": typed}, **AWAY).status_code == 422 and not User.objects.exists()

    def test_no_code_is_not_the_empty_code(self, settings):
        settings.FIRST_ADMIN_KEY = ""
        assert not first_admin.is_code("") and not first_admin.is_code(" - ")

    def test_whoever_guesses_waits(self, client, code, settings):
        settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
        cache.clear()
        guesses = {client.post("/first/", ROOT | {"code": str(n)}, **AWAY).status_code for n in range(10)}
        refused = client.post("/first/", ROOT | {"code": CODE}, **AWAY)
        assert guesses == {422} and refused.status_code == 429 and not User.objects.exists()
        assert client.post("/first/", ROOT | {"code": CODE}, REMOTE_ADDR="192.0.2.8").status_code == 302
        cache.clear()

    def test_a_new_code_has_sixteen_letters_and_is_new(self):
        codes = {first_admin.new_code() for _ in range(50)}
        assert len(codes) == 50 and {len(code.replace("-", "")) for code in codes} == {16}


def test_who_filled_the_form_in_while_another_was_quicker_makes_nobody(client, monkeypatch):
    User.objects.create_superuser("quicker")
    monkeypatch.setattr(first_admin, "is_offered", lambda request: True)  # as it was when the page was asked for
    assert client.post("/first/", ROOT).status_code == 404
    assert list(User.objects.values_list("username", flat=True)) == ["quicker"]


@pytest.mark.skipif(connection.vendor == "sqlite", reason="an SQLite in memory has no second writer that waits")
@pytest.mark.django_db(transaction=True)
def test_two_at_once_make_one_admin():
    """Both have seen that there is no admin before either stores one."""
    start, outcomes = threading.Barrier(4), []

    def make(name):
        try:
            start.wait(timeout=10)
            first_admin.make_first_admin(User(username=name, password="x"))
            outcomes.append("made")
        except Refused:
            outcomes.append("refused")
        finally:
            connection.close()

    threads = [threading.Thread(target=make, args=(f"admin{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["made", "refused", "refused", "refused"]
    assert User.objects.filter(is_staff=True).count() == 1
