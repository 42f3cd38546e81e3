"""Files of outputs and of pairs judged by a version. Commands import it inside their bodies: it needs torch."""

import contextlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

from core.errors import ImportRefused, Refused, RowError
from core.rowfiles import BadField, Row, read_rows
from evaluator.comparator.examples import Text, context_key
from evaluator.comparator.joint_model import JointComparator
from evaluator.comparator.predict import Comparator
from evaluator.models import ComparatorVersion
from evaluator.selectors import architecture
from evaluator.worker import runner


def score_outputs(version: ComparatorVersion, path, out, on_progress: Callable[[int], None] | None = None) -> int:
    """Each row of an outputs file with "score" and "utility" added, and both by criterion ("scores", "utilities") where it
    learnt several; returns how many. Nothing is written where a row is refused. A joint version scores an output against the
    others of its context, so that it needs the whole file at once, and has no utility."""
    comparator = runner.load(version)
    if architecture(version) == "joint":
        return _judge_file(
            path, out, on_progress, lambda rows: _scored_together(cast(JointComparator, comparator), rows), together=True
        )
    return _judge_file(path, out, on_progress, lambda rows: _scored(cast(Comparator, comparator), rows))


def compare_outputs(version: ComparatorVersion, path, out, on_progress: Callable[[int], None] | None = None) -> int:
    """Each row of a pairwise file with "p_a", "p_tie", "p_b" and "predicted_choice" added; returns how many."""
    comparator = runner.load(version)
    return _judge_file(path, out, on_progress, lambda rows: _compared(comparator, rows))


def _scored(comparator: Comparator, rows: list[Row]) -> Iterator[dict]:
    u = comparator.by_criterion([_text(row, "output") for row in rows])  # (n, c)
    named = lambda values: dict(zip(comparator.criteria, values, strict=True))
    for row, expected, values in zip(rows, comparator.expected(u).tolist(), u.tolist(), strict=True):
        several = {"scores": named(expected), "utilities": named(values)} if len(values) > 1 else {}
        yield {**row.fields, "score": expected[0], "utility": values[0], **several}


def _scored_together(comparator: JointComparator, rows: list[Row]) -> Iterator[dict]:
    keys = [context_key(_text(row, "output").context) for row in rows]
    count = Counter(keys)
    for row, key in zip(rows, keys):
        if count[key] == 1:
            raise BadField("context", "has one output in this file; a joint comparator scores it against others", row.line)
    for row, score in zip(rows, comparator.score([_text(row, "output") for row in rows]).tolist(), strict=True):
        yield {**row.fields, "score": score}


def _compared(comparator: Comparator | JointComparator, rows: list[Row]) -> Iterator[dict]:
    found = comparator.compare([_text(row, "output_a") for row in rows], [_text(row, "output_b") for row in rows])
    for row, (p_a, p_tie, p_b), choice in zip(rows, found.probabilities, found.choices, strict=True):
        yield {**row.fields, "p_a": float(p_a), "p_tie": float(p_tie), "p_b": float(p_b), "predicted_choice": str(choice)}


def _text(row: Row, field: str) -> Text:
    try:
        return Text(tuple(row.texts("context", required=True)), row.text(field, empty=True))
    except BadField as error:
        error.line = row.line
        raise


def _judge_file(path, out, on_progress, judge: Callable[[list[Row]], Iterator[dict]], together: bool = False) -> int:
    """Read, judge and write a chunk at a time, so that a file of any length fits; or all of it together."""
    count = 0
    with _written(Path(out)) as file:
        try:
            for rows in [list(read_rows(path))] if together else runner.chunks(read_rows(path), runner.CHUNK):
                for record in judge(rows):
                    file.write(json.dumps(record, ensure_ascii=False) + "\n")
                count += len(rows)
                if on_progress:
                    on_progress(count)
        except BadField as error:
            raise ImportRefused([RowError(Path(path).name, error.line, error.field, str(error))]) from None
    return count


@contextlib.contextmanager
def _written(path: Path):
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
