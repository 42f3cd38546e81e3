"""A row of a file that people made, whatever the file's format: its line number (0 where it has none) and its fields, with
`text`, `number`, ... that check one field at a time."""

import dataclasses
import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from core.errors import ImportRefused, RowError, shortened

DECIMAL_COMMA = re.compile(r"^(\s*[+-]?\d+),(\d+\s*)$")
# By the decimal mark, what may follow a whole number; beside a comma, 1.000 is a thousand.
POINT_ZERO = {".": re.compile(r"\.0+$"), ",": re.compile(r"(,0+|\.0)$")}
KEYS = ("context_id", "group")  # which programs make, of texts too
TURN = ("conversation", "turn", "turns")  # in the metadata of a turn of a conversation: which, and of how many that are judged
TURNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # the direction in which letters are read
UNSEEN_AROUND = "\u200b\u200c\u200d\u2060\ufeff\u00ad \t\r\n\v\f\u00a0\u2007\u202f\u3000"
# In the product's languages: English, German, French, Spanish, Chinese, Arabic.
TRUE = ("true", "yes", "y", "t", "1", "1.0", "wahr", "ja", "vrai", "oui", "verdadero", "sí", "si", "真", "是", "نعم", "صحيح")
FALSE = ("false", "no", "n", "f", "0", "0.0", "falsch", "nein", "faux", "non", "falso", "假", "否", "لا", "خطأ", "خاطئ")
TRUTHS = dict.fromkeys(TRUE, True) | dict.fromkeys(FALSE, False)
# What pandas.read_csv takes for a missing value (its na_values).
MISSING = {
    "",
    "#n/a",
    "#n/a n/a",
    "#na",
    "-1.#ind",
    "-1.#qnan",
    "-nan",
    "1.#ind",
    "1.#qnan",
    "<na>",
    "n/a",
    "na",
    "null",
    "nan",
    "none",
}
CUT = re.compile(r"\d([.,]\d+)?[Ee]\+\d{2,3}")  # as spreadsheets and pandas write a long whole number
SHEET_ERRORS = {"#name?", "#ref!", "#value!", "#div/0!", "#num!", "#null!", "#spill!", "#calc!"}
MAX_LINE_BYTES = 8 * 2**20
MAX_DOCUMENT_BYTES = 64 * 2**20  # of a JSON file that is one value; in memory it takes ten times as much


