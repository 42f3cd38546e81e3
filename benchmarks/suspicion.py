"""How often honest annotators are flagged, and how often those who are not honest are: `python -m benchmarks.suspicion
[N [FIRST SEED]]`.

The campaigns are drawn from a model of people that the tests do not have. On a latent scale annotator a sees system s on
context c as

    use_a (strength_s + luck_cs + taste_as) + difficulty_c - severity_a - drift_a (time - 1/2) + noise

with luck from Student's t with 5 degrees of freedom, and logistic noise, which on topics that the annotator does not know is
larger. Cut points make a score from 1 to 5 of it, or a threshold an outcome of the difference of two. In a campaign with
somebody dishonest it is annotator 0, whose answers are replaced."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np

from annotation.quality.answer_arrays import Answers
from annotation.quality.people.annotator_cards import Behaviour, cards
from annotation.quality.people.camps import camps
from annotation.quality.people.influence import influences
from annotation.quality.people.suspicion import suspicion
from leaderboard.rating.games import Games
from leaderboard.rating.games_from_answers import games_from_judgments, games_from_scores

CUTS = np.array([-1.5, -0.5, 0.5, 1.5])  # between the scores 1 to 5
STRENGTHS = np.array([0.0, 0.2, 0.4, 0.6, 0.8])
PAIRS = np.array(list(combinations(range(len(STRENGTHS)), 2)))
NOISE, LUCK, DIFFICULTY, TIE, TAIL_DF = 0.5, 0.5, 0.5, 0.3, 5
TOPICS = 5
EACH = 3  # people an item
FIRST = int(sys.argv[2]) if __name__ == "__main__" and len(sys.argv) > 2 else 0  # seed


@dataclass(frozen=True)
class Scenario:
    """design: "outputs", 3 people of their own score each output; "contexts", 3 people score all outputs of a context, one
    after the other; "pairs", 3 people of their own judge each of 5 pairs of a context. Effects are standard deviations on the
    latent scale; use and load those of logarithms. ceiling: how far the cut points are shifted down. unknown: how many times
    larger the noise is on the two topics of five that an annotator does not know. each annotator gives 150 answers."""

    design: str = "outputs"
    annotators: int = 10
    taste: float = 0.3
    tails: bool = False
    severity: float = 0.5
    use: float = 0.15
    drift: float = 0.0
    side: float = 0.0
    load: float = 0.0
    ceiling: float = 0.0
    unknown: float = 1.0
    in_a_row: bool = False

    @property
    def contexts(self) -> int:
        return 10 * self.annotators


@dataclass(frozen=True)
class Drawn:
    """One row an answer. system: (answers, 1 or 2), of an output or of the two of a pair."""

    answers: Answers
    system: np.ndarray
    behaviour: Behaviour

    def games(self) -> tuple[Games, np.ndarray]:
        """Everybody's games, and whose they are."""
        parts = [self._games_of(self.answers.annotator == who) for who in range(self.answers.annotator.max() + 1)]
        fields = ("first", "second", "outcome", "context")
        games = Games(*(np.concatenate([getattr(part, field) for part in parts]) for field in fields))
        return games, np.repeat(np.arange(len(parts)), [len(part) for part in parts])

    def _games_of(self, own: np.ndarray) -> Games:
        context, value, system = self.answers.context[own], self.answers.value[own], self.system[own]
        if self.system.shape[1] == 2:
            return games_from_judgments(system[:, 0], system[:, 1], context, value.astype(int))
        return games_from_scores(system[:, 0], context, np.zeros(len(value), dtype=int), value)


