"""The smallest difference a design can detect."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2, multivariate_normal, nct, norm
from statsmodels.stats.power import TTestPower

from annotation.design.draw import draw
from annotation.design.moderation import Alone, stated
from annotation.design.pilot import MeanSquares, components_of, pair_assumptions_of
from annotation.design.plan import Protocol, plan
from annotation.design.power import (
    HIGH_VARIANCE,
    LOW_VARIANCE,
    Components,
    PairAssumptions,
    Scale,
    detectable_difference,
    detectable_win_rate,
    in_common,
    power_for_difference,
    power_of,
    standard_error,
)
from annotation.design.simulation import (
    Setting,
    corpus,
    correlation_of_outcomes,
    hand_out,
    pairs_test,
    scores_test,
    share_found,
)
from leaderboard.rating.decision import critical


class TestModeration:
    def test_differences_that_vary_alike_tell_each_other(self):
        # 10 of 5 systems, 19 degrees each. Of their log variances the spread is 5/6 of trigamma(9.5) = 0.1110; its upper limit
        # is 4 / 1.0636 times that, 0.2369 beyond chance: trigamma(4.70) = 0.2369, so 9.4 degrees more for 9.4 / 28.4 = 0.331 of
        # the weight. 1 / (1 / 28.4 + 0.331^2 / 76) = 27.3.
        found = stated(Alone(2.0, 19.0), Alone(2.0, 19.0), 5)
        assert found.variance == pytest.approx(2.0) and found.freedom == pytest.approx(27.3, abs=0.1)

    def test_one_that_varies_more_stands_nearly_alone(self):
        found = stated(Alone(9.0, 19.0), Alone(1.0, 19.0), 5)
        assert 8.0 < found.variance < 9.0 and 19.0 < found.freedom < 21.0

    def test_two_systems_have_one_difference(self):
        assert stated(Alone(9.0, 7.0), Alone(1.0, 7.0), 2) == Alone(9.0, 7.0)


class TestScores:
    @pytest.mark.parametrize(
        ("variance", "coefficient", "items", "power"),
        [
            # Card et al. 2020: data/human_eval/highvar_lowmer_lmer.csv of their repository, the rows with 10 workers:
            # shares of 200 simulated data sets in which lmer's t is above 1.96; the coefficient is half the difference.
            (HIGH_VARIANCE, 0.05, 50, 0.24),
            (HIGH_VARIANCE, 0.05, 100, 0.315),
            (HIGH_VARIANCE, 0.05, 500, 0.34),
            (HIGH_VARIANCE, 0.1, 50, 0.7),
            (HIGH_VARIANCE, 0.1, 100, 0.795),
            (HIGH_VARIANCE, 0.1, 500, 0.87),
            (HIGH_VARIANCE, 0.15, 50, 0.955),
            (HIGH_VARIANCE, 0.15, 100, 0.98),
            (HIGH_VARIANCE, 0.15, 500, 0.995),
            (LOW_VARIANCE, 0.05, 50, 0.575),
            (LOW_VARIANCE, 0.05, 100, 0.835),
            (LOW_VARIANCE, 0.05, 500, 0.95),
            (LOW_VARIANCE, 0.1, 50, 0.985),
            (LOW_VARIANCE, 0.1, 100, 1.0),
        ],
    )
    def test_the_standard_error_gives_the_power_that_card_and_others_simulated(self, variance, coefficient, items, power):
        se, _ = standard_error(variance, contexts=items, annotators=10, people=[(1, 10)])
        # Three standard errors of a share of 200 are 0.1 at most; lmer's own standard errors by ML are a little small.
        assert norm.sf(1.96 - 2 * coefficient / se) == pytest.approx(power, abs=0.1)

    def test_by_hand(self):
        # n 10, N 4, 2 people each: P_e = 2 (0.2 x 3/4 + 0.3) / 20 = 0.045; contexts 2 x 0.4/10 = 0.08; people 2 x 0.2/4 = 0.1.
        # Half of the outputs are not a person's: their luck adds 2 x 0.4 / 20 x 1/2 = 0.02 to the squares of people and chance.
        # df: V = 0.225; (0.125)^2 / 9 + (0.165)^2 / 3 + 0.065^2 / 27.
        se, df = standard_error(Components(0.4, 0.2, 0.3), 10, 4, [(1, 2)], systems=3)
        assert se == pytest.approx(math.sqrt(0.225))
        assert df == pytest.approx(0.225**2 / (0.125**2 / 9 + 0.165**2 / 3 + 0.065**2 / 27))

    def test_outputs_with_more_people_weigh_more(self):
        # Half the outputs have 3 people and half 1: an output tells 1 / (0.4 + 0.6 / k), that is 1 / 0.6 and 1 / 1.
        se, _ = standard_error(Components(0.4, 0.0, 0.6), 10, 4, [(0.5, 3), (0.5, 1)])
        assert se == pytest.approx(math.sqrt(2 / (10 * (0.5 / 0.6 + 0.5 / 1.0))))

    def test_three_annotators_speak_for_themselves_alone(self):
        # n 10, 3 people each: 2 x 0.4/10 + 2 x 0.3/30 = 0.1, whatever they lean to; df of contexts.
        se, df = standard_error(Components(0.4, 5.0, 0.3), 10, 3, [(1, 3)])
        assert se == pytest.approx(math.sqrt(0.1)) and df == pytest.approx(9)

    def test_the_power_of_a_t_test_is_statsmodels(self):
        # n 25 differences of standard deviation 1 around 0.6: SE 1/5, df 24.
        theirs = TTestPower().power(effect_size=0.6, nobs=25, alpha=0.05, df=24, alternative="two-sided")
        assert power_of(0.6, 0.2, 24, alpha=0.05) == pytest.approx(theirs, abs=1e-9)

    def test_the_plan_asks_what_the_first_board_asks(self):
        # 4% of the error of 5% is spent at the first look: the normal quantile 2.0537, against 1.95996.
        assert power_of(0.6, 0.2, 10**6) == pytest.approx(norm.sf(2.05375 - 3), abs=1e-3)

    def test_more_systems_need_a_larger_difference(self):
        # Tukey's range for 5 means, 24 degrees of freedom: 4.166, instead of t's 2.064 (Hochberg & Tamhane 1987, table 8).
        assert power_of(0.6, 0.2, 24, alpha=0.05, systems=5) == pytest.approx(nct.sf(4.166 / math.sqrt(2), 24, 3.0), abs=1e-3)

    def test_the_detectable_difference_has_the_power_it_was_asked_for(self):
        found = detectable_difference(HIGH_VARIANCE, 80, 10, [(1, 3)], power=0.9)
        assert power_of(found.difference, found.standard_error, found.df) == pytest.approx(0.9)

    def test_more_of_anything_detects_less(self):
        base = detectable_difference(HIGH_VARIANCE, 50, 6, [(1, 1)]).difference
        for more in ((100, 6, [(1, 1)]), (50, 12, [(1, 1)]), (50, 6, [(1, 3)])):
            assert detectable_difference(HIGH_VARIANCE, *more).difference < base

    def test_a_scale_of_four_points_has_four_times_the_difference(self):
        narrow, wide = (detectable_difference(c, 50, 6) for c in (LOW_VARIANCE, LOW_VARIANCE.on(1, 5)))
        assert wide.difference == pytest.approx(4 * narrow.difference)

    def test_scores_near_the_end_of_the_scale_vary_less(self):
        # By hand: around 3 of 1 to 5 scores vary by 2 x 2 at most, around 4 by 3 x 1.
        assert Scale(1, 5, 3.0).left(1.0) == pytest.approx(3 / 4)
        assert Scale(1, 5, 4.5).left(0.25) == pytest.approx(3.75 * 0.25 / (3.5 * 0.5))

    def test_a_plan_that_knows_the_scale_has_the_power_it_was_asked_for(self):
        known = {"contexts": 40, "annotators": 10, "people": [(1, 3)], "systems": 5}
        components, scale = HIGH_VARIANCE.on(1, 5), Scale(1, 5, 3.5)
        found = detectable_difference(components, **known, scale=scale)
        # One of two systems varies less, so the variance of their difference is (1 + f) / 2 times that around the known mean.
        own = standard_error(components, **known)[0] * math.sqrt((1 + scale.left(found.difference)) / 2)
        most = critical(5, found.df, 0.96) * found.standard_error / own
        assert nct.sf(most, found.df, found.difference / own) == pytest.approx(0.8, abs=1e-4)
        assert found.difference < detectable_difference(components, **known).difference

    def test_where_people_divide_over_the_system_that_is_ahead(self):
        # n 40, N 20, one person each: leanings of variance 0.81 to it and 0.09 to the others add (0.81 + 0.09) / 20 = 0.045.
        divided = Components(0.0, 0.09, 0.0, ahead=0.81)
        apart, alike = (standard_error(divided, 40, 20, systems=5, ahead=ahead)[0] ** 2 for ahead in (True, False))
        chance = 2 * (1 - 1 / 20) / 40
        assert apart == pytest.approx(0.045 + chance * 0.45) and alike == pytest.approx(2 * 0.09 / 20 + chance * 0.09)
        with_all, without = (detectable_difference(one, 40, 20, systems=5) for one in (divided, replace(divided, ahead=None)))
        assert with_all.difference > 2 * without.difference and with_all.df < without.df

    @pytest.mark.long
    def test_plans_from_pilots_hold_as_often_as_planned(self):
        """The residual variance alone, told by pilots as chi2 / 6 of it: over pilots, the differences that they plan are found
        in 80%. Told as if it were known, in 71% (Julious & Owen 2006, section 3)."""
        truth, known = Components(0, 0, 1.0), {"contexts": 30, "annotators": 2, "people": [(1, 2)]}
        levels = (np.arange(200) + 0.5) / 200
        found = {True: [], False: []}
        for told in chi2.ppf(levels, 6) / 6:
            plausible = [[0.0, 0.0, told * 6 / drawn] for drawn in chi2.ppf(levels, 6)]
            for is_pilot in found:
                planned = Components(0, 0, told, plausible=plausible if is_pilot else ())
                found[is_pilot].append(power_for_difference(detectable_difference(planned, **known).difference, truth, **known))
        assert np.mean(found[True]) == pytest.approx(0.8, abs=0.001)
        assert np.mean(found[False]) == pytest.approx(0.709, abs=0.005)

    def test_mean_squares_of_a_pilot_give_its_variances_back(self):
        contexts, annotators = np.repeat(np.arange(20), 6), np.tile(np.arange(12), 10)  # 3 of 12 people on each of two outputs
        squares = MeanSquares.of((0.5, 0.2, 0.6), contexts, annotators, 2, (1, 1))
        # share 1/4: 0.5 + (0.2 * 3/4 + 0.6) / 3 and 0.2 + (0.5 * 3/4 + 0.6) / 5
        assert squares.squares == pytest.approx((0.75, 0.395, 0.6)) and squares.freedom == (19, 11, 56)
        middle = np.median(squares.plausible(), axis=0)
        assert middle == pytest.approx([0.5, 0.2, 0.6], abs=0.06)  # medians of p / chi2 are a little over 1

    def test_leanings_that_the_likelihood_puts_at_0_are_as_the_mean_squares_say(self):
        """Where nobody leans, the mean square of annotators is below its expected value in half of all pilots."""
        rng = np.random.default_rng(4)
        contexts, annotators, systems = (part.ravel() for part in np.indices((20, 8, 2)))
        pilots = [components_of(rng.normal(size=320), systems, contexts, annotators) for _ in range(20)]
        middles = np.array([np.median(np.asarray(pilot.plausible)[:, 1]) for pilot in pilots])
        is_zero = np.array([pilot.annotator_system == 0 for pilot in pilots])
        assert 4 <= is_zero.sum() <= 16 and (middles[~is_zero] > 0).all()
        assert middles[is_zero].min() < -0.01

    def test_a_variance_near_the_end_is_that_of_the_system_ahead(self):
        # half of it is left: outputs (0.4 + 0.2) / 2 for each of the two, leanings (0.09 + 0.405) / 2, or (0.09 + 0.045) / 2
        divided = Components(0.4, 0.09, 0.6, ahead=0.81).ahead_by(0.5)
        assert (divided.context_system, divided.residual) == pytest.approx((0.3, 0.45))
        assert divided.leaning(True) == pytest.approx(0.2475) and divided.leaning(False) == 0.09
        assert Components(0.4, 0.09, 0.6).ahead_by(0.5).leaning(True) == pytest.approx(0.0675)

    def test_no_difference_beyond_the_end_of_the_scale_is_promised(self):
        assert detectable_difference(HIGH_VARIANCE.on(1, 5), 6, 6, scale=Scale(1, 5, 4.8)) is None
        assert detectable_difference(HIGH_VARIANCE.on(1, 5), 6, 6).difference > 0.2

    def test_without_variance_anything_is_found(self):
        assert detectable_difference(Components(0, 0, 0), 10, 3).difference == 0

    def test_one_annotator_or_one_context_tests_nothing(self):
        for contexts, annotators in ((1, 5), (5, 1)):
            with pytest.raises(ValueError, match="two contexts and two annotators"):
                detectable_difference(HIGH_VARIANCE, contexts, annotators)

    @pytest.mark.long
    def test_simulated_campaigns_find_it_as_often_as_planned(self):
        setting, components = Setting(3, 60, 12), HIGH_VARIANCE.on(1, 5)
        found = detectable_difference(components, setting.contexts, setting.annotators, setting.people, systems=setting.systems)
        assert share_found(75, scores_test(setting, components, found.difference), seed=1) == pytest.approx(0.8, abs=0.1)
        assert share_found(75, scores_test(setting, components, 0.0), seed=2) < 0.1


class TestPairs:
    @pytest.mark.parametrize("r, win", [(0.2, 0.5), (0.2, 0.7), (0.6, 0.82), (0.6, 0.95)])
    def test_what_wins_have_in_common(self, r, win):
        """SciPy's bivariate normal distribution: the chance that both preferences are above the same threshold."""
        both = multivariate_normal([0, 0], [[1, r], [r, 1]]).cdf([norm.ppf(win)] * 2)
        at_half = 2 * math.asin(r) / math.pi
        assert in_common(at_half, win) == pytest.approx((both - win**2) / (win * (1 - win)), abs=2e-4)

    @pytest.mark.long
    def test_simulated_campaigns_find_it_as_often_as_planned(self):
        setting, ties = Setting(2, 100, 8), 0.2
        assumed = PairAssumptions(ties, correlation_of_outcomes(0.4, ties), correlation_of_outcomes(0.08, ties))
        found = detectable_win_rate(assumed, setting.contexts, setting.annotators, setting.people, systems=setting.systems)
        test = pairs_test(setting, (0.4, 0.08), ties, 0.5 + found.difference)
        assert share_found(75, test, seed=1) == pytest.approx(0.8, abs=0.1)

    def test_independent_judgments_are_the_binomial_formula(self):
        # No correlations, no ties, one judgment a context, very many annotators: the win rate w is found where its logit is
        # 2.0537 + 0.8416 standard errors from 0 (4% is the first look's). The error of a logit of m outcomes is
        # 1 / sqrt(m w (1 - w)).
        found = detectable_win_rate(PairAssumptions(0, 0, 0), 400, 10**6)
        w = 0.5 + found.difference
        assert math.log(w / (1 - w)) == pytest.approx(2.8953 / math.sqrt(400 * w * (1 - w)), rel=0.01)

    def test_too_few_pairs_detect_nothing(self):
        assert detectable_win_rate(PairAssumptions(0.5, 0.3, 0.1), 3, 3) is None

    def test_preferences_that_do_not_correlate_give_outcomes_that_do_not(self):
        assert correlation_of_outcomes(0.0, 0.2) == pytest.approx(0, abs=1e-6)


