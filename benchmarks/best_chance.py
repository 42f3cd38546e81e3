"""Is the chance to be best what it says? `python -m benchmarks.best_chance 200`: the chance that a board states for its
likeliest system, and how often that system really is the best, beside the chance with a flat prior on the same boards.
Campaigns are those of `validity.generators`; strengths are uniform, as the chance's own prior is not, and drawn anew."""

import sys
from dataclasses import replace

import django
import numpy as np

from benchmarks.validity.generators import Campaign, draw_answers
from benchmarks.validity.simulation import board_of
from leaderboard.rating.people_board import PeopleBoard

ROWS = {
    "scores, SD 0.5": (Campaign(strengths=(0.0,) * 5), 0.5),
    "scores, SD 0.1": (Campaign(strengths=(0.0,) * 5), 0.1),
    "pairs, SD 0.5": (Campaign(strengths=(0.0,) * 4, design="pairs"), 0.5),
    "pairs, SD 0.1": (Campaign(strengths=(0.0,) * 4, design="pairs"), 0.1),
}
PARTS = {"< 0.8": (0.0, 0.8), "to 0.95": (0.8, 0.95), "more": (0.95, 1.01)}


def flat(board: PeopleBoard, draws: int = 10_000) -> np.ndarray:
    """Draws of the errors alone: what was said until partial pooling."""
    rng, freedom = np.random.default_rng(0), float(board.df[~np.eye(len(board.df), dtype=bool)].min())
    moved = rng.multivariate_normal(np.zeros(len(board.rating)), board.covariance, draws, method="eigh")
    moved /= np.sqrt(rng.chisquare(freedom, (draws, 1)) / freedom)
    return np.bincount((board.rating + moved).argmax(axis=1), minlength=len(board.rating)) / draws


def main(n: int) -> None:
    django.setup()
    from leaderboard.tournaments.rate import _best_of_people  # what a board states

    parts = " | ".join(f"{part}: said, so (boards)" for part in PARTS)
    print(f"| judgments, strengths | prior | all: said, so | {parts} | ≥ 0.95, first not known |\n{'|---' * 7}|")
    for name, (campaign, sd) in ROWS.items():
        said: dict[str, list[tuple[float, bool, bool]]] = {"flat": [], "pooled": []}
        for seed in range(n):
            strengths = np.random.default_rng([seed, 1]).uniform(-1, 1, campaign.systems) * np.sqrt(3) * sd
            drawn = replace(campaign, strengths=tuple(strengths.tolist()))
            board = board_of(drawn, draw_answers(drawn, seed))
            for prior, chance in (("flat", flat(board)), ("pooled", _best_of_people(board))):
                first, second = np.argsort(-board.rating)[:2]
                known = bool(board.above[first, second])
                said[prior].append((float(chance.max()), bool(chance.argmax() == strengths.argmax()), known))
        for prior, rows in said.items():
            stated, so, known = map(np.array, zip(*rows, strict=True))
            cells = [f"{stated.mean():.3f}, {so.mean():.3f}"]
            for low, high in PARTS.values():
                part = (low <= stated) & (stated < high)
                cells.append(f"{stated[part].mean():.3f}, {so[part].mean():.3f} ({part.sum()})" if part.any() else "(0)")
            print(f"| {name} | {prior} | {' | '.join(cells)} | {(~known & (stated >= 0.95)).sum()} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
