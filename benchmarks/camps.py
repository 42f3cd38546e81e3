"""How often a minority view is taken for carelessness, or the reverse: `python -m benchmarks.camps [N [FIRST SEED]]`.

Ten people score outputs of five systems from 1 to 5, two of them in their own way. What most of them see in output o of system
s is quality_s + q_o, standard normal; two experts see another quality of it, independent of the first (or both, half and half);
two of opposite taste see its negative. Everybody adds severity of SD 0.5 and noise of the SD that is given. Careless people
answer at random, always the same, or the first output best. The generator shares nothing with the tests."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from annotation.quality.answer_arrays import Answers
from annotation.quality.people import annotator_cards
from annotation.quality.people.annotator_cards import cards
from annotation.quality.people.camps import camps
from annotation.quality.people.influence import influences
from annotation.quality.people.suspicion import suspicion
from leaderboard.rating.games_from_answers import games_from_scores

PEOPLE, SYSTEMS, SEVERITY = 10, 5, 0.5
CUTS = np.array([-1.5, -0.5, 0.5, 1.5])
Two = Callable[[np.ndarray, np.ndarray, np.random.Generator], np.ndarray]  # (quality, another quality) -> seen


@dataclass(frozen=True)
class Design:
    """contexts, with an output of each system; people an output; noise: its SD, beside qualities of SD 1."""

    contexts: int = 40
    each: int = 10
    noise: float = 0.8


DESIGNS = {
    "everybody scores 200 outputs": Design(),
    "everybody scores 60 outputs": Design(contexts=12),
    "150 of 500 outputs, 3 people each": Design(contexts=100, each=3),
}


def drawn(design: Design, two: Two | None, careless: Callable | None, rng: np.random.Generator) -> tuple[Answers, np.ndarray]:
    """Answers, and the system of each; annotators 0 and 1 see what `two` says, or answer by `careless`."""
    outputs = design.contexts * SYSTEMS
    system = np.arange(outputs) % SYSTEMS
    quality, another = (rng.normal(0, 0.5, SYSTEMS)[system] + rng.normal(0, np.sqrt(0.75), outputs) for _ in range(2))
    asked = np.argsort(rng.random((outputs, PEOPLE)), axis=1)[:, : design.each]
    item, annotator = np.repeat(np.arange(outputs), design.each), asked.ravel()
    seen = quality[item]
    own = annotator < 2
    if two:
        seen = np.where(own, two(quality, another, rng)[item], seen)
    seen = seen - rng.normal(0, SEVERITY, PEOPLE)[annotator] + rng.normal(0, design.noise, len(item))
    value = 1.0 + np.searchsorted(CUTS, seen)
    if careless:
        value[own] = careless(value[own], system[item][own], rng)
    order = rng.permutation(len(item)).astype(float)
    return Answers(annotator, item, np.zeros_like(item), value, order, item // SYSTEMS), system[item]


def flagged(answers: Answers, system: np.ndarray) -> tuple[set[int], set[int]]:
    """Who is flagged, by suspicion or influence, and who is said to hold a minority view."""
    suspects = suspicion(cards(answers))
    parts = [answers.annotator == who for who in range(PEOPLE)]
    games = [games_from_scores(system[p], answers.context[p], np.zeros(p.sum(), dtype=int), answers.value[p]) for p in parts]
    whose = np.repeat(np.arange(PEOPLE), [len(part) for part in games])
    joined = games[0]
    for part in games[1:]:
        joined = joined.then(part)
    pushing = {one.annotator for one in influences(SYSTEMS, joined, whose) if one.is_flagged}
    unusual = {one.annotator for one in suspects if one.is_unusual} | pushing
    members = {i for camp in camps(answers, PEOPLE, unusual) for i in camp.annotators}
    alone = {one.annotator for one in suspects if replace(one, in_camp=one.annotator in members).is_flagged}
    return alone | (pushing - members), members


CAMPS: dict[str, Two] = {
    "two experts of another quality": lambda quality, another, rng: another,
    "two who judge both qualities": lambda quality, another, rng: (quality + another) / np.sqrt(2),
    "two of opposite taste": lambda quality, another, rng: -quality,
}
CARELESS = {
    "two at random": lambda value, system, rng: rng.integers(1, 6, len(value)).astype(float),
    "two always in the middle": lambda value, system, rng: np.full(len(value), 3.0),
    "two who put one system first": lambda value, system, rng: np.where(system == 0, 5.0, 2.0),
}


def share(kept: list[bool]) -> str:
    mean = float(np.mean(kept))
    return f"{100 * mean:.1f} ± {100 * np.sqrt(mean * (1 - mean) / len(kept)):.1f}"


def rows(named: dict, n: int, first: int, is_camp: bool) -> None:
    for title, way in named.items():
        for name, design in DESIGNS.items():
            found = []
            for seed in range(first, first + n):
                rng = np.random.default_rng(seed)
                found.append(flagged(*drawn(design, *((way, None) if is_camp else (None, way)), rng)))
            two = {0, 1}
            cells = [[bool(f & two) for f, _ in found], [two <= f for f, _ in found]]
            cells += [[two <= members for _, members in found], [bool(f - two) for f, _ in found]]
            print(f"| {title} | {name} | {' | '.join(map(share, cells))} |", flush=True)


def main() -> None:
    n, first = (int(text) for text in (*sys.argv[1:3], *("200", "0")[len(sys.argv) - 1 :]))
    annotator_cards._competence = lambda answers, people: np.full(people, np.nan)  # flags nobody, and takes half of the time
    print("| who | design | one or both flagged | both flagged | said to be a minority view | anybody else flagged |")
    print("|---|---|---|---|---|---|")
    rows(CAMPS, n, first, True)
    rows(CARELESS, n, first, False)


if __name__ == "__main__":
    main()
