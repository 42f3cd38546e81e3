"""Every door, of the API and of pages, takes what has any size and shape: it answers in time, and never by a server error.
SIZE_CASES=20 draws that many sizes, also about the limits."""

import json
import os
import time
from contextlib import ExitStack
from http.cookies import SimpleCookie
from unittest import mock

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from tests.access.table import expectations
from tests.access.test_every_url import people, world  # noqa: F401 (fixtures)
from tests.access.test_unknown_fields import bodies, schema  # noqa: F401 (a fixture)
from tests.evaluator.fixtures import models_dir, sent  # noqa: F401 (fixtures)
from tests.leaderboard.played import version  # noqa: F401

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
MB, SECONDS = 2**20, 5
SHAPES = {
    "a text": lambda size: json.dumps("x" * size),
    "brackets": lambda size: json.dumps("[" * size),
    "a list": lambda size: f"[{','.join('1' * (size // 2 + 1))}]",
    "an object": lambda size: json.dumps({f"k{n}": 1 for n in range(size // 10 + 1)}),
    "a number": lambda size: "9" * (size + 1),
    "depth": lambda size: "[" * (size // 2) + "]" * (size // 2) or "[]",
}
OTHERS = ("api/", "admin/")  # the API's doors, and Django's own forms
ENDINGS = ("jsonl", "csv", "xlsx", "zip", "json.gz")
CASES = int(os.environ.get("SIZE_CASES", "1"))  # more draw sizes about the limits too
FUZZ = settings(
    max_examples=CASES,
    report_multiple_bugs=False,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
LARGE = [st.integers(MB // 10, MB // 2), st.integers(5 * MB - 40, 5 * MB + 40)]
SIZES = st.one_of(st.integers(0, 300), *(LARGE if CASES > 1 else []))


@FUZZ
@given(size=SIZES, shape=st.sampled_from(list(SHAPES)), ending=st.sampled_from(ENDINGS))
@example(size=MB // 4, shape="an object", ending="csv")
def test_any_size_is_answered(people, schema, size, shape, ending):  # noqa: F811
    wrong = []
    for route, method, media, known, _ in bodies(schema):
        client, path = people.clients["annotator" if route.startswith("api/tasks/") else "researcher"], people.path(route)
        begin = time.process_time()
        with transaction.atomic():
            if media.startswith("multipart"):
                file = SimpleUploadedFile(f"x.{ending}", (SHAPES[shape](size) + "\n").encode())
                answer = client.post(path, {"images" if "images" in known else "file": file})
            else:
                body = f"{{{json.dumps(next(iter(known)))}: {SHAPES[shape](size)}}}"
                answer = client.generic(method.upper(), path, body, content_type="application/json")
            transaction.set_rollback(True)
        took = time.process_time() - begin
        if answer.status_code >= 500 or took > SECONDS:
            wrong.append(f"{method} {route}, {size} bytes of {shape} ({ending}): {answer.status_code} after {took:.1f} s")
    assert not wrong, "\n".join(wrong)


@settings(FUZZ, phases=list(Phase) if CASES > 1 else [Phase.explicit])
@given(size=SIZES, mark=st.sampled_from("[9x\n"))
@example(size=MB // 10, mark="[")
def test_any_size_of_a_form_is_answered(people, size, mark):  # noqa: F811
    """Of every page that takes one: all fields that its view asks for, and files, as long as the size says together."""
    wrong, fields = [], 0
    for route, methods in expectations().items():
        role = next((role for role in ("anonymous", "researcher", "annotator", "admin") if role in methods.get("POST", ())), "")
        if not role or route.startswith(OTHERS):
            continue
        client, path = people.clients[role], people.path(route)
        names, files = asked_for(client, path)
        if not names | files:
            continue
        fields += len(names | files)
        text = mark * (size // max(1, len(names)))
        form = {name: text for name in names} | {name: SimpleUploadedFile("x.csv", text.encode()) for name in files}
        begin = time.process_time()
        answer = posted(client, path, form)
        took = time.process_time() - begin
        if answer.status_code >= 500 or took > SECONDS:
            wrong.append(f"{route}, {size} bytes of {mark!r} as {role}: {answer.status_code} after {took:.1f} s")
    assert not wrong, "\n".join(wrong)
    assert fields > 100


def posted(client, path: str, form: dict):
    """The answer; whatever the request changed is taken back."""
    kept, client.cookies = client.cookies, SimpleCookie(client.cookies)
    with transaction.atomic():
        answer = client.post(path, form)
        transaction.set_rollback(True)
    client.cookies = kept
    return answer


def asked_for(client, path: str) -> tuple[set[str], set[str]]:
    """Names of fields, and of files, that a view asks an empty form for."""
    asked: dict[type, set[str]] = {QueryDict: set(), MultiValueDict: set()}

    def spied(method):
        def spy(self, key, *default):
            if type(self) in asked:
                asked[type(self)].add(key)
            return method(self, key, *default)

        return spy

    with ExitStack() as spies:
        for name in ("get", "getlist", "__getitem__"):
            spies.enter_context(mock.patch.object(MultiValueDict, name, spied(getattr(MultiValueDict, name))))
        posted(client, path, {})
    return asked[QueryDict], asked[MultiValueDict]
