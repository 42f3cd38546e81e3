"""More judgments of pairs than one dense matrix takes."""

import numpy as np
import pytest

from leaderboard.rating import bradley_terry, mixed_model
from leaderboard.rating.people_board import read_pairs


def judged(seed=0, n=3000, systems=4, people=30, contexts=50, taste=0.5, luck=0.0):
    rng = np.random.default_rng(seed)
    first = rng.integers(systems, size=n)
    second = (first + rng.integers(1, systems, size=n)) % systems
    context, person = rng.integers(contexts, size=n), rng.integers(people, size=n)
    worth = np.linspace(0, 1, systems) + rng.normal(0, taste, (people, systems))[person]
    worth = worth + rng.normal(0, luck, (contexts, systems))[context]
    rows = np.arange(n)
    gap = worth[rows, first] - worth[rows, second] + rng.logistic(size=n)
    return systems, first, second, np.where(np.abs(gap) < 0.3, 0, np.sign(gap)).astype(int), context, person


@pytest.fixture
def many(monkeypatch):
    monkeypatch.setattr(mixed_model, "MOST_DENSE", 1)


def test_without_leanings_it_is_bradley_terry(many):
    """Each person judges once: the posterior mode with a normal prior of SD 350 (`bradley_terry.fit`)."""
    systems, first, second, outcome, context, _ = judged(taste=0.0, n=400)
    met, score = np.zeros((2, systems, systems))
    np.add.at(met, (first, second), 1)
    np.add.at(met, (second, first), 1)
    np.add.at(score, (first, second), (1 + outcome) / 2)
    np.add.at(score, (second, first), (1 - outcome) / 2)
    reading = read_pairs(systems, first, second, outcome, context, np.arange(400))
    assert reading.rating == pytest.approx(bradley_terry.fit(met, score, prior_sd=350).rating, abs=1.0)


@pytest.mark.long
def test_it_says_what_the_mixed_model_says(monkeypatch):
    """Nothing but people's leanings vary, which both have in their weights: the same ratings, and nearly the same errors."""
    answers = judged()
    whole = read_pairs(*answers)
    monkeypatch.setattr(mixed_model, "MOST_DENSE", 1)
    part = read_pairs(*answers)
    assert part.rating == pytest.approx(whole.rating, abs=3)
    assert part.variances["taste"] == pytest.approx(whole.variances["taste"], rel=0.4)
    off = ~np.eye(4, dtype=bool)
    for population in ("people", "annotators"):
        assert part.board(population).se[off] == pytest.approx(whole.board(population).se[off], rel=0.15)


def test_chunks_of_people_change_nothing(many, monkeypatch):
    from leaderboard.rating.crossed import many_pairs

    whole = read_pairs(*judged(luck=0.5)).board()
    monkeypatch.setattr(many_pairs, "AT_ONCE", 50)
    parts = read_pairs(*judged(luck=0.5)).board()
    assert (
        parts.rating == pytest.approx(whole.rating)
        and parts.se == pytest.approx(whole.se)
        and parts.df == pytest.approx(whole.df)
    )


def test_what_outputs_add_is_found(many):
    """Drawn with a variance of .8^2 = .64 in logits; marginal models see somewhat less of it."""
    found = [read_pairs(*judged(seed, n=4000, taste=0.0, luck=0.8)).variances for seed in range(4)]
    assert 0.35 < np.mean([one["output"] for one in found]) < 0.8
    assert np.mean([one["taste"] for one in found]) < 0.1
    assert read_pairs(*judged(n=4000, taste=0.0, luck=0.0)).variances["output"] < 0.1


def test_systems_with_few_outputs_are_known_less_surely(many):
    """Outputs vary, and the last system has a fifth of the contexts of the others, with as many judgments of each."""
    systems, first, second, outcome, context, person = judged(seed=2, n=8000, systems=5, contexts=60, luck=0.8)
    rows = ((first != 4) & (second != 4)) | (context < 12)
    se = read_pairs(systems, *(c[rows] for c in (first, second, outcome, context, person))).board().se
    assert se[:4, 4].min() > 1.3 * np.median(se[np.triu_indices(4, 1)])