class TestPilot:
    @pytest.mark.long
    def test_known_variances_are_found_again(self):
        truth = Components(context_system=0.5, annotator_system=0.2, residual=0.6, context=0.4, annotator=0.3)
        rng, estimates = np.random.default_rng(0), []
        s, c, a = (grid.ravel() for grid in np.meshgrid(range(4), range(60), range(25), indexing="ij"))
        for _ in range(20):
            y = rng.normal(0, 0.4**0.5, 60)[c] + rng.normal(0, 0.3**0.5, 25)[a] + rng.normal(0, 0.6**0.5, len(s))
            y += rng.normal(0, 0.5**0.5, (4, 60))[s, c] + rng.normal(0, 0.2**0.5, (4, 25))[s, a] + s
            found = components_of(y, s, c, a)
            estimates.append([found.context_system, found.annotator_system, found.residual, found.context, found.annotator])
        expected = [truth.context_system, truth.annotator_system, truth.residual, truth.context, truth.annotator]
        assert np.mean(estimates, axis=0) == pytest.approx(expected, rel=0.1)

    @pytest.mark.long
    def test_pairs_correlations_are_found_again(self):
        rng = np.random.default_rng(1)
        c, a = (grid.ravel() for grid in np.meshgrid(range(3000), range(8), indexing="ij"))
        preference = rng.normal(0, 0.4**0.5, 3000)[c] + rng.normal(0, 0.6**0.5, len(c))
        outcomes = (preference > 0.2533).astype(int) - (preference < -0.2533)  # the middle fifth of a standard normal
        found = pair_assumptions_of(outcomes, np.zeros(len(c)), np.ones(len(c)), c, a)
        assert found.ties == pytest.approx(0.2, abs=0.03)
        assert found.context == pytest.approx(correlation_of_outcomes(0.4, 0.2), abs=0.05)  # linearised: a little less
        assert found.annotator < 0.03

    def test_how_much_people_divide_over_one_system(self):
        """Three of 40 people score each output, so hardly anybody scores two systems on one context; severities of SD 1."""
        rng = np.random.default_rng(3)
        c, s = (np.repeat(column, 3) for column in np.divmod(np.arange(160 * 4), 4))
        a = np.argsort(rng.random((160 * 4, 40)), axis=1)[:, :3].ravel()
        leaning = rng.normal(size=(40, 4)) * [0.3, 0.3, 0.3, 1.5]
        y = leaning[a, s] + rng.normal(0, 1.0, 40)[a] + rng.normal(0, 0.4, 160)[c] + rng.normal(0, 0.6, len(s))
        found = components_of(y, s, c, a, ahead=3)
        assert found.ahead == pytest.approx(leaning[:, 3].var(ddof=1), rel=0.15)
        assert found.annotator_system == pytest.approx(0.3**2, abs=0.06)
        assert components_of(y, s, c, a, ahead=7).ahead is None  # no such system
        first = rng.integers(0, 4, len(s))
        apart = first != s
        outcomes = np.sign(leaning[a, s] - leaning[a, first] + rng.normal(0, 0.8, len(s)))[apart].astype(int)
        judged = pair_assumptions_of(outcomes, s[apart], first[apart], c[apart], a[apart], ahead=3)
        assert judged.ahead > 3 * judged.annotator

    @pytest.mark.parametrize("values", [[], [3], [3, 3, 3]])
    def test_nothing_to_learn_from_is_said(self, values):
        assert components_of(values, [0] * len(values), range(len(values)), [0] * len(values)) is None


