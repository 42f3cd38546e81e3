"""Files of outputs and of pairs judged by any judge. Commands import it inside their bodies: it needs torch."""

import contextlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from core.errors import ImportRefused, Refused, RowError
from core.rowfiles import BadField, Row, read_rows
from evaluator.judges.protocol import ForeseesScores, Judge, preferences, utilities
from evaluator.judges.texts import Text, place_of
from evaluator.models import ComparatorVersion
from evaluator.worker.comparators import CHUNK, chunks, load


def score_outputs(version: ComparatorVersion, path, out, on_progress: Callable[[int], None] | None = None) -> int:
    """`score_file` by a version of the registry."""
    return score_file(load(version, of_files=True), path, out, on_progress)


def compare_outputs(version: ComparatorVersion, path, out, on_progress: Callable[[int], None] | None = None) -> int:
    """`compare_file` by a version of the registry."""
    return compare_file(load(version, of_files=True), path, out, on_progress)


def score_file(judge: Judge, path, out, on_progress: Callable[[int], None] | None = None) -> int:
    """Each row of an outputs file with "score" added; returns how many. Nothing is written where a row is refused. Where the
    judge foresees people's scores the score is that, "utility" stands beside it, and both by criterion ("scores",
    "utilities") where it learnt several. A pairwise judge scores an output against the others of its context, so that it
    needs the whole file at once."""
    if judge.kind == "pairwise":
        return _judge_file(path, out, on_progress, lambda rows: _scored_together(judge, rows), together=True)
    return _judge_file(path, out, on_progress, lambda rows: scored(judge, rows))


def compare_file(judge: Judge, path, out, on_progress: Callable[[int], None] | None = None) -> int:
    """Each row of a pairwise file with "p_a", "p_tie", "p_b" and "predicted_choice" added; returns how many."""
    return _judge_file(path, out, on_progress, lambda rows: compared(judge, rows))


def scored(judge: Judge, rows: list[Row]) -> Iterator[dict]:
    """Rows of outputs with "score" added, as `score_file` says."""
    return _foreseen(judge, rows) if isinstance(judge, ForeseesScores) else _scored(judge, rows)


def _scored(judge: Judge, rows: list[Row]) -> Iterator[dict]:
    for row, score in zip(rows, utilities(judge, [text_of_row(row, "output") for row in rows]).tolist(), strict=True):
        yield {**row.fields, "score": score}


def _foreseen(judge: ForeseesScores, rows: list[Row]) -> Iterator[dict]:
    u = judge.by_criterion([text_of_row(row, "output") for row in rows])  # (n, c)
    named = lambda values: dict(zip(judge.criteria, values, strict=True))
    for row, expected, values in zip(rows, judge.expected(u).tolist(), u.tolist(), strict=True):
        several = {"scores": named(expected), "utilities": named(values)} if len(values) > 1 else {}
        yield {**row.fields, "score": expected[0], "utility": values[0], **several}


def _scored_together(judge: Judge, rows: list[Row]) -> Iterator[dict]:
    keys = [place_of(text_of_row(row, "output")) for row in rows]
    count = Counter(keys)
    for row, key in zip(rows, keys):
        if count[key] == 1:
            error = BadField("context", "has one output in this file; a judge of pairs scores it against others")
            error.line = row.line
            raise error
    yield from _scored(judge, rows)


def compared(judge: Judge, rows: list[Row]) -> Iterator[dict]:
    """Rows of pairs with the fields added that `compare_file` names."""
    texts = [text_of_row(row, side) for side in ("output_a", "output_b") for row in rows]
    n = len(rows)
    answers = preferences(judge, texts, range(n), range(n, 2 * n))
    for row, (p_a, p_tie, p_b), choice in zip(rows, answers.probabilities, answers.choices, strict=True):
        yield {**row.fields, "p_a": float(p_a), "p_tie": float(p_tie), "p_b": float(p_b), "predicted_choice": str(choice)}


def text_of_row(row: Row, field: str) -> Text:
    """The output in this field with its context and its group. Raises BadField, which knows its line."""
    try:
        turns, output = tuple(row.texts("context", required=True)), row.text(field, empty=True)
        return Text(turns, output, context_id=str(row.fields.get("context_id") or ""), group=row.source())
    except BadField as error:
        error.line = row.line
        raise


def _judge_file(path, out, on_progress, rows_judged: Callable[[list[Row]], Iterator[dict]], together: bool = False) -> int:
    """Read, judge and write a chunk at a time, so that a file of any length fits; or all of it together."""
    count = 0
    with written(Path(out)) as file:
        try:
            for rows in [list(read_rows(path))] if together else chunks(read_rows(path), CHUNK):
                for record in rows_judged(rows):
                    file.write(json.dumps(record, ensure_ascii=False) + "\n")
                count += len(rows)
                if on_progress:
                    on_progress(count)
        except BadField as error:
            raise ImportRefused([RowError(Path(path).name, error.line, error.field, str(error))]) from None
    return count


@contextlib.contextmanager
def written(path: Path):
    """A file that is there as a whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    if path.is_dir():
        raise Refused(f"{path} is a folder; name a file to write.")
    try:
        file = temporary.open("w", encoding="utf-8")
    except OSError as error:
        raise Refused(f"{path} cannot be written ({error.strerror}).") from error
    try:
        with file:
            yield file
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
