"""Agreement, its interval and what references are worth, against hand arithmetic."""

import numpy as np
import pytest

from evaluator.comparator.settings import Settings
from evaluator.comparator.training.out_of_fold import HeldOut, judge
from evaluator.judges.texts import Text
from evaluator.metaevaluation.agreement import agreement
from evaluator.metaevaluation.held_out import evaluate
from evaluator.metaevaluation.pairs import JudgedPair
from evaluator.metaevaluation.resampling import bootstrap


def test_agreement_counts_equal_utilities_half():
    assert agreement(np.array([2.0, 2.0, 0.0]), np.array(["A", "B", "B"])).tolist() == [1.0, 0.0, 0.5]


def test_evaluate_by_hand():
    context = ("hi",)
    texts = [Text(context, "a b c"), Text(context, "a"), Text(context, "a b")]
    pairs = [
        JudgedPair(0, 1, (1.0, 0.0, 0.0), 1.0),  # longer wins; u agrees
        JudgedPair(0, 2, (0.0, 0.0, 1.0), 1.0),  # longer loses; u disagrees
        JudgedPair(1, 2, (0.0, 1.0, 0.0), 1.0),  # a tie: neither counts
    ]
    found = evaluate(np.array([3.0, 0.0, 0.1]), texts, pairs, np.zeros(3, int), np.array([0, 0, 1]), seed=0)
    assert found.heldout_pairwise_accuracy == 0.5
    assert found.longer_is_better_accuracy == 0.5
    assert found.heldout_pairwise_interval == (0.5, 0.5)  # one context: nothing to resample
    # Fold 1's share of ties is 1: everything in fold 0 below 0.1 is a tie: A, A. Fold 0 has none: fold 1 says B.
    assert found.heldout_three_way_accuracy == pytest.approx(1 / 3)


def test_interval_resamples_contexts_not_pairs():
    values = np.array([1.0] * 50 + [0.0] * 50)
    two_contexts = bootstrap(values, np.array([0] * 50 + [1] * 50), seed=0)
    hundred = bootstrap(values, np.arange(100), seed=0)
    assert two_contexts == (0.0, 1.0)
    assert 0.35 < hundred[0] < 0.45 < 0.55 < hundred[1] < 0.65


class TestReferences:
    """Twelve contexts with three outputs, of which people prefer the one that is more like what people answered."""

    @pytest.fixture
    def likeness(self):
        return np.tile([0.01, 0.02, 0.03], 12)

    def judged(self, likeness, liked=0.9, **changed):
        texts = [Text((f"c{i // 3}",), f"w{i}") for i in range(36)]
        targets = (1 - liked, 0.0, liked)
        pairs = [JudgedPair(3 * c + i, 3 * c + j, targets, 1.0) for c in range(12) for i, j in ((0, 1), (0, 2), (1, 2))]
        raw, contexts = np.random.default_rng(0).normal(size=36), np.arange(36) // 3
        settings = Settings(**{"guards": False} | changed)
        scores = np.full(36, np.nan)
        return judge(HeldOut(raw, likeness, scores, texts, contexts, contexts % 3, pairs), settings, 0), raw, texts

    def test_they_count_where_people_like_what_is_like_them(self, likeness):
        found, raw, texts = self.judged(likeness)
        assert found.head.references > 0 and found.agreement.heldout_pairwise_accuracy > 0.9
        u = found.head.utilities(found.head.mixed(raw, likeness), texts, np.zeros(36))
        assert (np.diff(u.reshape(12, 3)) > 0).mean() > 0.9

    def test_they_count_before_it_is_sure(self, likeness):
        """By hand: six of ten on 36 pairs are a likelihood ratio of 72 (log 2 - H(0.6)) = 1.4, far from what is sure."""
        found, _, _ = self.judged(likeness, liked=0.6)
        without, _, _ = self.judged(likeness, liked=0.6, references=False)
        assert found.head.references > 0
        assert found.agreement.heldout_pairwise_accuracy > without.agreement.heldout_pairwise_accuracy

    def test_not_where_they_say_nothing_or_are_switched_off(self, likeness):
        for found, raw, _ in (
            self.judged(likeness, liked=0.5),
            self.judged(likeness, references=False),
            self.judged(np.zeros(36)),
        ):
            assert found.head.references == 0 and found.utilities == pytest.approx(found.head.scale * raw)
