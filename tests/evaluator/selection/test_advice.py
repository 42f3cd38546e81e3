"""A training that is watched: one scale, both rules, and the verdict. Expected values are worked out beside each test."""

import numpy as np
import pytest
from scipy.special import logit

from core.errors import Refused
from evaluator.judges.protocol import by_order
from evaluator.selection.advice import advice
from evaluator.selection.best_checkpoint import _steady, kept
from evaluator.selection.candidates import choice
from evaluator.selection.curve import ByPairs, ByUtility, curve_of
from evaluator.selection.health import length_controlled
from evaluator.selection.losing_streak import against_previous, losing_streak
from evaluator.selection.plateau import Alone, look, newest_look, share
from evaluator.selection.rules import Rules, amount, asked_of
from evaluator.selection.strengths import covariance, meetings, strengths
from evaluator.selection.trend import slope


def training(quality, contexts=200, seed=0):
    rng = np.random.default_rng(seed)
    quality = np.asarray(quality, dtype=float)
    utilities = quality[:, None] + rng.standard_normal((len(quality), contexts))
    return curve_of(100 * np.arange(1, len(quality) + 1), ByUtility(utilities, by_order), contexts)


def test_two_checkpoints_have_the_log_odds_of_their_win_rate():
    """3 of 4 won: with half a win and half a loss more, 3.5 / 5; the strengths' mean is 0."""
    curve = curve_of([1, 2], ByPairs({(1, 0): [1, 1, 1, -1]}), 4)
    found = strengths(meetings(curve, np.arange(2)))
    np.testing.assert_allclose(found.values, [[-logit(0.7) / 2, logit(0.7) / 2]])


def test_two_parts_that_never_met_have_mean_0_each():
    """In each part one won 3 of 4, as above; the fifth checkpoint met nobody."""
    won = [1, 1, 1, -1]
    curve = curve_of(np.arange(5), ByPairs({(1, 0): won, (3, 2): won}), 4)
    half = logit(0.7) / 2
    np.testing.assert_allclose(strengths(meetings(curve, np.arange(5))).values, [[-half, half, -half, half, 0]], atol=1e-12)


def test_contexts_of_one_group_are_one_observation():
    """Outcomes 1, 1, -1, -1: the four deviate by 1 each, in two groups by 2 each. A difference of strengths is 2 x the mean
    outcome to first order: 4 (4 x 1) / (4 x 4) x 4/3 by contexts, 4 (2 x 4) / (4 x 4) x 2/1 by groups."""
    said = ByPairs({(1, 0): [1, 1, -1, -1]})
    difference = np.array([[-1.0, 1.0]])
    for groups, expected in ((None, 4 / 3), (["a", "a", "b", "b"], 4.0)):
        curve = curve_of([1, 2], said, 4, groups)
        influences = strengths(meetings(curve, np.arange(2))).influences(difference)[0]
        np.testing.assert_allclose(covariance(influences, curve.units), [[expected]])


def test_the_published_rule_counts_losses_in_a_row():
    won, lost = [1, 1, -1], [1, -1, -1]
    one = {(m, m - 1): won if m in (1, 7) else lost for m in range(1, 8)}  # 1 won, 2..6 lost, 7 won
    two = one | {(m, m - 2): [0, 0, 0] for m in range(2, 8)}
    rules = Rules()
    for last, losses, stopped_at in ((5, 4, None), (6, 5, 6), (7, 0, 6)):
        curve = curve_of(np.arange(last + 1), ByPairs({pair: said for pair, said in two.items() if pair[0] <= last}), 3)
        found = losing_streak(against_previous(curve, rules.previous), rules)
        assert (found.losses, found.stopped_at) == (losses, stopped_at)


def test_without_scatter_a_slope_is_the_least_squares_one():
    """Points on a line with noise of variance 1e-4: slope 2, and nothing else is known of it than the noise allows."""
    t = np.arange(20.0)
    found = slope(t, 1 + 2 * t[None], np.array([1e-4]), np.zeros(1))
    assert found.estimate == pytest.approx(2)
    assert found.above(2.0) == pytest.approx(0.5)
    assert found.quantile(0.5) == pytest.approx(2)


def test_a_rise_a_plateau_and_a_decline_get_their_words():
    time = np.arange(40)
    rules = Rules(worthwhile=5, per=1000)
    words = [advice(training(q, seed=3), rules).word for q in (0.05 * time, 0 * time, -0.05 * time)]
    assert words == ["improving", "no longer improving", "getting worse"]


def test_before_the_first_look_nothing_is_known():
    found = advice(training([0, 1, 2]), Rules())
    assert (found.word, found.stop, found.looks, found.slope) == ("open", False, 0, None)
    assert found.best.step == 300 and found.points[0].wins == found.points[0].ties == 0


