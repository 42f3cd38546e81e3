"""How surely a difference is known, by what the answers show."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import special, stats

from leaderboard.rating.crossed.sandwich import ALIKE, HIGHEST, LOWEST, Prior, _inverse_trigamma, alike, expected_prior
from leaderboard.rating.decision import at_look
from leaderboard.rating.people_board import read_scores


def crossed(people, contexts, systems, rng, leaning, noise=1.0):
    """Everybody scores every output: (system, context, annotator, value); leaning: (people, systems)"""
    s, c, a = (axis.ravel() for axis in np.meshgrid(range(systems), range(contexts), range(people), indexing="ij"))
    luck, easy = rng.normal(0, 0.5, (contexts, systems)), rng.normal(0, 0.5, contexts)
    return s, c, a, leaning[a, s] + luck[c, s] + easy[c] + rng.normal(0, noise, len(s))


def test_a_balanced_design_is_the_analysis_of_variance():
    """Two systems: the differences of a person's scores on a context, d (people, contexts). V = (MS of people + MS of
    contexts - MS of both) / (people contexts), none of the parts below 0 (Searle, Casella & McCulloch 1992, section 4.3)."""
    rng = np.random.default_rng(4)
    people, contexts = 6, 15
    s, c, a, y = crossed(people, contexts, 2, rng, rng.normal(0, 0.8, (people, 2)))
    d = (y[s == 1] - y[s == 0]).reshape(contexts, people).T
    rows, columns = d.mean(axis=1) - d.mean(), d.mean(axis=0) - d.mean()
    left = d - d.mean() - rows[:, None] - columns[None, :]
    of_people, of_contexts = contexts * (rows**2).sum() / 5, people * (columns**2).sum() / 14
    of_both = (left**2).sum() / (5 * 14)
    assert min(of_people, of_contexts) > of_both
    found = read_scores(2, s, c, a, y).board()
    assert found.difference[1, 0] / found.scale == pytest.approx(d.mean(), rel=1e-4)
    variance = (of_people + of_contexts - of_both) / (people * contexts)
    assert (found.se[0, 1] / found.scale) ** 2 == pytest.approx(variance, rel=1e-3)
    freedom = (of_people + of_contexts - of_both) ** 2 / (of_people**2 / 5 + of_contexts**2 / 14 + of_both**2 / 70)
    assert 0.6 * freedom < found.df[0, 1] < 1.01 * freedom  # those of the sums, which hold a part of each other


class TestThreeSystemsFourPeople:
    """Two systems whose differences everybody sees alike, and one that divides people. The board finds the difference of the
    two in at least 60% of campaigns, and errs in at most 5% where there is none (here with 2 SE of 20 and 24 campaigns)."""

    def found(self, ahead, seed):
        rng = np.random.default_rng([seed, 5])
        taste, own = rng.normal(0, 8, 4), rng.normal(0, 20, 4)
        leaning = np.stack([taste + rng.normal(0, 1.5, 4) + ahead, taste + rng.normal(0, 1.5, 4), own], axis=1)
        answers = crossed(4, 40, 3, rng, leaning, noise=10.0)
        return read_scores(3, *answers).board().above

    def test_the_difference_is_found(self):
        assert np.mean([self.found(10.0, seed)[0, 1] for seed in range(20)]) >= 0.6

    def test_none_is_found_where_there_is_none(self):
        above = [self.found(0.0, seed) for seed in range(24)]
        assert np.mean([a.any() for a in above]) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 24)


def test_variances_that_are_alike_are_one():
    """Of 40 with 10 degrees of freedom each. Drawn alike, what they share weighs at least twice as much; where each has a
    variance of its own, from e^-1 to e, less than twice."""
    rng = np.random.default_rng(0)
    freedom = np.full(40, 10.0)
    same = rng.chisquare(10, 40) / 10
    found = alike(same, freedom, 39)
    assert found.freedom > 20 and 0.7 < found.centre < 1.3
    assert alike(same * np.exp(np.linspace(-1, 1, 40)), freedom, 39).freedom < 20
    assert alike(np.ones(1), freedom[:1], 1) == Prior(0.0, 1.0)


def test_how_alike_variances_are_expected_to_be_is_what_they_show():
    """Five equal systems, 20 people of one normal leaning each: the log variances of the ten differences spread as drawn ones
    do, whose covariances are those of the Wishart distribution."""
    rng, pairs = np.random.default_rng(1), np.triu_indices(5, 1)
    shown = []
    for _ in range(400):
        leaning = rng.normal(size=(20, 5))
        differences = leaning[:, pairs[0]] - leaning[:, pairs[1]]
        shown.append(np.var(np.log(differences.var(axis=0, ddof=1)), ddof=1))
    freedom = np.full(10, 19.0)
    noise = special.polygamma(1, 9.5)
    assert np.mean(shown) == pytest.approx(noise * 5 / 6, rel=0.1)
    excess = np.mean(shown) * 4 / special.chdtri(4, ALIKE) - noise
    expected = expected_prior(np.ones(10), freedom, 4).freedom
    assert special.polygamma(1, expected / 2) == pytest.approx(excess, rel=0.15)


def test_the_inverse_of_trigamma():
    """trigamma(1) = pi^2 / 6, trigamma(1/2) = pi^2 / 2, trigamma(x + 1) = trigamma(x) - 1 / x^2; and SciPy's at every size."""
    known = {np.pi**2 / 6: 1.0, np.pi**2 / 2: 0.5, np.pi**2 / 6 - 1: 2.0}
    assert [_inverse_trigamma(value) for value in known] == pytest.approx(list(known.values()), rel=1e-12)
    sizes = np.geomspace(LOWEST, HIGHEST, 40)[1:-1]
    assert [_inverse_trigamma(float(special.polygamma(1, x))) for x in sizes] == pytest.approx(sizes, rel=1e-9)
    assert (_inverse_trigamma(1e9), _inverse_trigamma(1e-9)) == (LOWEST, HIGHEST)


