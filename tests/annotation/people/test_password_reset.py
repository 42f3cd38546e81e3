"""A forgotten password: a letter to who has the address, and not a word to anybody else."""

import re

import pytest
from django.core import mail as outbox
from django.core.cache import cache

from annotation.models import User
from annotation.people.tokens import make_token

pytestmark = pytest.mark.django_db
NEW = "quite-another-password"
LINK = re.compile(r"https://judge\.example\.org(/password/reset/\S+)")


@pytest.fixture
def bob(settings):
    settings.EMAIL_URL, settings.SITE_URL = "smtp://mail.example.org", "https://judge.example.org"
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "resets"}}
    cache.clear()
    return User.objects.create_user("bob", email="bob@example.org", password="a-long-password")


def ask(client, email: str):
    answer = client.post("/password/reset/", {"email": email})
    assert answer.status_code == 302 and answer.url == "/password/reset/sent/"  # whoever asked


def test_without_e_mail_there_is_none(client):
    assert client.get("/password/reset/").status_code == 404
    assert "Forgot" not in client.get("/login/").content.decode()


def test_the_letter_s_link_sets_a_new_password_once(client, bob):
    make_token(bob, "laptop")
    assert 'href="/password/reset/"' in client.get("/login/").content.decode()
    ask(client, "BOB@example.org")
    (letter,) = outbox.outbox
    assert letter.to == ["bob@example.org"] and letter.subject == "New password for Comparena"
    path = LINK.search(letter.body)[1]
    form = client.get(path)["Location"]
    assert client.post(form, {"new_password1": "annotator", "new_password2": "annotator"}).status_code == 200  # too weak
    assert client.post(form, {"new_password1": NEW, "new_password2": NEW}).url == "/password/reset/done/"
    bob.refresh_from_db()
    assert bob.check_password(NEW) and not bob.api_tokens.exists()
    assert "used already, or is too old" in client.get(path, follow=True).content.decode()


@pytest.mark.parametrize("change", [{"is_active": False}, {"password": "!"}, {"email": "other@example.org"}])
def test_who_has_no_such_account_gets_no_letter(client, bob, change):
    User.objects.filter(pk=bob.pk).update(**change)
    ask(client, "bob@example.org")
    assert outbox.outbox == []


def test_three_letters_an_hour_are_enough(client, bob):
    for _ in range(5):
        ask(client, "bob@example.org")
    assert len(outbox.outbox) == 3


def test_the_log_does_not_tell_the_link():
    import logging

    from config.logs import WithoutKeys

    record = logging.makeLogRecord({"msg": "GET /password/reset/MQ/c0ffee-1234/ 302"})
    assert "c0ffee" not in WithoutKeys("%(message)s").format(record)
