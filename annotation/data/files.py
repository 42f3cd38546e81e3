"""A file or a zipped folder of files as rows with the fields' names: what every import reads."""

import io
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from annotation.data import text_files
from annotation.data.fields import JUDGE_FILES, answer_field, columns_of_criteria, fields_of, guess, rivals, without_criteria
from annotation.data.shapes import potato
from annotation.data.shapes.registry import shape_of
from annotation.data.shapes.shape import JUDGE_PAIRS, JUDGE_SCORES, JUDGMENTS, OUTPUTS, SCORES, LeftOut, Shape, Surroundings
from annotation.data.shapes.values import number
from annotation.questions.columns import folded_word
from core import archives
from core.encodings import plain_name, unpacked
from core.errors import ImportRefused, RowError, quoted, shortened
from core.rowfiles import BadField, NotAnswered, OnError, Row, flaw_of, read_rows, refusal, renamed
from core.rows import DECIMAL_COMMA, MAX_DOCUMENT_BYTES, at_path, one_per_column
from core.table_rows import sheet_names

LOOKED_AT = 50  # rows whose fields are taken for the file's columns
LISTED = 200  # left-out answers that are listed one by one; all are counted
POTATO_FILES = ("annotated_instances", "annotations", "user_state")  # answers, beside data files of any name
SPREAD = {"systems": ("system", "output"), "aspects": ("aspect", "score"), "raters": ("annotator", "score")}
SPREAD["judges"] = ("judge", "score")
THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2}(\.\d{3})+\s*$")  # or a number with three decimals
PERCENT = re.compile(r"(\s*[+-]?\d+(?:[.,]\d+)?\s*)%\s*$")
Columns = Mapping[str, str]
Source = str | Path | BinaryIO


def is_archive(name: str) -> bool:
    return plain_name(name).lower().endswith((".zip", ".eval"))


def name_of(source: Source, name: str | None = None) -> str:
    return str(name or getattr(source, "name", None) or str(source).rsplit("/", 1)[-1])


@dataclass
class Account:
    """What became of the answers and texts of a file that are not stored. left_out: how many, by reason. listed: (file, line,
    reason) of the first. elsewhere: what the file holds beside what is asked for, by kind. assumed: what was taken for granted,
    in sentences."""

    left_out: Counter = field(default_factory=Counter)
    listed: list[tuple[str, int, str]] = field(default_factory=list)
    elsewhere: Counter = field(default_factory=Counter)
    assumed: list[str] = field(default_factory=list)

    def leave(self, file: str, row: Row, reason: str) -> None:
        self.left_out[reason] += 1
        if len(self.listed) < LISTED:
            self.listed.append((row.file or file, row.line or row.position, reason))

    def assume(self, sentence: str) -> None:
        if sentence not in self.assumed:
            self.assumed.append(sentence)