def test_how_much_people_differ_over_each_difference():
    """The analysis of variance's estimate: (MS of people - MS of both) / contexts, of the differences (people, contexts)."""
    rng, people, contexts = np.random.default_rng(3), 12, 8
    s, c, a, y = crossed(people, contexts, 4, rng, rng.normal(size=(people, 4)) * [0.3, 0.3, 0.3, 2.0])
    reading = read_scores(4, s, c, a, y)
    found = reading.shown.leanings(reading.fit.answers, reading.answered.systems, a, c)
    for i, j in ((0, 1), (0, 3)):
        d = (y[s == i] - y[s == j]).reshape(contexts, people).T
        rows, columns = d.mean(axis=1) - d.mean(), d.mean(axis=0) - d.mean()
        left = d - d.mean() - rows[:, None] - columns[None, :]
        of_people, of_both = contexts * (rows**2).sum() / (people - 1), (left**2).sum() / ((people - 1) * (contexts - 1))
        assert found[i, j] == pytest.approx((of_people - of_both) / contexts / 2, rel=1e-3)


def test_looks_spend_one_error():
    """Shares .8, .2 / 2, .2 / 6, ... add up to 1 (a telescoping sum: 1 - 1/n of the rest by look n)."""
    spent = [1 - at_look(k) for k in range(1, 1001)]
    assert sum(spent) == pytest.approx(0.05 * (0.8 + 0.2 * (1 - 1 / 1000)))
    rng = np.random.default_rng(1)
    reading = read_scores(3, *crossed(6, 20, 3, rng, rng.normal(0, 0.4, (6, 3))))
    first, fourth = reading.board(), replace(reading, look=4).board()
    assert (fourth.margin[0, 1] > first.margin[0, 1]) and (fourth.low == first.low).all()
    df = first.df[0, 1]
    assert first.margin[0, 1] / first.se[0, 1] == pytest.approx(stats.studentized_range.ppf(0.96, 3, df) / np.sqrt(2), rel=0.01)
