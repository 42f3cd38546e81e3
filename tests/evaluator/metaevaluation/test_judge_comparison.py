"""Which judge correlates more: Williams' test against R's cocor, the permutation test by counting and on simulated judges."""

from itertools import product

import numpy as np
import pytest

from evaluator.metaevaluation.correlation import UndefinedCorrelation, pearson
from evaluator.metaevaluation.judge_comparison import differences, permutation, share_differences, williams


@pytest.mark.parametrize(
    ("r", "n", "t", "p"),
    [
        # R's cocor, williams1959, as printed in rmcorr's vignette on comparing correlations (blindwalk data)
        ((0.8066, 0.2383, 0.2255), 177, 9.3823, 0.0000),
        # the same, in a chapter on scale validity of Bikos' ReCentering Psych Stats
        ((-0.1741, 0.2015, 0.3734), 646, -9.0340, 0.0000),
        # Steiger 1980, the example of masculinity, femininity and verbal ability; the vignette of psych prints these for r.test
        ((0.4, 0.5, 0.1), 103, -0.89, 0.37),
    ],
)
def test_williams(r, n, t, p):
    found = williams(*r, n)
    assert found[0] == pytest.approx(t, abs=6e-3 if n == 103 else 1.5e-3) and found[1] == pytest.approx(p, abs=6e-3)
    exchanged = williams(r[1], r[0], r[2], n)
    assert exchanged == pytest.approx((-found[0], found[1]))


def test_williams_refuses_what_it_cannot_tell():
    with pytest.raises(UndefinedCorrelation, match="at least 4 outputs; there are 3"):
        williams(0.5, 0.4, 0.1, 3)
    with pytest.raises(UndefinedCorrelation, match="order everything alike"):
        williams(0.5, 0.5, 1.0, 30)


def test_the_permutation_test_by_counting():
    """Five contexts of two outputs: all 32 exchanges counted."""
    rng = np.random.default_rng(0)
    people, contexts = rng.normal(size=10), np.repeat(np.arange(5), 2)
    first, second = people + rng.normal(size=10) * 0.5, people + rng.normal(size=10) * 2
    a, b = ((x - x.mean()) / x.std() for x in (first, second))
    observed = abs(np.corrcoef(a, people)[0, 1] - np.corrcoef(b, people)[0, 1])
    as_large = []
    for swap in product([False, True], repeat=5):
        here = np.repeat(swap, 2)
        x, y = np.where(here, b, a), np.where(here, a, b)
        as_large.append(abs(np.corrcoef(x, people)[0, 1] - np.corrcoef(y, people)[0, 1]) >= observed - 1e-12)
    assert permutation(first, second, people, contexts, seed=1) == pytest.approx(np.mean(as_large), abs=0.05)


def test_the_permutation_test_keeps_its_error_rate_where_contexts_share_noise(monkeypatch):
    """Two judges that are equally good, whose errors are the same for all outputs of a context."""
    monkeypatch.setattr("evaluator.metaevaluation.judge_comparison.PERMUTATIONS", 99)
    rng, below, runs = np.random.default_rng(4), 0, 150
    contexts = np.repeat(np.arange(20), 5)
    for _ in range(runs):
        truth = rng.normal(size=20)[contexts] + rng.normal(size=100)
        judges = [truth + 2 * rng.normal(size=20)[contexts] + rng.normal(size=100) for _ in range(2)]
        below += permutation(*judges, truth, contexts, seed=0) <= 0.05
    assert below / runs < 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_all_pairs_of_judges():
    rng = np.random.default_rng(5)
    people, contexts = rng.normal(size=120), np.repeat(np.arange(40), 3)
    good, poor = people + rng.normal(size=120) * 0.4, rng.normal(size=120)
    partial = np.where(np.arange(120) < 60, good, np.nan)
    found = differences({"good": good, "poor": poor, "partial": partial, "constant": np.ones(120)}, people, contexts, 0)
    assert [(d.first, d.second, d.n) for d in found] == [
        ("good", "poor", 120),
        ("good", "partial", 60),
        ("poor", "partial", 60),
    ]
    first, same, other = found
    assert first.difference == pytest.approx(pearson(good, people) - pearson(poor, people)) and first.difference > 0.5
    assert first.williams < 1e-6 and first.permutation == pytest.approx(1 / 1001) and first.corrected == pytest.approx(3 / 1001)
    assert same.difference == 0 and same.permutation == 1 and same.williams is None and same.corrected == 1
    assert other.difference < 0


def test_shares_of_pairs_by_counting():
    """Four contexts, in which the first is ahead by 2, 1, 0 and -1: 12 of the 16 signs make 2 or more, either way."""
    first = np.array([1, 1, 1, 0.5, 0.0, np.nan])
    second = np.array([0, 0, 0, 0.5, 1.0, 1.0])
    contexts = np.array([0, 0, 1, 2, 3, 4])
    signs = np.array(list(product([-1, 1], repeat=4))) @ np.array([2, 1, 0, -1])
    (found,) = share_differences({"first": first, "second": second}, contexts, seed=0)
    assert (found.n, found.difference, found.williams) == (5, pytest.approx(2 / 5), None)
    assert found.permutation == pytest.approx(np.mean(np.abs(signs) >= 2), abs=0.05) and found.corrected == found.permutation
    assert share_differences({"first": first[5:], "second": second[5:]}, contexts[5:], seed=0) == []


def test_a_clear_difference_is_found_among_many_judges():
    """One of 30 judges knows people's scores. With 1,000 permutations Holm's p would be 435 / 1,001 at least, for 435 pairs."""
    rng = np.random.default_rng(3)
    people, contexts = rng.normal(size=200), np.repeat(np.arange(50), 4)
    judges = {f"noise {k}": rng.normal(size=200) for k in range(29)} | {"knows": people + 0.5 * rng.normal(size=200)}
    found = differences(judges, people, contexts, seed=0)
    clear = [one for one in found if one.corrected <= 0.05]
    assert len(clear) == 29 and all(one.second == "knows" and one.difference < 0 for one in clear)
