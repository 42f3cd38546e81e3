"""A field that nobody knows is refused by its name wherever a request has a body; what a GET gave can be sent back."""

import json
import re

import pytest

from annotation.api import schema as openapi
from tests.access.people import routes
from tests.access.test_every_url import people, world  # noqa: F401 (fixtures)
from tests.evaluator.fixtures import models_dir, sent  # noqa: F401 (fixtures)
from tests.leaderboard.played import version  # noqa: F401

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
SAID_INSTEAD = {
    "api/campaigns/<slug>/runs/<name>/checkpoints/"
}  # a training loses no checkpoint by a field: the answer lists it under left_out
WRITES = ("post", "put", "patch")


@pytest.fixture(scope="module")
def schema():
    return openapi.schema()


def bodies(schema):
    """(route, method, media type, properties of the body, properties of what a GET answers there) of what has a body."""
    there = {plain(route): route for route in routes()}
    for path, operations in schema["paths"].items():
        for method in WRITES:
            content = operations.get(method, {}).get("requestBody", {}).get("content", {})
            if content:
                media, body = next(iter(content.items()))
                got = operations["get"]["responses"]["200"]["content"] if "get" in operations else {}
                got = properties(schema, got.get("application/json", {}).get("schema", {}))
                yield there[plain(path.lstrip("/"))], method, media, properties(schema, body["schema"]), got


def plain(path: str) -> str:
    return re.sub(r"<\w+>|{\w+}", "*", path)


def properties(schema, part) -> dict:
    while "$ref" in part:
        part = schema["components"]["schemas"][part["$ref"].rpartition("/")[2]]
    return part.get("properties", {})


def send(client, method: str, path: str, media: str, body: dict):
    if media.startswith("multipart"):
        return client.post(path, body)
    return client.generic(method.upper(), path, json.dumps(body), content_type="application/json")


def test_every_body_refuses_a_field_misspelt_and_takes_what_it_gave(people, schema):  # noqa: F811
    people.alice.may_create_campaigns = True
    people.alice.save()
    wrong, asked = [], 0
    for route, method, media, known, got in bodies(schema):
        client = people.clients["annotator" if route.startswith("api/tasks/") else "researcher"]
        path = people.path(route)
        if route in SAID_INSTEAD:
            continue
        field = next(iter(known))
        answer = send(client, method, path, media, {f"{field}q": "1"})
        errors = {error["field"]: error["message"] for error in answer.json().get("errors", [])}
        if answer.status_code != 400 or errors.get(f"{field}q") != f"No such field; did you mean {field}?":
            wrong.append(f"{method} {route}: {answer.status_code} {errors}")
        if method in ("put", "patch") and got:
            answer = send(client, method, path, media, dict.fromkeys(got))
            refused = [e["field"] for e in answer.json().get("errors", []) if e["message"].startswith("No such field")]
            wrong += [f"{method} {route} does not take back {refused}"] if refused else []
        asked += 1
    assert not wrong, "\n".join(wrong)
    assert asked > 35


def test_a_list_of_rows_and_a_query_too(people):  # noqa: F811
    researcher = people.clients["researcher"]
    answer = researcher.post(
        people.path("api/campaigns/<slug>/quality/groups/"), {"by": "text", "xyz": 1}, content_type="application/json"
    )
    assert [e["message"] for e in answer.json()["errors"]] == ["No such field; there are: by."]
    answer = researcher.patch(
        people.path("api/campaigns/<slug>/"), {"criteria": [{"name": "Wit", "labells": 1}]}, "application/json"
    )
    assert [(e["field"], e["message"]) for e in answer.json()["errors"]] == [
        ("criteria.0.labells", "No such field; did you mean low_label?")
    ]
    answer = researcher.get(people.path("api/campaigns/<slug>/quality/"), {"madd": 2})
    assert answer.status_code == 400 and answer.json()["message"] == "No such field; did you mean mad?"