def draw(scenario: Scenario, seed: int, dishonest: Callable | None = None) -> Drawn:
    rng = np.random.default_rng(seed)
    s, n = scenario, scenario.annotators
    shown = np.arange(len(STRENGTHS))[:, None]
    context = np.repeat(np.arange(s.contexts), len(STRENGTHS))
    system = np.tile(shown, (s.contexts, 1))
    if s.design == "pairs":
        chosen = np.argsort(rng.random((s.contexts, len(PAIRS))), axis=1)[:, : len(STRENGTHS)]
        system = PAIRS[chosen.ravel()]
    group = context if s.design == "contexts" else np.arange(len(context))
    annotator = _assigned(s, group.max() + 1, rng)[group].ravel()
    item = np.repeat(np.arange(len(context)), EACH)
    context, system = context[item], system[item]
    order = _order(annotator, context if s.in_a_row or s.design == "contexts" else rng.permutation(len(item)), rng)
    taste = rng.standard_t(TAIL_DF, (n, len(STRENGTHS))) * np.sqrt(3 / 5) if s.tails else rng.normal(size=(n, len(STRENGTHS)))
    luck = LUCK * rng.standard_t(TAIL_DF, (s.contexts, len(STRENGTHS))) * np.sqrt(3 / 5)
    worth = STRENGTHS + luck[context] + s.taste * taste[annotator]  # (answers, systems)
    seen = worth[np.arange(len(item)), system[:, 0]]
    unknown = np.argsort(rng.random((n, TOPICS)), axis=1) < 2
    noise = NOISE * rng.logistic(size=len(item)) * np.where(unknown[annotator, context % TOPICS], s.unknown, 1.0)
    use = np.exp(rng.normal(0, s.use, n))[annotator]
    swapped = rng.random(len(item)) < 0.5
    if s.design == "pairs":
        side = np.where(swapped, -1, 1) * rng.normal(0, s.side, n)[annotator]
        seen = use * (seen - worth[np.arange(len(item)), system[:, 1]]) + side + noise
        value = np.where(np.abs(seen) < TIE, 1, np.where(seen > 0, 0, 2)).astype(float)
    else:
        time = order / np.bincount(annotator)[annotator] - 0.5
        seen = use * seen + rng.normal(0, DIFFICULTY, s.contexts)[context] + noise
        seen -= rng.normal(0, s.severity, n)[annotator] + rng.normal(0, s.drift, n)[annotator] * time
        value = 1.0 + np.searchsorted(CUTS - s.ceiling, seen)
    if dishonest:
        own = np.flatnonzero(annotator == 0)
        own = own[np.argsort(order[own])]
        levels = np.array([0.0, 1.0, 2.0]) if s.design == "pairs" else np.arange(1.0, 6.0)
        value[own] = dishonest(value[own], levels, system[own, 0], rng)
    sides = np.where(value == 1, 0, np.where((value == 0) != swapped, 1, -1))
    behaviour = Behaviour(sides=(annotator, sides)) if s.design == "pairs" else Behaviour()
    return Drawn(Answers(annotator, item, np.zeros_like(item), value, order, context), system, behaviour)


def _assigned(s: Scenario, groups: int, rng: np.random.Generator) -> np.ndarray:
    """Three different annotators for each: int (groups, 3). With even loads everybody gets as many, as far as it goes; else
    the loads are log-normal, and the smallest of exponential times at these rates come first (Efraimidis & Spirakis 2006)."""
    if s.load:
        return np.argsort(rng.exponential(size=(groups, s.annotators)) / rng.lognormal(0, s.load, s.annotators), axis=1)[
            :, :EACH
        ]
    given, chosen = np.zeros(s.annotators), np.empty((groups, EACH), dtype=int)
    for row in chosen:
        row[:] = np.argsort(given + rng.random(s.annotators) / 2)[:EACH]
        given[row] += 1
    return chosen


