"""The confidence sequence equals the package confseq; verdicts keep their error at every look."""

import numpy as np
import pytest

from leaderboard.noninferiority.confidence_sequence import empirical_bernstein
from leaderboard.noninferiority.verdict import Word, verdict

OBSERVED = [0, 1, 0.5, 1, 1, 0, 0.5, 0.5, 1, 1] * 20
# confseq 0.0.11, predmix_empbern_twosided_cs(OBSERVED) after 10, 50 and 200 observations.
CONFSEQ = {10: (0.0, 1.0), 50: (0.436014, 0.871711), 200: (0.551304, 0.748622)}


def test_it_is_confseqs():
    low, high = empirical_bernstein(OBSERVED)
    for n, (expected_low, expected_high) in CONFSEQ.items():
        assert low[n - 1] == pytest.approx(expected_low, abs=1e-6) and high[n - 1] == pytest.approx(expected_high, abs=1e-6)


@pytest.mark.parametrize("x", [[0.5, 1.1], [-0.1], [[0.5]], [float("nan")]])
def test_what_is_no_observation_is_refused(x):
    with pytest.raises(ValueError, match="from 0 to 1"):
        empirical_bernstein(x)


def test_an_equal_version_seldom_fails_in_twenty_looks():
    """2,000 runs of 400 contexts, a look every 20: with margin 0 an equal version may fail in 5%. By theory the bound is
    conservative, so a rate above 5% + 2 standard errors (1%) is a fault."""
    rng, failed = np.random.default_rng(0), 0
    for _ in range(2000):
        _, high = empirical_bernstein(rng.choice([0, 0.5, 1], 400, p=[0.4, 0.2, 0.4]))
        failed += bool((high[19::20] < 0.5).any())
    assert failed <= 2000 * 0.05 + 2 * np.sqrt(2000 * 0.05 * 0.95)


def test_a_much_worse_version_fails_and_a_better_one_passes():
    rng = np.random.default_rng(1)
    worse = rng.choice([-1, 0, 1], 400, p=[0.5, 0.3, 0.2]).tolist()
    assert verdict(worse, range(400), 0.05).word == Word.FAIL
    assert verdict([-point for point in worse], range(400), 0.05).word == Word.PASS


def test_judgments_of_one_unit_are_one_observation():
    """Ten judgments of one context say no more about other contexts than one does."""
    once, often = verdict([1, -1], ["a", "b"], 0.1), verdict([1] * 10 + [-1] * 10, ["a"] * 10 + ["b"] * 10, 0.1)
    assert (once.low, once.high, once.units) == (often.low, often.high, often.units)
    assert (often.judgments, often.wins, often.ties, often.losses) == (20, 10, 0, 10)
    assert often.word == Word.INCONCLUSIVE


@pytest.mark.parametrize(("points", "margin"), [([], 0.1), ([2], 0.1), ([0], 1.0), ([0], -0.1)])
def test_nonsense_is_refused(points, margin):
    with pytest.raises(ValueError):
        verdict(points, range(len(points)), margin)


def test_its_sentence():
    said = verdict([1, 0], ["a", "b"], 0.02).sentence("v2", "v1")
    assert said.startswith(
        "INCONCLUSIVE: it is not known whether v2 is worse than v1 by more than 0.02 (wins less losses +0.500"
    )
    assert said.endswith("2 units, 2 judgments).")
