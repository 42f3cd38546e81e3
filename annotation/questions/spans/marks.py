"""Marked errors as pages, programs and files write them, checked against the texts, and as they are kept."""

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.questions.spans.method import NOWHERE, OUTPUT, SOURCE, Scheme, Span

MOST = 200  # errors that one person marks in one text
LONGEST_CATEGORY = 100
KEYS = {"where", "turn", "start", "end", "text", "severity", "category"}
Mark = dict[str, Any]  # where, turn of a source, start, end, severity, category, text


class BadMark(ValueError):
    """What is wrong with a mark: a clause without a subject, for researchers and programs."""


def lines_read(text: str) -> list[Mark] | None:
    """Marks that were typed where no script runs, an error a line: "major Accuracy/Addition: the words". None where a line is
    none."""
    found = []
    for line in filter(str.strip, text.splitlines()):
        head, _, words = line.partition(":")
        severity, *category = head.split(maxsplit=1) or [""]
        if not severity or not words.strip():
            return None
        named = {"category": category[0].strip()} if category else {}
        found.append({"severity": severity, **named, "text": words.strip()})
    return found


def checked(sent: Any, scheme: Scheme) -> list[Mark]:
    """The marks as they were sent, with what is wrong in themselves refused. Raises BadMark."""
    if not isinstance(sent, list) or len(sent) > MOST:
        raise BadMark(f"is no list of at most {MOST} errors")
    return [_checked(mark, scheme) for mark in sent]


def _checked(mark: Any, scheme: Scheme) -> Mark:
    if not isinstance(mark, Mapping) or not mark.keys() <= KEYS:
        raise BadMark(f"is no error with {', '.join(sorted(KEYS))}")
    severity, category = mark.get("severity"), mark.get("category") or ""
    if severity not in scheme.severities:
        raise BadMark(f"has the severity {severity!r}; expected {' or '.join(scheme.severities)}")
    if not isinstance(category, str) or len(category) > LONGEST_CATEGORY:
        raise BadMark(f"has no category of at most {LONGEST_CATEGORY} characters")
    where = mark.get("where") or OUTPUT
    if where not in (OUTPUT, SOURCE, NOWHERE):
        raise BadMark(f"stands in {where!r}; expected {OUTPUT}, {SOURCE} or {NOWHERE}")
    kept = {"where": where} | {name: mark[name] for name in ("turn", "start", "end", "text") if mark.get(name) is not None}
    for name in ("turn", "start", "end"):
        value: Any = kept.get(name, 0)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise BadMark(f"has no whole number as its {name}")
    return kept | {"severity": severity} | ({"category": category} if category else {})


def placed(marks: Sequence[Mark], output: str, turns: Sequence[str]) -> list[Mark]:
    """The marks with their places and words, in the order of the texts. A mark that has only words stands where they stand, if
    they stand there once. Raises BadMark."""
    found = [_placed(mark, output, turns) for mark in marks]
    return sorted(found, key=lambda mark: span_of(mark))


def _placed(mark: Mark, output: str, turns: Sequence[str]) -> Mark:
    if mark["where"] == NOWHERE:
        return {name: mark[name] for name in ("where", "severity", "category") if name in mark}
    turn = mark.get("turn", 0)
    if mark["where"] == SOURCE and turn >= len(turns):
        raise BadMark(f"stands in turn {turn} of the source, which has {len(turns)}")
    text = turns[turn] if mark["where"] == SOURCE else output
    start, end = _place(mark, text)
    said = {"where": mark["where"], **({"turn": turn} if mark["where"] == SOURCE else {}), "start": start, "end": end}
    return said | {name: mark[name] for name in ("severity", "category") if name in mark} | {"text": text[start:end]}


def _place(mark: Mark, text: str) -> tuple[int, int]:
    words = mark.get("text")
    if "start" not in mark or "end" not in mark:
        if not isinstance(words, str) or not words or text.count(words) != 1:
            often = text.count(words) if isinstance(words, str) and words else 0
            raise BadMark(f"has no start and end, and its words stand {often} times in the text")
        return text.index(words), text.index(words) + len(words)
    start, end = mark["start"], mark["end"]
    if not start < end <= len(text):
        raise BadMark(f"runs from {start} to {end} in a text of {len(text)} characters")
    if words is not None and words != text[start:end]:
        raise BadMark(f"has other words than stand from {start} to {end}")
    return start, end


def span_of(mark: Mark) -> Span:
    """Of a mark that has its place."""
    turn, start, end = (mark.get(name, 0) for name in ("turn", "start", "end"))
    return Span(mark["where"], turn, start, end, mark["severity"], mark.get("category", ""))


def spans_of(detail: Mapping[str, Any] | None) -> list[Span]:
    """What is kept beside a score."""
    return [span_of(mark) for mark in (detail or {}).get("spans", ())]
