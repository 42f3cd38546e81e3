"""Data that hardly are any: a defined answer or a sentence why there is none, in the command, the page and the API."""

import json
import re

import pytest
from django.core.management import CommandError, call_command

from annotation.models import LikertScore, Output, User
from annotation.people.accounts import add_annotator
from tests.annotation.pages import text

pytestmark = pytest.mark.django_db

ONE = "Only one rater gave scores, so there is nobody to agree with."
EQUAL = "All scores are equal, so agreement beyond chance is not defined."
MISSING = "No unit has scores from two raters."

CASES = {
    "one annotator": ([[1, 2, 3, 4, 5, 1]], "undefined", ONE),
    "all equal": ([[3] * 6] * 3, "undefined", EQUAL),
    "all missing but one": ([[4, None, None, None, None, None]], "undefined", ONE),
    "nobody shares an output": ([[1, 2, 3, None, None, None], [None, None, None, 1, 2, 3]], "undefined", MISSING),
    "two categories never used": ([[1, 5, 1, 5, 1, 5]] * 3, "accepted", "Alpha is 1.000 before the filter"),
    "MAD is 0 everywhere": ([[1, 2, 3, 4, 5, 1]] * 2 + [[2, 2, 3, 4, 5, 1]], "accepted", "Alpha is 0.975 before the filter"),
}


@pytest.fixture(params=CASES)
def case(request, world):
    """(world, verdict, the beginning of the reason)."""
    rows, verdict, sentence = CASES[request.param]
    overall = world.campaign.criteria.get(name="Overall")
    for n, row in enumerate(rows):
        person = add_annotator(world.campaign, User.objects.create_user(f"judge{n}"))
        for output, value in zip(Output.objects.order_by("pk"), row):
            if value is not None:
                LikertScore.objects.create(annotator=person, output=output, criterion=overall, value=value)
    return world, verdict, sentence


def test_in_the_command(case, capsys):
    world, verdict, sentence = case
    call_command("assess_quality", "talk", "--level", "interval", "--json")
    (criterion,) = json.loads(capsys.readouterr().out)["criteria"]
    assert criterion["verdict"] == verdict and criterion["reason"].startswith(sentence)
    assert (criterion["alpha_after"] is None) == (verdict == "undefined")


def test_the_command_says_it_in_sentences(case, capsys):
    world, verdict, sentence = case
    call_command("assess_quality", "talk", "--level", "interval")
    said = capsys.readouterr().out
    assert f"Overall: {verdict}. {sentence}" in said and "{" not in said


def test_on_every_page(case):
    world, verdict, sentence = case
    world.sign_in(world.alice)
    page = text(world.get("quality/preview/", data={"mad": "1", "level": "interval", "on_zero_mad": "drop"}))
    assert sentence in page and not re.search(r"\bnan\b", page)  # three letters alone may stand in a token
    for path in ("quality/", "quality/annotators/", "quality/disagreement/", "quality/study/", "quality/report/"):
        assert world.get(path).status_code == 200, path


def test_in_the_api(case):
    world, verdict, sentence = case
    world.sign_in(world.alice)
    figures = world.client.get("/api/campaigns/talk/quality/", {"level": "interval"}).json()
    assert figures["questions"][0]["report"]["reason"].startswith(sentence)
    people = world.client.get("/api/campaigns/talk/quality/annotators/").json()["people"]
    assert all(not person["flagged"] for person in people)


def test_no_answers_at_all(world):
    with pytest.raises(CommandError, match="nothing to assess"):
        call_command("assess_quality", "talk")
    answer = world.sign_in(world.alice).client.get("/api/campaigns/talk/quality/")
    assert answer.status_code == 422 and "nothing to assess" in answer.json()["message"]
    assert world.client.get("/api/campaigns/talk/quality/study/").json() == {"criteria": []}
    assert world.client.get("/api/campaigns/talk/snapshots/").json()["results"] == []


def test_the_api_is_for_researchers(scored):
    for what in ("quality", "quality/annotators", "quality/study", "snapshots"):
        assert scored.sign_in(scored.charlie).client.get(f"/api/campaigns/talk/{what}/").status_code == 404
    assert scored.sign_in(scored.alice).client.get("/api/campaigns/talk/quality/", {"level": "x"}).status_code == 400
