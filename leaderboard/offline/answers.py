"""What a file says about systems, in any shape that imports read, without a server: answers about pairs, and scores.

The same readers as an import (`annotation.data.files`), the same words for answers, the same spellings of names. A file that
cannot be read is refused with file, line and field; what is left out is counted by reason.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from annotation.data.direction import may_be_low
from annotation.data.fields import guess
from annotation.data.files import Reading, is_archive
from annotation.data.shapes.registry import shape_of
from annotation.data.shapes.shape import JUDGE_PAIRS, JUDGE_SCORES, JUDGMENTS, SCORES
from annotation.data.spellings import Spellings, folded
from annotation.outcome import outcome_named, side_named
from annotation.questions.answer_files import FILES
from annotation.questions.columns import cannot_say, choice_in_words
from core.errors import ImportRefused, Refused, RowError, quoted
from core.rowfiles import BadField, NotAnswered, Row, read_rows, shown
from evaluator.judges.texts import context_key

KINDS = (JUDGMENTS, JUDGE_PAIRS, SCORES, JUDGE_SCORES)
AS_SCORES = {kind: file.as_score for kind, file in FILES.items() if file.as_score}  # where a file has no scores beside them
BY_PROGRAMS = (JUDGE_PAIRS, JUDGE_SCORES)
JUDGED_BY = {JUDGMENTS: JUDGE_PAIRS, SCORES: JUDGE_SCORES}  # what a plain table is where programs answered
POINTS = {"A": 1.0, "tie": 0.0, "B": -1.0}
SUM_ERROR = 1e-6  # of probabilities that add up to 1
MOST_ERRORS = 200
KNOWN_ANSWERS = ("gold", "training", "qualification")  # what a row is for, where it is no answer of the evaluation


@dataclass(frozen=True)
class Output:
    """Which text. context: its id, or what its text is known by; system: with its checkpoint, where it has one."""

    context: str
    system: str
    sample: int = 0


@dataclass(frozen=True)
class Answer:
    """by_program: a judge that is no person. group: of contexts that are not independent. when: as the file writes it; empty
    where it does not. line: of the file, for order."""

    who: str
    by_program: bool
    aspect: str
    group: str
    simulated: bool
    when: str
    line: int


@dataclass(frozen=True)
class PairAnswer(Answer):
    """points: 1 where a is better, -1 where b is, 0 for a tie; between these, the chances of a less those of b. first_left:
    whether a was shown first, None where nobody knows. texts: of a and b, empty where the file has none."""

    a: Output
    b: Output
    points: float
    first_left: bool | None
    texts: tuple[str, str]


@dataclass(frozen=True)
class ScoreAnswer(Answer):
    """value: higher is better where best is "high"; empty: nobody said which end is. of: what gives it its meaning, a criterion
    or a program. text: what was scored; empty where the file does not have it."""

    output: Output
    value: float
    best: str
    of: str
    scale: tuple[float, float] | None
    text: str


@dataclass
class Answers:
    """What was read of one file. sha256: of its bytes; left_out, listed, assumed: as the import's account has them. ids: of a
    context's text, the id that the file gives it."""

    file: str
    sha256: str
    pairs: list[PairAnswer] = field(default_factory=list)
    scores: list[ScoreAnswer] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    listed: list[tuple[str, int, str]] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    shape: str = ""
    ids: dict[str, str] = field(default_factory=dict)
    judge_column: str = ""

    @property
    def if_people(self) -> str:
        """What to do where those that a table calls judges are people."""
        return f"If the column {self.judge_column} names people, say --column annotator={self.judge_column}."

    @property
    def read(self) -> int:
        """Answers that were taken, and those that were left out."""
        return len(self.pairs) + len(self.scores) + self.left_out.total()


@dataclass(frozen=True)
class How:
    """What is said beside a file. columns: {field: column}; constants: {field: value}; raters: columns that each hold one
    annotator's, or one judge's, scores; by_programs: these and all other answers of a plain table are no person's."""

    columns: Mapping[str, str] | None = None
    constants: Mapping[str, Any] = field(default_factory=dict)
    raters: Sequence[str] = ()
    by_programs: bool = False
    encoding: str = ""


