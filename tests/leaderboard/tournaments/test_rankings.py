"""A file of rankings, through import, filter and default board."""

import io
import json

import krippendorff
import numpy as np
import pytest
from django.core.management import call_command

from annotation.assessment.assess import assess
from annotation.campaigns.lifecycle import create_campaign
from annotation.data.importer import import_judgments
from leaderboard.models import Tournament
from leaderboard.rating.rankings.board import board_from_rankings
from tests.evaluator.world import write

pytestmark = pytest.mark.django_db
SYSTEMS, CONTEXTS, PEOPLE = ("ant", "bee", "cat", "dog"), 24, 6


def sheets() -> list[tuple[int, int, list[int]]]:
    """(context, person, the rank of each system): everybody ranks all four on every other context, with ties."""
    rng = np.random.default_rng(5)
    places = [(c, p) for c in range(CONTEXTS) for p in range(PEOPLE) if (c + p) % 2]
    return [(c, p, np.round(np.array([0, 0.5, 1, 1.6]) + rng.gumbel(size=4)).astype(int).tolist()) for c, p in places]


@pytest.fixture(scope="module")
def found(django_db_setup, django_db_blocker, tmp_path_factory):
    """(the board as JSON, what the page says, agreement as JSON), made once."""
    from tests.evaluator.fixtures import rows_for_a_module

    with rows_for_a_module(django_db_blocker), django_db_blocker.unblock():
        campaign = create_campaign(slug="ranked", criteria=[], likert=False, pairwise=True)
        rows = []
        for context, person, ranks in sheets():
            order = [[s for s, at in zip(SYSTEMS, ranks, strict=True) if at == rank] for rank in sorted(set(ranks))]
            about = {"context_id": f"c{context}", "context": f"Q {context}", "annotator": f"p{person}"}
            texts = {system: f"{system} says {context}" for system in SYSTEMS}
            rows.append(about | {"outputs": texts, "ranking": order})
        import_judgments(campaign, write(tmp_path_factory.mktemp("ranked"), "rankings.jsonl", rows))
        assess(campaign)
        call_command("run_tournament", "ranked", "--basis", "people", "--wait", stdout=io.StringIO())
        printed = {}
        for command in ("leaderboard", "assess_quality"):
            out = io.StringIO()
            call_command(command, "ranked", "--json", stdout=out)
            printed[command] = json.loads(out.getvalue())
        text = io.StringIO()
        call_command("leaderboard", "ranked", stdout=text)
        yield printed["leaderboard"], text.getvalue(), printed["assess_quality"]["pairwise"], Tournament.objects.get()


def test_the_board_is_plackett_and_luces(found):
    board, text, _, _ = found
    places = [(n, s, rank) for n, (_, _, ranks) in enumerate(sheets()) for s, rank in enumerate(ranks)]
    context, person = np.array([(c, p) for c, p, _ in sheets()]).T
    expected = board_from_rankings(4, *np.array(places).T, context, person)
    rows = {row["system"]: row for row in board["standings"]}
    assert board["method"]["name"] == "plackett-luce" and "Plackett-Luce" in text
    pairs, rankings = 6 * len(sheets()), len(sheets())  # of four systems
    assert f"{pairs} judgments of pairs in {rankings} rankings by {PEOPLE} annotators" in text
    assert "Judged by people, on rankings." in text
    for system, name in enumerate(SYSTEMS):
        about = expected.rating[system], expected.low[system], expected.high[system]
        assert [rows[name][part] for part in ("rating", "low", "high")] == pytest.approx(about, abs=0.06)
    known = {(row["upper"], row["lower"]) for row in board["differences"] if row["known"]}
    assert known == {(SYSTEMS[i], SYSTEMS[j]) for i, j in np.argwhere(expected.above)} and known


def test_agreement_is_that_of_the_pairs(found):
    """Krippendorff's alpha of the pairs, each in both orders, by the package of that name."""
    _, _, agreement, _ = found
    pairs = [(i, j) for i in range(4) for j in range(4) if i != j]
    told = np.full((PEOPLE, CONTEXTS * len(pairs)), np.nan)
    for context, person, ranks in sheets():
        told[person, context * 12 : context * 12 + 12] = [np.sign(ranks[j] - ranks[i]) for i, j in pairs]
    expected = krippendorff.alpha(told, level_of_measurement="nominal")
    assert agreement["alpha"] == pytest.approx(expected, abs=1e-4)
