from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from leaderboard.rating import prediction_powered
from leaderboard.rating.bootstrap import context_draws
from leaderboard.rating.games import Games
from leaderboard.rating.people_board import read_pairs, read_scores
from leaderboard.rating.prediction_powered import calibrate, correct, tastes, transport, win_rates, worth_by_chance
from leaderboard.rating.ranking import Tastes, compare, intervals
from leaderboard.rating.rules import PAPER, standings


def one_pair(codes):
    """Games of 0 and 1, one a context; codes: 2, 1, 0 for won, tied, lost."""
    outcome = np.array([int(code) - 1 for code in codes])
    return Games(0 * outcome, 0 * outcome + 1, outcome, np.arange(len(outcome)))


@pytest.fixture
def judged(noisy_games):
    """People's 300 games of 4 systems on the first 60 of 400 contexts, and what a comparator says that agrees with them in
    8 of 10, there and in 1,700 more."""
    rng, games = np.random.default_rng(1), noisy_games(4, 2000, 340)
    context = np.where(np.arange(2000) < 300, games.context % 60, games.context + 60)
    people = Games(games.first, games.second, games.outcome, context)
    other = noisy_games(4, 2000, 10, seed=0).outcome[rng.permutation(2000)]
    copied = np.where(rng.random(2000) < 0.8, people.outcome, other)
    everything = Games(people.first, people.second, copied, context)
    return people.take(slice(300)), everything.take(slice(300)), everything


def test_a_comparator_that_knows_nothing_rarely_seems_worth_more_than_chance(noisy_games):
    """50 of them, who answer at random, beside the same people on 30 contexts: at most 5% may pass, here 6 of 50 with 98%."""
    people = noisy_games(3, 90, 30)
    limit = worth_by_chance(90, 30)
    assert limit == pytest.approx(90 / (1 - (30 / 34) ** 2 * 1.6449**2 / 30), rel=1e-4)  # by hand
    unjudged = noisy_games(3, 900, 300, seed=5)
    everywhere = replace(unjudged, context=unjudged.context + 30).then(people)
    draws, passed = context_draws(330, 100), 0
    for seed in range(50):
        everything = replace(everywhere, outcome=np.random.default_rng(seed).integers(-1, 2, len(everywhere)))
        passed += calibrate(3, people, everything.take(slice(900, None)), everything, draws).worth > limit
    assert passed <= 6


# 40 judged and 160 unjudged, scores 1, 0.5, 0 as 2, 1, 0.
PEOPLE = "2212202201211220110102122120022220221202"
JUDGED = "2212102201211200110102122120220220221202"
ALONE = (
    "22000222022220122212221121222202210002002220000202222211212020210220222220010021"
    "20220001021210002020221220212222202222020222202220022002222222201222002002022120"
)


@pytest.fixture
def plain(monkeypatch):
    """Others start from nothing, and know no rule of plus four."""
    monkeypatch.setattr(prediction_powered, "PRIOR_GAMES", 1e-12)
    monkeypatch.setattr(prediction_powered, "PLUS_FOUR", 0)


def rates_of_the_mean():
    everything = one_pair(JUDGED + ALONE)
    return win_rates(2, one_pair(PEOPLE), everything.take(slice(40)), everything, context_draws(200, 20_000))


def test_a_mean_is_ppi_pythons_but_for_the_weight(plain):
    """Both weights are the covariance of people and judge over the variance of the judge's error of sampling. ppi-python 0.2.3
    has one variance of the judge for all 200 scores, and divides by 199: c / ((1 + n / N) v). Ours is of resampled contexts,
    whose judged and unjudged parts have a variance each: (c / n) / (v1 / n + v2 / N). The first gives its point estimate."""
    people, judged, alone = (np.array([int(code) / 2 for code in text]) for text in (PEOPLE, JUDGED, ALONE))
    c, all_judged = np.cov(people, judged, ddof=0)[0, 1], np.concatenate([judged, alone])
    theirs = c / ((1 + 40 / 160) * np.var(all_judged, ddof=1))
    ours = c / 40 / (np.var(judged) / 40 + np.var(alone) / 160)
    assert people.mean() - theirs * (judged.mean() - alone.mean()) == pytest.approx(0.65801528, abs=1e-8)
    found = rates_of_the_mean()
    assert found.weight[0, 1] * 160 / 200 == pytest.approx(ours, rel=0.01)  # the luck of 20,000 draws
    assert found.rate[0, 1] == pytest.approx(people.mean() - ours * (judged.mean() - alone.mean()), abs=1e-4)
    assert found.high[0, 1] - found.low[0, 1] == pytest.approx(0.75232313 - 0.56370743, rel=0.1)
    assert found.rate[1, 0] == pytest.approx(1 - found.rate[0, 1])
    assert (found.low[1, 0], found.high[1, 0]) == pytest.approx((1 - found.high[0, 1], 1 - found.low[0, 1]))


