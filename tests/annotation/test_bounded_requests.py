"""What a request says of itself is not believed: how many rows it has, how long it is, which characters it holds."""

import gzip
import io
import time
from contextlib import suppress

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from annotation.annotating import meaning
from annotation.api.parsers import ShallowJSON, TooLarge
from annotation.data.shapes import rankings, values
from annotation.models import Submission
from annotation.questions import conditions
from annotation.questions.spans import marks
from core.errors import Refused
from evaluator.judges import answer_form, answers, prompt_file
from tests.annotation.pages import hidden, text

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


@pytest.fixture
def alice(world):
    world.sign_in(world.alice)
    return world


def test_a_form_that_claims_a_million_rows_is_refused_at_once(alice):
    begin = time.process_time()
    answer = alice.client.post(
        "/new/", {"title": "x", "slug": "x", "criteria-TOTAL_FORMS": "1000000", "criteria-INITIAL_FORMS": "0"}
    )
    assert answer.status_code == 422 and len(answer.content) < 500_000
    assert time.process_time() - begin < 10  # 39 s before


def test_half_of_a_surrogate_pair_is_no_text(alice):
    body = '{"pair_design": "\\ud800"}'
    for send, path in ((alice.client.post, "/api/campaigns/"), (alice.client.patch, "/api/campaigns/talk/")):
        answer = send(path, body, content_type="application/json")
        assert answer.status_code == 400 and "surrogate" in answer.json()["message"]
    assert (
        "surrogate"
        not in alice.client.patch(
            "/api/campaigns/talk/", '{"title": "\\ud83d\\ude00"}', content_type="application/json"
        ).content.decode()
    )


def test_json_longer_than_a_form_may_be_is_not_read(settings):
    """Of a program with a token: Django itself refuses a browser's."""
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    assert ShallowJSON().parse(io.BytesIO(b'"' + b"x" * 998 + b'"')) == "x" * 998
    with pytest.raises(TooLarge):
        ShallowJSON().parse(io.BytesIO(b'"' + b"x" * 999 + b'"'))


def test_the_names_of_answers_are_ids_of_criteria(world):
    """What is stored is shown again in its form."""
    world.sign_in(world.bob)
    item = world.client.post("/api/tasks/talk/next/").json()["assignment"]
    scores = {str(criterion.pk): criterion.low for criterion in world.campaign.criteria.all()}
    for wrong in ("abc", "-1", "²", "9" * 20):
        body = {"assignment": item["id"], "key": item["key"], "scores": scores | {wrong: 1}}
        answer = world.client.post("/api/tasks/talk/judgments/", body, content_type="application/json")
        assert answer.status_code == 400 and "ids of criteria" in answer.json()["message"]
    assert world.client.post("/api/tasks/talk/judgments/", body | {"scores": scores}, "application/json").status_code == 201
    assert world.get(f"answers/{item['id']}/").status_code == 200


LONG = 20_000  # characters, of which each of these takes the square or the cube of its length where it can
BLANK = " " * LONG


@pytest.mark.parametrize(
    "read",
    [
        lambda: marks.lines_read(f"major{BLANK}x"),
        lambda: marks.lines_read(f"major:{BLANK}"),
        lambda: meaning.read(f"name{BLANK}!"),
        lambda: meaning.read(f"inform(name{' ' * 4_000}!)"),
        lambda: meaning.read(f"name{' ' * 4_000}!"),
        lambda: conditions.parsed(f"Overall{BLANK}x"),
        lambda: values.point(f"3{BLANK}4"),
        lambda: rankings._order(f"A{BLANK}B"),
        lambda: answers._by_field(f"answer:{BLANK}!", answer_form.PAIR),
        lambda: answer_form.PAIR.label(f"answer{BLANK}!"),
        lambda: answer_form.FIVE.label(f"score{BLANK}!"),
        lambda: prompt_file._head(f"---\nname{BLANK}!: x\n---\n"),
        lambda: prompt_file._head(f"---\nname: x{BLANK}x\n---\n"),
    ],
)
def test_no_text_is_read_for_long(read):
    begin = time.process_time()
    with suppress(Refused):
        read()
    assert time.process_time() - begin < 0.5


def test_what_a_request_reads_itself_is_not_long(alice, monkeypatch):
    """Where no worker takes a file: systems' outputs, conversations, judges' scores; a packed one by what it unpacks to."""
    monkeypatch.setattr("annotation.data.uploads.AT_ONCE", 2**20)
    system = alice.campaign.systems.first()
    doors = {
        "/c/talk/systems/": {"name": "New"},
        f"/c/talk/systems/{system.pk}/outputs/": {},
        "/c/talk/comparator/dialogues/": {},
        "/api/campaigns/talk/systems/": {"name": "New"},
        f"/api/campaigns/talk/systems/{system.pk}/outputs/": {},
        "/api/campaigns/talk/import/dialogues/": {},
        "/api/campaigns/talk/import/judge-scores/": {"judge": "Mine"},
    }
    packed = gzip.compress(b'{"context_id": "c0"}\n' * 60_000)
    for door, fields in doors.items():
        file = SimpleUploadedFile("x.jsonl.gz", packed)
        method = "PUT" if door.endswith("outputs/") and "/api/" in door else "POST"
        answer = alice.client.generic(method, door, encode_multipart(BOUNDARY, fields | {"file": file}), MULTIPART_CONTENT)
        page = alice.client.get(answer.url) if answer.status_code == 302 else answer
        assert "is longer than 1 MB" in text(page), door


@pytest.mark.parametrize(
    ("method", "door", "field"),
    [
        ("PATCH", "quality/datasheet/", "answers"),
        ("POST", "judges/", "judges"),
        ("POST", "judges/juries/", "judges"),
        ("POST", "trainings/", "others"),
    ],
)
@pytest.mark.parametrize("entry", ["1", "[1]", '{"a": 1}'])
def test_entries_of_a_list_that_is_too_long_are_not_looked_at(alice, method, door, field, entry):
    body = f'{{"{field}": [{",".join([entry] * 50_000)}]}}'
    begin = time.process_time()
    answer = alice.client.generic(method, f"/api/campaigns/talk/{door}", body, content_type="application/json")
    assert answer.status_code == 400 and "no more than" in answer.json()["message"]
    assert time.process_time() - begin < 0.5


def test_another_answer_under_a_key_is_not_said_to_be_stored(world):
    world.sign_in(world.bob)
    form = hidden(world.get("annotate/?start=1"))
    scores = {f"score_{criterion.pk}": criterion.low for criterion in world.campaign.criteria.all()}
    world.post("annotate/", form | scores)
    assert world.post("annotate/", form | scores).status_code == 303  # a double click
    changed = {name: value + 1 for name, value in scores.items()}
    answer = world.post("annotate/", form | changed)
    assert answer.status_code == 422 and "stored already, and it is another one" in text(answer)
    assert Submission.objects.get().payload == {"scores": {str(c.pk): c.low for c in world.campaign.criteria.all()}}
