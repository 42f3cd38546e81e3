"""Is NEW not worse than OLD by more than a margin, by the judgments in a file? (`noninferiority.verdict`, asked of a file.)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from annotation.data.spellings import folded
from core.errors import Refused, quoted
from leaderboard.noninferiority.verdict import CONFIDENCE, Verdict, Word, verdict
from leaderboard.offline.answers import Answers, PairAnswer, each_once, of_aspect, pairs_from_scores, systems_of, with_best_end

EXIT = {Word.PASS: 0, Word.FAIL: 1, Word.INCONCLUSIVE: 2}
SCORES_SAY = "Scores are compared within one annotator and one context: the better score wins, equal scores tie."


@dataclass(frozen=True)
class Gated:
    """verdict: of the judgments; judges: who gave them; by_people: whether people did; ordered_by: "answered_at" or "file"."""

    new: str
    old: str
    verdict: Verdict
    judges: list[str]
    by_people: bool
    criterion: str
    ordered_by: str
    grouped: bool
    assumed: list[str]
    warnings: list[str]

    @property
    def exit_code(self) -> int:
        return EXIT[self.verdict.word]

    def as_dict(self) -> dict[str, Any]:
        figures = {name: value for name, value in asdict(self.verdict).items() if name != "word"}
        return {
            "verdict": self.verdict.word.value,
            "exit_code": self.exit_code,
            "sentence": self.verdict.sentence(self.new, self.old),
            "new": self.new,
            "old": self.old,
            **figures,
            "judges": self.judges,
            "judged_by": "people" if self.by_people else "program",
            "criterion": self.criterion,
            "unit": "group of contexts" if self.grouped else "context",
            "ordered_by": self.ordered_by,
            "population": "contexts like these, judged as these judges do",
            "method": "non-inferiority by a predictable plug-in empirical Bernstein confidence sequence"
            " (Waudby-Smith & Ramdas 2024, theorem 2)",
            "assumed": self.assumed,
            "warnings": self.warnings,
        }


def gate(
    answers: Answers,
    new: str,
    old: str,
    margin: float,
    judge: str | None = None,
    criterion: str | None = None,
    confidence: float = CONFIDENCE,
) -> Gated:
    """answers: of a file. judge: whose judgments count, where the file has several programs'. Raises Refused where the file
    does not compare the two, or a choice is needed."""
    new, old = (_named(name, answers) for name in (new, old))
    if new == old:
        raise Refused(f"NEW and OLD are both {quoted(new)}; a gate compares two systems.")
    answers = _of(answers, new, old)
    if not answers.pairs and not answers.scores:
        raise Refused(f"{answers.file} has no judgment of {quoted(new)} beside {quoted(old)}.")
    answers = each_once(with_best_end(of_aspect(_by(answers, judge), criterion)))
    pairs, assumed, warnings = list(answers.pairs), list(answers.assumed), []
    if pairs:
        warnings = _sides(pairs, new)
    else:
        pairs = list(pairs_from_scores(answers.scores))
        assumed.append(SCORES_SAY)
    pairs = [pair for pair in pairs if {pair.a.system, pair.b.system} == {new, old}]
    if not pairs:
        raise Refused(f"{answers.file} has no judgment of {quoted(new)} beside {quoted(old)}.")
    pairs, ordered_by = _in_order(pairs)
    assumed += _untimed(pairs)
    units = [pair.group or pair.a.context for pair in pairs]
    points = [pair.points if pair.a.system == new else -pair.points for pair in pairs]
    found = verdict(points, units, margin, confidence)
    return Gated(
        new,
        old,
        found,
        sorted({pair.who for pair in pairs if pair.who}),
        not any(pair.by_program for pair in pairs),
        pairs[0].aspect,
        ordered_by,
        any(pair.group for pair in pairs),
        assumed,
        [*_simulated(pairs), *warnings],
    )


def _named(name: str, answers: Answers) -> str:
    """The system as the file spells it. Raises Refused where there is none, or it has several checkpoints."""
    there = systems_of(answers.pairs, answers.scores)
    if name in there:
        return name
    alike = [one for one in there if folded(one) == folded(name)]
    if len(alike) == 1:
        return alike[0]
    if checkpoints := [one for one in there if one.startswith(f"{name}@")]:
        raise Refused(f"{quoted(name)} has checkpoints in {answers.file}; name one: {', '.join(checkpoints)}.")
    raise Refused(f"{quoted(name)} is no system in {answers.file}; there are: {', '.join(map(quoted, there[:20]))}.")


def _of(answers: Answers, new: str, old: str) -> Answers:
    """Those about the two systems."""
    pairs = [pair for pair in answers.pairs if {pair.a.system, pair.b.system} == {new, old}]
    return replace(answers, pairs=pairs, scores=[score for score in answers.scores if score.output.system in (new, old)])


def _by(answers: Answers, judge: str | None) -> Answers:
    """By the judge that is named; else by people, where people answered; else by the only program."""
    every = [*answers.pairs, *answers.scores]
    names = sorted({one.who for one in every})
    if judge is not None:
        if judge not in names:
            raise Refused(
                f"{quoted(judge)} judged nothing of this in {answers.file}; there are: {', '.join(map(quoted, names))}."
            )
        chosen = {judge}
    elif any(not one.by_program for one in every):
        chosen = {one.who for one in every if not one.by_program}
        if len(chosen) < len(names):
            answers.assumed.append("People's answers count, the programs' do not; --judge NAME takes one program's.")
    elif len(names) > 1:
        hint = f" {answers.if_people}" if answers.judge_column else ""
        several = ", ".join(map(quoted, names))
        raise Refused(f"{answers.file} has answers of several judges ({several}); name one with --judge.{hint}")
    else:
        chosen = set(names)
        if answers.judge_column and all(names):
            answers.assumed.append(f"The column {answers.judge_column} names programs. {answers.if_people}")
    by_people = judge is None and any(not one.by_program for one in every)
    pairs, scores = (
        [one for one in kept if one.who in chosen and not (by_people and one.by_program)]
        for kept in (answers.pairs, answers.scores)
    )
    return replace(answers, pairs=pairs, scores=scores)  # type: ignore[arg-type]


def _in_order(pairs: list[PairAnswer]) -> tuple[list[PairAnswer], str]:
    """In the order in which they were given: by their times, where each has one, else as the file has them."""
    times = [_time(pair.when) for pair in pairs]
    if any(time is None for time in times):
        return pairs, "file"
    keys = [(time, pair.a.context, pair.who, pair.a.sample, pair.b.sample) for time, pair in zip(times, pairs)]
    return [pairs[i] for i in sorted(range(len(pairs)), key=keys.__getitem__)], "answered_at"


def _untimed(pairs: Sequence[PairAnswer]) -> list[str]:
    without = sum(_time(pair.when) is None for pair in pairs)
    if without in (0, len(pairs)):
        return []
    return [f"{without} of {len(pairs)} judgments have no answered_at, so the others' is not used."]


def _time(text: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _simulated(pairs: Sequence[PairAnswer]) -> list[str]:
    count = sum(pair.simulated for pair in pairs)
    return [f"{count} of {len(pairs)} judgments are simulated: a program made them."] if count else []


def _sides(pairs: Sequence[PairAnswer], new: str) -> list[str]:
    first = {None if pair.first_left is None else (pair.a.system == new) == pair.first_left for pair in pairs}
    if len(first) != 1 or None in first:
        return []
    side = "first" if True in first else "second"
    return [f"{quoted(new)} stood {side} in every judgment: what a liking for that side adds cannot be told from it."]
