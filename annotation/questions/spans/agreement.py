"""How far people mark the same errors: from what is kept of their answers to the method's spans, and in a sentence."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from annotation.questions.spans.marks import spans_of
from annotation.questions.spans.method import Span, SpanAgreement, span_agreement


def agreement_of(rows: Iterable[tuple[int, Mapping[str, Any] | None]], seed: int = 0) -> SpanAgreement | None:
    """rows: (output, what is kept beside an answer about it)"""
    by_output: dict[int, list[list[Span]]] = defaultdict(list)
    for output, detail in rows:
        by_output[output].append(spans_of(detail))
    return span_agreement(by_output.values(), seed=seed)


def in_a_sentence(found: Mapping[str, Any] | SpanAgreement | None) -> str:
    """found: as it is, or as a report has it."""
    if not found:
        return ""
    of = asdict(found) if isinstance(found, SpanAgreement) else found
    interval = "" if of["low"] is None else f" (95% interval over texts: {of['low']:.0%} to {of['high']:.0%})"
    return (
        f"Of what one person marks, another marks {of['where']:.0%}{interval}, {of['severity']:.0%} with the same severity and "
        f"{of['category']:.0%} with the same category: {of['errors']:,} marks, {of['texts']:,} texts with two readers or more."
    )
