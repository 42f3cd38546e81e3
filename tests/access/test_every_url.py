"""Every URL that there is, asked by everybody with every method: who may is written in table.py, all else is refused."""

import logging
from http.cookies import SimpleCookie

import pytest
from django.db import transaction

from tests.access.people import UNSEEN, People, routes
from tests.access.table import EVERYBODY, PUBLIC_BOARD, TOKENS, expectations
from tests.evaluator.fixtures import models_dir, sent  # noqa: F401 (fixtures)
from tests.evaluator.world import World
from tests.leaderboard.played import version  # noqa: F401

pytestmark = pytest.mark.django_db
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
LOG_IN = ("/login/?", "/admin/login/?")
NOT_READY = {"readyz": 503}  # no worker runs beside the tests


@pytest.fixture
def world(db, tmp_path, client):
    return World(tmp_path, client, contexts=4)


@pytest.fixture
def people(world, version, tmp_path, settings):  # noqa: F811
    settings.UPLOADS_DIR, settings.IMAGES_DIR = tmp_path / "uploads", tmp_path / "images"
    logging.disable(logging.CRITICAL)  # each refusal is a line of the log
    yield People(world, version)
    logging.disable(logging.NOTSET)


def ask(client, method: str, path: str):
    """(the answer, its body); whatever the request changed is taken back."""
    kept, body = client.cookies, {"content_type": "application/json", "data": "{}"} if path.startswith("/api/") else {}
    client.cookies = SimpleCookie(kept)
    with transaction.atomic():
        response = client.generic(method, path, **({} if method == "GET" else body))
        content = b"".join(response) if response.streaming else response.content
        transaction.set_rollback(True)
    client.cookies = kept
    return response, content


def outcome(response) -> str:
    if response.status_code in (401, 403, 404) or response.get("Location", "").startswith(LOG_IN):
        return "denied"
    return "no such method" if response.status_code == 405 else "served"


def test_the_table_knows_every_url_and_no_other():
    known, there = set(expectations()), set(routes())
    assert sorted(there - known) == [], "Enter these in tests/access/table.py, under those who may."
    assert sorted(known - there) == []


def test_every_url_serves_those_who_may_and_nobody_else(people):
    wrong, asked = [], 0
    for route, methods in expectations().items():
        path = people.path(route)
        tokens = TOKENS if route.startswith("api/") else {"admin token"}  # pages know none of them
        for role in [*EVERYBODY, *sorted(tokens)]:
            for method in METHODS:
                response, content = ask(people.clients[role], method, path)
                asked += 1
                served = role in methods.get(method, ())
                said = f"{method} {path} as {role}: {response.status_code}"
                if response.status_code >= 500 and response.status_code != NOT_READY.get(route):
                    wrong.append(f"{said}, a server error")
                elif (outcome(response) == "served") != served:
                    wrong.append(f"{said}, {'should be served' if served else 'should be refused'}")
                elif (not served or role == "annotator") and UNSEEN.encode() in content:
                    wrong.append(f"{said}, names a system")
    routes_of_admin = sum(route.startswith("admin/") for route in expectations())
    print(f"{asked} requests: {len(expectations())} URLs, {routes_of_admin} of them the admin's")  # pytest -s shows it
    assert not wrong, "\n".join(wrong)
    assert asked > 7000 and routes_of_admin > 100


def test_public_boards_are_read_by_everybody_and_changed_by_nobody_else(people):
    people.campaign.board_is_public = True
    people.campaign.save()
    wrong = []
    for route, methods in expectations().items():
        if not route.startswith(("c/", "tournaments/", "api/campaigns/", "api/tournaments/")):
            continue
        for role in ("anonymous", "other annotator"):
            response, _ = ask(people.clients[role], "GET", people.path(route))
            if (outcome(response) == "served") != (route in PUBLIC_BOARD or role in methods.get("GET", ())):
                wrong.append(f"GET {route} as {role}: {response.status_code}")
        if outcome(ask(people.clients["anonymous"], "POST", people.path(route))[0]) == "served" and route not in PUBLIC_BOARD:
            wrong.append(f"POST {route}")
    assert not wrong, "\n".join(wrong)
