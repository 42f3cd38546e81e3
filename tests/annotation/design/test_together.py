"""What a ranking tells beside a judgment of a pair."""

import math

import numpy as np
import pytest
import scipy

from annotation.design.pilot import pair_assumptions_of, ranking_assumptions_of
from annotation.design.plan import Protocol, plan, seconds_together
from annotation.design.power import PairAssumptions, detectable_win_rate
from annotation.design.together import PAIR, Together


class TestWhatARankingTells:
    def test_by_hand(self):
        """Of k equal outputs, stage by stage: (1 - 1/k) + ... + (1 - 1/2), over k - 1; a pair tells 1/2."""
        for k in (2, 3, 5, 7):
            told = sum(1 - 1 / left for left in range(2, k + 1)) / (k - 1)
            assert Together(k).variance() == pytest.approx(1 / (2 * told))

    def test_the_best_and_the_worst_of_three_are_the_whole_order(self):
        assert Together(3, True).variance(0.5) == pytest.approx(Together(3).variance(0.5))
        assert Together(5, True).variance() > Together(5).variance()

    @pytest.mark.parametrize("logits", [0.0, 0.75, 1.5])
    def test_the_likeliest_strength_varies_so_much(self, logits):
        """Of normal preferences: the squared score of many drawn orders between the inverses of their curvature, by differences
        of the likelihood, which is written out here, at its maximum."""
        rng, k, n, step = np.random.default_rng(1), 4, 100_000, 1e-3
        seen = rng.normal(size=(n, k)) + [math.sqrt(2) * scipy.special.ndtri(scipy.special.expit(logits)), 0, 0, 0]
        order = np.argsort(-seen, axis=1)

        def likelihood(theta):
            worth = theta[order]
            return worth.sum(axis=1) - np.log(np.cumsum(np.exp(worth[:, ::-1]), axis=1)).sum(axis=1)

        def score(theta):
            each = [likelihood(theta + step * e) - likelihood(theta - step * e) for e in np.eye(k)]
            return np.stack(each, axis=1) / 2 / step

        best = scipy.optimize.minimize_scalar(lambda x: -likelihood(np.array([x, 0, 0, 0.0])).mean(), (0, 1)).x
        theta = np.array([best, 0, 0, 0.0])
        bent = np.stack([(score(theta - step * e) - score(theta + step * e)).mean(axis=0) for e in np.eye(k)]) / 2 / step
        apart, win = np.linalg.pinv(bent) @ [1, -1, 0, 0], scipy.special.expit(logits)
        known = apart @ (score(theta).T @ score(theta) / n) @ apart * win * (1 - win)
        assert Together(4).variance(logits) == pytest.approx(known, rel=0.02)

    def test_a_ranking_of_two_is_a_pair(self):
        assert PAIR.variance(2.0) == 1.0 and Together(2).variance_at(1.0) == pytest.approx(1.0, rel=1e-3)

    def test_how_alike_two_people_rank(self):
        """Moran 1948; two equal orders correlate at 1, and pairs as pairs do."""
        assert Together(5).alike(1.0) == pytest.approx(1.0) and PAIR.alike(0.3) == 0.3
        r = math.sin(0.15 * math.pi)
        assert Together(3).alike(0.3) == pytest.approx(6 / (4 * math.pi) * (math.asin(r) + math.asin(r / 2)))
        for share in (0.0, 0.2, 0.7):
            assert Together(5).of_pairs(Together(5).alike(share)) == pytest.approx(share, abs=1e-6)

    def test_normal_preferences_put_it_a_little_less_far_ahead(self):
        """Best of three, won by .7 of pairs: the likeliest strength of drawn orders, by the likelihood written out."""
        rng, n = np.random.default_rng(2), 200_000
        seen = rng.normal(size=(n, 3)) + [math.sqrt(2) * scipy.special.ndtri(0.7), 0, 0]
        place = np.bincount((seen > seen[:, :1]).sum(axis=1)) / n

        def loss(x):  # first; then second and third, by whether it is still there
            e = math.exp(x)
            first, second, third = (
                x - math.log(e + 2),
                -math.log(e + 2) + x - math.log(e + 1),
                -math.log(e + 2) - math.log(e + 1),
            )
            return -place @ [first, second, third]

        known = scipy.optimize.minimize_scalar(loss).x
        assert Together(3).strength(scipy.special.logit(0.7)) == pytest.approx(known, rel=0.01)
        assert Together(3, True).strength(0.8) == pytest.approx(Together(3).strength(0.8))
        assert Together(7).strength(0.8) < PAIR.strength(0.8) == pytest.approx(0.8)


