"""All judges together: weights by hand, and what adds nothing."""

import numpy as np
import pytest

from evaluator.metaevaluation.judge_comparison import Stack, stack
from evaluator.metaevaluation.judge_profile import worth

pytestmark = pytest.mark.one_database

P = 600
CELLS, UNITS = np.arange(P) % 3, np.arange(P) // 3
FOLDS = UNITS % 5


@pytest.fixture(scope="module")
def quality():
    return np.random.default_rng(0).normal(size=P)


@pytest.fixture(scope="module")
def people(quality):
    return np.sign(quality + np.random.default_rng(1).normal(size=P))


def noisy(quality, seed, size=1.0):
    return quality + size * np.random.default_rng(seed).normal(size=P)


def test_two_that_know_different_things_are_worth_more_than_either(quality, people):
    one, other = noisy(quality, 2), noisy(quality, 3)
    found = stack({"one": one, "other": other}, people, CELLS, UNITS, FOLDS)
    alone = [worth(d, people, CELLS, UNITS).more for d in (one, other)]
    assert found.worth.more > 1.2 * max(alone) and found.pairs == P
    assert found.judges["one"] == pytest.approx(found.judges["other"], rel=0.4)


def test_useless_and_hostile_ones_have_no_weight_and_a_twin_adds_nothing(quality, people):
    good, nothing = noisy(quality, 2), np.random.default_rng(4).normal(size=P)
    judges = {"good": good, "useless": nothing, "hostile": -good, "constant": np.zeros(P), "twin": 1e6 * good + 1e-6 * nothing}
    found = stack(judges, people, CELLS, UNITS, FOLDS)
    assert found.judges["hostile"] == found.judges["constant"] == 0
    assert found.judges["useless"] < 0.1 * (found.judges["good"] + found.judges["twin"])
    alone = worth(good / (1 + np.abs(good)), people, CELLS, UNITS).more
    assert found.worth.more == pytest.approx(alone, rel=0.15)


def test_only_harm_is_worth_nothing(quality, people):
    found = stack({"hostile": -quality, "another": -noisy(quality, 2)}, people, CELLS, UNITS, FOLDS)
    assert found.judges == {"hostile": 0.0, "another": 0.0} and found.worth is None


def test_who_answered_few_is_left_out_and_said(quality, people):
    few = np.where(np.arange(P) < 60, quality, np.nan)
    found = stack({"one": noisy(quality, 2), "other": noisy(quality, 3), "few": few}, people, CELLS, UNITS, FOLDS)
    assert found.left_out == ("few",) and found.pairs == P and set(found.judges) == {"one", "other"}
    assert Stack.from_json({**found.__dict__, "worth": vars(found.worth)}) == found


def test_one_score_beyond_all_others_does_not_decide(quality, people):
    one, other = noisy(quality, 2), noisy(quality, 3)
    calm = stack({"one": one, "other": other}, people, CELLS, UNITS, FOLDS).worth.more
    huge = np.where(np.arange(P) == 7, 1e300, one)
    assert stack({"one": huge, "other": other}, people, CELLS, UNITS, FOLDS).worth.more == pytest.approx(calm, rel=0.05)


def test_none_for_one_judge_or_too_few_folds(quality, people):
    assert stack({"one": quality}, people, CELLS, UNITS, FOLDS) is None
    assert stack({"one": quality, "other": quality}, people, CELLS, UNITS, FOLDS % 2) is None
