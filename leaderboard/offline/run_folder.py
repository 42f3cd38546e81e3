"""A folder into which a training writes its checkpoints' outputs: step-100.jsonl, step-200.jsonl, ...

A file counts once it answers every context, or has not changed between two looks; it is read once. What is wrong with a file is
said once for each of its contents, and the others go on.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.errors import ImportRefused, Refused, RowError
from core.rowfiles import BadField, Row, read_rows
from evaluator.judges.texts import context_key

NAME = re.compile(r"step-([0-9]{1,18})\.jsonl(\.gz)?")
PACKED = b"\x1f\x8b"  # how a gzip file begins
Say = Callable[[str], None]
Rows = dict[str, str]  # a context's key -> output


@dataclass
class Contexts:
    """What is answered: turns, groups and references by key, in order. A key is the id that the file gives, else its text's."""

    turns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    groups: dict[str, str] = field(default_factory=dict)
    references: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def take(self, row: Row) -> str:
        """The key of a row's context, which is kept where it is new."""
        turns, key = _turns(row), _key(row)
        if key not in self.turns:
            self.turns[key] = turns
            if group := row.source():
                self.groups[key] = group
            written = row.fields.get("references", row.fields.get("reference"))
            self.references[key] = tuple([written] if isinstance(written, str) else written or ())
        return key


def contexts_of(path: Path) -> Contexts:
    """From a file with a context a row. Raises ImportRefused or Refused."""
    found = Contexts()
    for row in read_rows(path):
        found.take(row)
    if not found.turns:
        raise Refused(f"{path.name} has no context.")
    return found


@dataclass
class Seen:
    size: int = -1
    changed: int = -1  # nanoseconds
    digest: str = ""  # of the content that was read or named
    whole: bool = False


class RunFolder:
    """contexts: what is answered, or empty: what the first file answers. say: takes what is left out, a sentence each."""

    def __init__(self, path: Path, contexts: Contexts | None, say: Say):
        self.path, self.say = path, say
        self.contexts = contexts or Contexts()
        self.fixed = contexts is not None
        self.steps: dict[int, Rows] = {}
        self.system: str | None = None
        self._seen: dict[str, Seen] = {}
        self._said: set[str] = set()

    def new(self, last: bool = False) -> list[int]:
        """The steps that are whole by now, rising; last: nothing more will come. Raises Refused where the folder is gone."""
        came = []
        for step, file in self._files():
            if (rows := self._read(step, file, last)) is not None:
                self.steps[step] = rows
                came.append(step)
                self.fixed = True
        return came

    def outputs(self, step: int) -> list[str | None]:
        """In the order of the contexts, None for one that is not there."""
        return [self.steps[step].get(key) for key in self.contexts.turns]

    def _files(self) -> list[tuple[int, Path]]:
        try:
            names = sorted(file.name for file in self.path.iterdir())
        except OSError as error:
            raise Refused(f"The folder {self.path} can't be read ({error.strerror}).") from error
        files = []
        for name in names:
            if (found := NAME.fullmatch(name)) and (self.path / name).is_file():
                files.append((int(found[1]), self.path / name))
            elif name.startswith("step-"):
                self._once(f"{name} is ignored: a checkpoint's file is called step-NUMBER.jsonl, or .jsonl.gz.")
        return sorted(files)

    def _read(self, step: int, file: Path, last: bool) -> Rows | None:
        seen = self._seen.setdefault(file.name, Seen())
        try:
            state = file.stat()
            steady = (seen.size, seen.changed) == (state.st_size, state.st_mtime_ns)
            if steady and seen.digest and not last:
                return None
            seen.size, seen.changed = state.st_size, state.st_mtime_ns
            content = file.read_bytes()
        except OSError as error:
            self._once(f"{file.name} can't be read ({error.strerror}).")
            return None
        digest = hashlib.sha256(content).hexdigest()
        if digest == seen.digest:
            return None
        return self._judged(step, file.name, content, digest, steady or last)

    def _judged(self, step: int, name: str, content: bytes, digest: str, settled: bool) -> Rows | None:
        seen = self._seen[name]
        if seen.whole:
            seen.digest = digest
            self._once(f"{name} has changed since it was read; the outputs that were read stay.")
            return None
        kept = Contexts(dict(self.contexts.turns), dict(self.contexts.groups), dict(self.contexts.references))
        rows, wrong = self._rows(name, content, step)
        complete = self.fixed and rows is not None and rows.keys() == self.contexts.turns.keys()
        if not settled and not complete:
            self.contexts = kept
            return None
        seen.digest = digest
        if rows is None:
            self.contexts = kept
            self._once(f"{name} is left out: {wrong}")
            return None
        seen.whole = True
        if step in self.steps:
            if self.steps[step] != rows:
                self._once(f"{name} is left out: another file of step {step} was read, with other outputs.")
            return None
        return rows

    def _rows(self, name: str, content: bytes, step: int) -> tuple[Rows | None, str]:
        """(the outputs, "") or (None, what is wrong)"""
        plain = name.removesuffix(".gz")
        errors: list[RowError] = []
        rows: Rows = {}
        notes: list[str] = []
        try:
            source = io.BytesIO(content)
            named = f"{plain}.gz" if content.startswith(PACKED) else plain
            for row in read_rows(source, named, on_error=errors.append):
                self._row(row, rows, notes, step)
        except ImportRefused as refused:
            errors += refused.errors
        except BadField as bad:
            return None, f"line {bad.line or '?'}, field {bad.field!r}: {bad}."
        if errors:
            return None, f"{errors[0]}."
        if not rows:
            return None, "it has no output of these contexts." if notes else "it is empty."
        for note in dict.fromkeys(notes):
            self._once(f"{name}: {note}")
        return rows, ""

    def _row(self, row: Row, rows: Rows, notes: list[str], step: int) -> None:
        try:
            output = row.fields.get("output")
            if not isinstance(output, str):
                raise BadField("output", "expected a text")
            system = str(row.fields.get("system", ""))
            if self.system is not None and system != self.system:
                raise BadField("system", f"expected {self.system!r}, whose training this is, found {system!r}")
            key = self.contexts.take(row) if not self.fixed else _key(row)
        except BadField as bad:
            raise BadField(bad.field, str(bad), row.line) from None
        self.system = system
        if row.fields.get("iteration", step) != step:
            notes.append(f"its rows say iteration {row.fields['iteration']}; the name counts.")
        if key not in self.contexts.turns:
            notes.append("outputs of contexts that the first file does not have are left out.")
        elif rows.setdefault(key, output) != output:
            notes.append("further outputs of the same context are left out; the first one counts.")

    def _once(self, sentence: str) -> None:
        if sentence not in self._said:
            self._said.add(sentence)
            self.say(sentence)


def _key(row: Row) -> str:
    name = row.fields.get("context_id")
    if name is not None and not isinstance(name, (str, int)):
        raise BadField("context_id", "expected a text or a number")
    return f"id {name}" if name not in (None, "") else f"text {context_key(_turns(row))}"


def _turns(row: Row) -> tuple[str, ...]:
    given: Any = row.fields.get("context", row.fields.get("turns", ()))
    turns: Iterable[Any] = [given] if isinstance(given, str) else given
    if not isinstance(turns, (list, tuple)) or not all(isinstance(turn, str) for turn in turns):
        raise BadField("context", "expected a text or a list of turns")
    if not turns and row.fields.get("context_id") in (None, ""):
        raise BadField("context_id", "a row needs a context_id or a context")
    return tuple(turns)
