"""A criterion with scores and judgments of pairs by it: what the board prints is in the unit that its head names."""

import random
from dataclasses import replace

import pytest

from annotation.assessment.assess import assess
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.importer import import_judgments, import_outputs, import_scores
from annotation.models import Campaign
from leaderboard.boards import exports, queries
from leaderboard.boards.board import Board
from leaderboard.boards.tree import to_json
from leaderboard.rating.crossed import joint_board
from tests.evaluator.world import SYSTEMS, outputs, write
from tests.leaderboard.played import by_people

pytestmark = pytest.mark.django_db
PEOPLE = [f"p{n}" for n in range(6)]
PAIRS = 12 * 6 * 6  # contexts, pairs of four systems, people


@pytest.fixture
def campaign(tmp_path) -> Campaign:
    """On four of twelve contexts people also give scores, from 1 to 5."""
    made = create_campaign(slug="both", criteria=[CriterionSpec("Overall")], pairwise=True, pairwise_by_criterion=True)
    rows, draw = outputs(), random.Random(0)
    import_outputs(made, write(tmp_path, "outputs.jsonl", rows), human_systems=["Person"])
    text = {(row["context_id"], row["system"]): row for row in rows}
    scored = [row for row in rows if row["context_id"] < "c04"]
    scores = [
        {name: row[name] for name in ("context_id", "system")}
        | {"aspect": "Overall", "annotator": who, "score": draw.randint(1, 5)}
        for row in scored
        for who in PEOPLE
    ]
    import_scores(made, write(tmp_path, "scores.jsonl", scores))
    pairs = []
    for context in sorted({row["context_id"] for row in rows}):
        for n, a in enumerate(SYSTEMS):
            for b in list(SYSTEMS)[n + 1 :]:
                one, other = text[context, a], text[context, b]
                about = {"context_id": context, "context": one["context"], "aspect": "Overall", "system_a": a, "system_b": b}
                about |= {"output_a": one["output"], "output_b": other["output"]}
                chosen = [draw.choice(["A", "A", "A", "tie", "B"]) for _ in PEOPLE]
                pairs += [about | {"annotator": who, "choice": choice} for who, choice in zip(PEOPLE, chosen)]
    import_judgments(made, write(tmp_path, "pairs.jsonl", pairs))
    assess(made)
    return made


def played(campaign) -> Board:
    tournament = by_people(campaign, criterion="Overall")
    return queries.board(tournament)


def test_scores_of_a_joint_board_stand_on_the_scale(campaign):
    """Everybody scored every system on the same contexts, so that the estimates' mean is that of the systems' mean scores."""
    board = played(campaign)
    assert (board.method.name, board.question.unit, board.question.high) == ("joint-mixed-model", "points", 5)
    own, means = [row.own for row in board.standings], [row.human_mean for row in board.standings]
    assert sum(one.value for one in own) / 4 == pytest.approx(sum(means) / 4, abs=0.01)
    assert all(1 <= one.low < one.value < one.high <= 5 for one in own)
    apart = {(pair.upper, pair.lower): pair.own.value for pair in board.differences}
    assert own[0].value - own[3].value == pytest.approx(apart[board.standings[0].system, board.standings[3].system], abs=0.001)


def test_where_pairs_alone_are_read_nothing_is_called_a_score(campaign, monkeypatch):
    """As where the scores would make all less surely known: they are left out, and counted nowhere else."""
    alone = lambda both, scores, pairs: replace(pairs, omitted=len(scores.answered.left))
    monkeypatch.setattr(joint_board, "_narrowest", alone)
    board = played(campaign)
    assert (board.question.unit, board.question.low, board.question.high) == ("share", None, None)
    assert all(0 < row.own.low < row.own.value < row.own.high < 1 for row in board.standings)
    assert "% (" in exports.as_text(board) and "score" not in exports.as_text(board).splitlines()[1]
    assert board.basis.people.answers == board.provenance.rests_on == PAIRS
    assert sum(row.answers for row in board.standings) == 2 * PAIRS  # two systems each
    assert sum(row.wins + row.ties + row.losses for row in board.standings) == 2 * PAIRS


def test_boards_of_before_say_no_wrong_score(campaign):
    tournament = by_people(campaign, criterion="Overall")
    before = replace(queries.stored(tournament), schema=2)
    tournament.board = to_json(before)
    assert all(row.own is None for row in queries.board(tournament).standings)
    corrected = replace(before, method=replace(before.method, name="corrected-mixed-model"))
    tournament.board = to_json(corrected)
    assert all(row.own is None for row in queries.board(tournament).standings)
    people = replace(before.basis.people, kind="pairs")
    tournament.board = to_json(replace(corrected, basis=replace(before.basis, people=people)))
    assert queries.board(tournament).question.unit == "share"
    of_pairs = replace(before, method=replace(before.method, name="bradley-terry-mixed-model"))
    tournament.board = to_json(of_pairs)
    assert queries.board(tournament).question.unit == "share"
