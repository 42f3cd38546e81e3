import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.stats import pearsonr

from annotation.quality.answer_arrays import Answers
from annotation.quality.people.annotator_cards import Behaviour, cards

NAN = np.nan
LIKERT = st.sampled_from([NAN, 1.0, 2.0, 3.0, 4.0, 5.0])


def answers_of(*rows):
    """Rows (annotator, item, criterion, value, order)."""
    return Answers(*np.array(rows, dtype=float).T)


@pytest.mark.long
@given(arrays(float, array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=12), elements=LIKERT))
def test_agreement_and_severity_are_those_of_numpy_annotator_by_annotator(scores):
    made = cards(Answers.of_table(scores), annotators=len(scores))
    spread = np.nanstd(scores) if (~np.isnan(scores)).any() else 0.0
    for i, card in enumerate(made):
        rest = np.delete(scores, i, axis=0)
        shared = ~np.isnan(scores[i]) & (~np.isnan(rest)).any(axis=0)
        own, others = scores[i, shared], np.array([np.nanmean(column) for column in rest[:, shared].T])
        assert card.shared_items == len(own)
        if len(own) and spread > 0:
            assert card.severity == pytest.approx((others - own).mean() / spread, abs=1e-9)
        if len(own) >= 5 and np.ptp(own) > 0 and np.ptp(others) > 1e-9:
            assert card.agreement == pytest.approx(pearsonr(own, others).statistic, abs=1e-9)


def test_a_card_by_hand():
    # Annotator 0 is always one point above annotator 1. Scores 2 3 4 5 6 and 1 2 3 4 5: variance (2 + 2) / 2 + 0.25.
    scores = np.array([[2, 3, 4, 5, 6], [1, 2, 3, 4, 5]], dtype=float)
    strict = cards(Answers.of_table(scores))[1]
    assert strict.agreement == pytest.approx(1, abs=1e-5)
    assert strict.severity == pytest.approx(1 / 1.5)
    assert (strict.severity_low, strict.severity_high) == pytest.approx((1 / 1.5, 1 / 1.5))
    assert strict.spread == pytest.approx(1)
    assert (strict.answers, strict.items, strict.shared_items) == (5, 5, 5)


def of_pairs(choices, turned):
    """Answers (people, pairs) of 0, 1, 2 about pairs, each in both orders; a turned pair is stored the other way about."""
    rows = [
        (who, 2 * pair + side, 0, value if side == turned[pair] else 2 - value, NAN, pair, True)
        for who, said in enumerate(choices)
        for pair, value in enumerate(said)
        for side in (0, 1)
    ]
    return Answers(*np.array(rows, dtype=float).T[:6], has_sides=np.ones(len(rows), dtype=bool))


def test_a_card_of_pairs_by_hand():
    # Counted from the tie, 1 is 0. Five pairs: A A A B tie and A A B B tie are -1 -1 -1 1 0 and -1 -1 1 1 0. In both orders
    # the means are 0, so the correlation is that of the ten numbers and their negatives: (1 + 1 - 1 + 1 + 0) / 4 = 1/2.
    choices = np.array([[0, 0, 0, 2, 1], [0, 0, 2, 2, 1]])
    for turned in np.ndindex(2, 2, 2, 2, 2):
        card, _ = cards(of_pairs(choices, turned))
        assert (card.answers, card.items, card.shared_items) == (5, 5, 5)
        assert (card.agreement, card.spread) == pytest.approx((1 / 2, 1))
        z, half = np.arctanh(1 / 2), 1.959964 / np.sqrt(5 - 3)  # five pairs, not ten
        assert (card.agreement_low, card.agreement_high) == pytest.approx((np.tanh(z - half), np.tanh(z + half)), abs=1e-6)
        assert card.severity is None and card.commonest == pytest.approx(1 / 5)  # of ties


def test_which_output_of_a_pair_comes_first_changes_no_card():
    draw = np.random.default_rng(3)
    taste = draw.normal(size=40)
    choices = np.digitize(taste + draw.normal(size=(6, 40)), (-0.4, 0.4))
    straight, mixed = (cards(of_pairs(choices, turned)) for turned in (np.zeros(40, int), draw.integers(0, 2, 40)))
    for one, other in zip(straight, mixed):
        known = {name: value for name, value in one.as_dict().items() if value is not None}
        assert known == pytest.approx({name: getattr(other, name) for name in known}, rel=1e-6)
        assert one.association and one.competence


