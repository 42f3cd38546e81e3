"""The judges' table: its rows, their order, and what they lack."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from evaluator.judges.texts import Text
from evaluator.metaevaluation.judges_table import (
    CEILING,
    CONSTANT,
    LONGER,
    JudgeAnswers,
    JudgeRow,
    PeopleScores,
    as_json,
    table,
    tables,
)
from evaluator.metaevaluation.pairs import pairs_from_judgments, pairs_from_scores

CONTEXTS, SYSTEMS, ANNOTATORS = 24, 4, 5


def people(seed: int = 0, with_scores: bool = True) -> tuple[PeopleScores, np.ndarray]:
    """System 0 is human-written and better by far. Also the truth (n,)."""
    rng = np.random.default_rng(seed)
    c, s = np.repeat(np.arange(CONTEXTS), SYSTEMS), np.tile(np.arange(SYSTEMS), CONTEXTS)
    truth = np.where(s == 0, 4.6, 2.0 + 0.4 * s) + rng.normal(size=len(c)) * 0.6
    scores = np.clip(np.round(truth[:, None] + 0.7 * rng.normal(size=(len(c), ANNOTATORS))), 1, 5)
    texts = [Text((f"context {k}",), f"output {i}") for i, k in enumerate(c)]
    given = [(i, f"p{j}", scores[i, j]) for i in range(len(c)) for j in range(ANNOTATORS)]
    if with_scores:
        pairs = pairs_from_scores(given, texts, (1.0, 5.0))
    else:
        said = lambda d: "A" if d > 0 else "B" if d < 0 else "tie"
        pairs = pairs_from_judgments(
            (i, i + 1, f"p{j}", said(scores[i, j] - scores[i + 1, j]))
            for i in range(len(c) - 1)
            if c[i] == c[i + 1]
            for j in range(ANNOTATORS)
        )
        scores = np.full((len(c), ANNOTATORS), np.nan)
    return PeopleScores(scores, c, s, s == 0, rng.integers(3, 30, len(c)), tuple(pairs)), truth


def judges(truth: np.ndarray) -> list[JudgeAnswers]:
    rng = np.random.default_rng(9)
    good = 100 * truth + 20 * rng.normal(size=len(truth))
    knows_people = np.where(np.arange(len(truth)) % SYSTEMS == 0, 1.0, 0.0) + 0.01 * rng.normal(size=len(truth))
    partial = np.where(np.arange(len(truth)) < 12, np.nan, truth)
    return [
        JudgeAnswers("who wrote it", knows_people, seconds=1.5),
        JudgeAnswers("good", good, settings={"version": 1}),
        JudgeAnswers("partial", partial, lacks="3 contexts have no reference"),
        JudgeAnswers("nothing", np.full(len(truth), np.nan), lacks="no context has a reference"),
    ]


@pytest.fixture(scope="module")
def found():
    given, truth = people()
    return tables(given, judges(truth), "skilled", seed=0)


def test_rows_and_answers_come_back_from_json(found):
    given, truth = people()
    for judge in judges(truth) + [JudgeAnswers("pairs", truth, {(0, 1): "A", (1, 2): "tie"})]:
        again = JudgeAnswers.from_json(json.loads(json.dumps(judge.as_json(), allow_nan=False)))
        assert np.array_equal(again.utilities, judge.utilities, equal_nan=True)
        assert replace(again, utilities=truth) == replace(judge, utilities=truth)
    rows = [row for one in found.values() for row in one.rows]
    assert any(row.alternative for row in rows) and any(row.accuracy for row in rows) and any(row.changes for row in rows)
    for row in rows:
        assert JudgeRow.from_json(json.loads(json.dumps(asdict(row)))) == row


def test_the_order_of_the_rows(found):
    names = [row.name for row in found["all"].rows]
    assert names == [CEILING, "good", "who wrote it", LONGER, CONSTANT, "partial", "nothing"]  # the last two judged fewer
    assert [row.kind for row in found["all"].rows if row.name in (CEILING, LONGER, "good")] == ["ceiling", "judge", "baseline"]


def test_without_human_rows_knowing_who_wrote_it_is_worth_nothing(found):
    rows = {scope: {row.name: row for row in t.rows} for scope, t in found.items()}
    assert rows["all"]["who wrote it"].correlations["sample_pearson"].value > 0.6
    assert abs(rows["without_human"]["who wrote it"].correlations["sample_pearson"].value) < 0.3
    assert rows["without_human"]["good"].correlations["sample_pearson"].value > 0.6
    assert [rows[scope]["good"].outputs for scope in ("all", "without_human")] == [96, 72]


def test_what_a_row_says(found):
    rows = {row.name: row for row in found["all"].rows}
    good, partial, nothing = rows["good"], rows["partial"], rows["nothing"]
    assert (partial.outputs, partial.lacks) == (84, "3 contexts have no reference")
    assert good.accuracy.low < good.accuracy.value < good.accuracy.high and good.accuracy.value > 0.8
    assert good.pairs == 144 and 0.5 < good.three_way < 1 and partial.pairs == 126
    assert (good.alternative.epsilon, good.alternative_of, good.settings) == (0.15, "scores", {"version": 1})
    assert len(good.alternative.comparisons) == ANNOTATORS and good.alternative.passes
    assert not rows[LONGER].alternative.passes and rows["who wrote it"].seconds == 1.5
    assert (nothing.outputs, nothing.pairs, nothing.accuracy, nothing.correlations) == (0, 0, None, {})
    assert nothing.alternative is None and "No annotator shares 30" in nothing.alternative_of
    assert rows[CEILING].correlations["sample_pearson"].value > 0.6 and rows[CEILING].alternative is None


def test_every_two_judges_are_compared(found):
    compared = {(d.first, d.second): d for d in found["all"].differences}
    assert set(compared) == {
        ("who wrote it", "good"),
        ("who wrote it", "partial"),
        ("who wrote it", LONGER),
        ("good", "partial"),
        ("good", LONGER),
        ("partial", LONGER),
    }
    assert compared["good", LONGER].corrected < 0.05 and compared["good", LONGER].difference > 0.5


def test_it_is_json(found):
    assert json.loads(json.dumps(as_json(found["all"]), default=str))["rows"][0]["name"] == CEILING


def test_judgments_of_pairs_alone():
    given, truth = people(with_scores=False)
    said = {(p.a, p.b): "A" if truth[p.a] > truth[p.b] else "B" for p in given.pairs}
    ties = {pair: "tie" for pair in said}
    every = [JudgeAnswers("sure", truth, said), JudgeAnswers("ties", truth, ties), JudgeAnswers("utilities", truth)]
    found = table(given, every, "crowd", 0)
    rows = {row.name: row for row in found.rows}
    better = {(d.first, d.second): d for d in found.differences}
    assert better["sure", "ties"].difference == pytest.approx(rows["sure"].accuracy.value - 0.5)
    assert better["sure", "ties"].corrected < 0.05 and better["sure", "utilities"].permutation == 1
    assert CONSTANT not in rows and rows["sure"].correlations == {}
    assert rows["sure"].accuracy.value > 0.85 and rows["ties"].accuracy.value == pytest.approx(0.5)
    tied = np.mean([p.choice == "tie" for p in given.pairs])
    assert rows["ties"].three_way == pytest.approx(tied) and 0 < tied < 0.3
    assert rows["sure"].alternative_of == "pairs" and rows["sure"].alternative.passes and not rows["ties"].alternative.passes
    assert rows["utilities"].accuracy.value == pytest.approx(rows["sure"].accuracy.value)
    assert rows[CEILING].accuracy.value > 0.5 and rows[CEILING].correlations == {}


def test_a_pair_that_was_not_asked_about_is_left_out():
    given, truth = people(with_scores=False)
    few = {(p.a, p.b): p.choice for p in given.pairs[:10]}
    found = table(given, [JudgeAnswers("few", truth, few)], "crowd", 0)
    row = next(row for row in found.rows if row.name == "few")
    assert row.pairs == 10 and row.three_way in (None, 1.0)
    assert found.differences[0].n == sum(choice != "tie" for choice in few.values())