def test_what_comes_later_and_how_long_it_lasts_change_nothing():
    """So a training of 30 evaluations is the first 30 of one of 60."""
    rules, utilities = Rules(), training(0.02 * np.arange(60), seed=4).comparisons.utilities
    whole = curve_of(np.arange(60), ByUtility(utilities, by_order), 200)
    begun, short = (curve_of(np.arange(30), ByUtility(utilities[:30], by_order), 200, total=total) for total in (60, None))
    assert advice(begun, rules) == advice(short, rules)
    then, now = look(Alone(whole), rules, 30), newest_look(short, rules)
    assert then.share == now.share and then.window == now.window
    np.testing.assert_array_equal(then.slope.weights, now.slope.weights)
    np.testing.assert_array_equal(then.slope.means, now.slope.means)


def test_one_point_in_one_step_is_no_plural():
    said = advice(training([0, 1]), Rules(worthwhile=1, per=1, losses=1)).said
    assert "gains 1 point or more in 1 step is" in said[1] and "(1 evaluation lost in a row" in said[2]
    assert amount("+0.30", "point") == "+0.30 points" and amount("-1", "point") == "-1 point"


def test_it_says_what_the_intervals_speak_of():
    utilities = training(np.zeros(12)).comparisons
    said = {
        units: advice(curve_of(np.arange(12), utilities, 200, np.arange(200) % units), Rules()).said[-1]
        for units in (4, 20, 200)
    }
    assert "contexts like these: 200 contexts, as this judge sees them" in said[200]
    assert "contexts like these: 200 contexts, drawn in their 20 groups, as this judge" in said[20]
    assert "like these" not in said[4]  # there are no intervals


def test_the_same_rows_give_the_same_advice():
    assert advice(training(np.zeros(12)), Rules()) == advice(training(np.zeros(12)), Rules())


def test_a_pairwise_judge_is_asked_about_few_pairs():
    """The previous two, ten back, the best and the first."""
    assert [asked_of(m, Rules()) for m in range(3)] == [[], [0], [0, 1]]
    assert asked_of(30, Rules(), best=25) == [0, 20, 25, 28, 29]


@pytest.mark.parametrize(
    "wrong", [{"worthwhile": 0}, {"error": 0.6}, {"previous": 0}, {"per": 0}, {"worthwhile": float("nan")}]
)
def test_rules_that_make_no_sense_are_refused(wrong):
    with pytest.raises(Refused):
        Rules(**wrong)


def test_a_curve_that_contradicts_itself_is_refused():
    for steps, total in (([2, 1], None), ([1, 1], None), ([5], 4)):
        with pytest.raises(Refused):
            curve_of(steps, ByPairs({}), 3, total=total)


def test_the_shares_of_all_looks_are_bounded():
    """8 / (8 + j - 1) (8 + j) adds up to 1 for j to infinity; a window of 15 has an eighth of a full one's share."""
    of_looks = [share(Rules(error=0.05), number, 30) for number in range(1, 4000)]
    assert sum(of_looks) == pytest.approx(3 * 0.05, rel=0.01)
    assert share(Rules(), 1, 15) == pytest.approx(of_looks[0] / 8)


def test_the_window_is_as_long_as_it_must_be_to_decide():
    """With 200 contexts a checkpoint's strength has an error of about 0.08: a slope of 30 points (1.4) an evaluation is clear
    after ten, one of 0.3 points (0.012) needs the full window, one of 0.1 points is hardly clear after 60."""
    flat = training(np.zeros(65))
    windows = [look(Alone(flat), Rules(worthwhile=gain, per=100), 60).window[0] for gain in (30, 0.3, 0.1)]
    assert windows == [10, 30, 60]


def test_a_decline_is_seen_in_a_short_window_while_the_full_one_still_holds_the_rise():
    """Up by 0.05 for 30 evaluations, then down by 0.06. A worthwhile 0.01 an evaluation (0.28 points in 100 steps) needs the
    full window, but 15 evaluations fall by 0.06 with an error of about 0.1 / sqrt(15^3 / 12) = 0.006."""
    time, rules = np.arange(45), Rules(worthwhile=0.28, per=100)
    up_and_down = training(0.05 * np.minimum(time, 30) - 0.06 * np.maximum(time - 30, 0), 100, seed=1)
    found = look(Alone(up_and_down), rules, 45)
    assert found.window[0] < 30 and found.falls()[0] and found.stops(rules.worthwhile_slope)[0]
    assert advice(up_and_down, rules).word == "getting worse"
    assert look(Alone(up_and_down), rules, 30).window[0] == 30


def test_of_a_curve_that_lay_and_now_rises_the_past_does_not_stop_it():
    """Flat for 24 evaluations, then up by 0.3 standard deviations each time: the line through all 30 is not steep enough for a
    worthwhile gain of 25 points, but the end is."""
    rising = training(np.concatenate([np.zeros(24), 0.3 * np.arange(1, 7)]), seed=5)
    found = look(Alone(rising), Rules(worthwhile=25, per=1000), 30)
    assert found.movement.bend > 1.645 and found.movement.end > Rules(worthwhile=25).worthwhile_slope
    assert not found.stops(Rules(worthwhile=25).worthwhile_slope)


