"""Variance over contexts and annotators, against hand arithmetic and another way to work it out."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from annotation.quality.crossed import Crossed, of_whom
from evaluator.judges.texts import Text
from evaluator.metaevaluation import ceiling
from evaluator.metaevaluation.agreement import PairAnswers, accuracy, agreement, share
from evaluator.metaevaluation.card_figures import JudgedTexts, correlations, pairwise
from evaluator.metaevaluation.correlation import UndefinedCorrelation
from evaluator.metaevaluation.crossed import PairSaid, crossed, one_by_one
from evaluator.metaevaluation.pairs import JudgedPair, pairs_from_judgments, pairs_from_scores
from evaluator.metaevaluation.resampling import bootstrap

A, B, TIE = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)


class TestVariance:
    def test_a_mean_of_crossed_values_by_hand(self):
        """Four people answer about five contexts, once each. The jackknife's variance of a mean is that of the clusters' means
        over their number (Efron & Tibshirani 1993, section 11.2), of single answers too."""
        values = np.random.default_rng(0).normal(size=(5, 4)) + np.arange(4) + np.arange(5)[:, None]
        context, annotator = np.indices((5, 4)).reshape(2, -1)
        by_context, by_annotator = values.mean(1).var(ddof=1) / 5, values.mean(0).var(ddof=1) / 4
        wanted = by_context + by_annotator - values.var(ddof=1) / 20
        found = crossed(one_by_one(lambda kept: float(values.ravel()[kept].mean())), context, annotator, seed=0)
        assert wanted > max(by_context, by_annotator)
        assert found.variance == pytest.approx(wanted)
        assert found.df == pytest.approx(max(3, wanted**2 / (by_context**2 / 4 + by_annotator**2 / 3)))

    def test_not_below_either(self):
        """Where people and contexts add nothing of their own, what is left would be less than what contexts alone give."""
        values = np.random.default_rng(3).normal(size=(40, 4))
        context, annotator = np.indices(values.shape).reshape(2, -1)
        found = crossed(one_by_one(lambda kept: float(values.ravel()[kept].mean())), context, annotator, seed=0)
        one_way = [values.mean(1).var(ddof=1) / 40, values.mean(0).var(ddof=1) / 4]
        assert found.variance >= max(one_way) - 1e-12 and found.df >= 3

    def test_of_many_clusters_some_are_drawn(self):
        values = np.random.default_rng(0).normal(size=(3000, 4))
        context, annotator = np.indices(values.shape).reshape(2, -1)
        found = crossed(one_by_one(lambda kept: float(values.ravel()[kept].mean())), context, annotator, seed=0)
        assert found.variance == pytest.approx(max(values.mean(1).var() / 3000, values.mean(0).var(ddof=1) / 4), rel=0.2)

    def test_nothing_to_compare_is_none(self):
        mean = one_by_one(lambda kept: float(kept.mean()))
        assert crossed(mean, np.zeros(8), np.arange(8), seed=0) is None
        assert crossed(mean, np.arange(8), np.zeros(8), seed=0) is None

        def undefined(kept):
            raise UndefinedCorrelation

        assert crossed(one_by_one(undefined), np.arange(8), np.arange(8), seed=0) is None

    def test_intervals_by_hand(self):
        found = Crossed(variance=0.04, df=10)
        reach = stats.t.ppf(0.975, 10) * 0.2
        assert found.around(0.5) == pytest.approx((0.5 - reach, 0.5 + reach))
        z = np.arctanh(0.6) + np.array([-1, 1]) * reach / (1 - 0.36)
        assert found.around_correlation(0.6) == pytest.approx(tuple(np.tanh(z)))
        assert found.around_correlation(1.0) == (1.0, 1.0)

    def test_four_may_speak_for_others(self):
        assert of_whom(list("aabbc")) == ("annotators", 3) and of_whom(list("abcda")) == ("people", 4)
        assert of_whom([]) == (None, None)


class TestAnswers:
    texts = [Text(("hi",), "x"), Text(("hi",), "y"), Text(("hi",), "z")]
    #  Ann scored all, Bob x and y, Cy z alone: x and z are compared by Ann, or by means where she is left out
    rows = [(0, "Ann", 5), (1, "Ann", 3), (2, "Ann", 4), (0, "Bob", 2), (1, "Bob", 2), (2, "Cy", 4)]

    def test_all_answers_give_the_pairs_choices(self):
        pairs = pairs_from_scores(self.rows, self.texts, (1, 5))
        answers = PairAnswers.of(pairs, np.zeros(3))
        assert answers.choices(np.ones(len(answers.pair), dtype=bool)).tolist() == [pair.choice for pair in pairs]

    @pytest.mark.parametrize("gone", ["Ann", "Bob", "Cy"])
    def test_without_somebody_they_are_those_of_the_others(self, gone):
        pairs = pairs_from_scores(self.rows, self.texts, (1, 5))
        rest = pairs_from_scores([row for row in self.rows if row[1] != gone], self.texts, (1, 5))
        wanted = {(pair.a, pair.b): pair.choice for pair in rest}
        answers = PairAnswers.of(pairs, np.zeros(3))
        kept = answers.annotator != ["Ann", "Bob", "Cy"].index(gone)
        assert answers.choices(kept).tolist() == [wanted.get((pair.a, pair.b), "") for pair in pairs]

    def test_of_judgments_the_majority(self):
        choices = ("A", "A", "B", "tie")
        (pair,) = pairs_from_judgments([(0, 1, who, choice) for who, choice in zip("abcd", choices)])
        answers = PairAnswers.of([pair], np.zeros(1))
        for kept in product([False, True], repeat=4):
            given = [choice for choice, one in zip(choices, kept) if one]
            counts = [given.count(side) for side in ("A", "tie", "B")]
            most = "A" if counts[0] > max(counts[1:]) else "B" if counts[2] > max(counts[:2]) else "tie" if given else ""
            assert answers.choices(np.array(kept)).tolist() == [most]

    def test_who_said_it_is_not_part_of_a_pair(self):
        assert JudgedPair(0, 1, A, 1.0) == JudgedPair(0, 1, A, 1.0, said=(PairSaid("Ann", 1.0, 0.0),))


class TestShares:
    """People judge pairs, one in each context."""

    def judged(self, people):
        rows = [(2 * c, 2 * c + 1, f"a{p}", "B" if (p + c) % people == 0 else "A") for c in range(24) for p in range(people)]
        return pairs_from_judgments(rows), np.arange(24)

    def test_one_annotator_each(self):
        """Each pair is one person's: a share is a mean over people, and each context one of theirs. Person p prefers A in
        p of 6: means 0/6 to 5/6, mean 15/36, variance over people / 6, which the contexts' is part of."""
        rows = [(2 * i, 2 * i + 1, f"a{p}", "A" if i % 6 < p else "B") for p in range(6) for i in range(6 * p, 6 * p + 6)]
        pairs, contexts = pairs_from_judgments(rows), np.arange(36)
        found = accuracy(np.ones(36), pairs, contexts, seed=0)
        assert (found.value, found.population, found.annotators) == (pytest.approx(15 / 36), "people", 6)
        variance = np.var(np.arange(6) / 6, ddof=1) / 6
        each = np.var([1.0] * 15 + [0.0] * 21, ddof=1) / 36
        df = max(5, variance**2 / (each**2 / 35 + variance**2 / 5))
        reach = stats.t.ppf(0.975, df) * np.sqrt(variance)
        assert (found.low, found.high) == pytest.approx((15 / 36 - reach, 15 / 36 + reach))

    def test_three_people_speak_for_themselves(self):
        pairs, contexts = self.judged(3)
        d = np.where(np.arange(24) % 4 == 0, -1.0, 1.0)
        found = accuracy(d, pairs, contexts, seed=0)
        assert (found.population, found.annotators) == ("annotators", 3)
        assert (found.low, found.high) == bootstrap((d > 0).astype(float), contexts, seed=0)

    def test_a_difference_of_judges_is_not_cut(self):
        pairs, contexts = self.judged(6)
        mine, theirs = np.ones(24), np.where(np.arange(24) % 2, 1.0, -1.0)
        ahead = lambda choices: agreement(mine, choices) - agreement(theirs, choices)
        found = share(ahead, pairs, contexts, seed=0, cut=False)
        assert found.value == 0.5 and found.low < 0.5 < found.high

    def test_the_figure_of_a_card(self):
        pairs, _ = self.judged(6)
        judged = JudgedTexts([Text((f"c{i // 2}",), f"w{i}") for i in range(48)], pairs, np.full(48, np.nan))
        found = pairwise(np.arange(48.0)[::-1], judged, seed=0)
        assert found["accuracy"] == 1.0 and (found["population"], found["annotators"]) == ("people", 6)
        taken = judged.take(np.arange(10))
        assert [len(pair.said) for pair in taken.pairs] == [6] * 5


