"""What stands beside the members without training: broken outputs, directions, cosines in new contexts. Without an encoder."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from evaluator.comparator.new_contexts import Elsewhere, beside_cosines
from evaluator.comparator.supervision.broken import KINDS, broken
from evaluator.comparator.untrained import ALL_KINDS, MOST, Wholeness, _directions
from evaluator.judges.calibration import Head
from evaluator.judges.texts import Text
from evaluator.metaevaluation.pairs import JudgedPair, as_arrays
from evaluator.metaevaluation.robustness import BROKEN


def whole_texts(n: int) -> list[Text]:
    return [Text((f"where did you go in spring {i} ?",), f"we met Anna near harbour {i} and walked home .") for i in range(n)]


def test_kinds_of_broken_outputs_are_called_as_attacks_are():
    assert {*KINDS} - {"shuffled"} == {*BROKEN}


def test_broken_outputs_differ_and_are_made_of_the_texts_own_words():
    texts = [*whole_texts(20), Text(("hi",), "yes .")]  # two words cannot be broken
    rows, made = broken(texts, seed=0)
    assert rows.tolist() == list(range(20)) and [*made] == [*KINDS]
    words = {word for text in texts for word in text.output.split()}
    for of, spoilt in made.values():
        assert all(texts[i].output != one.output and texts[i].context == one.context for i, one in zip(of, spoilt, strict=True))
    assert {
        word
        for _, spoilt in (made["cut"], made["shuffled"], made["one word changed"])
        for s in spoilt
        for word in s.output.split()
    } <= words
    assert all(sorted(s.output.split()) == sorted(texts[i].output.split()) for i, s in zip(*made["shuffled"], strict=True))
    again = broken(texts, seed=0)[1]
    assert all(again[kind][1] == spoilt for kind, (_, spoilt) in made.items())


def test_a_direction_is_fishers_and_each_kind_is_left_out_once():
    """By hand: with spread v of whole outputs and steps of mean s, the direction is along s / (v + s^2 + ridge), so a kind of
    steps along one axis alone weighs nothing once it is left out."""
    rng = np.random.default_rng(0)
    whole = rng.normal(size=(4000, 2))
    first, second = np.tile([2.0, 0.0], (50, 1)), np.tile([0.0, 2.0], (50, 1))
    (both, level), (without_first, _), (without_second, _) = _directions(whole, [first, second])
    assert both[0] == pytest.approx(both[1], rel=0.1) and level == pytest.approx(0.0, abs=0.05)
    assert abs(without_first[0]) < 0.1 < without_first[1] and abs(without_second[1]) < 0.1 < without_second[0]
    assert (whole @ both).std() == pytest.approx(1.0)


def test_what_an_output_lacks():
    """softplus(0) = log 2 for each of the two vectors at the level of whole outputs; no more than MOST."""
    wholeness = Wholeness((ALL_KINDS, "cut"), torch.tensor([[[[1.0], [1.0]]] * 2, [[[0.0], [0.0]]] * 2]), torch.zeros(2, 2, 2))
    form = torch.tensor([[[0.0], [0.0]], [[-100.0], [0.0]]])
    lack = wholeness.lack(form, np.array([0, -1]))
    assert lack[0] == pytest.approx([2 * np.log(2)] * 2, rel=1e-6) and lack[1] == pytest.approx([MOST, 2 * np.log(2)], rel=1e-6)
    assert wholeness.without("cut") == 1 and wholeness.without("negated") == 0


def test_in_new_contexts_mean_and_spread_stay_and_cosines_count():
    rng = np.random.default_rng(0)
    u, cosines = rng.normal(0.3, 2.0, size=60), rng.normal(0.5, 0.1, size=(60, 2))
    pairs = [JudgedPair(3 * c + i, 3 * c + j, (0.5, 0.0, 0.5), 1.0) for c in range(20) for i, j in ((0, 1), (0, 2))]
    first = u[[pair.a for pair in pairs]] > u[[pair.b for pair in pairs]]
    pairs = [replace(pair, target=(0.9, 0.0, 0.1) if a else (0.1, 0.0, 0.9)) for pair, a in zip(pairs, first, strict=True)]
    found = beside_cosines(u, cosines, np.full(60, np.nan), as_arrays(pairs))
    mixed = found.utilities(u, cosines)
    assert (mixed.mean(), mixed.std()) == pytest.approx((u.mean(), u.std()))
    own, beside = (u - u.mean()) / u.std(), ((cosines - cosines.mean(0)) / cosines.std(0)).mean(1)
    by_hand = own + 0.5 * beside  # people go by u, so the cosines are worth next to nothing: half of equal weights
    assert np.corrcoef(mixed, by_hand)[0, 1] > 0.99 > np.corrcoef(mixed, own + 1.5 * beside)[0, 1]
    assert found.scaled(3.0).utilities(3.0 * u, cosines) == pytest.approx(3.0 * mixed)
    assert beside_cosines(u, np.zeros((60, 2)), np.full(60, np.nan), as_arrays(pairs)) == Elsewhere()


def test_a_head_of_before_scores_as_it_did():
    """Its file names neither weight: what it says is scale raw + references likeness, lowered by nothing here."""
    head = Head(2.0, 0.5, 0.0, references=3.0)
    raw, likeness = np.array([0.1, 0.7]), np.array([0.2, -0.1])
    texts = [Text(("c",), "one"), Text(("c",), "two")]
    said = head.utilities(head.mixed(raw, likeness), texts, np.array([5.0, 9.0]))
    assert np.array_equal(said, 2.0 * raw + 3.0 * likeness)
