"""What the product says of public judgments, which do not come with it.

    python -m benchmarks.agreement.public_judgments FOLDER

FOLDER holds NAME.ratings.jsonl (scores), pandalm.pairwise.jsonl and llmfao.*.jsonl (judgments of pairs), one a line. The first
table has both verdicts on each question. `--only board` prints the default board of USR's Topical-Chat, Overall, and with
`--filtered` of what the default filter keeps, which was all that the product read at 81241e2. `--only arena` compares the board
of llmfao's votes with evalica's ranking (if that is installed) and with the language model's answers on the same pairs."""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

from annotation.quality.krippendorff import Level, alpha
from annotation.quality.mad import keep_mask
from annotation.quality.reliability import Reliability, reliability_of_pairs, reliability_of_scores
from annotation.quality.verdict import decide_on_taste, word
from leaderboard.rating.people_board import PeopleBoard, Reading, read_pairs, read_scores

SCORES = ("usr_topical_chat", "usr_persona_chat", "grade_dailydialog", "grade_empathetic")
PAIRS = {"pandalm": "pandalm.pairwise.jsonl", "llmfao": "llmfao.votes.jsonl"}
POINTS = {"A": 1, "tie": 0, "B": -1}


@dataclass(frozen=True)
class Scored:
    """(n,) each, numbered, and what the numbers of systems stand for."""

    person: np.ndarray
    context: np.ndarray
    system: np.ndarray
    value: np.ndarray
    names: list[str]

    def table(self) -> np.ndarray:
        """(people, outputs) with nan where nobody answered"""
        return _table(self.person, self.context * len(self.names) + self.system, self.value)


@dataclass(frozen=True)
class Compared:
    person: np.ndarray
    context: np.ndarray
    first: np.ndarray
    second: np.ndarray
    points: np.ndarray
    names: list[str]

    def table(self) -> np.ndarray:
        """(people, pairs), from the side of the system that comes first by name"""
        k, turned = len(self.names), np.where(self.first < self.second, 1, -1)
        low, high = np.minimum(self.first, self.second), np.maximum(self.first, self.second)
        return _table(self.person, (self.context * k + low) * k + high, self.points * turned)

    def reading(self) -> Reading:
        return read_pairs(len(self.names), self.first, self.second, self.points, self.context, self.person)