def read(path: str | Path, how: How | None = None, systems: Spellings | None = None) -> Answers:
    """All answers of the file. systems: as another file spells them. Raises ImportRefused with the first errors, or Refused
    where it holds no answer at all."""
    how, path = how or How(), Path(path)
    answers = Answers(path.name, _digest(path))
    errors: list[RowError] = []
    names = {"system": Spellings(()) if systems is None else systems, "annotator": Spellings(())}
    shape, kinds = _kinds(path, how)
    answers.shape = shape
    for kind in kinds:
        columns = _columns(path, kind, how, shape)
        answers.judge_column = "" if shape or kind not in JUDGED_BY else (columns or {}).get("judge", "")
        reading = Reading(kind, columns, {"raters": how.raters}, how.constants, (), how.encoding, errors.append)
        before, taken = len(errors), 0
        for row in reading.rows(path):
            try:
                taken += _take(answers, kind, row, names, how)
            except NotAnswered as reason:
                reading.account.leave(path.name, row, str(reason))
            except BadField as error:
                errors.append(row.wrong(path.name, error))
        if shape and not taken and not reading.account.left_out:
            del errors[before + _of_rows(errors[before:]) :]  # it holds answers of another kind
        answers.left_out += reading.account.left_out
        answers.listed += reading.account.listed
        answers.assumed += [sentence for sentence in reading.account.assumed if sentence not in answers.assumed]
    errors += _with_ends(answers)
    if errors:
        raise ImportRefused(errors[:MOST_ERRORS], Counter(error.kind for error in errors))
    answers.assumed += names["system"].sentences("system") + names["annotator"].sentences("annotator")
    if not answers.pairs and not answers.scores:
        raise Refused(f"{path.name} holds no answers about systems: neither judgments of pairs nor scores.")
    return answers


def _with_ends(answers: Answers) -> list[RowError]:
    """What one row says of a criterion's best end holds for its other rows. Returns what contradicts it."""
    said: dict[str, str] = {}
    errors = []
    for one in answers.scores:
        if one.best and said.setdefault(one.of, one.best) != one.best:
            error = f"is {one.best}, but for {quoted(one.of)} it is {said[one.of]}"
            errors.append(RowError(answers.file, one.line, "best", error))
    answers.scores = [one if one.best else replace(one, best=said.get(one.of, "")) for one in answers.scores]
    return errors


def with_best_end(answers: Answers) -> Answers:
    """With the highest score as the best where nothing says which is. Raises ImportRefused where the name tells that it may be
    the lowest, as an import does."""
    for one in answers.scores:
        if not one.best and may_be_low(one.of):
            message = f"is not said, and on {quoted(one.of)} the lowest value may be the best; say best: low, or best: high"
            raise ImportRefused([RowError(answers.file, one.line, "best", f"{message} (--best, --constant best=low)")])
    return replace(answers, scores=[one if one.best else replace(one, best="high") for one in answers.scores])


def each_once(answers: Answers) -> Answers:
    """What one person says of the same texts counts once. Raises ImportRefused where it is not the same, as an import does.
    A program may be asked again, and nobody knows who answered without a name."""
    said: dict[tuple[Any, ...], tuple[float, int]] = {}
    errors = []

    def is_new(one: PairAnswer | ScoreAnswer) -> bool:
        if one.by_program or not one.who:
            return True
        about, value = _about_texts(one)
        before, line = said.setdefault((one.who, one.aspect, about), (value, one.line))
        if before != value:
            what, field = ("pair", "choice") if isinstance(one, PairAnswer) else ("output", "score")
            error = f"is not what {quoted(one.who)} says about this {what} in line {line}"
            errors.append(RowError(answers.file, one.line, field, error))
        return line == one.line

    kept = replace(answers, pairs=[*filter(is_new, answers.pairs)], scores=[*filter(is_new, answers.scores)])
    if errors:
        raise ImportRefused(errors[:MOST_ERRORS], Counter(error.kind for error in errors))
    if again := len(answers.pairs) + len(answers.scores) - len(kept.pairs) - len(kept.scores):
        kept.assumed = [*answers.assumed, f"{again} answers are there twice, and count once."]
    return kept


