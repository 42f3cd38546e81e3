"""`make bench`: ratings and agreement beside a peer or a naive version, side by side in one run. Synthetic data, seed 0."""

import resource
import time
from collections.abc import Callable

import krippendorff
import numpy as np
import pyglicko2

from annotation.quality.answer_arrays import Answers
from annotation.quality.krippendorff import Level, alpha_interval
from annotation.quality.people.annotator_cards import cards
from annotation.quality.people.suspicion import suspicion
from annotation.quality.report import assess_scores
from leaderboard.rating.bootstrap import context_draws, replay
from leaderboard.rating.games import Games
from leaderboard.rating.glicko2_sequential import rate
from leaderboard.rating.rules import PAPER, Rules, replicates, standings
from leaderboard.rating.tournament import run

SYSTEMS, CONTEXTS = 20, 400
SAMPLE = 3  # replicates of the loop over a package that are timed; the rest is multiplication


def seconds(work: Callable[[], object]) -> float:
    """Of CPU."""
    start = time.process_time()
    work()
    return time.process_time() - start


def beside(what: str, ours: float, theirs: float) -> None:
    print(f"{what}: {ours:.2f} s against {theirs:.2f} s, {theirs / ours:.1f} times faster", flush=True)


def likert(raters: int, units: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 6, units)
    return np.clip(truth + rng.integers(-1, 2, (raters, units)), 1, 5).astype(float)


def a_hundred_thousand_scores(raters: int = 10, units: int = 10_000) -> None:
    scores = likert(raters, units)
    report = seconds(lambda: assess_scores(scores, "interval", draws=50, replicates=200))
    people = seconds(lambda: suspicion(cards(Answers.of_table(scores))))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{raters * units:,} scores: report with 200 bootstrap and 50 null draws {report:.1f} s,"
        f" annotators {people:.1f} s, at most {peak:.0f} MiB so far in this process",
        flush=True,
    )


def alphas(level: Level, raters: int = 10, units: int = 2000, draws: int = 100) -> None:
    scores, rng = likert(raters, units), np.random.default_rng(0)

    def one_by_one() -> None:
        for _ in range(draws):
            krippendorff.alpha(scores[:, rng.integers(0, units, units)], level_of_measurement=level)

    ours = seconds(lambda: alpha_interval(scores, level, replicates=draws))
    beside(f"alpha ({level}), {draws} draws of {raters} x {units} scores / krippendorff", ours, seconds(one_by_one))


def replayed(games: int = 5000, contexts: int = 200, times: int = 100) -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(0, SYSTEMS, games)
    second = (first + rng.integers(1, SYSTEMS, games)) % SYSTEMS
    played = Games(first, second, rng.integers(-1, 2, games), rng.integers(0, contexts, games))
    draws = context_draws(contexts, times)
    ours = seconds(lambda: replay(SYSTEMS, played, draws))
    naive = seconds(lambda: [rate(SYSTEMS, played) for _ in range(times)])
    beside(f"ratings, {times} replicates of {games} games among {SYSTEMS} / one tournament a replicate", ours, naive)


def tournaments(games: int = 10_000) -> None:
    """Of systems whose outputs have a normal worth, by a judge who sees differences with logistic noise."""
    rng = np.random.default_rng(0)
    worth = rng.normal(size=(SYSTEMS, 1)) + 0.5 * rng.normal(size=(SYSTEMS, CONTEXTS))
    contexts = {(i, j): range(CONTEXTS) for i in range(SYSTEMS) for j in range(i + 1, SYSTEMS)}

    def judge(first: np.ndarray, second: np.ndarray, context: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        seen = worth[first, context] - worth[second, context] + rng.logistic(size=len(first))
        return np.where(np.abs(seen) < 0.6, 0, np.sign(seen)).astype(int)

    for name, rules in (("default", Rules(stop="all")), ("active", Rules(pairing="active")), ("paper", PAPER)):
        played: list[Games] = []

        def tournament(rules: Rules = rules, played: list[Games] = played) -> None:
            played.append(run(SYSTEMS, contexts, judge, rules, games=games).games)
            standings(SYSTEMS, played[0], rules)

        print(f"{games} games among {SYSTEMS} systems, {name}: {seconds(tournament):.2f} s of CPU")
    ours = seconds(lambda: replicates(SYSTEMS, played[0], context_draws(CONTEXTS, 1000)))
    loop = seconds(lambda: [_loop_a_package(played[0]) for _ in range(SAMPLE)]) / SAMPLE * 1000
    beside(f"1,000 replicates of {games} games / a loop over pyglicko2", ours, loop)


def _loop_a_package(games: Games) -> None:
    players = [pyglicko2.Player() for _ in range(SYSTEMS)]
    outcome_of = {1: pyglicko2.Outcome.WIN, 0: pyglicko2.Outcome.DRAW, -1: pyglicko2.Outcome.LOSS}
    for first, second, outcome in zip(games.first.tolist(), games.second.tolist(), games.outcome.tolist()):
        pyglicko2.update(players[first], players[second], outcome_of[outcome])


def main() -> None:
    a_hundred_thousand_scores()
    alphas("interval")
    alphas("ordinal")
    replayed()
    tournaments()


if __name__ == "__main__":
    main()
