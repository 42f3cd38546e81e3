"""Speed and long simulations of `annotation/quality/`. Synthetic data, seeds 0 and up."""

import resource
import time

import krippendorff
import numpy as np

from annotation.quality.answer_arrays import Answers
from annotation.quality.krippendorff import alpha_interval
from annotation.quality.people.annotator_cards import cards
from annotation.quality.people.suspicion import suspicion
from annotation.quality.report import assess_scores
from tests.annotation.quality.campaigns import campaign

SEEDS = 200


def likert(raters, units) -> np.ndarray:
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 6, units)
    return np.clip(truth + rng.integers(-1, 2, (raters, units)), 1, 5).astype(float)


def bootstrap_beside_the_package(raters=10, units=2000, draws=100) -> None:
    scores, rng = likert(raters, units), np.random.default_rng(0)
    for level in ("interval", "ordinal"):
        start = time.perf_counter()
        alpha_interval(scores, level, replicates=draws)
        middle = time.perf_counter()
        for _ in range(draws):
            krippendorff.alpha(scores[:, rng.integers(0, units, units)], level_of_measurement=level)
        ours, theirs = middle - start, time.perf_counter() - middle
        print(
            f"alpha ({level}), {draws} bootstrap draws of {raters} x {units} scores / krippendorff package:"
            f" {1000 * ours / draws:.2f} ms a draw against {1000 * theirs / draws:.2f} ms, {theirs / ours:.1f} times faster",
            flush=True,
        )


def a_hundred_thousand_scores(raters=10, units=10_000) -> None:
    scores = likert(raters, units)
    start = time.perf_counter()
    assess_scores(scores, "interval", draws=50, replicates=200)
    middle = time.perf_counter()
    made = cards(Answers.of_table(scores))
    suspicion(made)
    end = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{raters * units:,} scores: report with 200 bootstrap and 50 null draws {middle - start:.1f} s,"
        f" annotators {end - middle:.1f} s, at most {peak:.0f} MiB so far in this process",
        flush=True,
    )


def careless_annotators_are_found() -> None:
    found = [suspicion(cards(campaign(seed))) for seed in range(SEEDS)]
    first = np.mean([{suspect.annotator for suspect in suspects[:2]} == {8, 9} for suspects in found])
    both = np.mean([{suspect.annotator for suspect in suspects if suspect.is_flagged} == {8, 9} for suspects in found])
    honest = np.mean([suspicion(cards(campaign(seed, 10, 0)))[0].is_flagged for seed in range(SEEDS)])
    print(
        f"simulated campaigns, {SEEDS} seeds, 200 outputs, k = 4: two careless of ten annotators stand first in"
        f" {100 * first:.1f}%, they and nobody else are flagged in {100 * both:.1f}%;"
        f" of ten honest ones anybody in {100 * honest:.1f}%",
        flush=True,
    )


def main() -> None:
    a_hundred_thousand_scores()
    bootstrap_beside_the_package()
    careless_annotators_are_found()


if __name__ == "__main__":
    main()