def _about_texts(one: PairAnswer | ScoreAnswer) -> tuple[Hashable, float]:
    """(the texts, what was said of them), whichever side a pair's stood on"""
    if isinstance(one, ScoreAnswer):
        return (one.output, one.text), one.value
    a, b = ((_place(output), text) for output, text in zip((one.a, one.b), one.texts))
    return ((a, b), one.points) if a <= b else ((b, a), -one.points)


def _place(output: Output) -> tuple[str, str, int]:
    return output.context, output.system, output.sample


def _of_rows(errors: Sequence[RowError]) -> int:
    """How many are about a row; a shape that holds nothing of a kind says so of the whole file, last."""
    return len(errors) - sum(error.line is None and error.row is None for error in errors)


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ImportRefused([RowError(path.name, None, "", f"can't be opened ({error.strerror})")]) from error


def sample_of(path: Path, encoding: str = "", rows: int = 50) -> list[dict[str, Any]]:
    """The first rows as they stand; none of an archive, whose members differ."""
    if is_archive(path.name):
        return []
    found: list[dict[str, Any]] = []
    for row in read_rows(path, on_error=lambda error: None, encoding=encoding):
        found.append(row.fields)
        if len(found) == rows:
            break
    return found


def _kinds(path: Path, how: How) -> tuple[str, tuple[str, ...]]:
    """(the shape's name, which answers the file may hold)"""
    if is_archive(path.name):
        return "archive", KINDS
    first = sample_of(path, how.encoding, 1)
    shape = shape_of(JUDGMENTS, first[0]) if first and not how.raters else None
    if shape is not None:
        kinds = tuple(kind for kind in KINDS if kind in shape.kinds)
        return shape.name, kinds or tuple(kind for kind in AS_SCORES if kind in shape.kinds)
    names = set(guess(JUDGMENTS, list(first[0]) if first else [])) | set(how.columns or {})
    return "", (JUDGMENTS,) if {"system_a", "system_b"} <= names and not how.raters else (SCORES,)


def _columns(path: Path, kind: str, how: How, shape: str) -> dict[str, str] | None:
    """The columns as they are named, and for the other fields as their names tell."""
    said = dict(how.columns or {})
    if shape:
        return said or None
    sample = sample_of(path, how.encoding)
    there = list(dict.fromkeys(column for fields in sample for column in fields))
    free = [column for column in there if column not in said.values() and column not in how.raters]
    guessed = guess(kind, free, sample)
    if kind == SCORES and (text := guess("outputs", free).get("output")) and text not in guessed.values():
        guessed["output"] = text  # how long a text is, and which
    if kind in JUDGED_BY and "annotator" not in said:
        guessed = {name: column for name, column in guessed.items() if (name, column) != ("annotator", "judge")}
        judge = guess(JUDGED_BY[kind], [column for column in free if column not in guessed.values()]).get("judge")
        guessed |= {"judge": judge} if judge else {}
    return {name: column for name, column in guessed.items() if name not in said} | said


def _take(answers: Answers, kind: str, row: Row, names: Mapping[str, Spellings], how: How) -> bool:
    if (purpose := row.get("purpose")) in KNOWN_ANSWERS:
        raise NotAnswered(f"has a known answer ({purpose}), and is no judgment")
    if kind == JUDGMENTS and purpose not in (None, "", "evaluation"):
        raise BadField("purpose", f"expected gold, training, qualification or evaluation, found {shown(purpose)}")
    about = _about(answers, kind, row, names, how)
    _note_id(answers, row)
    if kind in (JUDGMENTS, JUDGE_PAIRS):
        if kind == JUDGE_PAIRS and "system_a" not in row.fields:
            return False
        answers.pairs.append(_pair(row, about, names["system"]))
    else:
        if kind == JUDGE_SCORES and "judge" not in row.fields:
            return False
        answers.scores.append(_score(AS_SCORES[kind](row) if kind in AS_SCORES else row, about, names["system"], how))
    return True


