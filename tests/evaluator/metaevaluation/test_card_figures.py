"""The figures of a comparator's card, against hand arithmetic."""

import numpy as np
import pytest
from scipy import stats

from evaluator.judges.protocol import Preferences
from evaluator.judges.texts import Text
from evaluator.metaevaluation import card_figures
from evaluator.metaevaluation.agreement import calibration_error
from evaluator.metaevaluation.card_figures import JudgedTexts
from evaluator.metaevaluation.correlation import UndefinedCorrelation, pearson
from evaluator.metaevaluation.pairs import JudgedPair
from evaluator.metaevaluation.resampling import drawn, interval

A, B, TIE = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)


def judged(pairs=(), scores=(np.nan,) * 4) -> JudgedTexts:
    """Two contexts with two outputs each."""
    texts = [Text(("hi",), "good"), Text(("hi",), "bad"), Text(("bye",), "good day"), Text(("bye",), "w0")]
    return JudgedTexts(texts, [JudgedPair(a, b, target, 1.0, "judgments") for a, b, target in pairs], np.array(scores))


class TestCalibration:
    # Said 0.9 three times and right twice, said 0.6 once and right: |2/3 - 0.9| * 3/4 + |1 - 0.6| * 1/4 = 0.275
    p = np.array([[0.9, 0.05, 0.05], [0.05, 0.05, 0.9], [0.9, 0.1, 0.0], [0.6, 0.2, 0.2]])
    targets = np.array([A, B, B, A])
    weights = np.ones(4)

    def test_by_hand(self):
        found = card_figures.calibration(self.p, self.targets, self.weights, np.arange(4), seed=0)
        assert found["error"] == pytest.approx(0.275) and found["pairs"] == 4
        assert 0 < found["low"] < 0.275 < found["high"] <= 0.9

    def test_the_interval_is_that_of_contexts_drawn_one_by_one(self):
        rng = np.random.default_rng(1)
        p = rng.dirichlet([2, 1, 2], size=200)
        targets, contexts = np.array([A, TIE, B])[rng.integers(3, size=200)], rng.integers(40, size=200)
        found = card_figures.calibration(p, targets, np.ones(200), contexts, seed=0)
        error = lambda rows: calibration_error(p[rows], targets[rows], np.ones(len(rows)))
        assert (found["low"], found["high"]) == pytest.approx(interval(error, contexts, seed=3), abs=0.015)

    def test_one_context_leaves_nothing_to_resample(self):
        found = card_figures.calibration(self.p, self.targets, self.weights, np.zeros(4, int), seed=0)
        assert found["low"] == pytest.approx(found["error"]) == pytest.approx(found["high"])

    def test_the_bins(self):
        bins = card_figures.reliability(self.p, self.targets, np.array([1.0, 1.0, 2.0, 1.0]))
        assert bins == [
            {"said": pytest.approx(0.6), "right": pytest.approx(1.0), "n": 1},
            {"said": pytest.approx(0.9), "right": pytest.approx(0.5), "n": 3},  # the wrong one counts twice
        ]

    def test_without_pairs_there_is_none(self):
        nothing = np.empty((0, 3))
        assert card_figures.calibration(nothing, nothing, np.empty(0), np.empty(0), seed=0) is None


class TestCorrelations:
    def test_outputs_without_a_score_or_a_utility_are_left_out(self):
        u, scores = np.array([1.0, 2.0, 4.0, np.nan, 9.0]), np.array([0.0, 0.5, 0.4, 0.2, np.nan])
        found = card_figures.correlations(u, scores, np.array([0, 0, 1, 1, 2]), seed=0)
        assert (found["outputs"], found["contexts"]) == (3, 2)
        assert found["pearson"] == pytest.approx(stats.pearsonr([1, 2, 4], [0, 0.5, 0.4]).statistic)
        assert found["spearman"] == pytest.approx(0.5)  # ranks 1 2 3 against 1 3 2: 1 - 6 * 2 / 24

    def test_a_constant_has_no_correlation(self):
        assert card_figures.correlations(np.ones(4), np.arange(4.0), np.arange(4), seed=0) is None

    def test_the_interval_is_as_wide_as_fishers(self):
        # Fisher 1915: atanh(r) has standard error 1 / sqrt(n - 3) where every output has a context of its own.
        rng = np.random.default_rng(0)
        x = rng.normal(size=400)
        y = 0.5 * x + rng.normal(size=400)
        found = card_figures.correlations(x, y, np.arange(400), seed=0)
        half = 1.96 / np.sqrt(397)
        expected = np.tanh(np.arctanh(found["pearson"]) + np.array([-half, half]))
        assert found["pearson_interval"] == pytest.approx(expected, abs=0.02)


