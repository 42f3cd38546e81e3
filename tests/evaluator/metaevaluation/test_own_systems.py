"""Whether a judge prefers its own family's systems: hand-worked figures, and simulated judges (seeds in the tests)."""

import numpy as np
import pytest

from evaluator.metaevaluation.judge_profile import own_by_pairs, own_by_scores
from evaluator.metaevaluation.pairs import pairs_from_judgments

SYSTEMS = np.tile(np.arange(2), 3)  # of three contexts
CONTEXTS = np.repeat(np.arange(3), 2)
OWN = SYSTEMS == 1


def test_scores_by_hand():
    """People: 4, 5, 6 for the others, 1, 2, 3 for the own; the judge has these the other way round, so its gap is
    (4 + 5 + 6) / 3 - (1 + 2 + 3) / 3 = 3 where people's is -3."""
    people = np.array([[4.0], [1], [5], [2], [6], [3]])
    judge = np.array([10.0, 40, 20, 50, 30, 60])
    found = own_by_scores(judge, people, OWN, CONTEXTS, seed=0)
    assert (found.of, found.judge, found.people, found.favour) == ("scores", 3.0, -3.0, 6.0)
    assert (found.low, found.high) == (6.0, 6.0)  # each context says the same


def test_pairs_by_hand():
    """In three pairs (first system, own) people prefer the own one, tie, prefer the other: 0.5. The judge prefers the own one
    twice and ties once: (1 + 1 + 0.5) / 3. A pair of two of the others' outputs does not count."""
    judged = pairs_from_judgments([(0, 1, "Ann", "B"), (2, 3, "Ann", "tie"), (4, 5, "Ann", "A"), (0, 2, "Ann", "A")])
    places = [(pair.a, pair.b) for pair in judged]
    d = np.array([{(0, 1): -1.0, (2, 3): -0.2, (4, 5): 0.0, (0, 2): 1.0}[place] for place in places])
    found = own_by_pairs(judged, d, OWN, CONTEXTS, seed=0)
    assert (found.of, found.people) == ("pairs", 0.5) and found.judge == pytest.approx(2.5 / 3)
    assert found.favour == pytest.approx(1 / 3) and found.low < found.favour < found.high


def test_nothing_to_compare():
    people = np.ones((6, 1))
    assert own_by_scores(np.arange(6.0), people, np.ones(6, dtype=bool), CONTEXTS, 0) is None
    assert own_by_scores(np.full(6, np.nan), people, OWN, CONTEXTS, 0) is None
    assert own_by_pairs([], np.empty(0), OWN, CONTEXTS, 0) is None


@pytest.mark.parametrize("gift", [0.0, 1.0])
def test_the_interval_knows_a_gift(gift):
    """40 simulated campaigns of 40 contexts and four systems, the judge as noisy as an annotator: without a gift to its own
    system the interval misses 0 in about 5% of them (with 3 standard errors up to 6), with one of a point in nearly all."""
    missed = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        systems, contexts = np.tile(np.arange(4), 40), np.repeat(np.arange(40), 4)
        truth = 3 + 0.3 * systems + rng.normal(size=160) * 0.5
        people = truth[:, None] + rng.normal(size=(160, 3)) * 0.7
        judge = truth + rng.normal(size=160) * 0.7 + gift * (systems == 2)
        found = own_by_scores(judge, people, systems == 2, contexts, seed)
        missed += not found.low <= 0 <= found.high
    assert missed <= 6 if gift == 0 else missed >= 38