@pytest.mark.parametrize(
    ("weight", "rate", "error"),
    [
        # ppi-python 0.2.3, ppi_mean_pointestimate(lam=0.6); truescore 0.7.4, ppi_estimate(lambda_=0.6).standard_error
        (0.75, 0.659375, 0.0484234),
        # ppi-python's own weight, 0.51297778: ppi_mean_pointestimate, and ppi_mean_ci(alpha=0.05) / 2 / 1.959964
        (0.51297778 * 200 / 160, 0.65801528, (0.75232313 - 0.56370743) / 2 / 1.959964),
        # the same with 0.8; cje-eval 0.9.3, compute_augmented_estimate_per_policy, the judge as both predictions
        (1.0, 0.6625, 0.0511177),
    ],
)
def test_with_one_weight_a_mean_is_that_of_three_others(plain, monkeypatch, weight, rate, error):
    """Their lambda is weight * 160 / 200, as they compare with the unjudged alone, not with all. Resampling gives the error to
    1 / sqrt(2 * 20,000) of it; our interval is Student's, and its variance that of 40 contexts."""
    monkeypatch.setattr(prediction_powered, "_best_weight", lambda people, luck, axis: np.full(luck.shape[1:], weight))
    found = rates_of_the_mean()
    assert found.rate[0, 1] == pytest.approx(rate, abs=1e-6)
    reach = (found.high - found.low)[0, 1] / 2
    assert reach / stats.t.ppf(0.975, 39) / np.sqrt(40 / 39) == pytest.approx(error, rel=0.01)


def test_the_comparators_luck_is_taken_off_by_hand(monkeypatch):
    # People: 6 of 10. The comparator says the same of those, and 0.5 of all 20: they were lucky by 0.1. Its weight w is the
    # slope of people's replicates on the luck's, so the rate is 0.6 - 0.1 w.
    monkeypatch.setattr(prediction_powered, "PRIOR_GAMES", 1e-12)
    everything = one_pair("22222200002222000000")
    people = everything.take(slice(10))
    cautious = win_rates(2, people, people, everything, context_draws(20, 5000))
    assert cautious.rate[0, 1] == pytest.approx(0.6 - 0.1 * cautious.weight[0, 1])
    monkeypatch.setattr(prediction_powered, "PLUS_FOUR", 0)
    found = win_rates(2, people, people, everything, context_draws(20, 5000))
    assert found.rate[0, 1] == pytest.approx(0.6 - 0.1 * found.weight[0, 1])
    # Plus four: 10 contexts of 14, and 1 - sqrt(1 - (10 / 14)^2) = 0.30015 of the weight.
    assert cautious.weight[0, 1] == pytest.approx(0.30015 * found.weight[0, 1], rel=1e-4)
    # Perfect predictions: people's mean and the judged mean are one, so the best weight is near 1.
    assert found.weight[0, 1] == pytest.approx(1, abs=0.1)


def test_a_good_comparator_narrows_the_ratings(judged):
    found = calibrate(4, *judged, context_draws(400, 500))
    low, high = intervals(found.standings, found.replicates, found.contexts)
    people_low, people_high = intervals(found.people, found.people_replicates, found.contexts)
    assert ((high - low) < 0.9 * (people_high - people_low)).all()
    assert found.worth > 1.2 * found.judgments == 360
    assert found.saved == found.worth - 300
    assert found.contexts == len(set(judged[0].context.tolist()))
    assert (found.standings.rd < found.people.rd).all()
    assert found.people.rating == pytest.approx(standings(4, judged[0]).rating)


