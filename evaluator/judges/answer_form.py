"""What a language model may answer: a letter of three, a point of five, or a score. A form knows what stands for what, and
the schema that a server is asked to keep to."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

LONGEST = 200  # characters of a text that is an answer and no more
LETTER_WORDS = {"TIE": "C", "NEITHER": "C", "BOTH": "C", "EQUAL": "C"}
BARE_LETTER = re.compile(
    r"(?:the\s+)?(?:better\s+)?(?:(?:answer|choice|verdict)\s*(?:is)?\s*:?\s*)?(?:answer\s+)?([A-Ca-c]|tie|neither|both)",
    re.IGNORECASE,
)
NUMBER = r"([-\u2212]?\d{1,6}(?:\.\d{1,6}|,\d{1,2})?)(?![.,]?\d)"  # whole: of 4.5 never the 4; a comma is no thousands' mark
QUOTES = "*_`\"'.[]() "


class AnswerForm(Protocol):
    """field: of the JSON object; labels: the answers as they are written; none_of: what an answer is none of, in words; value:
    how one looks in a text that is no whole JSON; stands_alone: whether a line of nothing else is an answer among other lines,
    which a number may not be."""

    @property
    def field(self) -> str: ...
    @property
    def labels(self) -> Sequence[str]: ...
    @property
    def none_of(self) -> str: ...
    @property
    def value(self) -> str: ...
    @property
    def stands_alone(self) -> bool: ...

    def label(self, value: Any) -> str | None:
        """The answer in a value, which may be a text; None where it is none."""
        ...

    def starts(self, token: str) -> str | None:
        """The label that a token is, whose first character is the answer's first; None where it is none or only a part."""
        ...

    @property
    def schema(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Letters:
    """A, B, or C for neither."""

    field: str = "answer"
    labels: tuple[str, ...] = ("A", "B", "C")
    none_of: str = "none of A, B and C"
    value: str = r"(?:answer\s+)?([A-Za-z]+)"
    stands_alone: bool = True

    def label(self, value: Any) -> str | None:
        if not isinstance(value, str) or len(value.strip()) > LONGEST:
            return None
        bare = BARE_LETTER.fullmatch(value.strip().strip(QUOTES)) or re.fullmatch("([A-Za-z]+)", value)
        word = bare.group(1).upper() if bare else ""
        return word if word in self.labels else LETTER_WORDS.get(word)

    def starts(self, token: str) -> str | None:
        return token[:1] if token[:1] in self.labels else None

    @property
    def schema(self) -> dict[str, Any]:
        return _schema(self.field, {"type": "string", "enum": list(self.labels)})


@dataclass(frozen=True)
class Points:
    """A number from low to high; whole: no other."""

    low: int
    high: int
    field: str = "score"
    whole: bool = False
    stands_alone: bool = False

    @property
    def value(self) -> str:
        return rf"{NUMBER}(?:\s*(?:/|out\s+of)\s*{self.high})?"

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(str(point) for point in range(self.low, self.high + 1))

    @property
    def none_of(self) -> str:
        return f"no number from {self.low} to {self.high}"

    @cached_property
    def _bare(self) -> re.Pattern[str]:
        before = r"(?:the\s+)?(?:(?:score|rating|grade|answer)\s*(?:is)?\s*[:=]?\s*)?"
        return re.compile(rf"{before}{self.value}(?:\s*points?)?", re.IGNORECASE)

    def label(self, value: Any) -> str | None:
        """A whole one without decimals, "4"; another as it is, "4.5"."""
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            return None
        if isinstance(value, str):
            bare = self._bare.fullmatch(value.strip().strip(QUOTES)) if len(value.strip()) <= LONGEST else None
            value = float(bare.group(1).replace("\u2212", "-").replace(",", ".")) if bare else None
        if value is None or not self.low <= value <= self.high or self.whole and value != int(value):
            return None
        return str(int(value)) if value == int(value) else str(float(value))

    def starts(self, token: str) -> str | None:
        found = re.match(r"-?\d+", token)
        return found.group() if found and found.group() in self.labels else None

    @property
    def schema(self) -> dict[str, Any]:
        return _schema(self.field, {"type": "integer", "enum": list(range(self.low, self.high + 1))})


PAIR = Letters()
FIVE = Points(1, 5, "answer", whole=True)


def _schema(field: str, of: dict[str, Any]) -> dict[str, Any]:
    """For `response_format`."""
    return {
        "type": "json_schema",
        "json_schema": {
            "name": "score" if field == "score" else "comparison",
            "strict": True,
            "schema": {
                "type": "object",
                "properties": {field: of, "reason": {"type": "string"}},
                "required": [field, "reason"],
                "additionalProperties": False,
            },
        },
    }