def lines(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def scored(file: Path) -> dict[str, Scored]:
    """By criterion."""
    rows = lines(file)
    return {name: _scored([row for row in rows if row["aspect"] == name]) for name in dict.fromkeys(r["aspect"] for r in rows)}


def compared(file: Path) -> Compared:
    rows = lines(file)
    person, context = (_numbers([row[key] for row in rows])[0] for key in ("annotator", "context_id"))
    both, names = _numbers([row[key] for key in ("system_a", "system_b") for row in rows])
    first, second = np.split(both, 2)
    return Compared(person, context, first, second, np.array([POINTS[row["choice"]] for row in rows]), names)


def verdicts(folder: Path) -> None:
    _row(
        "judgments",
        "systems",
        "people",
        "contexts",
        "answers",
        "alpha",
        "by agreement",
        "G, 95% interval",
        "halves",
        "by reliability",
    )
    _row("---", *["---:"] * 5, "---", "---:", "---:", "---")
    for name in SCORES:
        for criterion, found in scored(folder / f"{name}.ratings.jsonl").items():
            level: Level = "nominal" if len(np.unique(found.value)) < 3 else "ordinal"
            measured = reliability_of_scores(found.person, found.context, found.system, found.value)
            _verdict(f"{name}, {criterion}", alpha(found.table(), level), measured)
    for name, file in PAIRS.items():
        told = compared(folder / file)
        of = reliability_of_pairs(told.person, told.context, told.first, told.second, told.points)
        _verdict(name, alpha(told.table(), "nominal", reversal=0), of)


def _verdict(name: str, agreement: float, found: Reliability) -> None:
    size = (f"{count:,}" for count in (found.systems, found.people, found.contexts, found.answers))
    halves = "–" if found.split_half is None else f"{found.split_half:.2f}"
    g = f"{found.coefficient:.2f}, {found.low:.2f} to {found.high:.2f}"
    _row(name, *size, f"{agreement:.2f}", word(agreement), g, halves, decide_on_taste(found)[0])


def board(folder: Path, filtered: bool) -> None:
    """Everything on the board of one question."""
    found = scored(folder / "usr_topical_chat.ratings.jsonl")["Overall"]
    kept = np.ones(len(found.value), dtype=bool)
    if filtered:
        outputs = found.context * len(found.names) + found.system
        kept = keep_mask(found.table())[found.person, np.unique(outputs, return_inverse=True)[1]]
    columns = (column[kept] for column in (found.system, found.context, found.person, found.value))
    reading = read_scores(len(found.names), *columns)
    of = "people" if _speaks(reading) else "annotators"
    _ratings(reading.board(of), found.names)
    print(f"{kept.sum():,} of {len(kept):,} scores; said of {of}")


def _speaks(reading: Reading) -> bool:
    return bool(reading.speaks_of_people())


def _ratings(made: PeopleBoard, names: list[str], most: int = 20) -> None:
    _row("system", "rating", "95% interval", "rank", "systems that it is above")
    _row("---", "---:", "---:", "---:", "---:")
    for i in np.argsort(-made.rating)[:most]:
        rank = f"{made.rank_low[i]} to {made.rank_high[i]}"
        interval, above = f"{made.low[i]:.0f} to {made.high[i]:.0f}", f"{made.above[i].sum()}"
        _row(names[i], f"{made.rating[i]:.0f}", interval, rank, above)
    pairs = len(names) * (len(names) - 1) // 2
    print(f"{int(made.above.sum())} of {pairs} differences are known")


def arena(folder: Path) -> None:
    votes, model = compared(folder / PAIRS["llmfao"]), compared(folder / "llmfao.gpt-3.5.jsonl")
    made = votes.reading().board()
    _ratings(made, votes.names)
    evalica_ranks(votes, made)
    order = [model.names.index(name) for name in votes.names]
    theirs = model.reading().rating[order]
    print(f"Kendall's tau of people's board and of a board of the language model's answers: {_tau(made.rating, theirs):.3f}")
    print(
        "A vote agrees with the language model's answer on the same pair in {:.1%} of {:,} votes".format(
            *agreement(votes, model)
        )
    )


def evalica_ranks(votes: Compared, made: PeopleBoard) -> None:
    try:
        import evalica
    except ImportError:
        print("evalica is not installed")
        return
    outcome = {1: evalica.Winner.X, 0: evalica.Winner.Draw, -1: evalica.Winner.Y}
    names = np.array(votes.names)
    ranked = evalica.bradley_terry(list(names[votes.first]), list(names[votes.second]), [outcome[p] for p in votes.points])
    scores = np.array([ranked.scores[name] for name in votes.names])
    places, own = stats.rankdata(-scores), stats.rankdata(-made.rating)
    print(f"Kendall's tau of people's board and evalica {evalica.__version__}'s Bradley-Terry: {_tau(made.rating, scores):.3f}")
    count = np.bincount(np.concatenate([votes.first, votes.second]))
    for i in np.argsort(-np.abs(places - own))[:5]:
        votes_of = f"{count[i]:,} votes (median {np.median(count):.0f})"
        print(f"  {names[i]}: {places[i]:.0f} by evalica, {own[i]:.0f} on the board, {votes_of}")


def agreement(votes: Compared, model: Compared) -> tuple[float, int]:
    """(share of the votes that say what the language model says, how many votes are about pairs that it judged), ties aside.
    Both number the same contexts alike."""
    sides = zip(model.context, model.first, model.second, model.points)
    said = {(context, model.names[a], model.names[b]): points for context, a, b, points in sides if points}
    mine = zip(votes.context, votes.first, votes.second, votes.points)
    same = [
        points == said[pair] for c, a, b, points in mine if points and (pair := (c, votes.names[a], votes.names[b])) in said
    ]
    return float(np.mean(same)), len(same)


def _scored(rows: list[dict]) -> Scored:
    person, context = (_numbers([row[key] for row in rows])[0] for key in ("annotator", "context_id"))
    system, names = _numbers([row["system"] for row in rows])
    return Scored(person, context, system, np.array([float(row["score"]) for row in rows]), names)


def _numbers(values: list[str]) -> tuple[np.ndarray, list[str]]:
    names, number = np.unique(values, return_inverse=True)
    return number, names.tolist()


def _table(row: np.ndarray, unit: np.ndarray, value: np.ndarray) -> np.ndarray:
    column = np.unique(unit, return_inverse=True)[1]
    table = np.full((row.max() + 1, column.max() + 1), np.nan)
    table[row, column] = value
    return table


def _tau(one: np.ndarray, other: np.ndarray) -> float:
    return float(stats.kendalltau(one, other).statistic)


def _row(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


def main(args: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agreement.public_judgments", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=["verdicts", "board", "arena"], default="verdicts")
    parser.add_argument("--filtered", action="store_true", help="the board of what the default filter keeps")
    asked = parser.parse_args(args)
    if asked.only == "verdicts":
        verdicts(asked.folder)
    elif asked.only == "board":
        board(asked.folder, asked.filtered)
    else:
        arena(asked.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