def test_a_useless_comparator_changes_next_to_nothing(judged):
    people, _, everything = judged
    noise = np.random.default_rng(3).integers(-1, 2, len(everything))
    useless = Games(everything.first, everything.second, noise, everything.context)
    found = calibrate(4, people, useless.take(slice(300)), useless, context_draws(400, 500))
    assert found.weight < 0.2
    assert found.worth == pytest.approx(300, rel=0.05)
    assert found.standings.rating == pytest.approx(found.people.rating, abs=15)


def test_a_comparator_that_contradicts_people_gets_no_weight(judged):
    people, _, everything = judged
    against = Games(everything.first, everything.second, -everything.outcome, everything.context)
    found = calibrate(4, people, against.take(slice(300)), against, context_draws(400, 200))
    assert found.weight == 0 and found.worth == found.judgments
    assert found.standings.rating == pytest.approx(found.people.rating)


def test_what_remains_by_the_plus_four_rule(judged, monkeypatch):
    """With the best weight 1 - r^2 of people's variance remains, with the cautious one 1 - t^2 r^2. People judged on 59
    contexts: t = 59 / 63."""
    draws = context_draws(400, 500)
    found = calibrate(4, *judged, draws)
    assert found.contexts == 59
    monkeypatch.setattr(prediction_powered, "PLUS_FOUR", 0)
    best = calibrate(4, *judged, draws)
    explained = 1 - 300 / best.worth  # r^2
    assert 0.2 < explained < 0.8
    assert 300 / found.worth == pytest.approx(1 - (59 / 63) ** 2 * explained)


@pytest.mark.parametrize("human", [10, 20, 49])
@pytest.mark.parametrize("systems", [2, 4, 20])
def test_a_comparator_that_says_what_people_say_leaves_a_doubt(noisy_games, systems, human):
    """Agreement in everything, one game a context: never narrower than 0.3 of people alone, never worth more than the bound,
    10 / (1 - (10 / 14)^2) = 20.4, 20 / (1 - (20 / 24)^2) = 65.5, 49 / (1 - (49 / 53)^2) = 337.4."""
    bound = {10: 20.4167, 20: 65.4545, 49: 337.36}[human]
    for seed in range(5):
        games = noisy_games(systems, human + 1000, 1, seed)
        everything = Games(games.first, games.second, games.outcome, np.arange(human + 1000))
        people = everything.take(slice(human))
        draws = context_draws(human + 1000, 100, seed)
        found = calibrate(systems, people, people, everything, draws)
        low, high = intervals(found.standings, found.replicates, found.contexts)
        people_low, people_high = intervals(found.people, found.people_replicates, found.contexts)
        assert ((high - low) >= 0.3 * (people_high - people_low)).all()
        assert (found.replicates.std(axis=0) >= 0.38 * found.people_replicates.std(axis=0) - 1e-9).all()
        assert human < found.worth <= bound
        rates = win_rates(systems, people, people, everything, draws)
        silent = Games(everything.first, everything.second, 0 * everything.outcome, everything.context)
        alone = win_rates(systems, people, silent.take(slice(human)), silent, draws)
        known = np.isfinite(rates.low) & (alone.high > alone.low)
        clipped = (rates.low[known] == 0) | (rates.high[known] == 1)
        assert ((rates.high - rates.low)[known][~clipped] >= 0.3 * (alone.high - alone.low)[known][~clipped]).all()


def test_sides_and_names_do_not_matter(judged):
    draws, names = context_draws(400, 50), np.array([2, 0, 3, 1])
    found = calibrate(4, *judged, draws)
    swapped = calibrate(4, *(games.swapped() for games in judged), draws)
    assert swapped.standings.rating == pytest.approx(found.standings.rating)
    renamed = calibrate(4, *(Games(names[g.first], names[g.second], g.outcome, g.context) for g in judged), draws)
    assert renamed.standings.rating[names] == pytest.approx(found.standings.rating)


