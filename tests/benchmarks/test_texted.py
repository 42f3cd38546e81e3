"""The generator of contexts with texts draws what it says."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.validity.texted import Judge, Texted, draw, ordered, scenarios

pytestmark = pytest.mark.one_database


def overlap(a: str, b: str) -> float:
    one, two = set(a.split()), set(b.split())
    return len(one & two) / len(one | two)


def alike(answered, of: np.ndarray) -> tuple[float, float]:
    """How many words two contexts share: (of one group, of two groups)"""
    pairs = [(i, j) for i in range(60) for j in range(i)]
    shared = np.array([overlap(answered.prompts[i], answered.prompts[j]) for i, j in pairs])
    same = np.array([of[i] == of[j] for i, j in pairs])
    return shared[same].mean(), shared[~same].mean()


def test_words_show_a_topic_or_do_not():
    shown, hidden = (draw(scenarios()[name], 3) for name in ("8 topics in words", "8 topics no word shows"))
    within, across = alike(shown, shown.topic)
    assert within > 1.5 * across
    within, across = alike(hidden, hidden.topic)
    assert within == pytest.approx(across, rel=0.1)


def test_copies_are_the_same_prompt_and_only_fresh_ones_have_other_outputs():
    names = [f"6 prompts under 10 ids{more}" for more in ("", ", spelling", ", a name", ", fresh outputs")]
    equal, spelt, named, fresh = (draw(scenarios()[name], 1) for name in names)
    assert len(set(equal.prompts)) == 6 and len(set(named.prompts)) > 30 and len(set(spelt.prompts)) > 20
    for one in (equal, spelt, named, fresh):
        assert [int(np.sum(one.source == n)) for n in range(6)] == [10] * 6
    i, j = np.flatnonzero(equal.source == 0)[:2]
    assert equal.outputs[i] == equal.outputs[j] and (equal.worth[i] == equal.worth[j]).all()
    i, j = np.flatnonzero(fresh.source == 0)[:2]
    assert fresh.outputs[i] != fresh.outputs[j] and (fresh.worth[i] != fresh.worth[j]).all()


def test_judges_correlate_and_err_as_they_say():
    """1,500 outputs: the standard error of a correlation of .6 is .017. A bias of .5 on one of five is .4 above the mean of
    all; a judge of r .97 has an error of .01 on a system, and leanings of SD .4 of 12 people a mean of SD .1."""
    c = Texted(contexts=300, judges=(Judge(0.6), Judge(0.97), Judge(0.97, taste=1.0), Judge(0.97, bias=0.5)))
    answered = draw(c, 2)
    r = [np.corrcoef(scores.ravel(), answered.worth.ravel())[0, 1] for scores in answered.judged]
    assert r[:2] == [pytest.approx(0.6, abs=0.05), pytest.approx(0.97, abs=0.01)]
    inside = answered.judged - answered.judged.mean(2, keepdims=True)
    errors = (inside - (answered.worth - answered.worth.mean(1, keepdims=True))).mean(1)
    assert np.abs(errors[1]).max() < 0.04 < np.abs(errors[2]).max()
    assert errors[3, -1] == pytest.approx(0.4, abs=0.04) and errors[3, 0] == pytest.approx(-0.1, abs=0.04)


def test_people_see_the_order_and_only_the_kind_that_is_asked():
    scored, compared = draw(ordered(Texted(), 1.0), 5), draw(ordered(Texted(points=0), 1.0), 5)
    means = [scored.value[scored.system == s].mean() for s in range(5)]
    assert means == sorted(means) and set(scored.value) == {1, 2, 3, 4, 5} and len(scored.outcome) == 0
    better = np.where(compared.first > compared.second, compared.outcome, -compared.outcome)
    assert better.mean() > 0.4 and len(compared.value) == 0
    assert len(draw(replace(Texted(), pairs=50), 5).outcome) == 50


def test_the_same_seed_draws_the_same():
    a, b, other = (draw(scenarios()["judges"], seed) for seed in (1, 1, 2))
    assert a.prompts == b.prompts and (a.value == b.value).all() and (a.judged == b.judged).all()
    assert a.prompts != other.prompts
