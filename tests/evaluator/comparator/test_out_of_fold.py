"""Agreement, its interval and what length is worth, against hand arithmetic."""

import numpy as np
import pytest

from evaluator.comparator.examples import Pair, Text
from evaluator.comparator.length_bias import log_words
from evaluator.comparator.settings import Settings
from evaluator.comparator.training.out_of_fold import agreement, bootstrap, evaluate, judge


def test_agreement_counts_equal_utilities_half():
    assert agreement(np.array([2.0, 2.0, 0.0]), np.array(["A", "B", "B"])).tolist() == [1.0, 0.0, 0.5]


def test_evaluate_by_hand():
    context = ("hi",)
    texts = [Text(context, "a b c"), Text(context, "a"), Text(context, "a b")]
    pairs = [
        Pair(0, 1, (1.0, 0.0, 0.0), 1.0),  # longer wins; u agrees
        Pair(0, 2, (0.0, 0.0, 1.0), 1.0),  # longer loses; u disagrees
        Pair(1, 2, (0.0, 1.0, 0.0), 1.0),  # a tie: neither counts
    ]
    found = evaluate(np.array([3.0, 0.0, 0.1]), texts, pairs, np.zeros(3, int), np.array([0, 0, 1]), seed=0)
    assert found.pairwise_accuracy == 0.5
    assert found.longer_accuracy == 0.5
    assert found.pairwise_interval == (0.5, 0.5)  # one context: nothing to resample
    # Fold 1's share of ties is 1: everything in fold 0 below 0.1 is a tie: A, A. Fold 0 has none: fold 1 says B.
    assert found.three_way_accuracy == pytest.approx(1 / 3)


def test_interval_resamples_contexts_not_pairs():
    values = np.array([1.0] * 50 + [0.0] * 50)
    two_contexts = bootstrap(values, np.array([0] * 50 + [1] * 50), seed=0)
    hundred = bootstrap(values, np.arange(100), seed=0)
    assert two_contexts == (0.0, 1.0)
    assert 0.35 < hundred[0] < 0.45 < 0.55 < hundred[1] < 0.65


