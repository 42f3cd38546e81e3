import gc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from annotation.quality.answer_arrays import Answers
from annotation.quality.people.annotator_cards import Behaviour, cards
from annotation.quality.people.suspicion import holm, suspicion
from tests.annotation.quality.campaigns import campaign

SEEDS = 25


@pytest.fixture(scope="module")
def few_to_collect():
    """statsmodels collects garbage in each correction, among all that the tests before have left."""
    gc.freeze()


@pytest.mark.usefixtures("few_to_collect")
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_is_statsmodels(p):
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])


def test_holm_with_weights_by_hand():
    # p / weight: 0.01, 0.04, 0.02. From the smallest on, 4, 3 and 1 of the weights are left: 0.04, 0.06, and no less than that.
    assert holm([0.01, 0.04, 0.04], [1, 1, 2]) == pytest.approx([0.04, 0.06, 0.06])


@pytest.mark.long
def test_the_two_careless_of_ten_stand_first():
    found = [suspicion(cards(campaign(seed))) for seed in range(SEEDS)]
    assert np.mean([{suspect.annotator for suspect in suspects[:2]} == {8, 9} for suspects in found]) >= 0.95
    flagged = [{suspect.annotator for suspect in suspects if suspect.is_flagged} for suspects in found]
    assert np.mean([who == {8, 9} for who in flagged]) >= 0.9
    assert all(suspects[0].reasons[0].startswith("Correlation with the others") for suspects in found if suspects[0].is_flagged)


@pytest.mark.long
def test_of_ten_honest_annotators_hardly_ever_is_anybody_flagged():
    found = [suspicion(cards(campaign(seed, honest=10, careless=0))) for seed in range(SEEDS)]
    assert np.mean([suspects[0].is_flagged for suspects in found]) <= 0.08  # two of 25


@pytest.fixture
def honest():
    return campaign(3, honest=4, careless=0, outputs=120, k=4)


def changed(answers, annotator, values):
    value = answers.value.copy()
    value[answers.annotator == annotator] = values(value[answers.annotator == annotator])
    return Answers(answers.annotator, answers.item, answers.criterion, value, answers.order)


def test_who_reads_the_scale_upside_down_is_told_so(honest):
    suspect = suspicion(cards(changed(honest, 2, lambda value: 6 - value)))[0]
    assert suspect.annotator == 2
    assert any("upside down" in reason for reason in suspect.reasons)


def test_who_always_gives_the_same_answer(honest):
    suspect = suspicion(cards(changed(honest, 1, lambda value: np.full_like(value, 3))))[0]
    assert suspect.annotator == 1
    assert suspect.reasons == ["The same answer to 100% of 120 items."]


def test_who_gives_the_same_answer_from_some_item_on(honest):
    own = np.flatnonzero(honest.annotator == 1)
    last = own[np.argsort(honest.order[own])][-40:]  # of 120
    value = honest.value.copy()
    value[last] = 3
    suspect = suspicion(cards(Answers(honest.annotator, honest.item, honest.criterion, value, honest.order)))[0]
    assert suspect.annotator == 1
    assert any(reason.startswith("The same answer 4") and "in a row" in reason for reason in suspect.reasons)


def test_who_repeats_every_second_answer():
    answers = campaign(0, honest=10, careless=0)
    own = np.flatnonzero(answers.annotator == 1)
    own = own[np.argsort(answers.order[own])]
    value = answers.value.copy()
    value[own[1::2]] = value[own[: len(own) // 2 * 2 : 2]]
    first, second, *_ = suspicion(cards(Answers(answers.annotator, answers.item, answers.criterion, value, answers.order)))
    assert (first.annotator, second.is_flagged) == (1, False)
    assert any(reason.startswith("Repeats the previous answer") for reason in first.reasons)


def test_who_is_severe_but_orders_alike_is_not_suspected(honest):
    assert not suspicion(cards(changed(honest, 0, lambda value: np.maximum(value - 1, 1))))[0].is_flagged


def behaved(**observations):
    """Three annotators with observations: {kind: {annotator: list}}."""
    flat = {
        kind: ([who for who, what in by.items() for _ in what], [one for what in by.values() for one in what])
        for kind, by in observations.items()
    }
    behaviour = Behaviour(**flat)
    return suspicion(cards(Answers.of_table(np.empty((3, 0))), behaviour, annotators=3), behaviour)


def test_who_always_prefers_the_left():
    found = behaved(sides={0: [1] * 15 + [-1] * 15, 1: [1] * 20 + [0] * 5, 2: [1] * 12 + [-1] * 10})
    assert found[0].annotator == 1 and found[0].is_flagged
    # The others prefer the left 27 times of 52; half the way from there to always: 79/104. Both sides are tested.
    assert found[0].concerns[0].p == pytest.approx(2 * (79 / 104) ** 20)
    assert found[0].reasons == ["Preferred the left output in 20 of 20 judgments without a tie."]
    assert not any(suspect.is_flagged for suspect in found[1:])


@pytest.mark.parametrize("kind", ["repeats", "gold"])
def test_who_fails_what_others_pass(kind):
    found = behaved(**{kind: {0: [True] * 18 + [False] * 2, 1: [True] * 19 + [False], 2: [True] * 2 + [False] * 18}})
    assert [suspect.annotator for suspect in found if suspect.is_flagged] == [2]
    # At most 2 of 20 where half of the others' 37/40 would be expected: sum of C(20, k) q^k (1-q)^(20-k), q = 0.4625.
    assert found[0].concerns[0].p == pytest.approx(0.000644, abs=5e-7)


def test_who_answers_in_no_time():
    found = behaved(seconds={0: [10.0, 14.0] * 10, 1: [9.0, 12.0] * 10, 2: [2.0] * 18 + [20.0] * 2})
    assert [suspect.annotator for suspect in found if suspect.is_flagged] == [2]
    assert found[0].reasons == ["18 of 20 items took under 3.8 s, a third of the others' usual time."]


def test_who_prefers_the_left_as_often_as_all_do_is_not_suspected():
    assert not any(suspect.is_flagged for suspect in behaved(sides={who: [1] * 90 + [-1] * 10 for who in range(3)}))


def test_nobody_is_compared_with_nobody():
    assert suspicion(cards(Answers.of_table([[1.0, 2.0, 3.0, 4.0, 5.0, 1.0]]))) == []
    assert suspicion([]) == []


def test_where_nobody_agrees_nobody_stands_out():
    noise = np.random.default_rng(0).integers(1, 6, (5, 100)).astype(float)
    assert not any(suspect.is_flagged for suspect in suspicion(cards(Answers.of_table(noise))))
