"""Scale and ties fitted anew on another campaign: against what the answers were drawn by, and against closed forms."""

import numpy as np
import pytest

from evaluator.judges.texts import Text
from evaluator.metaevaluation.card_figures import JudgedTexts
from evaluator.metaevaluation.pairs import JudgedPair
from evaluator.metaevaluation.refit import Refit, log_odds, refit


def judged(choices: list[str], contexts: list[int]) -> JudgedTexts:
    """One person's choices; each pair has two texts of its own."""
    target = {"A": (1.0, 0.0, 0.0), "tie": (0.0, 1.0, 0.0), "B": (0.0, 0.0, 1.0)}
    texts = [Text((f"context {context}",), f"{i}{side}") for i, context in enumerate(contexts) for side in "ab"]
    pairs = [JudgedPair(2 * i, 2 * i + 1, target[choice], 1.0, "judgments") for i, choice in enumerate(choices)]
    return JudgedTexts(texts, pairs, np.full(len(texts), np.nan))


def rao_kupper(d: np.ndarray, theta: float) -> np.ndarray:
    """(n, 3) by the formula of 1967 in its first form: worths v, P(A) = v_a / (v_a + e^theta v_b)."""
    v_a, v_b, k = np.exp(d / 2), np.exp(-d / 2), np.exp(theta)
    p_a, p_b = v_a / (v_a + k * v_b), v_b / (v_b + k * v_a)
    return np.stack([p_a, 1 - p_a - p_b, p_b], axis=1)


def test_it_finds_by_what_factor_a_foreign_head_is_too_sure():
    rng = np.random.default_rng(0)
    true = rng.normal(0, 1.5, 3000)  # logits
    drawn = [rng.choice(["A", "tie", "B"], p=p) for p in rao_kupper(true, 0.4)]
    d = 3 * true  # what the foreign head says: three times too much
    found = refit(d, rao_kupper(d, 0.1), judged(drawn, [i // 6 for i in range(3000)]), True, "9f2c", seed=0)
    assert found is not None
    head, before, after = found
    assert head.scale == pytest.approx(1 / 3, rel=0.08) and head.theta == pytest.approx(0.4, rel=0.15)
    chosen = head.preferences(d).choices
    assert abs(np.mean(chosen == "tie") - drawn.count("tie") / 3000) < 1e-3  # as many as people gave
    assert (head.snapshot, head.pairs, before["pairs"], after["pairs"]) == ("9f2c", 3000, 3000, 3000)
    assert before["low"] > 0.1 and after["error"] < 0.04 and after["high"] < 0.05


def test_without_ties_and_at_one_distance_the_scale_is_a_log_odds():
    """All pairs two logits apart, and the side ahead wins 45 of 60: the likeliest scale is log(45 / 15) / 2."""
    d = np.full(60, 2.0)
    choices = ["A"] * 45 + ["B"] * 15
    p = np.stack([1 / (1 + np.exp(-d)), 0 * d, 1 / (1 + np.exp(d))], axis=1)
    found = refit(d, p, judged(choices, list(range(60))), False, "9f2c", seed=0)
    assert found is not None
    head, before, _ = found
    assert (head.scale, head.theta, head.tie_threshold) == (pytest.approx(np.log(3) / 2, abs=1e-4), 0.0, 0.0)
    assert before["error"] == pytest.approx(1 / (1 + np.exp(-2)) - 0.75)  # says 0.881 each time, right in 0.75
    assert head.preferences(d).probabilities[0] == pytest.approx([0.75, 0, 0.25], abs=1e-4)


def test_each_context_is_measured_by_the_fit_on_others():
    """Two contexts that contradict each other: in one the side ahead wins 30 of 40, in the other 20 of 40. Each by the fit of
    the other is off by a quarter; a fit on both would be off by an eighth."""
    d = np.ones(80)
    choices = ["A"] * 30 + ["B"] * 10 + ["A"] * 20 + ["B"] * 20
    found = refit(d, rao_kupper(d, 0.0), judged(choices, [0] * 40 + [1] * 40), False, "9f2c", seed=0)
    assert found is not None
    _, _, after = found
    assert after["error"] == pytest.approx(0.25, abs=0.01)  # a scale is at least 0.01


@pytest.mark.parametrize("pairs, contexts, known", [(49, 49, False), (50, 50, True), (50, 2, True), (50, 1, False)])
def test_below_fifty_pairs_or_two_contexts_nothing_is_known(pairs, contexts, known):
    d = np.linspace(-2, 2, pairs)
    choices = ["A", "B", "tie", "A", "B"] * 10
    found = refit(d, rao_kupper(d, 0.5), judged(choices[:pairs], [i % contexts for i in range(pairs)]), True, "9f2c", seed=0)
    assert (found is not None) == known


def test_a_judge_of_pairs_is_scaled_by_its_log_odds():
    p = np.array([[0.8, 0.1, 0.1], [0.1, 0.1, 0.8], [0.4, 0.2, 0.4], [1.0, 0.0, 0.0]])
    d = log_odds(p)
    assert d[:3] == pytest.approx([np.log(8), -np.log(8), 0]) and 80 < d[3] < 90  # the smallest of single precision: 2 ** -126
    half = Refit(0.5, 0.0, 1.2, "9f2c", 50).preferences(d)
    assert half.probabilities[0] == pytest.approx([np.sqrt(8) / (1 + np.sqrt(8)), 0, 1 / (1 + np.sqrt(8))])
    assert half.choices.tolist() == ["tie", "tie", "tie", "A"]  # log(8) / 2 is 1.04
    assert Refit(0.5, 0.0, 1.0, "9f2c", 50).preferences(d).choices.tolist() == ["A", "B", "tie", "A"]
    assert half.swapped().probabilities == pytest.approx(Refit(0.5, 0.0, 1.2, "9f2c", 50).preferences(-d).probabilities)
