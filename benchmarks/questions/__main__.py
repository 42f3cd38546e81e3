"""What the board's certainty is worth where people answer otherwise than by a few points: python -m benchmarks.questions

Campaigns follow each other by their seeds, for each kind of question of five systems that differ, and of five equal ones."""

from collections.abc import Callable

import numpy as np

from benchmarks.questions import error_spans, fine_answers
from benchmarks.tables import head, of_campaigns, options, row
from benchmarks.validity import simulation
from benchmarks.validity.generators import Answers, Campaign

Strengths = tuple[float, ...]
SYSTEMS = {"apart": (0.0, 0.2, 0.4, 0.6, 0.8), "equal": (0.0,) * 5}
KINDS: dict[str, tuple[str, Callable[[Strengths, int], Answers], Callable[[Strengths], np.ndarray]]] = {
    "slider, 0 to 100": ("outputs", fine_answers.on_sliders, fine_answers.true_scores),
    "how much better, 7 points": ("pairs", fine_answers.by_how_much, fine_answers.true_ratings),
    "sum of marked errors' weights": ("outputs", error_spans.drawn, error_spans.truth),
}


def measured(name: str, strengths: Strengths, seeds: range) -> tuple[np.ndarray, np.ndarray]:
    """(share of pairs of systems whose interval holds the truth, is a system called better that is not) of each campaign."""
    design, draw, true = KINDS[name]
    value = true(strengths) if len(set(strengths)) > 1 else np.zeros(len(strengths))
    i, j = np.triu_indices(len(strengths), 1)
    covered, false = np.zeros(len(seeds)), np.zeros(len(seeds), dtype=bool)
    for k, seed in enumerate(seeds):
        stated = simulation.read(Campaign(strengths, design=design), draw(strengths, seed))
        error = np.abs(stated.difference - (value[:, None] - value[None, :]))
        covered[k] = (error <= stated.half_width)[i, j].mean()
        false[k] = (stated.above & (np.array(strengths)[:, None] <= np.array(strengths)[None, :])).any()
    return covered, false


def main() -> None:
    asked = options(__doc__).parse_args()
    head("answers", "systems", "N", "coverage of 95% intervals", "SE", "false “above”", "SE", left=2)
    for name in KINDS:
        for what, strengths in SYSTEMS.items():
            if asked.only in name:
                parts = measured(name, strengths, range(asked.seed, asked.seed + asked.n))
                row(name, what, asked.n, *(f"{100 * share:.1f}%" for part in parts for share in of_campaigns(part)))


if __name__ == "__main__":
    main()