def test_fishers_interval():
    # r = 0.5 over 28 items: atanh 0.5493, standard error 1 / sqrt(25) = 0.2: tanh(0.5493 -+ 0.3920) = 0.156, 0.736.
    rng = np.random.default_rng(0)
    x = rng.normal(size=28)
    x = (x - x.mean()) / x.std()
    noise = rng.normal(size=28)
    noise -= noise.mean() + x * (noise @ x) / 28
    y = 0.5 * x + np.sqrt(0.75) * noise / noise.std()
    card = cards(Answers.of_table([x, y]))[0]
    assert (card.agreement_low, card.agreement, card.agreement_high) == pytest.approx((0.156, 0.5, 0.736), abs=1e-3)


def test_criteria_of_different_scales_are_pooled_in_their_own_units():
    one = Answers.of_table([[1, 2, 3, 4, 5, 2], [1, 2, 3, 4, 4, 1]])
    other = Answers.of_table(np.array([[1, 2, 3, 4, 5, 2], [1, 2, 3, 4, 4, 1]]) * 10 + 50, criterion=1)
    both = Answers(*(np.concatenate([getattr(one, f), getattr(other, f)]) for f in one.__dataclass_fields__))
    alone, pooled = cards(one)[0], cards(both)[0]
    assert pooled.items == alone.items == 6 and pooled.answers == 12
    assert (pooled.agreement, pooled.severity) == pytest.approx((alone.agreement, alone.severity))


def test_a_run_is_of_whole_items_in_the_order_they_were_answered():
    # By order: items 0 (3, 3), 2 (3, 3), 1 (3, 3), 3 (3, 4): three alike, then another; the fifth has no known order.
    card, idle = cards(
        answers_of(
            (0, 0, 0, 3, 1),
            (0, 0, 1, 3, 1),
            (0, 2, 0, 3, 2),
            (0, 2, 1, 3, 2),
            (0, 1, 0, 3, 3),
            (0, 1, 1, 3, 3),
            (0, 3, 0, 3, 4),
            (0, 3, 1, 4, 4),
            (0, 4, 0, 3, NAN),
        ),
        annotators=2,
    )
    assert (card.longest_run, card.ordered_items, card.longest_run_share) == (3, 4, 3 / 4)
    # In a random order of these, two neighbours are alike with chance (3 x 2) / (4 x 3) = 1/2; they are 2 times of 3.
    assert card.repetition == pytest.approx((2 / 3 - 1 / 2) / (1 - 1 / 2))
    assert (idle.longest_run, idle.ordered_items, idle.answers, idle.agreement) == (0, 0, 0, None)


def test_behaviour_is_counted():
    behaviour = Behaviour(
        sides=([0, 0, 0, 1], [1, -1, 1, 0]),
        repeats=([0, 0], [True, False]),
        gold=([1], [True]),
        seconds=([0, 0, 0], [4.0, 9.0, 5.0]),
    )
    first, second = cards(answers_of((0, 0, 0, 1, NAN), (1, 0, 0, 2, NAN)), behaviour)
    assert (first.left, first.right, first.repeats, first.repeats_same, first.seconds) == (2, 1, 2, 1, 5.0)
    assert (second.left, second.right, second.gold, second.gold_right, second.seconds) == (0, 0, 1, 1, None)


@pytest.mark.parametrize(
    "scores",
    [np.empty((0, 0)), [[3.0, 4.0, 5.0]], np.full((3, 9), 2.0), np.full((2, 2), NAN), [[3.0, NAN], [NAN, NAN]]],
    ids=["no scores", "one annotator", "all equal", "all missing", "all missing but one"],
)
def test_degenerate_data_leave_the_card_empty(scores):
    for card in cards(Answers.of_table(scores)):
        assert card.agreement is None and card.spread is None and card.competence is None


def test_answers_are_checked():
    with pytest.raises(ValueError, match="as many annotators"):
        Answers([0, 1], [0], [0], [1.0], [0.0])
    with pytest.raises(ValueError, match="finite"):
        Answers([0], [0], [0], [NAN], [0.0])
