"""Nothing that lets somebody in is read in a table or a backup: this test collects what each door issued, and looks for it."""

import base64
import hashlib
import json
import re
import zipfile
from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.contrib.sessions.models import Session
from django.core import signing
from django.core.management import call_command
from django.db import connection
from django.test import Client

from annotation.models import Invitation, KeptResponse, User
from annotation.people import second_factor
from annotation.people.invitations import invite, join_as_guest
from annotation.people.second_factor import code_at, turn_on
from config.sessions import stored_key
from core import backups
from core.errors import Refused
from tests.annotation.pages import World, text

SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"  # noqa: S105  # of RFC 4226
OTHER, THIRD = "another", "a third"  # secret keys
FOLDERS = ("models", "uploads", "images", "replies")


@pytest.fixture
def world(tmp_path, client, settings, transactional_db):
    for name in FOLDERS:
        setattr(settings, f"{name.upper()}_DIR", tmp_path / "kept" / name)
    return World(tmp_path, client)


def issued(world, mailoutbox, settings) -> dict[str, str]:
    """{what: secret}, by the pages and the API as people use them."""
    settings.EMAIL_URL = "smtp://mail.example"
    client, secrets = world.client, {"password": "a-long-password"}
    client.post("/login/", {"username": "alice", "password": "a-long-password"})
    secrets["session"] = client.cookies["sessionid"].value
    made = text(world.post("people/", {"ask": "account", "email": "zoe@lab.example"}, follow=True))
    secrets["first password"] = made.split("with the password ")[1].split(" ")[0]
    asked = {"content_type": "application/json", "headers": {"Idempotency-Key": "once"}}
    account = client.post("/api/campaigns/talk/accounts/", json.dumps({"email": "max@lab.example"}), **asked)
    secrets["first password, API"] = account.json()["password"]
    asked["headers"] = {"Idempotency-Key": "twice"}
    secrets["link, API"] = client.post("/api/campaigns/talk/invitations/", "{}", **asked).json()["token"]
    world.post("people/", {"ask": "invite", "label": "pilot"})
    secrets["link"] = re.search(r"/join/([\w-]+)/", text(world.get("people/")))[1]
    page = text(client.post("/account/", {"name": "laptop", "days": "30", "scopes": ["read"]}))
    secrets["token"] = re.search(r"comparena_[\w-]{43}", page)[0]
    offer = text(client.get("/account/second-factor/"))
    secrets["offered factor"] = re.search(r"<code dir=\"ltr\">([A-Z2-7 ]+)</code>", offer)[1].replace(" ", "")
    guest = Client().post(f"/api/join/{secrets['link']}/", json.dumps({"name": "Guest"}), content_type="application/json")
    secrets["guest's token"] = guest.json()["token"]
    User.objects.filter(pk=world.bob.pk).update(email="bob@example.org")
    Client().post("/password/reset/", {"email": "bob@example.org"})
    secrets["way back"] = re.search(r"http\S+", mailoutbox[-1].body)[0].rstrip("/").rsplit("/", 1)[1]
    codes = turn_on(world.charlie, SECRET, code_at(base64.b32decode(SECRET), second_factor.time.time()))
    return secrets | {"factor": SECRET, "recovery code": codes[0], "recovery code, bare": codes[1].replace("-", "")}


def dump() -> str:
    """Every row of every table, sessions and kept responses opened as far as anybody can without the key."""
    rows = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')  # names of tables
            rows += [str(row) for row in cursor.fetchall()]
    return "\n".join([*rows, *(json.dumps(session.get_decoded()) for session in Session.objects.all())])


def of_backup(file) -> bytes:
    with zipfile.ZipFile(file) as archive:
        return b"\n".join(archive.read(name) for name in archive.namelist())


def test_no_secret_is_in_a_table_or_a_backup(world, tmp_path, mailoutbox, settings):
    secrets = issued(world, mailoutbox, settings)
    assert len(secrets) >= 12 and all(len(secret) >= 12 for secret in secrets.values())
    assert KeptResponse.objects.count() == 2 and Session.objects.count() >= 1
    rows = dump()
    assert [name for name, secret in secrets.items() if secret in rows] == []
    manifest = backups.back_up(tmp_path / "without.zip", with_key=False)
    kept = of_backup(tmp_path / "without.zip")
    assert "secret_key" not in manifest["files"] and settings.SECRET_KEY.encode() not in kept
    assert [name for name, secret in secrets.items() if secret.encode() in kept] == []
    found = world.campaign.invitations.get(label="pilot")
    assert secrets["link"] == found.token and found.digest in rows  # what is looked through is what is kept


