"""The harness of undeclared topics and the way that people take give the same board: import, assess, freeze, play."""

import pytest
from django.core.management import call_command

from annotation.models import Campaign
from benchmarks.validity import undeclared
from benchmarks.validity.imported import lines, scores
from benchmarks.validity.texted import Texted, draw
from leaderboard.boards import queries

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def outputs(campaign, answered):
    for c, prompt in enumerate(answered.prompts):
        for s in range(campaign.systems):
            yield {"context_id": f"c{c:03}", "context": [prompt], "system": f"s{s}", "output": answered.outputs[c][s]}


@pytest.mark.parametrize(
    "campaign",
    [
        Texted(topics=4, words="topic", contexts=32, people=6),
        Texted(contexts=24, copies=4, copy="spelling", people=6, prompt=0.8),
    ],
    ids=["topics", "copies"],
)
def test_the_commands_give_the_harness_board(tmp_path, campaign):
    answered = draw(campaign, 5)
    alone, expected, _, grouped = undeclared.boards(campaign, answered)
    assert grouped and expected.high.tolist() != pytest.approx(alone.high.tolist(), abs=1)
    call_command("create_campaign", "crowd", "--criterion", "Quality:1:5")
    call_command("import_outputs", "crowd", lines(tmp_path / "outputs.jsonl", outputs(campaign, answered)))
    call_command("import_scores", "crowd", lines(tmp_path / "scores.jsonl", scores(answered)))
    call_command("assess_quality", "crowd")
    call_command("run_tournament", "crowd", "--basis", "people", "--criterion", "Quality", "--wait")
    tournament = Campaign.objects.get(slug="crowd").tournaments.get()
    rows = {row.name: row for row in tournament.ratings.all()}
    found = [rows[f"s{i}"] for i in range(campaign.systems)]
    assert [row.rating for row in found] == pytest.approx(expected.rating.tolist(), abs=0.01)
    assert [row.low for row in found] == pytest.approx(expected.low.tolist(), abs=0.05)
    assert [row.high for row in found] == pytest.approx(expected.high.tolist(), abs=0.05)
    assert "|groups:texts|" in tournament.signature
    board = queries.board(tournament)
    assert board.population.groups < campaign.contexts
    assert any("Contexts whose texts are alike were judged alike" in doubt.text for doubt in board.doubts)