def _about(answers: Answers, kind: str, row: Row, names: Mapping[str, Spellings], how: How) -> dict[str, Any]:
    person, program = (name in row.fields and not row.is_blank(name) for name in ("annotator", "judge"))
    is_judged = kind in BY_PROGRAMS or (program and not person)
    who = row.name(*(("judge", "annotator") if is_judged else ("annotator", "judge")), default="")
    by_program = kind in BY_PROGRAMS or how.by_programs or bool(answers.judge_column and is_judged)
    return {
        "who": names["annotator"].name_of(who) if who else "",
        "by_program": by_program,
        "aspect": row.name("aspect", default="") if isinstance(row.get("aspect"), str) else "",
        "group": row.source(),
        "simulated": row.truth("simulated"),
        "when": str(row.get("answered_at", "")),
        "line": row.line or row.position,
    }


def _note_id(answers: Answers, row: Row) -> None:
    key, turns = row.name("context_id", default=""), row.texts("context")
    if key and any(turn.strip() for turn in turns):
        answers.ids.setdefault(context_key(turns), key)


def with_ids(answers: Answers, ids: Mapping[str, str]) -> Answers:
    """Contexts that were known by their text, under the id that another file gives it."""
    pairs = [replace(pair, a=_with_id(pair.a, ids), b=_with_id(pair.b, ids)) for pair in answers.pairs]
    return replace(answers, pairs=pairs, scores=[replace(one, output=_with_id(one.output, ids)) for one in answers.scores])


def _with_id(output: Output, ids: Mapping[str, str]) -> Output:
    return replace(output, context=ids.get(output.context, output.context))


def _context(row: Row) -> str:
    if key := row.name("context_id", default=""):
        return key
    turns = row.texts("context")
    if any(turn.strip() for turn in turns):
        return context_key(turns)
    if place := row.line or row.position:
        return f"row {place}"
    raise BadField("context_id", "is missing; an answer is about a context, by its id or its text")


def _output(row: Row, side: str, systems: Spellings, context: str) -> Output:
    """side: "_a", "_b", or empty"""
    system = systems.name_of(row.name(f"system{side}", default="" if not side else None))
    checkpoint = row.name(f"checkpoint{side}", default="")
    return Output(context, f"{system}@{checkpoint}" if checkpoint else system, row.whole(f"sample{side}", 0) or 0)


def _pair(row: Row, about: dict[str, Any], systems: Spellings) -> PairAnswer:
    context = _context(row)
    a, b = (_output(row, side, systems, context) for side in ("_a", "_b"))
    if a == b:
        raise BadField("system_b", "names the same output as system_a; a pair needs two")
    first_left = _first_left(row)
    texts = tuple(value if isinstance(value := row.get(f"output_{side}"), str) else "" for side in "ab")
    points = _points(row, a, b, first_left)
    return PairAnswer(**about, a=a, b=b, points=points, first_left=first_left, texts=(texts[0], texts[1]))


def _first_left(row: Row) -> bool | None:
    """A stood first, unless the file says otherwise. A judge's chances may be those of both orders."""
    left = row.get("shown_left")
    if left not in (None, "", "A", "B"):
        raise BadField("shown_left", f"expected A or B, or nothing where it is not known, found {shown(left)}")
    if left in ("A", "B"):
        return bool(left == "A")
    return None if "shown_left" in row.fields or row.get("choice") is None else True


def _points(row: Row, a: Output, b: Output, first_left: bool | None) -> float:
    """Of a, from 1 to -1."""
    row = choice_in_words(row)
    if cannot_say(row, "choice"):
        raise NotAnswered("says that it cannot say")
    if row.fields.get("choice") in (None, "") and {"a", "tie", "b"} <= row.fields.keys():
        chances = {name: row.number(name) for name in ("a", "tie", "b")}
        for name, chance in chances.items():
            if not 0 <= chance <= 1:
                raise BadField(name, f"expected a probability from 0 to 1, found {chance:g}")
        if abs(sum(chances.values()) - 1) > SUM_ERROR:
            raise BadField("tie", f"a, tie and b add up to {sum(chances.values()):g}; they have to add up to 1")
        return chances["a"] - chances["b"]
    if row.is_blank("choice"):
        raise NotAnswered("has no choice")
    word = row.get("choice")
    if word is None:
        raise BadField("choice", "is missing; it must be given")
    try:
        named = side_named(folded(word), folded(a.system), folded(b.system)) if isinstance(word, str) else None
    except ValueError as unclear:
        raise BadField("choice", str(unclear)) from unclear
    if named and outcome_named(word) is None:
        return POINTS[named.value]
    if isinstance(word, str) and word.strip().lower() in ("left", "right"):
        if first_left is None:
            raise BadField("choice", f"is {word}, but shown_left does not say which of A and B stood there")
        return POINTS["A" if (word.strip().lower() == "left") == first_left else "B"]
    outcome = outcome_named(word)
    if outcome is None:
        raise BadField("choice", f"expected A, tie, B or the name of a side's system, found {shown(word)}")
    return POINTS[outcome.value]


