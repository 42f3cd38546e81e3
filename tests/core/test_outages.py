"""Where the server itself fails, people and programs are told in a sentence, each in their shape."""

import errno
import time

import psycopg
import pytest
from django.db import close_old_connections, connection
from django.test import Client

from annotation import health
from annotation.campaigns.lifecycle import create_campaign
from annotation.models import User
from annotation.people.tokens import make_token
from config.middleware import trust_connections_in_use

pytestmark = pytest.mark.django_db


@pytest.fixture
def answers(client, monkeypatch):
    """answers(error): what the home page and the API answer where reading the campaigns raises it."""
    user = User.objects.create_superuser("alice")
    create_campaign(slug="talk", user=user)
    client.force_login(user)
    client.raise_request_exception = False

    def ask(error):
        def broken(*args):
            raise error

        monkeypatch.setattr("annotation.views.campaigns.campaign.numbers", broken)
        monkeypatch.setattr("annotation.api.serializers.numbers", broken)
        return client.get("/c/talk/"), client.get("/api/campaigns/talk/")

    return ask


def test_an_error_under_api_has_the_shape_of_errors_there(answers):
    page, program = answers(RuntimeError("secret"))
    assert page.status_code == program.status_code == 500
    assert "Something went wrong on our side" in page.content.decode()
    assert program["Content-Type"] == "application/problem+json"
    said = "Something went wrong on our side. Confirmed answers are stored."
    assert program.json() == {
        "type": "about:blank",
        "title": "Internal Server Error",
        "status": 500,
        "detail": said,
        "request_id": program["X-Request-ID"],
        "errors": [{"field": None, "line": None, "message": said}],
        "message": said,
    }


@pytest.mark.parametrize(
    ("code", "status", "said"),
    [(errno.ENOSPC, 507, "disk of this server is full"), (errno.EROFS, 503, "read-only at the moment")],
)
def test_a_full_disk_and_a_read_only_one_are_said(answers, code, status, said):
    page, program = answers(OSError(code, "secret"))
    assert page.status_code == program.status_code == status
    assert said in page.content.decode() and said in program.json()["message"]


def nobody_there() -> psycopg.Error:
    """What psycopg says where PostgreSQL is away; nothing listens on port 1."""
    with pytest.raises(psycopg.OperationalError) as raised:
        psycopg.connect("postgres://127.0.0.1:1/comparena")
    return raised.value


@pytest.mark.parametrize("stopped", [nobody_there, psycopg.errors.AdminShutdown, psycopg.errors.CannotConnectNow])
def test_a_database_that_is_away_is_said(answers, stopped):
    page, program = answers(stopped())
    assert page.status_code == program.status_code == 503
    for told in (page.content.decode(), program.json()["message"]):
        assert "The database cannot be reached at the moment. Confirmed answers are stored." in told


def begin_request():
    """What Django's signal calls, in its order: the tests' client leaves the first out, and puts it last for others."""
    close_old_connections()
    trust_connections_in_use()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="a server that is restarted")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("looked_at_before", [False, True])
def test_nobody_meets_a_connection_of_before_a_restart(looked_at_before):
    """A kept connection is cut by the server, then the next request begins."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    connection.looked_at = time.monotonic() if looked_at_before else time.monotonic() - 60
    with psycopg.connect(**connection.get_connection_params() | {"cursor_factory": psycopg.Cursor}) as other:
        assert other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid]).fetchone() == (True,)
    begin_request()
    assert User.objects.count() == 0


@pytest.mark.skipif(connection.vendor != "postgresql", reason="kept connections")
@pytest.mark.django_db(transaction=True)
def test_a_connection_in_use_is_looked_at_now_and_then(monkeypatch):
    """Three requests at once, and one after a minute: the server is asked twice."""
    assert User.objects.count() == 0
    looks, is_usable = [], connection.is_usable
    monkeypatch.setattr(connection, "is_usable", lambda: looks.append(1) or is_usable())
    connection.looked_at = time.monotonic() - 60
    for ago in (0, 0, 0, 60):
        connection.looked_at -= ago
        begin_request()
        assert User.objects.count() == 0
    assert len(looks) == 2


READ_ONLY = {  # as a file without leave to write (SQLITE_READONLY), and as a standby
    "sqlite": ("PRAGMA query_only = 1", "PRAGMA query_only = 0"),
    "postgresql": ("SET default_transaction_read_only = on", "SET default_transaction_read_only = off"),
}


@pytest.mark.django_db(transaction=True)
def test_a_read_only_database_is_said_and_read(client, monkeypatch):
    monkeypatch.setattr(health, "_kept", {})
    key = make_token(User.objects.create_user("bob", password="a-long-password"), "laptop")[1]
    client.raise_request_exception = False
    on, off = READ_ONLY[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(on)
    try:
        page = client.post("/login/", {"username": "bob", "password": "a-long-password"})
        read = Client(headers={"Authorization": f"Bearer {key}"}).get("/api/tasks/")
        ready, alive = client.get("/readyz"), client.get("/healthz")
    finally:
        with connection.cursor() as cursor:
            cursor.execute(off)
        monkeypatch.setattr(health, "_kept", {})
    assert page.status_code == 503 and "read-only at the moment" in page.content.decode()
    assert read.status_code == 200 and alive.status_code == 200
    assert ready.status_code == 503 and "nothing can be stored" in ready.content.decode()


@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite's own switch")
def test_a_full_database_is_said(client):
    User.objects.create_user("bob", password="a-long-password")
    client.raise_request_exception = False
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA page_count")
        cursor.execute(f"PRAGMA max_page_count = {cursor.fetchone()[0]}")
    client.force_login(User.objects.create_user("alice", may_create_campaigns=True))
    body = {"slug": "talk", "title": "x", "guidelines": "x" * 45_000}
    try:
        answer = client.post("/api/campaigns/", body, content_type="application/json")
    finally:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA max_page_count = 1073741823")
    assert answer.status_code == 507 and "disk of this server is full" in answer.json()["message"]


def test_a_request_that_makes_no_sense_is_told_so_in_the_api_s_shape(client):
    answer = client.get("/api/campaigns/?x=%00")
    assert answer.status_code == 400 and answer.json()["errors"]
