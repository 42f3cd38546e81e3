"""From scores and judgments to pairs; every expected value is worked out by hand."""

import math

import numpy as np
import pytest

from evaluator.comparator.examples import aligned, softened
from evaluator.judges.texts import Text, context_key, fold_of
from evaluator.metaevaluation.pairs import JudgedPair, mean_scores, pairs_from_judgments, pairs_from_scores

HI, BYE = ("hi", "how are you ?"), ("bye",)
TEXTS = [Text(HI, "fine"), Text(HI, "no"), Text(HI, "what"), Text(BYE, "see you"), Text(BYE, "ok")]


def test_each_annotator_who_scored_both_votes():
    rows = [(0, "Ann", 5), (0, "Bob", 4), (0, "Cid", 2), (0, "Dee", 5), (1, "Ann", 3), (1, "Bob", 4), (1, "Cid", 3)]
    # Ann: 5 > 3 A. Bob: 4 = 4 tie. Cid: 2 < 3 B. Dee did not score text 1.
    assert pairs_from_scores(rows, TEXTS) == [JudgedPair(0, 1, (1 / 3, 1 / 3, 1 / 3), 3.0)]


def test_means_are_compared_where_nobody_scored_both():
    rows = [(0, "Ann", 4), (1, "Bob", 3.8), (2, "Cid", 3), (2, "Dee", 4)]  # means 4, 3.8, 3.5; margin 4/16 = 0.25
    assert pairs_from_scores(rows, TEXTS, scale=(1, 5)) == [
        JudgedPair(0, 1, (0.0, 1.0, 0.0), 1.0),
        JudgedPair(0, 2, (1.0, 0.0, 0.0), 1.0),
        JudgedPair(1, 2, (1.0, 0.0, 0.0), 1.0),
    ]


def test_a_difference_of_exactly_the_margin_is_no_tie():
    rows = [(0, "Ann", 3.75), (1, "Bob", 4)]
    assert pairs_from_scores(rows, TEXTS, scale=(1, 5)) == [JudgedPair(0, 1, (0.0, 0.0, 1.0), 1.0)]


def test_outputs_of_different_contexts_are_never_paired():
    rows = [(i, "Ann", i) for i in range(5)]
    assert [(p.a, p.b) for p in pairs_from_scores(rows, TEXTS)] == [(0, 1), (0, 2), (1, 2), (3, 4)]


def test_contexts_that_differ_in_case_and_spacing_are_one():
    texts = [Text(("Hi  there",), "a"), Text(("hi there ",), "b")]
    assert len(pairs_from_scores([(0, "Ann", 1), (1, "Ann", 2)], texts)) == 1


def test_no_scores_give_no_pairs():
    assert pairs_from_scores([], TEXTS) == []


def test_judgments_of_both_orders_are_counted_together():
    rows = [(0, 1, "Ann", "A"), (1, 0, "Bob", "A"), (0, 1, "Cid", "tie"), (1, 0, "Dee", "B"), (4, 3, "Ann", "A")]
    # Of (0, 1): Ann A; Bob says 1 is better: B; Cid tie; Dee says 0 is better: A.
    assert pairs_from_judgments(rows) == [
        JudgedPair(0, 1, (0.5, 0.25, 0.25), 4.0, "judgments"),
        JudgedPair(3, 4, (0.0, 0.0, 1.0), 1.0, "judgments"),
    ]


def test_an_unknown_choice_is_refused_and_never_a_tie():
    with pytest.raises(ValueError, match="C"):
        pairs_from_judgments([(0, 1, "Ann", "C")])


def test_a_text_is_not_compared_with_itself():
    with pytest.raises(ValueError, match="itself"):
        pairs_from_judgments([(1, 1, "Ann", "tie")])


@pytest.mark.parametrize(
    ("target", "choice"),
    [
        ((0.6, 0.2, 0.2), "A"),
        ((0.2, 0.2, 0.6), "B"),
        ((0.4, 0.2, 0.4), "tie"),
        ((0.5, 0.5, 0.0), "tie"),
        ((0.0, 1.0, 0.0), "tie"),
    ],
)
def test_the_choice_of_most_people(target, choice):
    assert JudgedPair(0, 1, target, 1.0).choice == choice


def test_mean_scores_run_from_0_to_1():
    means = mean_scores([(0, "Ann", 5), (0, "Bob", 4), (1, "Ann", 1)], 3, scale=(1, 5))
    assert means[:2] == [0.875, 0.0]
    assert math.isnan(means[2])


def test_key_keeps_turns_apart():
    assert context_key(("a b",)) != context_key(("a", "b"))
    assert context_key(("\ud800",))  # a lone surrogate has a key, too


def test_folds_are_balanced_stable_and_moved_by_the_seed():
    keys = [context_key((str(i),)) for i in range(20)]
    folds = fold_of(keys, 3, seed=0)
    assert sorted(list(folds.values()).count(fold) for fold in range(3)) == [6, 7, 7]
    assert fold_of(reversed(keys), 3, seed=0) == folds
    assert fold_of(keys, 3, seed=1) != folds


def test_more_folds_than_contexts_are_refused():
    with pytest.raises(ValueError, match="3 different contexts; there are 1"):
        fold_of(["x", "x"], 3, seed=0)


def test_scores_of_another_campaign_are_brought_to_the_mean_and_spread_of_the_first():
    like = np.array([0.2, 0.4, 0.6, np.nan])  # mean 0.4, spread 0.1633
    brought = aligned(np.array([0.9, np.nan, 1.0, 0.8]), like)  # mean 0.9, spread 0.0816: half of the other's
    assert brought[[0, 2, 3]] == pytest.approx([0.4, 0.6, 0.2])
    assert np.isnan(brought[1])


def test_how_sure_an_order_is_grows_with_the_difference_and_ties_stay():
    soft = softened(np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]), np.array([0.25, -0.5]))
    assert soft[0] == pytest.approx([0.8176, 0.0, 0.1824], abs=1e-4)  # 1 / (1 + exp(-1.5))
    assert soft[1] == pytest.approx([0.5 * 0.0474, 0.5, 0.5 * 0.9526], abs=1e-4)  # 1 / (1 + exp(3))