class TestLength:
    """Twelve contexts with a short, a middling and a long output, of which people prefer the longer with 9 in 10."""

    WORDS = (2, 8, 32)

    @pytest.fixture
    def texts(self):
        return [Text((f"c{c}",), " ".join(f"w{c}-{i}" for i in range(n))) for c in range(12) for n in self.WORDS]

    @pytest.fixture
    def raw(self):
        return np.random.default_rng(0).normal(size=36)

    def pairs(self, longer=0.9, turned=()):
        targets = [(longer if c not in turned else 1 - longer) for c in range(12)]
        return [
            Pair(3 * c + i, 3 * c + j, (1 - targets[c], 0.0, targets[c]), 1.0)
            for c in range(12)
            for i, j in ((0, 1), (0, 2), (1, 2))
        ]

    def judged(self, raw, texts, pairs, **changed):
        contexts = np.arange(36) // 3
        settings = Settings(**{"guards": False} | changed)
        return judge(raw, np.zeros(36), np.zeros(36), np.full(36, np.nan), texts, pairs, contexts, contexts % 3, 0, settings)

    def test_it_counts_where_people_like_long_outputs(self, raw, texts):
        found = self.judged(raw, texts, self.pairs())
        assert found.head.length > 0 and found.agreement.pairwise_accuracy == 1.0
        u = found.head.utilities(raw, texts, np.zeros(36), np.zeros(36))
        assert (np.diff(u.reshape(12, 3)) > 0).all()

    def test_not_where_it_is_not_sure(self, raw, texts):
        for pairs in (self.pairs(longer=0.55), self.pairs(longer=0.1)):
            found = self.judged(raw, texts, pairs)
            assert found.head.length == 0 and found.utilities == pytest.approx(found.head.scale * raw)
        assert self.judged(raw, texts, self.pairs(), length_counts=False).head.length == 0

    def test_what_it_is_worth_in_a_fold_is_said_by_the_others(self, raw, texts):
        """Contexts 0, 3, 6 and 9 are fold 0. Its own people change all of its utilities by one factor, the scale, alone."""
        before, after = (self.judged(raw, texts, pairs).utilities for pairs in (self.pairs(), self.pairs(turned=(0,))))
        ratio = (after / before).reshape(12, 3)
        assert ratio[::3] == pytest.approx(np.full((4, 3), ratio[0, 0]))
        mixed = np.array([self.mixed(u, raw, texts) for u in (before, after)])  # (2, folds)
        assert mixed[0, 0] == pytest.approx(mixed[1, 0])
        assert (np.abs(mixed[1, 1:] / mixed[0, 1:] - 1) > 0.05).all()

    def mixed(self, u, raw, texts):
        """What a unit of length is worth against one of the raw utility, in each fold: found again from what they add up to."""
        known, folds = np.stack([raw, log_words(texts)], axis=1), np.arange(36) // 3 % 3
        solved = (np.linalg.lstsq(known[folds == fold], u[folds == fold])[0] for fold in range(3))
        return [of_length / of_raw for of_raw, of_length in solved]

    def test_a_guarded_output_has_no_say(self, raw, texts):
        """The long outputs of six contexts repeat themselves and lose: length is worth what the others say."""
        repeating = [Text(t.context, "w w " * 16) if i % 3 == 2 and i < 18 else t for i, t in enumerate(texts)]
        lost = [Pair(p.a, p.b, p.target[::-1], p.weight) if p.b % 3 == 2 and p.b < 18 else p for p in self.pairs()]
        kept = [p for p in self.pairs() if not (p.b % 3 == 2 and p.b < 18)]
        with_them, without = self.judged(raw, repeating, lost, guards=True), self.judged(raw, repeating, kept, guards=True)
        of_length = lambda found: found.head.length / found.head.scale
        assert of_length(with_them) == pytest.approx(of_length(without))
        assert of_length(self.judged(raw, repeating, lost)) != pytest.approx(of_length(without), rel=0.1)


class TestReferences:
    """Twelve contexts with three outputs, of which people prefer the one that is more like what people answered."""

    @pytest.fixture
    def likeness(self):
        return np.tile([0.01, 0.02, 0.03], 12)

    def judged(self, likeness, liked=0.9, **changed):
        texts = [Text((f"c{i // 3}",), f"w{i}") for i in range(36)]
        targets = (1 - liked, 0.0, liked)
        pairs = [Pair(3 * c + i, 3 * c + j, targets, 1.0) for c in range(12) for i, j in ((0, 1), (0, 2), (1, 2))]
        raw, contexts = np.random.default_rng(0).normal(size=36), np.arange(36) // 3
        settings = Settings(**{"guards": False} | changed)
        scores = np.full(36, np.nan)
        return judge(raw, np.zeros(36), likeness, scores, texts, pairs, contexts, contexts % 3, 0, settings), raw, texts

    def test_they_count_where_people_like_what_is_like_them(self, likeness):
        found, raw, texts = self.judged(likeness)
        assert found.head.references > 0 and found.agreement.pairwise_accuracy > 0.9
        u = found.head.utilities(raw, texts, np.zeros(36), likeness)
        assert (np.diff(u.reshape(12, 3)) > 0).mean() > 0.9

    def test_they_count_before_it_is_sure(self, likeness):
        """By hand: six of ten on 36 pairs are a likelihood ratio of 72 (log 2 - H(0.6)) = 1.4, far from what is sure."""
        found, _, _ = self.judged(likeness, liked=0.6)
        without, _, _ = self.judged(likeness, liked=0.6, references=False)
        assert found.head.references > 0
        assert found.agreement.pairwise_accuracy > without.agreement.pairwise_accuracy

    def test_not_where_they_say_nothing_or_are_switched_off(self, likeness):
        for found, raw, _ in (
            self.judged(likeness, liked=0.5),
            self.judged(likeness, references=False),
            self.judged(np.zeros(36)),
        ):
            assert found.head.references == 0 and found.utilities == pytest.approx(found.head.scale * raw)
