"""Do forecasts come true? A campaign is played, says how many more contexts or judgments might separate the first two systems,
goes on to that number with the same people, and is played again, which is its second look.

    python -m benchmarks.validity.forecasts --n 200

Campaigns follow each other by their seeds until n of them have said a number; nothing that comes after it decides. The middle
half is that of the present differences: there they are near the true one, of which the forecast speaks."""

from dataclasses import replace

import numpy as np

from benchmarks.tables import head, options, row
from benchmarks.validity.crowds import Crowd, draw
from benchmarks.validity.default_path import read
from leaderboard.boards.estimates import rough
from leaderboard.rating.people_board import Reading
from leaderboard.rating.ranking import MOST_TIMES, games_to_part, of_board

BASE = Crowd(taste=0.2)
SCENARIOS = {
    "scores, 3 people": replace(BASE, people=3, contexts=20, strengths=(0.0, 0.0, 0.0, 0.6, 1.0)),
    "scores, 24 people": replace(BASE, people=24, contexts=12, strengths=(0.0, 0.0, 0.0, 0.6, 1.5)),
    "pairs, 24 people": replace(BASE, people=24, k=2, contexts=24, strengths=(0.0, 0.0, 0.0, 0.6, 1.3), form="pairs"),
}
MOST_SEEDS = 20  # times as many campaigns as are asked for


def forecast(reading: Reading, contexts: int) -> tuple[float, int] | None:
    """(the present difference of the first two systems, how many more contexts are said to separate them); None: no number"""
    only = of_board(reading.board("annotators"))
    known = of_board(reading.board()) if reading.speaks_of_people() else only
    found = games_to_part(known, reading.rating, contexts, only=only)
    more = next((more for rank, _, more in found if rank == 1), None)
    first, second = np.argsort(-reading.rating, kind="stable")[:2]
    return None if not more else (float(known.difference[first, second]), rough(more))


def continued(crowd: Crowd, seed: int) -> tuple[float, int, bool] | None:
    """(the present difference, contexts said, are the two systems told apart then?)"""
    entered = draw(replace(crowd, contexts=(MOST_TIMES + 1) * crowd.contexts), seed)
    first = read(crowd, entered.until(crowd.contexts))
    said = forecast(first, crowd.contexts)
    if said is None:
        return None
    then = read(crowd, entered.until(crowd.contexts + said[1]), look=2)
    above = then.board("people" if then.speaks_of_people() else "annotators").above
    upper, lower = np.argsort(-first.rating, kind="stable")[:2]
    return *said, bool(above[upper, lower] | above[lower, upper])


def main() -> None:
    """n: campaigns that say a number."""
    asked = options(__doc__).parse_args()
    head("campaigns", "played", "say a number", "more contexts, quartiles", "told apart then, all", "the middle half", "SE")
    for name, crowd in SCENARIOS.items():
        if asked.only not in name:
            continue
        found: list[tuple[float, int, bool]] = []
        for played in range(1, MOST_SEEDS * asked.n + 1):
            one = continued(crowd, asked.seed + played - 1)
            found += [one] if one else []
            if len(found) == asked.n:
                break
        row(name, played, *figures(found))


def figures(found: list[tuple[float, int, bool]]) -> list[str]:
    found = sorted(found)
    n, more, apart = len(found), [one[1] for one in found], np.array([one[2] for one in found])
    middle = apart[n // 4 : n - n // 4]
    error = np.sqrt(middle.mean() * (1 - middle.mean()) / len(middle))
    quartiles = " / ".join(f"{q:.0f}" for q in np.quantile(more, (0.25, 0.5, 0.75)))
    return [str(n), quartiles, *(f"{share:.0%}" for share in (apart.mean(), middle.mean(), error))]


if __name__ == "__main__":
    main()
