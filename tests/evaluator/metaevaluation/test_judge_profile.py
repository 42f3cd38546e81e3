"""What a judge is like: its spread, its liking for length, its probabilities, and what it saves people."""

import numpy as np
import pytest

from evaluator.metaevaluation.judge_profile import MOST_POINTS, worth
from evaluator.metaevaluation.judges_table import CONSTANT, LONGER, table
from tests.evaluator.metaevaluation.test_judges_table import judges, people


@pytest.fixture(scope="module")
def profiles():
    given, truth = people()
    return {row.name: row.profile for row in table(given, judges(truth), "crowd", seed=0).rows}, given, truth


def test_spread_and_length(profiles):
    found, given, truth = profiles
    u, means = judges(truth)[1].utilities, given.scores.mean(axis=1)
    spread = found["good"].spread
    assert (spread.low, spread.high, spread.distinct) == (u.min(), u.max(), len(u))
    assert spread.deviation == pytest.approx(np.std(u, ddof=1)) and spread.people_deviation == pytest.approx(means.std(ddof=1))
    assert found[LONGER].length.judge == pytest.approx(1.0) and abs(found["good"].length.judge) < 0.4
    assert found[CONSTANT].length is None and found[CONSTANT].spread.distinct == 1 and found["nothing"].spread is None


def test_a_scatter_plot_has_what_both_scored(profiles):
    found, given, truth = profiles
    assert len(found["partial"].points) == len(truth) - 12 <= MOST_POINTS
    assert set(found["good"].points) == set(zip(judges(truth)[1].utilities, given.scores.mean(axis=1)))
    assert found["nothing"].points == ()


def test_a_good_judge_is_worth_more_and_a_constant_one_nothing(profiles):
    found = profiles[0]
    assert found["good"].worth.more > found[LONGER].worth.more and found["good"].worth.low > 0
    assert found[CONSTANT].worth is None or found[CONSTANT].worth.more < 1e-6
    assert 0 <= found["good"].calibration_error < 0.2
    assert found["nothing"].worth is None and found["nothing"].calibration_error is None


def test_it_saves_what_the_estimator_saves():
    """The estimator itself, on draws of its own: people's mean of n answers, corrected by a judge that answers N more."""
    rng, n, many, rho = np.random.default_rng(1), 200, 1000, 0.8
    noise = np.sqrt(1 - rho**2)
    people_f, more_f = rng.normal(size=(4000, n)), rng.normal(size=(4000, many))
    people_y = rho * people_f + noise * rng.normal(size=(4000, n))
    weight = rho * many / (n + many)
    estimates = people_y.mean(axis=1) - weight * (people_f.mean(axis=1) - more_f.mean(axis=1))
    f, y = people_f[:50].ravel(), people_y[:50].ravel()  # one long sample, so that r is near rho
    said = worth(f, y, np.zeros(len(f), dtype=int), np.arange(len(f)), judgments=5 * len(f))
    factor = (said.more + said.people) / said.people
    assert factor == pytest.approx(1 / (n * estimates.var()), rel=0.08)
    assert said.correlation == pytest.approx(rho, abs=0.02) and said.low < said.more < said.high


def test_a_judge_that_answers_the_contrary_saves_nothing():
    y = np.random.default_rng(0).normal(size=60)
    said = worth(-y + 0.1 * np.sin(np.arange(60)), y, np.arange(60) % 3, np.arange(60) // 2)
    assert said.correlation < -0.9 and said.more == said.low == said.high == 0.0


def test_where_only_systems_differ_there_is_nothing_to_save():
    """Within a pair of systems it answers always the same: its mean is known, and corrects nothing."""
    cells = np.arange(40) % 4
    assert worth(cells.astype(float), np.random.default_rng(0).normal(size=40), cells, np.arange(40)) is None