def test_pairs_that_people_hardly_judged_have_no_win_rate():
    everything = Games([0, 0, 0, 0], [1, 1, 2, 1], [1, 0, 1, 1], [0, 1, 0, 2])
    people = everything.take(slice(3))
    found = win_rates(3, people, people, everything, context_draws(3, 50))
    assert np.isnan(found.rate[0, 2]) and np.isnan(found.rate[1, 2]) and np.isnan(found.rate[0, 0])
    assert 0 <= found.low[0, 1] <= found.rate[0, 1] <= found.high[0, 1] <= 1


def test_five_wins_of_five_are_no_certainty():
    five = one_pair("22222")
    found = win_rates(2, five, five, five, context_draws(5, 100))
    assert found.low[0, 1] < 0.75


def test_what_cannot_be_calibrated_is_refused(judged):
    people, imitated, everything = judged
    with pytest.raises(ValueError, match="one for one"):
        calibrate(4, people, imitated.take(slice(299)), everything, context_draws(400, 2))
    with pytest.raises(ValueError, match="one for one"):
        win_rates(4, people, imitated.swapped(), everything, context_draws(400, 2))
    with pytest.raises(ValueError, match="order of games"):
        calibrate(4, people, imitated, everything, context_draws(400, 2), PAPER)


class TestOtherPeople:
    def test_what_tastes_add_by_hand(self):
        """Two equal systems, 1,000 games, each on its own context: a game weighs 1/1000 in their difference of strength, and an
        annotator's leanings add 2 tau^2 to it. Annotators with 500, 300 and 200 games: 2 tau^2 (0.5^2 + 0.3^2 + 0.2^2), less
        what resampled contexts hold of it, 2 tau^2 / 1000."""
        games = one_pair("20" * 500)
        who = np.repeat([4, 7, 9], [500, 300, 200])
        people = standings(2, games)
        reading = read_pairs(2, games.first, games.second, games.outcome, games.context, who)
        found = tastes(people, games, who, reading)
        of_difference = found.unit[0, 0] + found.unit[1, 1] - 2 * found.unit[0, 1]
        logit = 400 / np.log(10)
        assert of_difference == pytest.approx(logit**2 * 2 * (0.38 - 0.001), rel=0.02)  # the start pulls by 1 in 250
        assert found.variance == reading.fit.variances["taste"]
        assert found.covariance == pytest.approx(found.variance * found.unit)

    def test_one_context_each_adds_nothing_to_resampled_contexts(self):
        """An annotator who judges one context only differs from another as contexts do."""
        games = one_pair("2102" * 20)
        reading = read_pairs(2, games.first, games.second, games.outcome, games.context, games.context)
        assert tastes(standings(2, games), games, games.context, reading).unit == pytest.approx(0, abs=1e-6)

    def test_degrees_of_freedom_by_hand(self):
        """Satterthwaite: 100 with 20 degrees and 100 with 5, of which the variance is 2 100^2 / 5, have
        (100 + 100)^2 / (100^2 / 20 + 100^2 / 5) = 16."""
        added = Tastes(np.eye(2), 100.0, 2 * 100.0**2 / 5)
        assert added.freedom(np.array(100.0), 21, np.array(1.0)) == pytest.approx(16)
        assert added.freedom(np.array(100.0), 21, np.array(0.0)) == pytest.approx(20)

    def test_intervals_and_ranks_of_people_in_general(self, judged):
        people, _, _ = judged
        who = np.arange(300) % 7
        reading = read_pairs(4, people.first, people.second, people.outcome, people.context, who)
        found = calibrate(4, *judged, context_draws(400, 200))
        added = replace(tastes(found.people, people, who, reading), variance=0.3**2, uncertainty=0.0)
        shown, contexts = (found.standings, found.replicates, found.contexts), found.contexts
        low, high = intervals(*shown, tastes=added)
        only = intervals(*shown)
        error = (only[1] - only[0]) / 2 / stats.t.ppf(0.975, contexts - 1)
        variance = error**2 + 0.09 * np.diag(added.unit)
        df = variance**2 / (error**4 / (contexts - 1))
        assert (high - low) / 2 == pytest.approx(stats.t.ppf(0.975, df) * np.sqrt(variance))
        general, alone = compare(*shown, tastes=added), compare(*shown)
        assert (general.margin[~np.eye(4, dtype=bool)] > 1.05 * alone.margin[~np.eye(4, dtype=bool)]).all()
        assert general.difference == pytest.approx(alone.difference)

    @pytest.mark.parametrize("human", [10, 49])
    @pytest.mark.parametrize("taste", [0.0, 0.6])
    def test_never_narrower_than_three_tenths_of_people_alone(self, noisy_games, human, taste):
        """A comparator that says what people say, and people in general."""
        for seed in range(5):
            games = noisy_games(4, human + 1000, 1, seed)
            everything = Games(games.first, games.second, games.outcome, np.arange(human + 1000))
            people, who = everything.take(slice(human)), np.arange(human) % 6
            found = calibrate(4, people, people, everything, context_draws(human + 1000, 100, seed))
            reading = read_pairs(4, people.first, people.second, people.outcome, people.context, who)
            added = replace(tastes(found.people, people, who, reading), variance=taste**2)
            low, high = intervals(found.standings, found.replicates, human, tastes=added)
            people_low, people_high = intervals(found.people, found.people_replicates, human, tastes=added)
            assert ((high - low) >= 0.3 * (people_high - people_low)).all()