def test_four_contexts_name_no_best_and_give_no_interval():
    """Of fewer than five units the noise is not known: nine checkpoints are then equally likely the best, and the smallest set
    that holds it with 95% has all nine. The one to keep is then the highest. On five contexts there are intervals."""
    few, enough = (advice(training(0.5 * np.arange(9), contexts=n, seed=1), Rules()) for n in (4, 5))
    assert len(few.best.not_worse) == 9 and few.best.probability < 0.2
    assert few.best.step == max(few.points, key=lambda point: point.strength).step
    ends = [(p.low, p.high, p.strength_low, p.strength_high) for p in few.points]
    assert ends == [(None,) * 4] * 9 and None not in [p.strength_low for p in enough.points]


def test_a_leap_between_equals_leaves_the_first_out_of_the_best():
    """The first loses on 45 of 68 contexts to each of 14 later ones, which are equal: no chance explains that (z over 6), and
    each later one is the best with a chance of 1 / 14."""
    won = np.repeat([1.0, 0.0], [45, 23])
    utilities = np.vstack([np.zeros(68), np.tile(won, (14, 1))])
    found = advice(curve_of(100 * np.arange(1, 16), ByUtility(utilities, by_order), 68), Rules()).best
    assert set(found.not_worse) == set(range(200, 1600, 100)) and found.rank_high == 14
    assert found.probability == pytest.approx(1 / 14, abs=0.02)


def test_the_set_of_the_best_is_the_smallest_that_sums_to_95_percent():
    assert kept(np.array([0.3, 0.05, 0.5, 0.15])) == [2, 0, 3]
    assert kept(np.array([0.25, 0.25, 0.25, 0.25])) == [0, 1, 2, 3]


def test_a_steep_beginning_does_not_make_the_flat_part_seem_to_move():
    """Up for 15 evaluations, then 25 that are all as good: whichever the judge's luck favours, hardly any is known to be worse,
    and the beginning is."""
    found = advice(training(0.3 * np.minimum(np.arange(40), 15), contexts=60, seed=2), Rules()).best
    assert min(found.not_worse) >= 100 * 13 and len(found.not_worse) >= 20


def test_correlations_that_are_noise_are_drawn_towards_none():
    """Of 40 independent rows of 50 numbers nearly all, of rows that are alike by half hardly."""
    own = np.random.default_rng(0).standard_normal((40, 50))
    alike = np.sqrt(0.5) * (own + np.random.default_rng(1).standard_normal(50))
    for rows, low, high in ((own, 0.0, 0.03), (alike, 0.35, 0.55)):
        steady = _steady(rows - rows.mean(1, keepdims=True))
        apart = (steady / np.sqrt(np.outer(np.diag(steady), np.diag(steady))))[~np.eye(40, dtype=bool)]
        assert low <= np.sqrt((apart**2).mean()) <= high


def test_a_choice_among_runs_is_surer_with_more_contexts():
    """Three runs, the second better by one standard deviation of an output: Phi(1 / sqrt 2) = 0.76 against each."""
    for contexts, sure in ((20, 0.8), (400, 0.999)):
        found = choice(["a", "b", "c"], training([0, 1, 0], contexts))
        assert found.candidates[0].name == "b" and found.candidates[0].probability > sure
    assert found.candidates[0].low < 0.76 < found.candidates[0].high and found.not_worse == ["b"]


def test_at_equal_length_a_judge_of_length_sees_no_difference():
    """The judge adds 1 for each 30 characters to what it sees; texts grow by 30 characters. Its plain win rate against the one
    before is Phi(1 / 2) = 0.69: the difference's standard deviation is sqrt(2 + 2)."""
    rng = np.random.default_rng(1)
    lengths = 100 + 30 * np.arange(3)[:, None] + 30 * rng.standard_normal((3, 600))
    curve = curve_of([1, 2, 3], ByUtility(lengths / 30 + rng.standard_normal((3, 600)), by_order), 600)
    first, second, third = length_controlled(curve, lengths, previous=1)
    assert first is None
    np.testing.assert_allclose([second, third], 0.5, atol=0.06)


def test_an_output_that_nobody_judged_is_no_tie():
    curve = curve_of([1, 2], ByUtility(np.array([[0.0, 1.0, np.nan], [1.0, np.nan, 1.0]]), by_order), 3)
    np.testing.assert_array_equal(curve.comparisons.outcomes(1, 0), [1, np.nan, np.nan])
    point = advice(curve, Rules()).points[1]
    assert (point.wins, point.ties, point.losses) == (1, 0, 0)