class TestCorrelations:
    def judged(self, severe=0.0, people=6, seed=0):
        """120 outputs in 40 contexts, each scored by two people; severe: how much severity varies."""
        rng = np.random.default_rng(seed)
        quality, severity = rng.normal(size=120), severe * rng.normal(size=people)
        who = np.array([rng.choice(people, 2, replace=False) for _ in range(120)])
        value = quality[:, None] - severity[who] + 0.5 * rng.normal(size=(120, 2))
        ratings = [[(f"a{p}", v) for p, v in zip(*row)] for row in zip(who.tolist(), value.tolist())]
        return quality + 0.5 * rng.normal(size=120), value.mean(1), np.arange(120) // 3, ratings

    def test_people_who_differ_widen_the_interval(self):
        widths = {}
        for severe in (0.0, 1.5):
            u, scores, contexts, ratings = self.judged(severe)
            general = correlations(u, scores, contexts, 0, ratings)
            alone = correlations(u, scores, contexts, 0)
            assert (general["population"], general["annotators"]) == ("people", 6)
            assert (alone["population"], alone["annotators"]) == (None, None)
            assert general["pearson"] == alone["pearson"] and general["spearman"] == alone["spearman"]
            for name in ("pearson", "spearman"):
                low, high = general[f"{name}_interval"]
                assert low < general[name] < high
            widths[severe] = [np.ptp(found["pearson_interval"]) for found in (general, alone)]
        assert widths[1.5][0] / widths[1.5][1] > widths[0.0][0] / widths[0.0][1] > 1

    def test_three_people_speak_for_themselves(self):
        u, scores, contexts, ratings = self.judged(people=3)
        few, alone = correlations(u, scores, contexts, 0, ratings), correlations(u, scores, contexts, 0)
        assert few == alone | {"population": "annotators", "annotators": 3}


def test_one_against_the_rest_speaks_of_people():
    rng = np.random.default_rng(0)
    who = ["Ann", "Bob", "Cy", "Dan", "Eve"]
    rows = [(f"c{c}", f"s{s}", p, float(s + rng.normal())) for c in range(20) for s in range(3) for p in who]
    found = ceiling.from_scores(rows)
    few = ceiling.from_scores([row for row in rows if row[2] in who[:3]])
    assert (found.population, found.annotators) == ("people", 5) and (few.population, few.annotators) == ("annotators", 3)
    low, high = found.pairwise_interval
    assert low < found.pairwise_accuracy < high