def test_a_backup_without_its_key_is_restored_under_that_key_alone(world, tmp_path, settings, monkeypatch):
    file = tmp_path / "without.zip"
    backups.back_up(file, with_key=False)
    assert backups.verify(file)["rows"]
    monkeypatch.setattr(backups, "_refuse_where_something_is", lambda: None)
    brought = []
    monkeypatch.setattr(backups, "_bring_in", lambda work, manifest: brought.append(manifest))
    settings.SECRET_KEY = OTHER
    with pytest.raises(Refused, match="without its secret key: set SECRET_KEY"):
        backups.restore(file)
    settings.SECRET_KEY_FALLBACKS = ["tests only"]
    backups.restore(file)
    assert len(brought) == 1


@pytest.mark.django_db
class TestAnotherKey:
    """SECRET_KEY was changed."""

    @pytest.fixture
    def alice(self, tmp_path, client):
        world = World(tmp_path, client)
        self.codes = turn_on(world.bob, SECRET, code_at(base64.b32decode(SECRET), second_factor.time.time() - 30))
        self.link = invite(world.campaign)
        return world

    def code(self) -> str:
        return code_at(base64.b32decode(SECRET), second_factor.time.time())

    def test_codes_are_refused_in_words_and_recovery_codes_pass(self, alice, settings):
        settings.SECRET_KEY = OTHER
        with pytest.raises(Refused, match="secret key of this server was changed"):
            second_factor.check(alice.bob, self.code())
        second_factor.check(alice.bob, self.codes[0])

    def test_a_link_works_and_is_no_longer_shown(self, alice, settings):
        token = self.link.token
        settings.SECRET_KEY = OTHER
        page = text(alice.sign_in(alice.alice).get("people/"))
        assert token not in page and "The link works, but it cannot be shown" in page
        assert join_as_guest(token, "Zoe")[1].invitation == self.link

    def test_under_the_former_key_all_goes_on_until_it_is_sealed_anew(self, alice, settings, capsys):
        settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = OTHER, ["tests only"]
        call_command("reseal", "--json")
        done = {"sealed": 1, "cannot be read": 0}
        assert json.loads(capsys.readouterr().out) == {"second factors": done, "invitation links": done}
        settings.SECRET_KEY_FALLBACKS = []
        second_factor.check(User.objects.get(pk=alice.bob.pk), self.code())
        assert Invitation.objects.get().token
        settings.SECRET_KEY = THIRD
        call_command("reseal", "--json")
        assert json.loads(capsys.readouterr().out)["second factors"] == {"sealed": 0, "cannot be read": 1}


@pytest.mark.django_db
def test_secrets_of_before_are_sealed_by_the_migration(monkeypatch):
    """On rows as version 0.1.0 kept them. (Its own installations are migrated in tests/test_upgrade.py.)"""
    user = User.objects.create_user("bob", totp_secret=SECRET)
    Session.objects.create(pk="k" * 32, session_data=signing.dumps({}), expire_date="2036-01-01T00:00Z")
    migration = import_module("annotation.migrations.0027_sealed_secrets")

    links = {7: "token-of-before"}

    class Links:
        objects = SimpleNamespace(
            values_list=lambda *names: links.items(),
            filter=lambda pk: SimpleNamespace(update=lambda **values: links.update({pk: values})),
        )

    before = SimpleNamespace(get_model=lambda app, name: Links if name == "Invitation" else apps.get_model(app, name))
    migration.seal_secrets(before, None)
    assert links[7]["digest"] == hashlib.sha256(b"token-of-before").hexdigest()
    assert second_factor.unseal(links[7]["sealed_token"]) == "token-of-before"
    user.refresh_from_db()
    assert SECRET not in user.totp_secret and second_factor.unseal(user.totp_secret) == SECRET
    assert [session.pk for session in Session.objects.all()] == [stored_key("k" * 32)]