def finite(value: Any) -> float | None:
    """A number, or a text that is one as people write it: Python alone reads 4_2 as 42. None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str) or (isinstance(value, str) and "_" in value):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


class NotAnswered(Exception):
    """A row whose answer is missing: left out and counted. Its text is the reason, a clause without a subject."""


class BadField(ValueError):
    """A field that is missing or not what was expected; carries its name, and its line where a reader knows it."""

    def __init__(self, field: str, message: str, line: int | None = None):
        super().__init__(message)
        self.field, self.line = field, line


def flaw_of_name(name: str) -> str:
    """Why nobody could tell it from another name by looking; empty where they could."""
    if turns := next((c for c in name if c in TURNS or unicodedata.category(c) == "Cc"), ""):
        return f"holds the character U+{ord(turns):04X}, which no name may have, since it changes what is seen"
    is_seen = any(unicodedata.category(c) not in ("Cf", "Zs", "Zl", "Zp", "Mn") for c in name)
    return "" if is_seen else "holds no letter that can be seen"


@dataclass(frozen=True)
class Row:
    """line: in the file, 0 where it has none. position: which row of a JSON array or of a table by columns it is, from 1; else
    0. file: the archive's member that it is in. columns: {field: the file's name for it}, where they differ. decimal: the mark
    that its numbers may have beside the point."""

    line: int
    fields: dict[str, Any]
    position: int = 0
    file: str = ""
    columns: Mapping[str, str] = dataclasses.field(default_factory=dict)
    decimal: str = "."

    def wrong(self, file: str, error: "BadField") -> RowError:
        """What is wrong with a field of this row, in the file's own words."""
        name = self.columns.get(error.field, error.field)
        return RowError(self.file or file, error.line or self.line or None, name, str(error), self.position or None)

    def get(self, field: str, default: Any = None) -> Any:
        value = self.fields.get(field, default)
        return default if value is None else value

    def text(self, field: str, longest: int | None = None, empty: bool = False, default: str | None = None) -> str:
        value = self.fields.get(field)
        if value is None:
            if default is not None:
                return default
            raise BadField(field, "is missing; it must be given")
        if not isinstance(value, str):
            raise BadField(field, f"expected text, found {kind_of(value)}")
        if not empty and not value.strip():
            raise BadField(field, "is empty")
        if longest and len(value) > longest:
            raise BadField(field, f"is {len(value)} characters long; at most {longest} are allowed")
        return value

    def name(self, *fields: str, default: str | None = None) -> str:
        """The first present of the fields, as a name of at most 200 characters, composed (NFC) and without spaces or invisible
        characters around it; a whole number will do, also where a spreadsheet wrote it as 1.0."""
        field = next((f for f in fields if self.fields.get(f) is not None), fields[0])
        value = self.fields.get(field)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return replace(self, fields={field: str(value)}).text(field, longest=200)
        name = unicodedata.normalize("NFC", self.text(field, longest=200, default=default))
        name = name.strip(UNSEEN_AROUND) or name
        if CUT.fullmatch(name):
            wrong = f"is {name}, as spreadsheets write a long number: its last digits are lost, and several ids may be one"
            raise BadField(field, f"{wrong}; save the column as text")
        if name and field not in KEYS and (flaw := flaw_of_name(name)):
            raise BadField(field, flaw)
        return name

    def whole(self, field: str, default: int | None = None) -> int | None:
        """From 0; also where a table wrote it as 1.0, as pandas does in a column with a gap. Raises BadField."""
        value = self.fields.get(field)
        if value is None or value == "":
            return default
        if isinstance(value, str):
            digits = POINT_ZERO[self.decimal].sub("", value.strip())
            value = int(digits) if digits.isdecimal() and len(digits) < 100 else value
        elif isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**31:
            raise BadField(field, f"expected a whole number from 0, found {shown(value)}")
        return value

    def number(self, field: str) -> float:
        value = self.fields.get(field)
        if value is None or value == "":
            raise BadField(field, "is missing; it must be given")
        if isinstance(value, str) and self.decimal == ",":
            value = DECIMAL_COMMA.sub(r"\1.\2", value)
        if (number := finite(value)) is None:
            raise BadField(field, f"expected a number, found {shown(value)}")
        return number

    def time(self, field: str) -> datetime | None:
        """A moment in ISO 8601, in UTC where it names no zone; None where the cell is empty."""
        value = self.fields.get(field)
        if value is None or self.is_blank(field):
            return None
        try:
            moment = value if isinstance(value, datetime) else datetime.fromisoformat(value.strip())
            moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (AttributeError, TypeError, ValueError, OverflowError):
            raise BadField(field, f"expected a time like 2026-01-31T12:00:00+00:00, found {shown(value)}") from None
        if moment > datetime.now(UTC) + timedelta(days=1):  # one without a zone may be of a place further east
            raise BadField(field, f"lies in the future: {shown(value)}")
        return moment

    def truth(self, field: str) -> bool:
        """Yes or no in any spelling; no where it is missing."""
        value = self.fields.get(field)
        word = unicodedata.normalize("NFC", str(value)).strip().lower() if isinstance(value, bool | int | float | str) else None
        if value is None or word == "":
            return False
        if word not in TRUTHS:
            raise BadField(field, f"expected true or false, found {shown(value)}; write true or false, or yes or no")
        return TRUTHS[word]

    def is_blank(self, field: str) -> bool:
        """Is the cell empty, or does it hold one of the words for a missing value? A row without the field is no such row."""
        value = self.fields.get(field)
        return (value is None and field in self.fields) or (isinstance(value, str) and value.strip().lower() in MISSING)

    def texts(self, field: str, required: bool = False) -> list[str]:
        """A list of texts; one text counts as a list of one."""
        value = self.fields.get(field)
        if value is None:
            if required:
                raise BadField(field, "is missing; it must be given")
            return []
        if isinstance(value, str):
            value = [value]
        if isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
            value = [_message(v, field) for v in value]
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise BadField(field, f"expected a text or a list of texts, found {kind_of(value)}")
        if required and not any(v.strip() for v in value):
            raise BadField(field, "is empty")
        return value

    def mapping(self, field: str) -> dict[str, Any]:
        value = self.fields.get(field)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise BadField(field, f"expected a JSON object, found {kind_of(value)}")
        return value

    def metadata(self) -> dict[str, Any]:
        """As they are, but where they say which turn of a conversation a context is (`TURN`): that with whole numbers and a
        name, as tables may not write them ("2", 2.0). Raises BadField."""
        found = self.mapping("metadata")
        if any(found.get(name) in (None, "") for name in TURN):
            return found
        said = replace(self, fields=found)
        try:
            place = said.name(TURN[0]), said.whole(TURN[1]) or 0, said.whole(TURN[2]) or 0
        except BadField as error:
            raise BadField(f"metadata.{error.field}", str(error)) from None
        if not 0 < place[1] <= place[2]:
            raise BadField(f"metadata.{TURN[1]}", f"is {place[1]} of {place[2]} turns; they count from 1")
        return found | dict(zip(TURN, place))

    def source(self) -> str:
        """What its context has in common with others: its group, else the conversation that it is a turn of; empty where it
        stands alone. Raises BadField."""
        if self.fields.get("group") not in (None, ""):
            return self.name("group")
        found = self.metadata() if isinstance(self.fields.get("metadata"), dict) else {}
        return "" if any(found.get(name) in (None, "") for name in TURN) else str(found[TURN[0]])