class TestAttacks:
    def test_good_answers_are_those_of_the_upper_quarter(self):
        assert card_figures.good_answers(judged(scores=(0.75, 0.74, 1.0, 0.0)), seed=0) == [
            Text(("hi",), "good"),
            Text(("bye",), "good day"),
        ]

    def test_without_scores_they_are_those_that_won_and_never_lost(self):
        found = card_figures.good_answers(judged([(0, 1, A), (2, 3, A), (3, 2, A)]), seed=0)
        assert found == [Text(("hi",), "good")]
        assert card_figures.good_answers(judged([(0, 1, TIE)]), seed=0) == []

    def test_no_more_than_the_limit(self):
        texts = [Text((f"w{i}",), "good") for i in range(300)]
        many = JudgedTexts(texts, [], np.ones(300))
        assert len(card_figures.good_answers(many, seed=0)) == card_figures.MOST_ANSWERS
        assert card_figures.good_answers(many, seed=0) != card_figures.good_answers(many, seed=1)

    def test_a_judge_of_length_is_fooled_by_padding_and_not_by_nothing(self):
        words = lambda texts: np.array([len(text.output.split()) for text in texts])
        longer = lambda honest, bad, attacks: words(honest) - words(bad)
        good = [Text(("where is it ?",), "it is over there ."), Text(("bye",), "see you very soon .")]
        table = {(row["attack"], row["other_words"]): row for row in card_figures.attack_table(longer, good, seed=0)}
        assert table["padded", False] | {"n": 2, "share": 0.0, "low": 0.0, "high": 0.0} == table["padded", False]
        assert (table["empty", False]["share"], table["empty", False]["answers"]) == (1.0, 2)
        assert table["shuffled", True]["share"] == 0.5  # as long as the answer: equal utilities count half
        assert table["generic", False]["n"] == 10
        assert table["cut", False]["share"] == 1.0 and table["appended", False]["share"] == 0.0
        assert table["negated", False]["n"] == 1  # nothing to deny in the other


class TestFlips:
    pairs = [(0, 1, A), (2, 3, B)]

    def answering(self, choices):
        given = iter(choices)
        return lambda a, b: Preferences(None, np.array(next(given)))

    def test_what_swaps_with_the_sides_does_not_flip(self):
        found = card_figures.flips(self.answering([["A", "tie"], ["B", "tie"]]), judged(self.pairs), seed=0)
        assert found == {"share": 0.0, "low": 0.0, "high": 0.0, "n": 2}

    def test_a_judge_that_likes_the_left_flips_always(self):
        found = card_figures.flips(self.answering([["A", "A"], ["A", "A"]]), judged(self.pairs), seed=0)
        assert found["share"] == 1.0

    def test_a_tie_on_one_side_alone_is_a_flip(self):
        found = card_figures.flips(self.answering([["A", "tie"], ["B", "A"]]), judged(self.pairs), seed=0)
        assert (found["share"], found["low"], found["high"]) == (0.5, 0.0, 1.0)
        assert card_figures.flips(self.answering([]), judged(), seed=0) is None


class TestSamples:
    def test_pairs_follow_their_texts(self):
        taken = judged([(0, 1, A), (3, 2, B)], scores=(0.0, 0.1, 0.2, 0.3)).take(np.array([2, 3]))
        assert [text.output for text in taken.texts] == ["good day", "w0"] and taken.scores.tolist() == [0.2, 0.3]
        assert [(pair.a, pair.b, pair.target) for pair in taken.pairs] == [(1, 0, B)]

    def test_whole_contexts_are_drawn(self):
        contexts = np.repeat(np.arange(50), 4)
        rows = drawn(contexts, limit=22, seed=0)
        assert len(rows) == 20 and (np.bincount(contexts[rows])[np.unique(contexts[rows])] == 4).all()
        assert rows.tolist() == drawn(contexts, 22, seed=0).tolist() != drawn(contexts, 22, seed=1).tolist()
        assert len(drawn(np.zeros(30, int), limit=22, seed=0)) == 22  # one large context is cut
        assert len(drawn(contexts, limit=1000, seed=0)) == 200

    def test_an_interval_of_mostly_nothing_is_none(self):
        def statistic(rows):
            raise UndefinedCorrelation

        assert interval(statistic, np.arange(5), seed=0) is None
        assert interval(lambda rows: pearson(rows, rows), np.arange(5), seed=0) == pytest.approx((1.0, 1.0))


def test_pairwise_accuracy_leaves_ties_aside():
    """Equal utilities count half."""
    found = card_figures.pairwise(np.array([1.0, 0.0, 2.0, 2.0]), judged([(0, 1, A), (2, 3, A), (1, 0, TIE)]), seed=0)
    assert found == {"accuracy": 0.75, "low": 0.5, "high": 1.0, "pairs": 2, "population": None, "annotators": None}
    assert card_figures.pairwise(np.zeros(4), judged([(0, 1, TIE)]), seed=0) is None