class Reading:
    """One way through a file's rows.

    kind: what the rows are to be. columns: {field: the file's name for it, "" for none}; None: their names tell. spread:
    {a key of SPREAD: columns that each hold one system's outputs, one criterion's scores, one annotator's scores}. constants:
    {field: value} where the rows do not have the field. criteria: the campaign's, whose names may be columns of scores.
    words: those that stand for points of scales, in small letters. encoding: of text files, where no mark says it. on_error
    takes what can't be read. left: the members of an archive that hold no rows, known after reading, as `account` is.
    """

    def __init__(
        self,
        kind: str,
        columns: Columns | None,
        spread: Mapping[str, Sequence[str]] | None = None,
        constants: Mapping[str, Any] | None = None,
        criteria: Sequence[str] = (),
        encoding: str = "",
        on_error: OnError | None = None,
        words: Set[str] = frozenset(),
    ):
        self.kind, self.columns, self.constants = kind, columns, dict(constants or {})
        self.spread = {name: tuple(chosen) for name, chosen in (spread or {}).items() if chosen}
        self.criteria = list(criteria)
        self.words = words
        self.encoding = encoding
        self.on_error, self.errors = on_error, 0
        self.absent = {column for chosen in self.spread.values() for column in chosen}
        self.left: list[str] = []
        self.beside: list[tuple[str, str]] = []  # (member, its shape) that hold no rows of any kind
        self.account = Account()
        self._at_most: int | None = None

    def note(self, error: RowError) -> None:
        self.errors += 1
        if self.on_error is None:
            raise ImportRefused([error])
        self.on_error(error)

    def rows(self, source: Source, name: str | None = None, at_most: int | None = None) -> Iterator[Row]:
        """at_most: of each file, whose end is not read then."""
        self._at_most = at_most
        numbers = set()
        for row in self._percents(self._read(source, name, at_most), name_of(source, name)):
            if self.kind in (JUDGMENTS, JUDGE_PAIRS) and str(choice := row.fields.get("choice")).strip() in ("0", "1", "2"):
                numbers.add(str(choice).strip())
            yield row
        if "0" in numbers and "2" not in numbers and at_most is None:
            wrong = "is 0 in some rows and 2 in none, so 0 may be a tie or a side; write A, tie or B"
            self.note(RowError(name_of(source, name), None, "choice", wrong))
        elif numbers:
            self.account.assume("The choices 1 and 2 are A and B, and 0 is a tie.")

    def _percents(self, rows: Iterator[Row], file: str) -> Iterator[Row]:
        """Scores in percent as numbers, 85 for 85%, where all of a criterion's or judge's are; and what decimal commas mean."""
        plain, percent = set(), set()
        has_comma, grouped = False, None
        for row in rows:
            score = row.fields.get("score")
            about = str(row.fields.get("aspect") or row.fields.get("judge"))
            if self.kind not in (SCORES, JUDGE_SCORES) or not isinstance(score, str):
                plain |= {about} if isinstance(score, int | float) else set()
            elif found := PERCENT.match(score):
                percent.add(about)
                row = replace(row, fields=row.fields | {"score": found[1].strip()})
                self.account.assume("Scores in percent are stored as numbers without the sign, as 85 for 85%.")
            else:
                plain |= {about} if number(score) is not None else set()
            if isinstance(score, str) and row.decimal == "," and DECIMAL_COMMA.match(score):
                self.account.assume("A comma is a decimal mark in this file: 3,5 is 3.5, and 1,000 is 1.")
                has_comma = True
            if isinstance(score, str) and row.decimal == "," and THOUSANDS.match(score):
                grouped = grouped or row
            if has_comma and grouped:
                said = f"is {grouped.fields['score']}, and other rows have a decimal comma; write thousands without a point"
                self.note(grouped.wrong(file, BadField("score", said)))
                grouped = None
            if both := plain & percent:
                self.note(
                    row.wrong(file, BadField("score", f"of {quoted(min(both))} is in percent in some rows and not in all"))
                )
                percent -= both
            yield row

    def _read(self, source: Source, name: str | None, at_most: int | None) -> Iterator[Row]:
        file = name_of(source, name)
        if is_archive(file):
            yield from self._archive(source, file, at_most)
        elif len(sheets := self._shown_sheets(source, file)) > 1:
            for title in sheets:
                yield from islice(self._sheet(source, file, title), at_most)
        else:
            yield from islice(self._rows(lambda: source, file, ""), at_most)
        for column in sorted(self.absent) if at_most is None else []:
            self.note(RowError(file, None, column, "is no column of this file"))

    def _shown_sheets(self, source: Source, file: str) -> list[str]:
        sheets = _sheets(source, file)
        shown = [title for title, is_shown in sheets.items() if is_shown] or [*sheets]
        for title in sheets.keys() - set(shown):
            self.left.append(f"sheet {title}")
            self.account.assume(f"The sheet {quoted(title)} is hidden, and not read. Show it in Excel to have it read.")
        return shown

    def _sheet(self, source: Source, file: str, title: str) -> Iterator[Row]:
        """Of one sheet of several. One without any of the fields holds something else."""
        _rewound(source)
        sample = _sample(source, file, title)
        columns = list(dict.fromkeys(column for fields in sample for column in fields))
        required = {f.name for f in fields_of(self.kind) if f.required}
        if not sample or not (required & {*guess(self.kind, columns), *(self.columns or {})} or self.spread):
            self.left.append(f"sheet {title}")
            return
        _rewound(source)
        yield from self._rows(lambda: source, file, f"{file}/{title}", sheet=title)

    def _archive(self, source: Source, file: str, at_most: int | None) -> Iterator[Row]:
        with ExitStack() as stack:
            if isinstance(source, str | Path):
                try:
                    source = stack.enter_context(Path(source).open("rb"))
                except OSError as error:
                    raise refusal(file, None, f"can't be opened ({error.strerror})") from error
            if plain_name(file) != file:
                source = io.BytesIO(unpacked(source, file).read())
            archive = stack.enter_context(archives.opened(source, file))
            infos, self.left = archives.members(archive, file)
            opens = {f"{file}/{info.filename}": _opener(archive, info) for info in infos}
            texts = {member: opens.pop(member) for member in [*opens] if text_files.is_text(member)}
            if not opens:
                yield from islice(self._texts(texts, file), at_most)
                return
            self.left += sorted(member.removeprefix(f"{file}/") for member in texts)  # a README beside files of rows
            items: dict[str, dict[str, Any]] = {}
            if header := _inspect_header(opens, file):
                read = {member for member in opens if member.startswith(f"{file}/samples/")}
                items["header"] = header
            else:
                answers, repeated = self._potato_answers(opens)
                data = opens.keys() - answers - repeated
                self.left += sorted(member.removeprefix(f"{file}/") for member in repeated)
                read = set(opens) if not answers else set(data or answers if self.kind == OUTPUTS else answers)
                items = self._potato_items(opens, data) if answers and self.kind != OUTPUTS else {}
            before, is_any = self.errors, False
            for member, opened in opens.items():
                if member not in read:
                    continue
                try:
                    with archives.reading(member):
                        for row in islice(self._rows(opened, member, member, items), at_most):
                            is_any = True
                            yield row
                except ImportRefused as refused:  # the other files are read all the same
                    for wrong in refused.errors:
                        self.note(wrong)
            if self.beside and not is_any and self.errors == before and not self.account.left_out:
                member, name = self.beside[0]
                self.note(RowError(member, None, "", f"is a file of {name} and holds no {self.kind}"))

    def _texts(self, texts: text_files.Opens, file: str) -> Iterator[Row]:
        if self.kind != OUTPUTS:
            self.note(RowError(file, None, "", f"holds texts, which are outputs and no {self.kind}"))
            return
        self.account.assume("Read as texts: a file or a folder for each system, an output a line or a file.")
        yield from text_files.rows(texts, file, self.encoding, self.note)

    @staticmethod
    def _potato_answers(opens: Mapping[str, Callable[[], BinaryIO]]) -> tuple[set[str], set[str]]:
        """(the members that hold answers which people gave in Potato, those that repeat all of them without names)"""
        likely = {member: opened for member, opened in opens.items() if PurePosixPath(member).stem in POTATO_FILES}
        first_rows = {member: first for member, opened in likely.items() if (first := _first(opened, member)) is not None}
        answers = {member: first for member, first in first_rows.items() if potato.recognises(first)}
        named = {m for m, first in answers.items() if _annotator_of(m) or {"user_id", "user"} & first.keys()}
        return (named, answers.keys() - named) if named else (set(answers), set())

    def _potato_items(self, opens: Mapping[str, Callable[[], BinaryIO]], texts: Set[str]) -> dict[str, dict[str, Any]]:
        items: dict[str, dict[str, Any]] = {}
        for member in sorted(texts):
            with archives.reading(member):
                for row in read_rows(opens[member](), member, on_error=self.note, encoding=self.encoding):
                    key = next((row.fields[name] for name in ("id", "instance_id") if name in row.fields), None)
                    if isinstance(key, str | int):
                        items.setdefault(str(key), row.fields)
        return items

    def _rows(
        self,
        opened: Callable[[], Source],
        file: str,
        member: str,
        items: Mapping[str, dict[str, Any]] | None = None,
        sheet: str = "",
    ) -> Iterator[Row]:
        """Of one file. member: its name where it is an archive's, or a sheet's of several."""
        source: Any = opened()
        leave = lambda line, reason: self.account.leave(file, Row(line, {}, file=member), reason)
        how: dict[str, Any] = {"on_error": self.note, "encoding": self.encoding, "sheet": sheet, "at_most": self._at_most}
        how |= {"say": self.account.assume, "leave": leave}
        if hasattr(source, "read") and not source.seekable():
            rows = read_rows(source, file, dict(self.columns or {}), **how)
            yield from self._finished(rows, file, member, sheet, {}, set())
            return
        sample = _sample(source, file, sheet, self.encoding)
        shape = shape_of(self.kind, sample[0]) if sample else None
        if shape and member and not shape.kinds:
            self.left.append(member.partition("/")[2])
            self.beside.append((member, shape.name))
            return
        if shape:
            system = str(self.constants.get("system") or sheet or (PurePosixPath(plain_name(member)).stem if member else ""))
            around = Surroundings(items or {}, _annotator_of(member), file, system)
            rows = self._entries(shape, read_rows(source, file, **how), around)
            begun = list(islice(rows, LOOKED_AT))
            sample, rows = [row.fields for row in begun], chain(begun, rows)
        there = dict.fromkeys(column for fields in sample for column in fields)
        columns = self._columns(list(there), bool(member), sample)
        if shape:
            rows = (replace(row, fields=renamed(row.fields, columns)) for row in rows)
        else:
            rows = read_rows(source, file, columns, **how)
        yield from self._finished(rows, file, member, sheet, columns, set(there))

    def _columns(self, there: list[str], is_member: bool, sample: list[dict[str, Any]]) -> dict[str, str]:
        """{field: column} for this file; an archive's files may call the same field by different names."""
        spread = {column for chosen in self.spread.values() for column in chosen}
        free = [column for column in there if column not in spread]
        guessed = guess(self.kind, free, sample)
        if self.kind == SCORES and not self.spread:
            guessed = without_criteria(guessed, free, self.criteria)
        if (named := guess(self.kind, free).get("context_id")) and "context_id" not in guessed:
            self.account.assume(f"The column {named} numbers the rows, so that contexts are known by their text.")
        for sentence in rivals(self.kind, free, guessed, guessed if self.columns is None else self.columns):
            self.account.assume(sentence)
        if self.columns is None:
            return {field: column for field, column in guessed.items() if field not in there}
        if not is_member:
            return dict(self.columns)
        own = {field: column for field, column in self.columns.items() if not column or column in there}
        taken = set(own.values())
        for name, column in guessed.items():
            if name in self.columns and name not in own and column not in taken:
                own[name] = column
        return own

    def _finished(
        self, rows: Iterator[Row], file: str, member: str, sheet: str, columns: dict[str, str], there: set[str]
    ) -> Iterator[Row]:
        constants = dict(self.constants)
        by_name = "system" if self.kind == OUTPUTS else "judge" if self.kind in JUDGE_FILES else "annotator"
        place = sheet or (PurePosixPath(plain_name(member)).stem if member and self.kind == OUTPUTS else "")
        if place and not (by_name in there or by_name in columns or by_name in guess(self.kind, list(there)) or self.spread):
            if constants.setdefault(by_name, place) == place:
                at = "sheet" if sheet else "file"
                self.account.assume(f"No column names the {by_name}, so that it is called as its {at} is.")
        spread: dict[str, Sequence[str]] = dict(self.spread)
        known = {name: name for name in there} | columns | self.constants
        if self.kind == SCORES and not spread and (named := columns_of_criteria(known, sorted(there), self.criteria)):
            spread["aspects"] = named
        answer = answer_field(self.kind)  # JSON leaves out the key where a table has an empty cell
        blank = {answer: None} if answer in known else {}
        optional = {f.name for f in fields_of(self.kind) if not f.required} - {"context_id", "context", answer}
        nested = [column for chosen in spread.values() for column in chosen if column not in there]
        for row in rows:
            inner = {column: value for column in nested if (value := at_path(row.fields, column)) is not None}
            row = replace(row, fields=row.fields | inner) if inner else row
            self.absent -= row.fields.keys()
            fields = {name: value for name, value in constants.items() if name not in row.fields}
            row = self._without_words(replace(row, fields=blank | row.fields | fields, file=member, columns=columns), optional)
            spread_rows = [row]
            for name, chosen in spread.items():
                spread_rows = [part for row in spread_rows for part in self._parts(file, row, name, chosen)]
            yield from spread_rows

    def _without_words(self, row: Row, optional: Set[str]) -> Row:
        """With nothing where an optional field holds a word for a missing value, as R writes NA in each empty cell."""
        words = {name: row.fields[name] for name in optional & row.fields.keys() if row.is_blank(name)}
        words = {name: word for name, word in words.items() if isinstance(word, str) and word.strip()}
        for name, word in sorted(words.items()):
            column = row.columns.get(name, name)
            self.account.assume(f"In the column {shortened(column, 40)}, {quoted(word.strip())} stands for no value.")
        return replace(row, fields=row.fields | dict.fromkeys(words)) if words else row

    def _parts(self, file: str, row: Row, spread: str, columns: Sequence[str]) -> Iterator[Row]:
        named, valued = SPREAD[spread]
        for column in columns:
            if row.fields.get(column) is None:
                self.account.leave(file, row, f"has no {valued}")
        yield from one_per_column(row, columns, named, valued)

    def _has_point(self, word: str) -> bool:
        """Does a word stand for a point, by the campaign or by what was typed? Or is it a number in percent?"""
        return bool(PERCENT.match(word)) or folded_word(word) in self.words

    def _entries(self, shape: Shape, rows: Iterator[Row], around: Surroundings) -> Iterator[Row]:
        """What the rows of a shape hold of the kind that is asked for; the rest is counted."""
        before, any_entry = self.errors, False
        numbers, words = set(), dict[str, Counter]()
        self.account.assume(f"Read as {shape.name}. {shape.guess}".strip())
        for row in shape.gathers(rows) if shape.gathers else rows:
            try:
                for entry in shape.entries(row.fields, around):
                    if entry.kind != self.kind:
                        self.account.elsewhere[entry.kind] += not isinstance(entry, LeftOut)
                        continue
                    any_entry = True
                    if isinstance(entry, LeftOut):
                        self.account.leave(around.file, row, entry.reason)
                        continue
                    if self.kind == SCORES:
                        aspect, score = str(entry.fields.get("aspect")), entry.fields.get("score")
                        if isinstance(score, str) and number(score) is None and not self._has_point(score):
                            words.setdefault(aspect, Counter())[score] += 1
                            self.account.leave(around.file, row, f"answers {aspect} in words: {shortened(score, 40)}")
                            continue
                        numbers.add(aspect)
                    made = replace(row, fields=entry.fields)
                    if flaw := flaw_of(made):  # of JSON inside a cell
                        raise NotAnswered(flaw[0])
                    yield made
            except NotAnswered as reason:
                any_entry = True
                self.account.leave(around.file, row, str(reason))
            except BadField as error:
                self.note(row.wrong(around.file, error))
            except KeyError as missing:
                wrong = BadField(str(missing.args[0]), f"is missing; the file is one of {shape.name} by its first row")
                self.note(row.wrong(around.file, wrong))
            except (TypeError, AttributeError, ValueError, OverflowError):
                self.note(row.wrong(around.file, BadField("", f"is not built as {shape.name} builds a row")))
        for aspect in numbers & words.keys():
            said = ", ".join(f"{quoted(word)} ({count})" for word, count in words[aspect].most_common(5))
            self.note(
                RowError(around.file, None, aspect, f"has points in numbers and in words ({said}); write each as a number")
            )
        if not any_entry and self.errors == before:
            self.note(RowError(around.file, None, "", f"is a file of {shape.name} and holds no {self.kind}"))