class TestThePlan:
    def test_pairs_of_a_ranking_are_not_answers_of_their_own(self):
        """Of five systems on 30 contexts: more is found than by 30 of the ten pairs each, less than by all of them apart."""
        assumed, people = PairAssumptions(0.0, 0.0, 0.0), [(1, 3)]

        def found(meetings, together=PAIR):
            return detectable_win_rate(assumed, meetings, 12, people, systems=5, contexts=30, together=together).difference

        assert found(30) < found(30, Together(5)) < found(6)
        assert found(30, Together(5)) < found(30, Together(5, True))

    def test_what_a_protocol_counts(self):
        """30 rankings by 3 people, read in 2.5 times the time of a pair."""
        asked = Protocol(5, 30, likert=False, pairwise=True, outputs_at_once=5, best_worst=True)
        known = plan(asked, seconds_per_pair=seconds_together(5))
        assert (known.pairs, known.seconds, asked.contexts_per_pair) == (90, 90 * 87.5, 30)
        assert asked.together == Together(5, True) and Protocol(3, 9, outputs_at_once=5).together == Together(3)


def ranked(people=24, contexts=60, systems=4, each=3, latent=(0.4, 0.1), seed=0):
    """Normal preferences as the docstring of `together` has them: shares `latent` belong to the output and to the person's
    leaning. -> columns of all pairs, and of one random pair of each ranking"""
    rng = np.random.default_rng(seed)
    of_output, of_person = (
        rng.normal(0, latent[0] ** 0.5, (contexts, systems)),
        rng.normal(0, latent[1] ** 0.5, (people, systems)),
    )
    rows, alone = [], []
    for number in range(contexts * each):
        context, person = number // each, (number * 7 + number // each) % people
        seen = of_output[context] + of_person[person] + rng.normal(0, (1 - sum(latent)) ** 0.5, systems)
        pairs = [(i, j) for i in range(systems) for j in range(i)]
        of = [
            (int(np.sign(seen[i] - seen[j])), context * systems + i, context * systems + j, number, context, person)
            for i, j in pairs
        ]
        rows += of
        alone.append(of[rng.integers(len(of))])
    return rows, alone


class TestThePilot:
    def test_its_variances_are_those_of_pairs(self):
        """Normal preferences that share .4 and .1: outcomes correlate at 2 asin(.4) / pi = .262 and .064 (Sheppard 1899)."""
        found = []
        for seed in range(3):
            rows, _ = ranked(contexts=120, seed=seed)
            outcome, first, second, sheet, context, person = zip(*rows)
            system_of = {output: output % 4 for output in (*first, *second)}
            found.append(ranking_assumptions_of(outcome, first, second, system_of, sheet, context, person))
        assert np.mean([one.context for one in found]) == pytest.approx(2 * math.asin(0.4) / math.pi, abs=0.05)
        assert np.mean([one.annotator for one in found]) == pytest.approx(2 * math.asin(0.1) / math.pi, abs=0.03)
        assert all(one.ties == 0 and len(one.plausible) for one in found)

    def test_rankings_of_two_are_pairs(self):
        rows = [row for row in ranked(systems=2)[0]]
        outcome, first, second, sheet, context, person = zip(*rows)
        system_of = {output: output % 2 for output in (*first, *second)}
        as_rankings = ranking_assumptions_of(outcome, first, second, system_of, sheet, context, person)
        systems = ([system_of[output] for output in side] for side in (first, second))
        as_pairs = pair_assumptions_of(outcome, *systems, context, person)
        assert as_rankings.context == pytest.approx(as_pairs.context, abs=0.08)
        assert as_rankings.annotator == pytest.approx(as_pairs.annotator, abs=0.05)

    def test_one_over_whom_people_divide(self):
        rng, (rows, _) = np.random.default_rng(3), ranked(latent=(0.2, 0.05))
        side = rng.choice([-1, 1], 24)
        divided = [(int(side[r[5]]) if 3 in (r[1] % 4, r[2] % 4) else r[0], *r[1:]) for r in rows]
        outcome, first, second, sheet, context, person = zip(*divided)
        system_of = {output: output % 4 for output in (*first, *second)}
        found = ranking_assumptions_of(outcome, first, second, system_of, sheet, context, person, ahead=3)
        assert found.ahead > 3 * found.annotator

    def test_nothing_to_learn_from(self):
        assert ranking_assumptions_of([0, 0], [0, 0], [1, 1], {0: 0, 1: 1}, [0, 1], [0, 0], [0, 1]) is None