def _score(row: Row, about: dict[str, Any], systems: Spellings, how: How) -> ScoreAnswer:
    if cannot_say(row, "score"):
        raise NotAnswered("says that it cannot say")
    if row.is_blank("score"):
        raise NotAnswered("has no score")
    best = row.get("best") or ""
    if best not in ("high", "low", ""):
        raise BadField("best", f"expected high or low, found {shown(best)}")
    output = _output(row, "", systems, _context(row))
    text = row.get("output")
    of = about["who"] if about["by_program"] or about["who"] in how.raters else about["aspect"]
    text = text if isinstance(text, str) else ""
    return ScoreAnswer(**about, output=output, value=_value(row), best=str(best), of=of, scale=_scale(row), text=text)


def _value(row: Row) -> float:
    """A number, or a yes or no in any spelling."""
    value = row.get("score")
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and value.strip().lower() in VERDICTS:
        return VERDICTS[value.strip().lower()]
    return row.number("score")


VERDICTS = dict.fromkeys(("true", "yes", "pass", "passed", "correct", "good"), 1.0)
VERDICTS |= dict.fromkeys(("false", "no", "fail", "failed", "incorrect", "bad"), 0.0)


def _scale(row: Row) -> tuple[float, float] | None:
    value = row.get("scale")
    if isinstance(value, list) and len(value) == 2 and all(isinstance(end, int | float) for end in value):
        return float(value[0]), float(value[1])
    return None


def systems_of(pairs: Sequence[PairAnswer], scores: Sequence[ScoreAnswer] = ()) -> list[str]:
    """Sorted by name."""
    return sorted({side.system for pair in pairs for side in (pair.a, pair.b)} | {score.output.system for score in scores})


def of_aspect(answers: Answers, aspect: str | None) -> Answers:
    """The answers on one criterion. Raises Refused where none is named and there are several, or there is no such."""
    there = sorted({answer.aspect for answer in [*answers.pairs, *answers.scores]})
    if aspect is None and len(there) > 1:
        names = ", ".join(quoted(name) if name else "none" for name in there)
        raise Refused(f"{answers.file} has answers on several criteria ({names}); name one with --criterion.")
    if aspect is not None and aspect not in there:
        raise Refused(f"{answers.file} has no answers on {quoted(aspect)}; there are: {', '.join(map(quoted, there))}.")
    wanted = there[0] if aspect is None else aspect
    pairs, scores = ([one for one in kept if one.aspect == wanted] for kept in (answers.pairs, answers.scores))
    return replace(answers, pairs=pairs, scores=scores)  # type: ignore[arg-type]


def pairs_from_scores(scores: Sequence[ScoreAnswer]) -> Iterator[PairAnswer]:
    """What each annotator's scores of two outputs of one context say of them: the better score wins, equal scores tie."""
    given: dict[tuple[str, str], list[ScoreAnswer]] = {}
    for score in scores:
        given.setdefault((score.who, score.output.context), []).append(score)
    for same in given.values():
        for i, first in enumerate(same):
            for second in same[i + 1 :]:
                if first.output.system != second.output.system:
                    yield _compared(first, second)


def _compared(first: ScoreAnswer, second: ScoreAnswer) -> PairAnswer:
    sign = 1 if first.best == "high" else -1
    points = float((first.value > second.value) - (first.value < second.value)) * sign
    later = max(first, second, key=lambda one: one.line)
    about = {name: getattr(later, name) for name in Answer.__dataclass_fields__}
    about |= {"simulated": first.simulated or second.simulated, "when": max(first.when, second.when)}
    texts = first.text, second.text
    return PairAnswer(**about, a=first.output, b=second.output, points=points, first_left=None, texts=texts)
