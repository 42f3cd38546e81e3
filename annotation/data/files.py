"""A file or a zipped folder of files as rows with the fields' names: what every import reads."""

import io
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from annotation.data import tool_files
from annotation.data.fields import guess
from core import archives
from core.errors import ImportRefused, RowError
from core.rowfiles import BadField, OnError, Row, one_per_system, read_rows, refusal, renamed

LOOKED_AT = 50  # rows whose fields are taken for the file's columns
POTATO_FILES = ("annotated_instances", "annotations", "user_state")  # answers, beside data files of any name
Columns = Mapping[str, str]
Source = str | Path | BinaryIO


def is_archive(name: str) -> bool:
    return name.lower().endswith(".zip")


def name_of(source: Source, name: str | None = None) -> str:
    return str(name or getattr(source, "name", None) or str(source).rsplit("/", 1)[-1])


class Reading:
    """One way through a file's rows.

    kind: what the rows are to be. columns: {field: the file's name for it, "" for none}; None: their names tell. systems:
    columns that each hold one system's outputs. constants: {field: value} where the rows do not have the field. on_error takes
    what can't be read. left: the members of an archive that hold no rows, known after reading.
    """

    def __init__(
        self,
        kind: str,
        columns: Columns | None,
        systems: Sequence[str] = (),
        constants: Mapping[str, Any] | None = None,
        on_error: OnError | None = None,
    ):
        self.kind, self.columns, self.systems, self.constants = kind, columns, tuple(systems), dict(constants or {})
        self.on_error, self.errors = on_error, 0
        self.absent = set(systems)
        self.left: list[str] = []

    def note(self, error: RowError) -> None:
        self.errors += 1
        if self.on_error is None:
            raise ImportRefused([error])
        self.on_error(error)

    def rows(self, source: Source, name: str | None = None, at_most: int | None = None) -> Iterator[Row]:
        """at_most: of each file."""
        file = name_of(source, name)
        if not is_archive(file):
            yield from islice(self._rows(lambda: source, file, ""), at_most)
        else:
            yield from self._archive(source, file, at_most)
        for column in sorted(self.absent) if at_most is None else []:
            self.note(RowError(file, None, column, "is no column of this file"))

    def _archive(self, source: Source, file: str, at_most: int | None) -> Iterator[Row]:
        with ExitStack() as stack:
            if isinstance(source, str | Path):
                try:
                    source = stack.enter_context(Path(source).open("rb"))
                except OSError as error:
                    raise refusal(file, None, f"can't be opened ({error.strerror})") from error
            archive = stack.enter_context(archives.opened(source, file))
            infos, self.left = archives.members(archive, file)
            opens = {f"{file}/{info.filename}": _opener(archive, info) for info in infos}
            answers, repeated = self._potato_answers(opens)
            texts = opens.keys() - answers - repeated
            self.left += sorted(member.removeprefix(f"{file}/") for member in repeated)
            read = set(opens) if not answers else texts or answers if self.kind == "outputs" else answers
            items = self._potato_items(opens, texts) if answers and self.kind != "outputs" else {}
            for member, opened in opens.items():
                if member not in read:
                    continue
                try:
                    with archives.reading(member):
                        yield from islice(self._rows(opened, member, member, items), at_most)
                except ImportRefused as refused:  # the other files are read all the same
                    for wrong in refused.errors:
                        self.note(wrong)

    @staticmethod
    def _potato_answers(opens: Mapping[str, Callable[[], BinaryIO]]) -> tuple[set[str], set[str]]:
        """(the members that hold answers which people gave in Potato, those that repeat all of them without names)"""
        likely = {member: opened for member, opened in opens.items() if PurePosixPath(member).stem in POTATO_FILES}
        first_rows = {member: first for member, opened in likely.items() if (first := _first(opened, member)) is not None}
        answers = {member: first for member, first in first_rows.items() if tool_files.is_potato(first)}
        named = {m for m, first in answers.items() if {"user", "user_id"} & first.keys() or _annotator_of(m)}
        return (named, answers.keys() - named) if named else (set(answers), set())

    def _potato_items(self, opens: Mapping[str, Callable[[], BinaryIO]], texts: Set[str]) -> dict[str, dict[str, Any]]:
        items: dict[str, dict[str, Any]] = {}
        for member in sorted(texts):
            with archives.reading(member):
                for row in read_rows(opens[member](), member, on_error=self.note):
                    key = next((row.fields[name] for name in ("id", "instance_id") if name in row.fields), None)
                    if isinstance(key, str | int):
                        items.setdefault(str(key), row.fields)
        return items

    def _rows(
        self, opened: Callable[[], Source], file: str, member: str, items: Mapping[str, dict[str, Any]] | None = None
    ) -> Iterator[Row]:
        """Of one file. member: its name where it is an archive's."""
        source: Any = opened()
        if hasattr(source, "read") and not source.seekable():
            yield from self._finished(read_rows(source, file, dict(self.columns or {}), on_error=self.note), member, {}, set())
            return
        sample = _sample(source, file)
        tool = tool_files.tool_of(self.kind, sample[0]) if sample else ""
        if tool:
            rows = self._flattened(tool, source, file, member, items or {})
            begun = list(islice(rows, LOOKED_AT))
            sample, rows = [row.fields for row in begun], chain(begun, rows)
        there = dict.fromkeys(column for fields in sample for column in fields)
        columns = self._columns(list(there), bool(member))
        if tool:
            rows = (Row(row.line, renamed(row.fields, columns), row.position, row.file) for row in rows)
        else:
            rows = read_rows(source, file, columns, on_error=self.note)
        yield from self._finished(rows, member, columns, set(there))

    def _columns(self, there: list[str], is_member: bool) -> dict[str, str]:
        """{field: column} for this file; an archive's files may call the same field by different names."""
        free = [column for column in there if column not in self.systems]
        if self.columns is None:
            return {field: column for field, column in guess(self.kind, free).items() if field not in there}
        if not is_member:
            return dict(self.columns)
        own = {field: column for field, column in self.columns.items() if not column or column in there}
        taken = set(own.values())
        for field, column in guess(self.kind, free).items():
            if field in self.columns and field not in own and column not in taken:
                own[field] = column
        return own

    def _finished(self, rows: Iterator[Row], member: str, columns: dict[str, str], there: set[str]) -> Iterator[Row]:
        constants = dict(self.constants)
        if member and self.kind == "outputs" and not self.systems:
            named = "system" in there or "system" in columns or "system" in guess(self.kind, list(there))
            if not named:
                constants.setdefault("system", PurePosixPath(member).stem)
        for row in rows:
            self.absent -= row.fields.keys()
            fields = {name: value for name, value in constants.items() if name not in row.fields}
            row = Row(row.line, row.fields | fields, row.position, member, columns)
            yield from one_per_system(row, self.systems) if self.systems else [row]

    def _flattened(
        self, tool: str, source: Source, file: str, member: str, items: Mapping[str, dict[str, Any]]
    ) -> Iterator[Row]:
        before, found = self.errors, False
        annotator = _annotator_of(member)
        for row in read_rows(source, file, on_error=self.note):
            try:
                for flat in tool_files.flattened(tool, self.kind, row, items, annotator):
                    found = True
                    yield flat
            except BadField as error:
                self.note(row.wrong(file, error))
        if not found and self.errors == before:
            self.note(RowError(file, None, "", f"is a file of {tool} and holds no {self.kind}"))


def _opener(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], BinaryIO]:
    return lambda: io.BufferedReader(archives.opened_member(archive, info))  # type: ignore[type-var]


def _annotator_of(member: str) -> str:
    """Potato keeps each annotator's answers in a folder of their name."""
    path = PurePosixPath(member)
    if path.name not in ("annotated_instances.jsonl", "user_state.json"):
        return ""
    return "" if path.parent.name == "annotation_output" or is_archive(path.parent.name) else path.parent.name


def _sample(source: Any, file: str) -> list[dict[str, Any]]:
    """The first rows; none where the file can't be read, which is told when its rows are taken."""
    start = source.tell() if hasattr(source, "read") else 0
    try:
        return [row.fields for row in islice(read_rows(source, file, on_error=lambda error: None), LOOKED_AT)]
    except ImportRefused:
        return []
    finally:
        if hasattr(source, "read"):
            source.seek(start)


def _first(opened: Callable[[], BinaryIO], member: str) -> dict[str, Any] | None:
    try:
        with archives.reading(member):
            row = next(read_rows(opened(), member, on_error=lambda error: None), None)
    except ImportRefused:
        return None
    return row.fields if row else None
