"""Numbers that find a given difference: they are those at which the plan's own power is enough."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from annotation.design.needed import Judge, at_budget, ways
from annotation.design.power import (
    LOW_VARIANCE,
    Components,
    PairAssumptions,
    detectable_difference,
    detectable_win_rate,
    power_for_difference,
    power_for_win_rate,
)

SCORES = LOW_VARIANCE.on(1, 5)


def of_scores(contexts, each, people):
    return power_for_difference(0.4, SCORES, contexts, people, [(1, float(each))], systems=3)


def judgments(contexts, each):
    return 3 * contexts * each


def test_the_power_of_a_detectable_difference_is_the_one_it_was_found_for():
    found = detectable_difference(SCORES, 60, 8, [(1, 2.0)], systems=3)
    assert power_for_difference(found.difference, SCORES, 60, 8, [(1, 2.0)], systems=3) == pytest.approx(0.8, abs=1e-6)
    pairs = PairAssumptions()
    rate = detectable_win_rate(pairs, 40, 8, [(1, 2.0)], systems=3, contexts=60)
    assert power_for_win_rate(rate.difference, pairs, 40, 8, [(1, 2.0)], systems=3, contexts=60) == pytest.approx(0.8, abs=1e-6)


@pytest.mark.long
def test_a_way_is_the_fewest_contexts_that_are_enough():
    found = ways(of_scores, judgments, 12)
    assert [way.per_item for way in found] == [1, 2, 3, 5, 8, 12]
    for way in found:
        assert way.power == of_scores(way.contexts, way.per_item, way.annotators) >= 0.8
        assert of_scores(way.contexts - 1, way.per_item, way.annotators) < 0.8
        assert way.judgments == 3 * way.contexts * way.per_item and way.annotators >= way.per_item
    contexts = [way.contexts for way in found if way.annotators == found[0].annotators]
    assert contexts == sorted(contexts, reverse=True)  # more people on each, fewer contexts


def test_it_is_the_textbooks_number_where_contexts_alone_vary():
    """n = 2 s2 (2.05 + .84)^2 / d^2 for two systems (Cohen 1988, 2.5) at the first look's 4%; a few more for Student's t."""
    components = Components(context_system=1.0, annotator_system=0.0, residual=0.0)
    found = ways(lambda n, k, p: power_for_difference(0.5, components, n, p), lambda n, k: 2 * n * k, 3, per_item=[1])
    normal = 2 * (norm.ppf(0.98) + norm.ppf(0.8)) ** 2 / 0.5**2
    assert normal <= found[0].contexts <= normal + 4


def test_what_nobody_can_find_has_no_way():
    """20 annotators and their tastes alone leave an error above the difference, whatever the contexts."""
    tastes = Components(context_system=0.0, annotator_system=1e6, residual=0.0)
    assert ways(lambda n, k, p: power_for_difference(0.1, tastes, n, p, [(1, float(k))]), judgments, 20) == []
    assert power_for_win_rate(0.45, PairAssumptions(ties=0.2), 100, 20) == 0.0  # only 40% is left beside the ties


def test_one_budget_buys_contexts_or_people():
    found = at_budget(of_scores, judgments, 12, 600)
    assert [(way.per_item, way.contexts) for way in found] == [(1, 200), (2, 100), (3, 66), (5, 40), (8, 25), (12, 16)]
    assert all(way.judgments <= 600 for way in found)
    powers = [way.power for way in found]
    assert powers == sorted(powers, reverse=True)  # contexts are worth more than people on one


@pytest.mark.parametrize(("r", "total"), [(0.0, 1000), (0.6, 1000), (0.9, 400)])
def test_a_judge_helps_as_a_control_variate_does(r, total):
    """Simulated: the mean of n people's values less the best multiple of what the judge's n are off its own N."""
    rng, n, runs = np.random.default_rng(0), 100, 4000
    judge = rng.normal(size=(runs, total))
    people = r * judge[:, :n] + math.sqrt(1 - r**2) * rng.normal(size=(runs, n))
    estimate = people.mean(axis=1) - r * (judge[:, :n].mean(axis=1) - judge.mean(axis=1))
    assert Judge(r, total).left(n) == pytest.approx(estimate.var() * n, rel=0.08)  # 4,000 runs: an SE of 2.2%
    assert Judge(r, n).left(n) == 1.0


def test_power_is_as_planned():
    """Drawn as the formulas at the top of power.py have it, by hand: a t test over contexts, people without tastes."""
    components = Components(context_system=0.5, annotator_system=0.0, residual=1.0)
    (way,) = ways(
        lambda n, k, p: power_for_difference(0.4, components, n, p, [(1, float(k))]), lambda n, k: 2 * n * k, 3, per_item=[2]
    )
    rng, found = np.random.default_rng(1), []
    for _ in range(2000):
        of_contexts = rng.normal(0, math.sqrt(0.5), (2, way.contexts))
        scores = of_contexts[:, :, None] + rng.normal(size=(2, way.contexts, 2)) + np.array([0.4, 0.0])[:, None, None]
        difference = (scores[0] - scores[1]).mean(axis=1)
        t = difference.mean() / (difference.std(ddof=1) / math.sqrt(way.contexts))
        found.append(abs(t) > 1.97)
    assert abs(np.mean(found) - way.power) < 0.05
