"""Every door of the API takes a body of any size and shape: it answers in time, and never by an error of the server.
SIZE_CASES=20 draws that many sizes, also about the limits."""

import json
import os
import time

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

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
ENDINGS = ("jsonl", "csv", "xlsx", "zip", "json.gz")
CASES = int(os.environ.get("SIZE_CASES", "1"))  # more draw sizes about the limits too
LARGE = [st.integers(MB // 10, MB // 2), st.integers(5 * MB - 40, 5 * MB + 40)]
SIZES = st.one_of(st.integers(0, 300), *(LARGE if CASES > 1 else []))


@settings(
    max_examples=CASES,
    report_multiple_bugs=False,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
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
