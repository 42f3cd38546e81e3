"""The two files of `check_judge`: which answers are the judge's, which are people's, and that both speak of the same texts."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from annotation.data.fields import guess
from annotation.data.shapes.registry import shape_of
from annotation.data.shapes.shape import JUDGMENTS, SCORES
from annotation.data.spellings import Spellings
from core.errors import Refused, quoted
from core.rows import paths_in
from leaderboard.offline.answers import Answers, How, of_aspect, read, sample_of, with_best_end, with_ids


def both(options: argparse.Namespace) -> tuple[Answers, Answers]:
    """(the judge's answers, people's on one criterion), contexts under the same names. Raises Refused or ImportRefused."""
    if Path(options.file).absolute() == Path(options.people).absolute() and (same := set(options.judge) & set(options.label)):
        raise Refused(f"The column {quoted(min(same))} can't be both the judge's scores and people's.")
    columns, constants = _assigned(options.column), _assigned(options.constant)
    of_people, always = _assigned(options.people_column), _assigned(options.people_constant)
    always |= {"best": options.best} if options.best else {}
    systems = Spellings(())  # of both files
    people = _people(read(options.people, How(of_people or None, always, options.label, False, options.encoding), systems))
    people = with_best_end(of_aspect(people, options.criterion))
    judge = _judge(options, columns, constants, systems)
    ids = judge.ids | people.ids
    judge, people = with_ids(judge, ids), with_ids(people, ids)
    aspect = next(iter([*people.pairs, *people.scores])).aspect
    if any(one.aspect == aspect for one in [*judge.pairs, *judge.scores]):
        judge = of_aspect(judge, aspect)
    return _on_same_end(judge, people, options.best), people


def _on_same_end(judge: Answers, people: Answers, best: str | None) -> Answers:
    """The judge's scores with the end that is best. best: of both files' scores, as the command says. Raises Refused where
    people's lowest score is the best and nothing says which of the judge's is."""
    if all(one.best for one in judge.scores):
        return judge
    if best:
        judge = replace(judge, scores=[replace(one, best=one.best or best) for one in judge.scores])
        if best == "low":
            judge.assumed = [*judge.assumed, "Of the judge's scores, too, the lowest is taken for the best."]
        return judge
    if any(one.best == "low" for one in people.scores):
        raise Refused(
            f"The lowest of people's scores is the best, and nothing says which of the judge's is in {judge.file};"
            " say --constant best=low, or best=high."
        )
    return with_best_end(judge)


def _assigned(words: Sequence[str]) -> dict[str, str]:
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not name or not equals:
            raise Refused(f"{word}: expected NAME=VALUE.")
        found[name] = value
    return found


def _people(found: Answers) -> Answers:
    pairs, scores = ([one for one in kept if not one.by_program] for kept in (found.pairs, found.scores))
    if not pairs and not scores:
        hint = f" {found.if_people}" if found.judge_column else ""
        raise Refused(f"{found.file} holds programs' answers alone; people's are needed.{hint}")
    return replace(found, pairs=pairs, scores=scores)  # type: ignore[arg-type]


def _judge(options: argparse.Namespace, columns: dict[str, str], constants: dict[str, str], systems: Spellings) -> Answers:
    path, named = Path(options.file), list(options.judge)
    first = sample_of(path, options.encoding) if path.is_file() else []
    there = list(dict.fromkeys(column for fields in first for column in [*fields, *paths_in(fields)]))
    raters = [name for name in named if name in there]
    if raters:
        found = read(path, How(columns or None, constants, raters, True, options.encoding), systems)
    else:
        if first and not holds_answers(first, columns):
            which = (
                f"has no column and no judge called {quoted(named[0])}"
                if named
                else "needs --judge COLUMN: which column holds the judge's scores"
            )
            raise Refused(f"{path.name} {which}; its columns are: {', '.join(map(quoted, there[:30]))}.")
        found = _named(path, columns, constants, options, systems)
    names = {one.who for one in [*found.pairs, *found.scores]}
    if absent := [name for name in named if name not in raters and name not in names]:
        raise Refused(
            f"{path.name} has no column and no judge called {quoted(absent[0])}; there are: {', '.join(sorted(names))}."
        )
    if named and not raters:
        pairs, scores = ([one for one in kept if one.who in named] for kept in (found.pairs, found.scores))
        found = replace(found, pairs=pairs, scores=scores)  # type: ignore[arg-type]
    return found


def holds_answers(sample: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> bool:
    """Is it a tool's file, or a table with a column for scores or for choices?"""
    if shape_of(JUDGMENTS, dict(sample[0])) is not None:
        return True
    there = list(dict.fromkeys(column for fields in sample for column in fields))
    names = {"score": guess(SCORES, there), "choice": guess(JUDGMENTS, there)}
    return any(name in columns or name in guessed for name, guessed in names.items()) or {"a", "tie", "b"} <= set(there)


def _named(
    path: Path, columns: dict[str, str], constants: dict[str, str], options: argparse.Namespace, systems: Spellings
) -> Answers:
    """Where no column is named: the programs' answers of a shape, or all votes or scores of a table."""
    found = read(path, How(columns or None, constants, (), False, options.encoding), systems)
    if not found.shape:  # a plain table of answers is the judge's: that is what the file is given for
        pairs, scores = (
            [replace(one, by_program=True, who=one.who or path.stem) for one in kept] for kept in (found.pairs, found.scores)
        )
        return replace(found, pairs=pairs, scores=scores)  # type: ignore[arg-type]
    pairs, scores = ([one for one in kept if one.by_program] for kept in (found.pairs, found.scores))
    if not pairs and not scores:
        raise Refused(f"{path.name} ({found.shape}) holds people's answers alone; a judge's are needed.")
    return replace(found, pairs=pairs, scores=scores)  # type: ignore[arg-type]