class TestCorrect:
    """People's mixed model, corrected by a judge."""

    @staticmethod
    def drawn(seed, skill, systems=4, contexts=200, judged=40, people=8, biased=0.0):
        """(reading, people's games, the judge's of the same, all of the judge's, true ratings); skill: of the judge about each
        output's worth; biased: how far it overrates the first system"""
        rng = np.random.default_rng([seed, 12])
        worth = np.linspace(0, 0.6, systems) + rng.normal(0, 0.7, (contexts, systems))
        seen = skill * worth + np.sqrt(1 - skill**2) * rng.normal(0, 0.7, worth.shape)
        seen[:, 0] += biased
        s, c, a = (axis.ravel() for axis in np.meshgrid(range(systems), range(judged), range(people), indexing="ij"))
        rows = rng.random(len(s)) < 0.4
        s, c, a = s[rows], c[rows], a[rows]
        y = worth[c, s] + rng.normal(0, 0.4, (people, systems))[a, s] + rng.normal(0, 0.8, len(s))
        reading = read_scores(systems, s, c, a, y)
        first, second = np.triu_indices(systems, 1)

        def games(where):
            i, j, k = np.tile(first, len(where)), np.tile(second, len(where)), np.repeat(where, len(first))
            return Games(i, j, np.sign(seen[k, i] - seen[k, j]).astype(int), k)

        both = games(np.arange(judged))
        return reading, both, both, games(np.arange(contexts))

    def test_it_is_never_wider_and_a_good_judge_makes_it_narrower(self):
        ratio, order = [], []
        for seed in range(6):
            reading, people, imitated, everything = self.drawn(seed, 0.95)
            found = correct(reading, people, imitated, everything, context_draws(200, 100, 0))
            ratio.append(found.reading.width() / reading.width())
            order.append(
                np.corrcoef(found.reading.rating, np.arange(4))[0, 1] - np.corrcoef(reading.rating, np.arange(4))[0, 1]
            )
        assert max(ratio) <= 1 and np.median(ratio) < 0.97 and np.mean(order) > -0.02

    def test_a_useless_judge_has_little_or_no_weight(self):
        for seed in range(3):
            reading, people, imitated, everything = self.drawn(seed, 0.0)
            found = correct(reading, people, imitated, everything, context_draws(200, 100, 0))
            assert found.worth < 1.3 and found.reading.width() <= reading.width()
            assert np.abs(found.reading.rating - reading.rating).max() < 40

    def test_a_judge_that_overrates_one_system_is_not_transported(self):
        reading, people, imitated, everything = self.drawn(1, 0.9, biased=2.5)
        found = correct(reading, people, imitated, everything, context_draws(200, 100, 0))
        assert transport(found, imitated, context_draws(200, 100, 0))[0] == "FAIL"
