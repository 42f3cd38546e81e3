"""Campaigns that ask otherwise than by a few points: how people answer, what is true, what the board states, their files."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.questions import conditional as harm
from benchmarks.questions import error_spans, fine_answers, rankings, suggested
from benchmarks.validity import default_path, rows, simulation
from benchmarks.validity.crowds import Crowd, Entered, draw, scenarios
from benchmarks.validity.generators import Answers, Campaign
from benchmarks.validity.rows import Row
from leaderboard.rating.people_board import PeopleBoard, board_from_pairs, board_from_scores

Strengths = tuple[float, ...]
FIVE = (0.0, 0.2, 0.4, 0.6, 0.8)
SHAPE = Campaign(FIVE, contexts=fine_answers.CONTEXTS)
LARGER = Campaign(FIVE, contexts=harm.CONTEXTS)


@dataclass(frozen=True)
class Files:
    """options: of create_campaign; rows: commands, with what they read; about: the criterion of the board, if there is one"""

    options: tuple[str, ...]
    rows: list[tuple[str, Iterable[Row]]]
    about: str = ""


@dataclass(frozen=True)
class Kind:
    """draw: (strengths, seed) -> what people said; true: strengths -> (systems,); boards: (what they said, systems) -> at each
    look; files: of what they said; is_even: are systems of one strength equal? is_other: does the board not speak of it?"""

    draw: Callable[[Strengths, int], Any]
    true: Callable[[Strengths], np.ndarray]
    boards: Callable[[Any, int], list[PeopleBoard]]
    files: Callable[[Any], Files]
    strengths: Strengths = FIVE
    is_even: bool = True
    is_other: bool = False


@dataclass(frozen=True)
class Asked:
    """equal: have all systems the same strength?"""

    kind: str
    equal: bool = False

    @property
    def strengths(self) -> Strengths:
        return tuple(0.5 if self.equal else strength for strength in KINDS[self.kind].strengths)

    def truth(self) -> np.ndarray:
        kind = KINDS[self.kind]
        value = kind.true(self.strengths)
        return np.full(len(value), value.mean()) if self.equal and kind.is_even else value

    def simulate(self, true: np.ndarray, seed: int) -> simulation.Record:
        """False where it is at any look."""
        every, order = np.ones((len(true),) * 2, dtype=bool), self.strengths if KINDS[self.kind].is_even else true
        looks = [simulation.beside(simulation.stated(b), true, np.asarray(order), every) for b in self.boards(seed)]
        return looks[-1] | {"false": any(look["false"] for look in looks)}

    def boards(self, seed: int) -> list[PeopleBoard]:
        kind = KINDS[self.kind]
        return kind.boards(kind.draw(self.strengths, seed), len(kind.strengths))

    def compared(self, folder: Path, seed: int) -> None:
        """Raises SystemExit where the commands and the default board say otherwise."""
        from benchmarks.validity import imported  # needs a database

        kind, harness = KINDS[self.kind], self.boards(seed)[-1]
        files, systems = kind.files(kind.draw(self.strengths, seed)), range(len(harness.rating))
        board = imported.board_of(imported.stored(folder, files), files.about)
        places = dict(board.ratings.values_list("name", "rating"))
        ratings = np.array([places[f"s{i}"] for i in systems])
        above = np.array([[imported.is_above(board, i, j) for j in systems] for i in systems])
        if not np.array_equal(above, harness.above) or not np.allclose(ratings, harness.rating, atol=0.05):
            raise SystemExit(f"{self}, seed {seed}: the board says {ratings}, {above}; the harness says {harness}")


def boards(said: Answers, n: int, **how: bool) -> list[PeopleBoard]:
    who = said.context, said.annotator
    if said.outcome is None:
        return [board_from_scores(n, said.system, *who, said.value, **how)]
    return [board_from_pairs(n, said.first, said.second, said.outcome, *who)]


def last_boards(said: tuple[Any, Answers], n: int, **how: bool) -> list[PeopleBoard]:
    """Of what was asked last."""
    return boards(said[1], n, **how)


def of_crowd(crowd: Crowd) -> Kind:
    return Kind(
        lambda strengths, seed: draw(crowd, seed),
        lambda strengths: np.zeros(crowd.systems),
        lambda entered, n: default_path.boards(crowd, entered),
        partial(crowded, crowd),
        crowd.strengths,
    )


def crowded(crowd: Crowd, entered: Entered) -> Files:
    outputs, options = ("import_outputs", rows.outputs(crowd)), ("--criterion", f"Quality:1:{crowd.points or 5}")
    if crowd.form == "pairs":
        judged = entered.pair_context, entered.first, entered.second, entered.pair_person, entered.outcome
        return Files(options, [outputs, ("import_judgments", rows.judgments(*judged))])
    scores = rows.scores(entered.context, entered.system, entered.person, entered.value)
    return Files(options, [outputs, ("import_scores", scores)], "Quality")


def slid(said: Answers) -> Files:
    outputs, values = rows.outputs(SHAPE), rows.scores(said.context, said.system, said.annotator, said.value)
    return Files(("--criterion", "Quality:0:100"), [("import_outputs", outputs), ("import_scores", values)], "Quality")


def marked(said: Answers, shape: Campaign = SHAPE) -> Files:
    """The fewest marks with these sums, as the board reads no more."""
    marks = [[{"start": n, "end": n + 1, **mark} for n, mark in enumerate(error_spans.marks_of(-sum))] for sum in said.value]
    errors = rows.scores(said.context, said.system, said.annotator, marks, column="errors")
    return Files((), [("import_outputs", rows.outputs(shape, "." * 99)), ("import_spans", errors)], "Quality")


def scored(said: tuple[Answers, Answers]) -> Files:
    marks, slider = marked(said[0]), slid(said[1])
    errors = "import_spans", (row | {"aspect": "Errors"} for row in marks.rows[1][1])
    return replace(slider, rows=[marks.rows[0], errors, slider.rows[1]])


def conditional(said: tuple[Answers, Answers]) -> Files:
    options = "--criterion", "Quality:1:5", "--criterion", "Harm:0:100", "--asked-if", "Harm", "Quality", "below", "3"
    scores = [row for of, name in zip(said, ("Quality", "Harm"))
              for row in rows.scores(of.context, of.system, of.annotator, of.value, name)]  # fmt: skip
    return Files(options, [("import_outputs", rows.outputs(LARGER)), ("import_scores", scores)], "Harm")


def of_conditions(common: float, every: bool = False) -> Kind:
    draw, true = partial(harm.drawn, common=common), partial(harm.truth, common=common, every=every)
    read = partial(last_boards, conditional=True)
    return Kind(draw, true, read, conditional, is_even=not common or every, is_other=every)


def over_suggestions(said: tuple[np.ndarray, Answers]) -> Files:
    """As `marked`, after what was suggested."""
    files, (context, system) = marked(said[1], LARGER), np.indices(said[0].shape).reshape(2, -1)
    shown = list(marked(Answers(context, np.zeros_like(context), system, -said[0].ravel())).rows[1][1])
    by = {(row["context_id"], row["system"]): {"suggested_by": "a model", "suggested": row["errors"]} for row in shown}
    answers = [row | by[row["context_id"], row["system"]] for row in files.rows[1][1]]
    over = [row | {"annotator": "a model", "suggestion": True} for row in shown]
    return replace(files, rows=[files.rows[0], ("import_spans", over), ("import_spans", answers)])


def of_suggestions(even: bool, without: bool = False) -> Kind:
    true = error_spans.truth if without else partial(suggested.truth, even=even)
    draw = partial(suggested.drawn, even=even)
    return Kind(draw, true, last_boards, over_suggestions, is_even=even or without, is_other=without)


def graded(said: fine_answers.Graded) -> Files:
    both = [{"choice": "", "cannot_say": True} if np.isnan(points) else {"choice": "both_bad"} if bad and not points
            else {"choice": int(points), "choice_scale": "3 to -3"} for points, bad in zip(said.value, said.bad)]  # fmt: skip
    judged = rows.judgments(said.context, said.first, said.second, said.annotator, np.zeros(len(both)), both)
    return Files(("--pairwise",), [("import_judgments", judged)])


def of_grades(**how: Any) -> Kind:
    draw, true = partial(fine_answers.by_how_much, **how), partial(fine_answers.true_ratings, **how)
    return Kind(draw, true, lambda said, n: boards(said.said(), n), graded)


def ranked(c: rankings.Campaign, said: rankings.Ranked) -> Files:
    return Files(("--pairwise",), [("import_judgments", rankings.rows_of(c, said))])


def of_rankings(c: rankings.Campaign) -> Kind:
    return Kind(
        lambda strengths, seed: rankings.drawn(replace(c, strengths=strengths), seed),
        lambda strengths: rankings.truth(replace(c, strengths=strengths)),
        lambda said, n: [rankings.read(c, said)],
        partial(ranked, c),
        c.strengths,
    )


KINDS = {
    "slider, 0 to 100": Kind(fine_answers.on_sliders, fine_answers.true_scores, boards, slid),
    "how much better, 7 points": of_grades(),
    "how much better, both bad and cannot say": of_grades(sure=False),
    "sum of marked errors' weights": Kind(error_spans.drawn, error_spans.truth, boards, marked),
    "a score after marked errors": Kind(error_spans.drawn_scores, error_spans.true_scores, last_boards, scored),
    "asked only below 3, luck of its own": of_conditions(0.0),
    "asked only below 3, luck in common": of_conditions(0.7),
    "asked only below 3, luck in common, of every output": of_conditions(0.7, every=True),
    "errors suggested, alike for all systems": of_suggestions(True),
    "errors suggested, better for some systems": of_suggestions(False),
    "errors suggested, better for some systems, as without them": of_suggestions(False, without=True),
    **{f"default path, {name}": of_crowd(crowd) for name, crowd in scenarios().items()},
    **{f"rankings, {name}": of_rankings(c) for name, c in rankings.CAMPAIGNS.items()},
}


def campaigns(equal: bool, other: bool = False) -> dict[str, Asked]:
    kinds = {name: kind for name, kind in KINDS.items() if kind.is_other == other}
    of = {name: Asked(name, equal) for name, kind in kinds.items() if equal or len(set(kind.strengths)) > 1}
    return {f"{name}, {'equal' if equal else 'apart'}": asked for name, asked in of.items()}
