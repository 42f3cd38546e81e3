"""A campaign whose snapshot holds judgments of pairs by criterion alone: it has no board of people, and every page says so."""

import pytest
from django.test import Client

from annotation.assessment.assess import assess
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.importer import import_file
from annotation.models import Campaign, User
from core.errors import Refused
from evaluator.roster import judge_named
from leaderboard.tournaments.start import start_tournament
from tests.evaluator.world import write

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(tmp_path) -> Campaign:
    alice = User.objects.create_user("alice")
    made = create_campaign(
        slug="wit", title="Wit", criteria=[CriterionSpec("Wit", low=1, high=5)], likert=False, pairwise=True, user=alice
    )
    rows = [
        {"context_id": f"c{c}", "context": "?", "system_a": "m1", "output_a": f"one {c}", "system_b": "m2"}
        | {"output_b": f"two {c}", "annotator": who, "choice": "A", "aspect": "Wit"}
        for c in range(4)
        for who in ("Ann", "Bob")
    ]
    import_file(made, "judgments", write(tmp_path, "judgments.jsonl", rows))
    scores = [{"context_id": f"c{c}", "system": m, "judge": "metric", "score": c} for c in range(4) for m in ("m1", "m2")]
    import_file(made, "judge_scores", write(tmp_path, "metric.jsonl", scores))
    assess(made)
    return made


def test_people_have_no_board_and_read_why(campaign):
    for criterion in (None, "Wit", ""):
        with pytest.raises(Refused, match="by criterion only. People's boards rest on scores or on overall judgments of pairs"):
            start_tournament(campaign, "people", criterion=criterion)


def test_a_judge_plays_all_the_same(campaign):
    assert start_tournament(campaign, "judge", judge_named(campaign, "metric")).criterion == ""


@pytest.mark.parametrize(
    "page", ["leaderboard/", "leaderboard/beside/", "leaderboard/history/", "leaderboard/breakdown/", "systems/"]
)
def test_its_pages_open(campaign, page):
    client = Client()
    client.force_login(User.objects.get(username="alice"))
    assert client.get(f"/c/wit/{page}").status_code == 200


def test_the_api_has_no_board_and_lists_systems(campaign):
    client = Client()
    client.force_login(User.objects.get(username="alice"))
    assert client.get("/api/campaigns/wit/leaderboard/").status_code == 404
    assert [row["name"] for row in client.get("/api/campaigns/wit/systems/").json()] == ["m1", "m2"]