class TestPlanning:
    def test_by_hand(self):
        # 5 systems x 100 contexts: 500 scores' items, half by 3: 250 x 3 + 250 = 1000. Ring: 500 pairs, as many judgments.
        # Repeats 10%: 100. Gold 20% of all: (1000 + 1000 + 100) / 4 = 525. Main: 2625; quota 100: 27 people; 5 extras each.
        settings = {"overlap_percent": 50, "quota": 100, "gold_percent": 20, "repeat_percent": 10, "extras": 5}
        found = plan(Protocol(5, 100, pairwise=True, **settings))
        assert (found.scores, found.pairs, found.repeats, found.gold) == (1000, 1000, 100, 525)
        assert (found.annotators, found.extras, found.judgments) == (27, 135, 2760)
        # 1000 x 25 s + 1100 x 35 s over 2100 is 30.238 s each.
        assert found.seconds == pytest.approx(2760 * (25_000 + 38_500) / 2100)

    @pytest.mark.parametrize(("design", "pairs", "items"), [("ring", None, 60), ("all", None, 120), ("number", 50, 50)])
    def test_how_often_two_systems_meet(self, design, pairs, items):
        protocol = Protocol(5, 12, likert=False, pairwise=True, pair_design=design, pairs=pairs)
        assert protocol.pair_items == items and protocol.contexts_per_pair == items / 10

    def test_people_are_as_many_as_the_overlap(self):
        assert plan(Protocol(2, 10, overlap=3)).annotators == 3
        with pytest.raises(ValueError, match="3 annotators are needed"):
            plan(Protocol(2, 10, overlap=3, annotators=2))


def test_people_without_a_database_keep_the_rules_of_handing_out():
    setting = Setting(4, 24, 5)
    items = [item for pairwise in (False, True) for item in draw(corpus(4, 24), setting.design(pairwise))]
    judged = hand_out(items, setting.annotators, seed=0)
    assert len(judged) == sum(item.places for item in items)
    assert len({(one.item, one.annotator) for one in judged}) == len(judged)


def test_outputs_that_nobody_is_asked_about():
    """By hand, without leanings: asked of half of 40 contexts, as of 20 whole ones: 2 / 20 (0.3 + 0.6 / 3) = 0.05."""
    half = standard_error(Components(0.3, 0.0, 0.6), 40, 12, [(0.5, 3)])[0]
    assert half**2 == pytest.approx(0.05) and half == standard_error(Components(0.3, 0.0, 0.6), 20, 12, [(1, 3)])[0]
