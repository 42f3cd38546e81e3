"""What a language model is asked about one output, or about two.

The model reads what the annotators read, the guidelines and the criterion. The texts stand in one JSON object, so that nothing
in an output can pass for the end of it. The wording is a file (`prompt_file`), of the built-in ones or of the user's own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from core.errors import Refused
from evaluator.judges.answer_form import FIVE, PAIR, AnswerForm, Points
from evaluator.judges.prompt_examples import Example, Examples
from evaluator.judges.prompt_file import PromptFile
from evaluator.judges.texts import Text, as_referenced

VERSION = 1  # of what is filled into the places: change it with every change of their words
DEFAULT = "pairwise"


@dataclass(frozen=True)
class Scale:
    """A question's own. lowest_best: its lowest point is the best."""

    low: int
    high: int
    lowest_best: bool = False

    def __str__(self) -> str:
        best = self.low if self.lowest_best else self.high
        return f"a whole number from {self.low} to {self.high}, where {best} is best"


@dataclass(frozen=True)
class Prompt:
    """guidelines: what annotators read before they start; criterion: its name and what it means, empty on the whole. scale: of
    the question, where it has one. examples: of people's answers. with_references: what people wrote for the same context is
    shown. Raises Refused where the file lacks a place for these, or a score a scale."""

    guidelines: str = ""
    criterion: str = ""
    meaning: str = ""
    file: PromptFile = field(default_factory=lambda: PromptFile.built_in(DEFAULT))
    scale: Scale | None = None
    examples: Examples | None = None
    with_references: bool = False

    def __post_init__(self) -> None:
        for place, wanted in (("examples", self.examples), ("references", self.with_references)):
            if wanted and place not in self.file.places:
                raise Refused(f"Prompt {self.file.name!r} has no place {{{place}}} for them.")
        if self.file.asks == "score" and self.points is None:
            raise Refused(
                f"Prompt {self.file.name!r} asks for a score, and judgments of pairs have no scale: choose a criterion with"
                " scores, or give the file a scale."
            )

    @property
    def asks_for_score(self) -> bool:
        return self.file.asks == "score"

    @property
    def points(self) -> Scale | None:
        """The scale of a score: the file's own, whose highest point is the best, or the question's."""
        return Scale(*self.file.scale) if self.file.scale else self.scale

    @cached_property
    def form(self) -> AnswerForm:
        """What a reply may say."""
        if self.asks_for_score and self.points:
            return Points(self.points.low, self.points.high)
        return FIVE if self.file.asks == "five points" else PAIR

    def messages(self, *texts: Text) -> list[dict[str, str]]:
        """One text, or two of one context in this order, as a chat."""
        shown = self.examples.beside(texts[0]) if self.examples else ()
        references = list(as_referenced(texts[0]).references) if self.with_references else []
        return self._chat(json.dumps(_object(texts), ensure_ascii=False), shown, json.dumps(references, ensure_ascii=False))

    @cached_property
    def sha256(self) -> str:
        """Of all but the texts and their references."""
        parts = [self._filled("", shown, "") for shown in (self.examples.sets if self.examples else [()])]
        words = [f"{VERSION}", *(word for part in parts for word in part), *(["references"] if self.with_references else [])]
        return hashlib.sha256("\n".join(words).encode()).hexdigest()

    @cached_property
    def shown(self) -> str:
        """All that is sent, with the names of places where the texts stand; examples as they are in one fold of contexts."""
        named = [Text(("{turn 1}", "{turn 2}"), f"{{{name}}}") for name in self._names]
        examples = self.examples.sets[0] if self.examples else ()
        references = '["{reference 1}", "{reference 2}"]' if self.with_references else "[]"
        chat = self._chat(json.dumps(_object(named), ensure_ascii=False), examples, references)
        return "\n\n".join(f"[{message['role']}]\n{message['content']}" for message in chat)

    @property
    def record(self) -> dict[str, Any]:
        """For the settings of a judge; a file's own digest tells which wording it was."""
        return {
            "asked": self.shown,
            "prompt": self.sha256,
            "prompt_version": VERSION,
            "prompt_file": self.file.name,
            "prompt_file_sha256": self.file.sha256,
            "asks": self.file.asks,
            **({"examples": self.examples.count} if self.examples else {}),
            **({"references": True} if self.with_references else {}),
        }

    @property
    def _names(self) -> tuple[str, ...]:
        return ("output",) if self.asks_for_score else ("first output", "second output")

    def _chat(self, texts: str, examples: Sequence[Example], references: str) -> list[dict[str, str]]:
        system, question = self._filled(texts, examples, references)
        said = [{"role": "system", "content": system}] if system else []
        return [*said, {"role": "user", "content": question}]

    def _filled(self, texts: str, examples: Sequence[Example], references: str) -> tuple[str, str]:
        known = self.guidelines.strip()
        given = "" if references in ("", "[]") else f"What people wrote as answers to this context, as JSON:\n\n{references}"
        return self.file.filled(
            {
                "guidelines": f"What the annotators were told:\n\n{known}" if known else "",
                "criterion": f" with regard to {self.criterion}" if self.criterion else "",
                "meaning": f"{self.criterion}: {self.meaning.strip()}" if self.meaning.strip() else "",
                "scale": str(self.points or ""),
                "examples": _examples(examples, self.form.field),
                "references": given,
                "texts": texts,
            }
        )


def _object(texts: Sequence[Text]) -> dict[str, Any]:
    named = ("answer",) if len(texts) == 1 else ("A", "B")
    return {"context": list(texts[0].context), **{name: text.output for name, text in zip(named, texts, strict=True)}}


def _examples(examples: Sequence[Example], field: str) -> str:
    if not examples:
        return ""
    rows = [json.dumps(_object(one.texts) | {"people said": {field: one.label}}, ensure_ascii=False) for one in examples]
    return "\n".join(["What people answered in other contexts, as JSON, one a line:", "", *rows])