def _message(message: dict[str, Any], field: str) -> str:
    """The text of a chat message, {"role", "content"}; content may be a list of {"type": "text", "text"}."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [
            part.get("text") if isinstance(part, dict) and part.get("type", "text") == "text" else None for part in content
        ]
        if parts and all(isinstance(part, str) for part in parts):
            content = "\n".join(part for part in parts if part is not None)
    if not isinstance(message.get("role"), str) or not isinstance(content, str):
        raise BadField(field, 'expected messages with the texts "role" and "content"')
    return content


OnError = Callable[[RowError], None]
Fail = Callable[..., None]  # (line, message, field, row)


def one_per_column(row: Row, columns: Sequence[str], named: str, valued: str) -> Iterator[Row]:
    """A row for each of the columns that has a value: its name as the field `named`, its cell as the field `valued`."""
    shared = {field: value for field, value in row.fields.items() if field not in columns}
    for column in columns:
        if row.fields.get(column) is not None:  # an empty cell: nothing was said here
            fields = shared | {named: column, valued: row.fields[column]}
            yield replace(row, fields=fields, columns={**row.columns, valued: column})


def one_per_system(row: Row, systems: Sequence[str]) -> Iterator[Row]:
    return one_per_column(row, systems, "system", "output")


def renamed(cells: dict[str, Any], columns: dict[str, str]) -> dict[str, Any]:
    """Cells under their fields' names, without those whose field is said to stand elsewhere or nowhere."""
    fields = {column: field for field, column in columns.items() if column}
    for column in fields.keys() - cells.keys():
        if (value := at_path(cells, column)) is not None:
            cells = cells | {column: value}
    return {fields.get(column, column): cell for column, cell in cells.items() if column in fields or column not in columns}


def at_path(cells: Any, path: str) -> Any:
    """What stands there in nested objects and lists, as result.judge.pass or scores.0.value; None where nothing does."""
    if "." not in path:
        return None
    for part in path.split("."):
        if isinstance(cells, dict):
            cells = cells.get(part)
        elif isinstance(cells, list) and part.isdecimal() and len(part) < 10 and int(part) < len(cells):
            cells = cells[int(part)]
        else:
            return None
    return cells


def paths_in(cells: dict[str, Any], levels: int = 3) -> dict[str, Any]:
    """{path: value} of what stands in nested objects"""
    found: dict[str, Any] = {}
    for name, value in cells.items():
        if isinstance(value, dict) and levels > 1:
            found |= {f"{name}.{inner}": cell for inner, cell in paths_in(value, levels - 1).items()}
        else:
            found[name] = value
    return found


def refusal(file: str, line: int | None, message: str, field: str = "") -> ImportRefused:
    return ImportRefused([RowError(file, line, field, message)])


def json_in(value: Any) -> Any:
    """The list or object that a cell holds as text; what is none stays as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def kind_of(value: Any) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "an object"}
    return names.get(type(value), "nothing")


def shown(value: Any) -> str:
    return shortened(json.dumps(value, ensure_ascii=False, default=str), 40)
