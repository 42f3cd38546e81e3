"""The harness and the way that people take give the same board: import, assess with the default filter, freeze, play."""

from dataclasses import replace

import numpy as np
import pytest

from annotation.quality.mad import keep_mask
from benchmarks.questions import asked, conditional
from benchmarks.questions.asked import Asked
from benchmarks.validity import default_path, imported, planned
from benchmarks.validity import rows as row_files
from benchmarks.validity.crowds import Crowd, Entered, draw, scenarios
from leaderboard.boards import queries

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("form", ["scores", "pairs"])
def test_the_commands_give_the_harness_board(tmp_path, form):
    crowd = Crowd((0.0, 0.3, 0.6), people=6, contexts=12, form=form)
    entered = draw(crowd, 3)
    expected = default_path.board(crowd, entered)
    board = imported.played(tmp_path, crowd, entered)
    rows = {r.name: r for r in board.ratings.all()}
    found = [rows[f"s{i}"] for i in range(3)]
    assert [row.rating for row in found] == pytest.approx(expected.rating.tolist(), abs=0.01)
    assert [row.low for row in found] == pytest.approx(expected.low.tolist(), abs=0.05)
    assert [row.high for row in found] == pytest.approx(expected.high.tolist(), abs=0.05)
    assert [(row.rank_low, row.rank_high) for row in found] == list(zip(expected.rank_low, expected.rank_high))


@pytest.mark.parametrize("more", [{}, {"pairs_too": 200}], ids=["alone", "beside scores"])
def test_nobody_judges_a_pair_twice(more):
    """A campaign has one answer of each person to each pair."""
    crowd = Crowd(people=6, contexts=12, form="scores" if more else "pairs", **more)
    entered = draw(crowd, 3)
    sides = np.sort(np.stack([entered.first, entered.second]), axis=0)
    judged = np.stack([entered.pair_context, *sides, entered.pair_person])
    assert np.unique(judged, axis=1).shape[1] == judged.shape[1] == (200 if more else 12 * 5 * 3)


def kept(entered: Entered) -> np.ndarray:
    """(scores,) what the default filter keeps, by the table that the assessment makes."""
    _, column = np.unique(entered.context * (entered.system.max() + 1) + entered.system, return_inverse=True)
    _, row = np.unique(entered.person, return_inverse=True)
    table = np.full((row.max() + 1, column.max() + 1), np.nan)
    table[row, column] = entered.value
    return keep_mask(table)[row, column]


def test_the_filter_changes_no_board(tmp_path):
    """What it drops is counted all the same: 12 contexts x 3 systems x 3 scores."""
    crowd = Crowd((0.0, 0.3, 0.6), people=6, contexts=12)
    entered = draw(crowd, 3)
    assert kept(entered).sum() < len(entered.value) == 108
    board = imported.played(tmp_path, crowd, entered, "--mad", "0.5")
    assert board.played == 108
    assert [r.rating for r in board.ratings.order_by("name")] == pytest.approx(
        default_path.board(crowd, entered).rating.tolist(), abs=0.01
    )


def test_contexts_of_a_topic_are_a_group_that_nobody_declared(tmp_path, monkeypatch):
    """The board says so, and its intervals are wider than with contexts that are all apart."""
    crowd = Crowd((0.0, 0.3, 0.6, 0.9), people=6, contexts=32, topics=4, topic=2.0)
    texts = ["a ship sails the sea", "flour for a cake", "who won that match", "my knee hurts"]
    alone = ({name: said for name, said in row.items() if name != "group"} for row in row_files.outputs(crowd))
    rows = [row | {"context": [texts[int(row["context_id"][1:]) % 4]]} for row in alone]
    monkeypatch.setattr(row_files, "outputs", lambda crowd: iter(rows))
    entered = draw(crowd, 5)
    found, alone = imported.played(tmp_path, crowd, entered), default_path.board(crowd, entered)
    width = {r.name: r.high - r.low for r in found.ratings.all()}
    assert all(width[f"s{i}"] > alone.high[i] - alone.low[i] for i in range(4))
    board = queries.board(found)
    assert "|groups:texts|" in found.signature and board.population.groups < 32
    assert any("Contexts whose texts are alike were judged alike" in doubt.text for doubt in board.doubts)


def test_every_scenario_is_of_equal_systems():
    assert all(len(set(crowd.strengths)) == 1 for crowd in scenarios().values())


@pytest.mark.parametrize("row", ["scores, 5 systems, one polarises, named, pilot of 20", "pairs, 2 systems, pilot of 8"])
def test_the_commands_give_the_harness_plan(tmp_path, row):
    """The same smallest difference from the imported pilot, and the same statement of the imported campaign."""
    one = planned.scenarios()[row]
    smaller = replace(one, crowd=replace(one.crowd, contexts=20), pilot_contexts=10)
    smaller.compared(tmp_path, 5)
    assert 0 < smaller.simulate(smaller.truth(), 5)["wanted"] < 2


def test_marks_and_grades_go_through_the_commands(tmp_path):
    """Pairs with "both bad" and "cannot say", and marked errors: the board says what the harness says of the answers."""
    for kind in ("how much better, both bad and cannot say", "sum of marked errors' weights"):
        Asked(kind).compared(tmp_path, 3)


def test_what_some_answers_decide_goes_through_the_commands(tmp_path, monkeypatch):
    """Harm where somebody said below 3, of 20 contexts: the same board by commands as by the harness."""
    monkeypatch.setattr(conditional, "CONTEXTS", 20)
    monkeypatch.setattr(asked, "LARGER", replace(asked.LARGER, contexts=20))
    Asked("asked only below 3, luck of its own").compared(tmp_path, 3)


def drawn_difference(crowd: Crowd, seed: int) -> float:
    entered = draw(crowd, seed)
    if crowd.form == "pairs":
        return float(np.where(entered.first == 1, entered.outcome, -entered.outcome).mean()) / 2
    return float(entered.value[entered.system == 1].mean() - entered.value[entered.system == 0].mean())


@pytest.mark.parametrize("form", ["scores", "pairs"])
def test_the_difference_that_is_planned_is_the_true_one(form):
    """The formula beside the mean of 3,000 small campaigns, each with other people and contexts: 4 standard errors."""
    crowd = Crowd((0.0, 0.7), people=3, contexts=4, k=1, form=form, polarising=1.0)
    drawn = np.array([drawn_difference(crowd, seed) for seed in range(3000)])
    assert abs(drawn.mean() - planned.difference(crowd, 0.7)) < 4 * drawn.std() / np.sqrt(len(drawn)) < 0.1