def _opener(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], BinaryIO]:
    return lambda: io.BufferedReader(archives.opened_member(archive, info))  # type: ignore[type-var]


def _inspect_header(opens: Mapping[str, Callable[[], BinaryIO]], file: str) -> dict[str, Any] | None:
    """Of an archive that Inspect wrote; None for any other."""
    if not any(member.startswith(f"{file}/samples/") for member in opens) or f"{file}/header.json" not in opens:
        return None
    header = _first(opens[f"{file}/header.json"], f"{file}/header.json")
    return header if header and isinstance(header.get("eval"), dict) else None


def _sheets(source: Any, file: str) -> dict[str, bool]:
    """{sheet: is it shown?} of an Excel file that can be rewound; none of any other file."""
    if not plain_name(file).lower().endswith(".xlsx"):
        return {}
    if not hasattr(source, "read"):
        try:
            with Path(source).open("rb") as opened:
                return _sheets(opened, file)
        except OSError:
            return {}  # which reading it refuses
    if not source.seekable():
        return {}
    if plain_name(file) == file:
        return sheet_names(source, file)
    try:
        return sheet_names(io.BytesIO(unpacked(source, file).read(MAX_DOCUMENT_BYTES + 1)), file)
    except ImportRefused:
        return {}
    finally:
        source.seek(0)


def _rewound(source: Any) -> None:
    if hasattr(source, "read"):
        source.seek(0)


def _annotator_of(member: str) -> str:
    """Potato keeps each annotator's answers in a folder of their name."""
    path = PurePosixPath(member)
    if path.name not in ("annotated_instances.jsonl", "user_state.json"):
        return ""
    return "" if path.parent.name == "annotation_output" or is_archive(path.parent.name) else path.parent.name


def _sample(source: Any, file: str, sheet: str = "", encoding: str = "") -> list[dict[str, Any]]:
    """The first rows; none where the file can't be read, which is told when its rows are taken."""
    start = source.tell() if hasattr(source, "read") else 0
    try:
        rows = read_rows(source, file, on_error=lambda error: None, sheet=sheet, encoding=encoding, at_most=LOOKED_AT)
        return [row.fields for row in islice(rows, LOOKED_AT)]
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
