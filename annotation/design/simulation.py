"""People who do not exist judge a drawn design, to see that the balance and the power are what the plan says.

python -m annotation.design.simulation --draws 400 --seed 0
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import scipy

from annotation.design.balance import ranked
from annotation.design.draw import Design, DrawnItem, draw
from annotation.design.power import (
    HIGH_VARIANCE,
    LOW_VARIANCE,
    Components,
    PairAssumptions,
    detectable_difference,
    detectable_win_rate,
)
from leaderboard.rating.people_board import Reading, read_pairs, read_scores, speak_of_people


@dataclass(frozen=True)
class SimulatedJudgment:
    """One judgment: which item, whose, on which side its second output stood."""

    item: DrawnItem
    annotator: int
    swapped: bool


Simulation = Callable[[np.random.Generator], bool]  # draws new effects; does the board say that s0 and s1 differ?


def hand_out(items: list[DrawnItem], annotators: int, seed: int) -> list[SimulatedJudgment]:
    """What annotation/annotating/assignment.py does, without a database: people come in random order until nothing is left."""
    rng = np.random.default_rng(seed)
    free = {index: item.places for index, item in enumerate(items)}
    taken: Counter[int] = Counter()
    cells = sorted({item.cell for item in items})
    counts: list[Counter[tuple[str, ...]]] = [Counter() for _ in range(annotators)]
    had: dict[int, set[int]] = defaultdict(set)
    last: dict[int, str] = {}
    waiting = set(range(annotators))
    judged = []
    while waiting:
        who = int(rng.choice(sorted(waiting)))
        order = ranked(cells, counts[who], f"{seed}:{who}:{len(had[who])}")
        excess = {entry.cell: (entry.excess, rank) for rank, entry in enumerate(order)}
        open_to = [i for i, left in free.items() if left and i not in had[who]]
        if not open_to:
            waiting.remove(who)
            continue
        index = min(open_to, key=lambda i: (items[i].context == last.get(who), *excess[items[i].cell], i))
        item = items[index]
        judged.append(SimulatedJudgment(item, who, item.swapped ^ (taken[index] % 2 == 1)))
        free[index] -= 1
        taken[index] += 1
        had[who].add(index)
        counts[who][item.cell] += 1
        last[who] = item.context
    return judged


def corpus(systems: int, contexts: int) -> list[tuple[str, str, int]]:
    return [(f"c{c}", f"s{s}", 0) for c in range(contexts) for s in range(systems)]


@dataclass(frozen=True)
class Setting:
    """people_share: the share of the items that 3 people judge, in percent; one judges the rest."""

    systems: int
    contexts: int
    annotators: int
    overlap_percent: int = 100
    overlap: int = 3

    @property
    def people(self) -> tuple[tuple[float, float], ...]:
        shared = self.overlap_percent / 100
        return (shared, float(self.overlap)), (1 - shared, 1.0)

    def design(self, pairwise: bool, seed: int = 0) -> Design:
        return Design(
            seed=seed, likert=not pairwise, pairwise=pairwise, overlap=self.overlap, overlap_percent=self.overlap_percent
        )


def share_found(draws: int, test: Simulation, seed: int) -> float:
    """The share of simulated campaigns in which the board says that s0 and s1 differ."""
    rng = np.random.default_rng(seed)
    return float(np.mean([test(rng) for _ in range(draws)]))


def scores_test(setting: Setting, components: Components, difference: float, seed: int = 0) -> Simulation:
    """A campaign of scores in which s0 is better than the others by `difference`. The design is drawn once; the effects are new
    in every campaign. Where so few annotators say nothing of people in general, `difference` is what these annotators find."""
    items = draw(corpus(setting.systems, setting.contexts), setting.design(False, seed))
    judged = hand_out(items, setting.annotators, seed)
    context = np.array([int(one.item.context[1:]) for one in judged])
    annotator = np.array([one.annotator for one in judged])
    system = np.array([int(one.item.a[1:]) for one in judged])

    def campaign(rng: np.random.Generator) -> bool:
        c = rng.normal(0, components.context**0.5, setting.contexts)[context]
        a = rng.normal(0, components.annotator**0.5, setting.annotators)[annotator]
        cs = rng.normal(0, components.context_system**0.5, (setting.contexts, setting.systems))[context, system]
        tastes = rng.normal(0, components.annotator_system**0.5, (setting.annotators, setting.systems))
        if not speak_of_people(setting.annotators, setting.systems):
            tastes -= tastes.mean(axis=0)
        e = rng.normal(0, components.residual**0.5, len(judged))
        value = difference * (system == 0) + c + a + cs + tastes[annotator, system] + e
        return _differ(read_scores(setting.systems, system, context, annotator, value))

    return campaign


def pairs_test(setting: Setting, latent: tuple[float, float], ties: float, win_rate: float, seed: int = 0) -> Simulation:
    """A campaign of pairs. Each judgment is a normal preference of variance 1, of which shares `latent` belong to the two
    outputs of the context and to the annotator's leanings, cut into win, tie and loss; between equals a share `ties` are ties,
    and s0 wins `win_rate` against any other (a tie is half a win)."""
    items = draw(corpus(setting.systems, setting.contexts), setting.design(True, seed))
    judged = hand_out(items, setting.annotators, seed)
    context = np.array([int(one.item.context[1:]) for one in judged])
    annotator = np.array([one.annotator for one in judged])
    first, second = (np.array([int(one.item.cell[k][1:]) for one in judged]) for k in (0, 1))
    width = float(scipy.stats.norm.ppf(0.5 + ties / 2))
    ahead = scipy.optimize.brentq(
        lambda m: (scipy.stats.norm.sf(width - m) + scipy.stats.norm.sf(-width - m)) / 2 - win_rate, -5, 5
    )

    def campaign(rng: np.random.Generator) -> bool:
        c = rng.normal(0, (latent[0] / 2) ** 0.5, (setting.contexts, setting.systems))
        a = rng.normal(0, (latent[1] / 2) ** 0.5, (setting.annotators, setting.systems))
        preference = ahead * ((first == 0).astype(float) - (second == 0)) + rng.normal(0, (1 - sum(latent)) ** 0.5, len(judged))
        preference += c[context, first] - c[context, second] + a[annotator, first] - a[annotator, second]
        outcome = (preference > width).astype(int) - (preference < -width)
        return _differ(read_pairs(setting.systems, first, second, outcome, context, annotator))

    return campaign


def _differ(reading: Reading) -> bool:
    board = reading.board("people" if reading.speaks_of_people() else "annotators")
    return bool(board.above[0, 1] or board.above[1, 0])


def cuts(ties: float, win_rate: float) -> tuple[float, float]:
    """The thresholds of a standard normal preference: below the first a loss, above the second a win."""
    loss = 1 - win_rate - ties / 2
    return float(scipy.stats.norm.ppf(loss)), float(scipy.stats.norm.ppf(loss + ties))


def correlation_of_outcomes(latent: float, ties: float, win_rate: float = 0.5) -> float:
    """The correlation of two outcomes (+1, 0, -1) whose preferences correlate by `latent`."""
    low, high = cuts(ties, win_rate)

    def joint(x: float, y: float) -> float:
        return float(scipy.stats.multivariate_normal.cdf([x, y], cov=[[1, latent], [latent, 1]]))

    # E[xy] = P(x > h, y > h) + P(x < l, y < l) - 2 P(x < l, y > h)
    both_win = 1 - 2 * scipy.stats.norm.cdf(high) + joint(high, high)
    product = both_win + joint(low, low) - 2 * (scipy.stats.norm.cdf(low) - joint(low, high))
    mean = scipy.stats.norm.sf(high) - scipy.stats.norm.cdf(low)
    return float((product - mean**2) / (1 - ties - mean**2))


MAIN = 0.25  # variance of contexts' and annotators' main effects, which the balance is to cancel: half a point of five


def power_table(draws: int, seed: int) -> Iterator[str]:
    for setting in (Setting(3, 60, 6), Setting(3, 60, 12, 50), Setting(5, 100, 20), Setting(2, 40, 4)):
        for name, assumed in (("high", HIGH_VARIANCE), ("low", LOW_VARIANCE)):
            components = replace(assumed.on(1, 5), context=MAIN, annotator=MAIN)
            least = detectable_difference(
                components, setting.contexts, setting.annotators, setting.people, systems=setting.systems
            )
            assert least is not None, "only a scale that ends could hide a difference"
            at = share_found(draws, scores_test(setting, components, least.difference, seed=seed), seed + 1)
            none = share_found(draws, scores_test(setting, components, 0.0, seed=seed), seed + 2)
            yield _row(setting, f"scores, {name} variance", f"{least.difference:.2f} points", at, none, draws)
    for setting in (Setting(2, 100, 6), Setting(3, 150, 10), Setting(4, 120, 12, 50)):
        latent, ties = (0.4, 0.08), 0.2
        context, annotator = (correlation_of_outcomes(share, ties) for share in latent)
        pairs = PairAssumptions(ties, context, annotator)
        meet = setting.contexts * (1 if setting.systems == 2 else 2 / (setting.systems - 1))
        size = setting.annotators, setting.people
        detectable = detectable_win_rate(pairs, meet, *size, systems=setting.systems, contexts=setting.contexts)
        assert detectable is not None, "no setting above is too small for any win rate"
        at = share_found(draws, pairs_test(setting, latent, ties, 0.5 + detectable.difference, seed), seed + 1)
        none = share_found(draws, pairs_test(setting, latent, ties, 0.5, seed), seed + 2)
        yield _row(setting, "pairs, ring", f"win rate {0.5 + detectable.difference:.3f}", at, none, draws)


def _row(setting: Setting, what: str, difference: str, at: float, none: float, draws: int) -> str:
    margin = 1.96 * (at * (1 - at) / draws) ** 0.5
    shape = f"{setting.systems} | {setting.contexts} | {setting.annotators} | {setting.overlap_percent} % by {setting.overlap}"
    return f"| {what} | {shape} | {difference} | {at:.3f} ± {margin:.3f} | {none:.3f} |"


def balance_table(seed: int) -> Iterator[str]:
    for pairwise, setting in ((False, Setting(5, 200, 12)), (True, Setting(5, 200, 12)), (True, Setting(6, 100, 9, 50))):
        items = draw(corpus(setting.systems, setting.contexts), setting.design(pairwise, seed))
        judged = hand_out(items, setting.annotators, seed)
        shown: Counter[str] = Counter()
        cells: Counter[tuple[str, ...]] = Counter()
        left: Counter[str] = Counter()
        by_person: dict[int, Counter[str]] = defaultdict(Counter)
        last: dict[int, str] = {}
        beyond = again = 0
        for one in judged:
            shown.update(one.item.cell)
            cells[one.item.cell] += 1
            again += last.get(one.annotator) == one.item.context
            last[one.annotator] = one.item.context
            by_person[one.annotator].update(one.item.cell)
            counts = [by_person[one.annotator][f"s{s}"] for s in range(setting.systems)]
            beyond += max(counts) - min(counts) > 1
            if pairwise:
                left[one.item.cell[one.swapped]] += 1
                left[one.item.cell[not one.swapped]] -= 1
        sides = max(map(abs, left.values()), default=0)
        yield (
            f"| {'pairs, ring' if pairwise else 'scores'} | {setting.systems} | {setting.contexts} | {setting.annotators} | "
            f"{setting.overlap_percent} % by {setting.overlap} | {len(judged)} | {_range(shown)} | {_range(cells)} | {sides} | "
            f"{beyond} | {again} |"
        )


def _range(counts: Counter[Any]) -> str:
    low, high = min(counts.values()), max(counts.values())
    return str(low) if low == high else f"{low} to {high}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for row in chain(balance_table(given.seed), power_table(given.draws, given.seed)):
        print(row, flush=True)


if __name__ == "__main__":
    main()
