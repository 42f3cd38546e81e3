"""Damaged and hostile files at every door but the import's (tests/annotation/data/test_malformed_files.py) and the comparators'
(tests/evaluator/test_malformed_comparators.py): conversations, judges' scores, systems' outputs and images. FUZZ_CASES=100
sends a hundred to each."""

import json
import random

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from annotation.campaigns.images import LARGEST, folder_of, image_names
from annotation.models import System
from tests.annotation.data.hostile_files import odd_name
from tests.annotation.data.malformed import FUZZ_CASES, damaged, json_lines, malformed_file
from tests.annotation.data.stores import check_problem, check_sentence
from tests.annotation.data.test_peoples_files import excel, table
from tests.annotation.pages import PNG

pytestmark = pytest.mark.django_db
SENT = FUZZ_CASES or 8
API, PAGES = "/api/campaigns/talk/", "/c/talk/"
DIALOGUES = [{"dialogue_id": f"d{n}", "turns": ["Hi", "Oh", "Well"], "references": [[], ["Ah"]]} for n in range(3)]
CHITCHAT = {f"d{n}": {"messages": [[{"sender": s, "text": f"Hi {n}"}] for s in ("ann", "bob")]} for n in range(3)}
JUDGED = [{"context_id": f"c{n}", "system": "Hydra-system", "score": 1.5 + n} for n in range(2)]
JUDGED_CELLS = [list(JUDGED[0]), *(list(row.values()) for row in JUDGED)]
WRITTEN = [{"context_id": f"c{n}", "context": [f"Hello {n}.", f"Hi there {n}!"], "output": f"New {n}"} for n in range(2)]
WRITTEN_CELLS = [["context_id", "context", "output"]]
WRITTEN_CELLS += [[row["context_id"], json.dumps(row["context"]), row["output"]] for row in WRITTEN]
FILES = {
    "dialogues": [("d.jsonl", DIALOGUES, json_lines), ("d.json", CHITCHAT, lambda document: json.dumps(document).encode())],
    "judge scores": [("j.jsonl", JUDGED, json_lines), ("j.csv", JUDGED_CELLS, lambda rows: table(rows, ";").encode())],
    "outputs": [
        ("o.jsonl", WRITTEN, json_lines),
        ("o.xlsx", WRITTEN_CELLS, excel),
        ("o.csv", WRITTEN_CELLS, lambda rows: table(rows).encode()),
    ],
}
DOORS = {  # {what is sent: (its files, address, fields beside the file, method)}; PK: of a system
    "dialogues, API": ("dialogues", f"{API}import/dialogues/", {}, "POST"),
    "dialogues, page": ("dialogues", f"{PAGES}comparator/dialogues/", {}, "POST"),
    "judge scores, API": ("judge scores", f"{API}import/judge-scores/", {"judge": "gpt"}, "POST"),
    "a system, API": ("outputs", f"{API}systems/", {"name": "New"}, "POST"),
    "a system, page": ("outputs", f"{PAGES}systems/", {"name": "New"}, "POST"),
    "its outputs, API": ("outputs", f"{API}systems/PK/outputs/", {}, "PUT"),
    "its outputs, page": ("outputs", f"{PAGES}systems/PK/outputs/", {}, "POST"),
}


@pytest.fixture
def world(receiving):
    return receiving()


def ask(world, method: str, address: str, fields: dict):
    answer = world.client.generic(method, address, encode_multipart(BOUNDARY, fields), MULTIPART_CONTENT)
    return world.client.get(answer.url) if answer.status_code == 302 else answer


def check_refusal(answer) -> None:
    if answer.status_code < 400:
        return
    if answer["Content-Type"].startswith("text/html"):
        assert answer.status_code == 422
        return
    problem = check_problem(answer)
    check_sentence(problem["detail"].partition(": ")[2])
    assert len(problem["detail"]) < 800
    for entry in problem["errors"]:
        check_sentence(entry["message"])
        assert len(entry["field"] or "") <= 80


@pytest.mark.parametrize("door", DOORS)
def test_a_file_is_stored_whole_or_refused_in_words(world, stores, door):
    files, address, fields, method = DOORS[door]
    address = address.replace("PK", str(System.objects.get(name="Hydra-system").pk))
    before = stores.rows()
    for number in range(-len(FILES[files]), SENT):  # first the good ones
        name, document, made = FILES[files][number % len(FILES[files])]
        raw = made(document) if number < 0 else malformed_file(f"{door} {number}", name, document, made)
        stores.sweep()
        savepoint = transaction.savepoint()
        answer = ask(world, method, address, fields | {"file": SimpleUploadedFile(name, raw)})
        assert answer.status_code in (200, 201, 400, 422), (number, answer.content)
        check_refusal(answer)
        is_new = (now := stores.rows()) != before
        assert is_new or number >= 0, answer.content
        if is_new:
            assert answer.status_code < 400 and now["AuditEvent"] > before["AuditEvent"]
        stores.check_files()
        transaction.savepoint_rollback(savepoint)
        stores.outcomes["stored" if is_new else "refused or nothing new"] += 1
    assert SENT < 8 or stores.outcomes["refused or nothing new"]
    stores.tell(door)


@pytest.mark.parametrize("address", [f"{API}images/", f"{PAGES}images/"])
def test_images_are_all_kept_or_none(world, stores, address):
    before = stores.rows()
    for number in range(-1, SENT):
        rng = random.Random(number)
        names = ["a.png", *(odd_name(rng, rng.choice(["a.png", "a.svg"])) for _ in range(rng.randint(0, 2)))]
        contents = [PNG, damaged(rng, PNG), b"", b"<svg onload='x'/>", PNG + b"x" * LARGEST, b"GIF89a<script>"]
        if number < 0:
            names, contents = ["a.png"], [PNG]
        images = [SimpleUploadedFile(name, rng.choice(contents)) for name in names]
        savepoint = transaction.savepoint()
        answer = ask(world, "POST", address, {"images": images})
        assert answer.status_code in (200, 201, 400, 422), (number, answer.content)
        check_refusal(answer)
        is_new = stores.rows() != before
        assert is_new or number >= 0, answer.content
        kept = image_names(world.campaign)
        sent = {"".join(filter(str.isprintable, image.name)) for image in images}  # Django drops the other characters
        assert bool(kept) == is_new and (not kept or len(kept) == len(sent))
        stores.check_files([f"{world.campaign.pk}/{name}" for name in kept])
        for name in kept:
            (folder_of(world.campaign) / name).unlink()
        transaction.savepoint_rollback(savepoint)
        stores.outcomes["stored" if is_new else "refused"] += 1
    stores.tell(address)