def _order(annotator: np.ndarray, first: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The place of each answer among the annotator's own, by `first`, then at random: (answers,) from 0"""
    by = np.lexsort((rng.random(len(annotator)), first, annotator))
    count = np.bincount(annotator)
    place = np.empty(len(annotator))
    place[by] = np.arange(len(annotator)) - np.repeat(np.cumsum(count) - count, count)
    return place


def at_random(value, levels, system, rng):
    return rng.choice(levels, len(value))


def in_the_middle(value, levels, system, rng):
    return np.full(len(value), levels[len(levels) // 2])


def at_the_top(value, levels, system, rng):
    return np.full(len(value), levels[-1])


def reversed_scale(value, levels, system, rng):
    return levels[-1] + levels[0] - value


def copied(share: float):
    """Repeats the answer before it, with this chance."""

    def answers(value, levels, system, rng):
        value = value.copy()
        for i in np.flatnonzero(rng.random(len(value)) < share):
            value[i] = value[i - 1] if i else value[i]
        return value

    return answers


def last_third_alike(value, levels, system, rng):
    return np.where(np.arange(len(value)) >= 2 * len(value) / 3, levels[len(levels) // 2], value)


def zigzag(value, levels, system, rng):
    way = np.concatenate([levels, levels[-2:0:-1]])
    return way[np.arange(len(value)) % len(way)]


def half_read(value, levels, system, rng):
    return np.where(rng.random(len(value)) < 0.5, rng.choice(levels, len(value)), value)


def one_favoured(value, levels, system, rng):
    """The best answer for system 0, the weakest, which is the first of a pair."""
    return np.where(system == 0, levels[0] if len(levels) == 3 else levels[-1], value)


DISHONEST = {
    "random": at_random,
    "always the middle": in_the_middle,
    "always the top": at_the_top,
    "reversed scale": reversed_scale,
    "repeats the last answer, 70%": copied(0.7),
    "repeats the last answer, 50%": copied(0.5),
    "last third alike": last_third_alike,
    "zigzag": zigzag,
    "random on half": half_read,
}
RIGGERS = {"always the best": one_favoured}

BASE = Scenario()
HONEST = {
    "tastes of SD 0": replace(BASE, taste=0.0),
    "tastes of SD 0.3": BASE,
    "tastes of SD 0.6": replace(BASE, taste=0.6),
    "tastes of SD 0.6, heavy tails": replace(BASE, taste=0.6, tails=True),
    "severity of SD 1": replace(BASE, severity=1.0),
    "ceiling": replace(BASE, ceiling=1.5),
    "severity of SD 1, ceiling": replace(BASE, severity=1.0, ceiling=1.5),
    "topics of expertise": replace(BASE, unknown=3.0),
    "use of scale of SD 0.4": replace(BASE, use=0.4),
    "drift of SD 1": replace(BASE, drift=1.0),
    "unequal load": replace(BASE, load=1.0),
    "contexts in a row": replace(BASE, in_a_row=True),
    "whole contexts": replace(BASE, design="contexts"),
    "whole contexts, tastes of SD 0.6": replace(BASE, design="contexts", taste=0.6),
    "whole contexts, unequal load": replace(BASE, design="contexts", load=1.0),
    "pairs": replace(BASE, design="pairs"),
    "pairs, tastes of SD 0.6": replace(BASE, design="pairs", taste=0.6),
    "pairs, sides of SD 0.3": replace(BASE, design="pairs", side=0.3),
    "pairs, unequal load": replace(BASE, design="pairs", load=1.0),
    "thirty annotators": replace(BASE, annotators=30),
    "thirty, tastes of SD 0.6": replace(BASE, annotators=30, taste=0.6),
    "five annotators, tastes of SD 0.6": replace(BASE, annotators=5, taste=0.6),
    "all together": replace(BASE, taste=0.6, severity=1.0, ceiling=1.0, unknown=3.0, use=0.3, drift=1.0, load=0.5),
}


IN_PAIRS = ["random", "always the middle", "reversed scale"]
RIGGED = ["tastes of SD 0", "tastes of SD 0.3", "tastes of SD 0.6", "whole contexts", "pairs"]


def flagged(drawn: Drawn) -> tuple[set[int], set[int]]:
    """Whom suspicion and whom influence flags."""
    suspects = suspicion(cards(drawn.answers, drawn.behaviour), drawn.behaviour)
    pushing = {one.annotator for one in influences(len(STRENGTHS), *drawn.games()) if one.is_flagged}
    unusual = {one.annotator for one in suspects if one.is_unusual} | pushing
    members = {i for camp in camps(drawn.answers, drawn.answers.annotator.max() + 1, unusual) for i in camp.annotators}
    flagged = {one.annotator for one in suspects if replace(one, in_camp=one.annotator in members).is_flagged}
    return flagged, pushing - members


def false_alarms(scenario: Scenario, n: int) -> tuple[float, float, float]:
    """In how many of n campaigns anybody is flagged by suspicion, by influence, and by either."""
    pairs = [flagged(draw(scenario, seed)) for seed in range(FIRST, FIRST + n)]
    return np.mean([bool(s) for s, _ in pairs]), np.mean([bool(i) for _, i in pairs]), np.mean([bool(s | i) for s, i in pairs])


def power(scenario: Scenario, dishonest: Callable, n: int) -> tuple[float, float, float]:
    """In how many of n campaigns annotator 0 is flagged by suspicion, by influence, and anybody else by either."""
    pairs = [flagged(draw(scenario, seed, dishonest)) for seed in range(FIRST, FIRST + n)]
    return tuple(np.mean(rows) for rows in zip(*((0 in s, 0 in i, bool((s | i) - {0})) for s, i in pairs)))


def table(title: str, columns: list[str], rows: dict[str, Callable[[], tuple]]) -> None:
    print(f"\n{title}\n\n| {' | '.join(['', *columns])} |\n|{'---|' * (len(columns) + 1)}")
    for name, figures in rows.items():
        print(f"| {name} | {' | '.join(f'{100 * figure:.1f}' for figure in figures())} |", flush=True)


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    alarms, found = ["suspicion", "influence", "either"], ["suspicion", "influence", "anybody else"]
    table(
        f"Anybody flagged among honest annotators, % of {n} campaigns",
        alarms,
        {k: partial(false_alarms, s, n) for k, s in HONEST.items()},
    )
    table(
        f"One of ten is dishonest: flagged by, % of {n} campaigns",
        found,
        {k: partial(power, BASE, d, n) for k, d in DISHONEST.items()},
    )
    table(
        f"The same in pairs, % of {n} campaigns", found, {k: partial(power, HONEST["pairs"], DISHONEST[k], n) for k in IN_PAIRS}
    )
    table(
        f"One of ten pushes the weakest of five systems: flagged by, % of {n} campaigns",
        found,
        {f"{name}: {k}": partial(power, HONEST[name], d, n) for k, d in RIGGERS.items() for name in RIGGED},
    )


if __name__ == "__main__":
    main()
