"""A kind of question: everything about it that the rest of the product asks, in one class.

A new kind is a module or a folder with a subclass, given to `registry.register`, and a template for its widget
(docs/architecture.md has the list, and who asks what). `value_kind` has what kinds share that ask for a number about one
output.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from django.forms import Form
from django.forms.utils import flatatt
from django.utils.translation import gettext, gettext_lazy

from annotation.models import Assignment, Criterion, Item
from annotation.models.judgment import AnswerQuerySet
from annotation.quality.krippendorff import Level
from annotation.quality.report import JudgmentReport, ScoreReport
from annotation.quality.verdict import Asks
from annotation.questions.columns import Field
from annotation.questions.conditions import TURN, for_annotators, in_words, way_of
from core.errors import Refused

DECIDING_PREFIX = "score"  # of the inputs of the kind whose answers decide about conditions
CANNOT_SAY = "cannot_say"  # what a page or a program sends for it
CANNOT_SAY_WORDS = gettext_lazy("Cannot say")
WORST_TO_BEST = {Criterion.Best.HIGH: 1, Criterion.Best.LOW: -1}


@dataclass(frozen=True)
class Question:
    """What is asked: of which kind, on which criterion (None: on the whole)."""

    kind: Kind
    criterion: Criterion | None = None

    @property
    def on_pairs(self) -> bool:
        return self.kind.sides == 2

    @property
    def name(self) -> str:
        """What was judged, as QualityDecision.what."""
        return self.kind.question_name(self.criterion)

    @property
    def key(self) -> int | None:
        """The criterion's id."""
        return self.criterion.pk if self.criterion else None

    @property
    def cannot_say(self) -> bool:
        return bool(self.criterion and self.criterion.cannot_say)

    @property
    def is_optional(self) -> bool:
        return bool(self.criterion and self.criterion.optional)

    @property
    def asked_if(self) -> dict[str, Any]:
        """Its condition, {} without one."""
        return self.criterion.asked_if if self.criterion and not self.on_pairs else {}

    @property
    def asked_only(self) -> str:
        """The condition in words for researchers, empty without one: it goes with each number of its answers."""
        return in_words(self.asked_if)

    @property
    def keys(self) -> list[tuple[Any, Any]]:
        """What the list of keys says of it."""
        return [*self.kind.keys_of(self), *([("<kbd>n</kbd>", CANNOT_SAY_WORDS)] if self.cannot_say else [])]

    @property
    def sign(self) -> int:
        """1 where higher values are better, -1 where lower ones are."""
        return self.kind.sign(self.criterion.best if self.criterion else Criterion.Best.HIGH)


@dataclass(frozen=True)
class Widget:
    """A question as its template shows it. value: what was answered, as it is sent; None: nothing yet. is_missing: it was sent
    without a usable answer."""

    question: Question
    value: Any
    is_missing: bool

    @property
    def template(self) -> str:
        return self.question.kind.template

    @property
    def script(self) -> str:
        return self.question.kind.script

    @property
    def criterion(self) -> Criterion | None:
        return self.question.criterion

    @property
    def field(self) -> str:
        """The name of its inputs."""
        return self.question.kind.field(self.question)

    @property
    def cannot_say(self) -> tuple[str, Any, bool] | None:
        """(what is sent, words, is it chosen) where the criterion lets people say so."""
        return (CANNOT_SAY, CANNOT_SAY_WORDS, self.value == CANNOT_SAY) if self.question.cannot_say else None

    @property
    def is_required(self) -> bool:
        """By the form as it comes; a script requires a question that waits for an answer where its condition holds."""
        return not self.question.is_optional and self.question.asked_if.keys() <= {TURN}

    @property
    def only_if(self) -> str:
        return for_annotators(self.question.asked_if) if self.question.asked_if else ""

    @property
    def condition(self) -> str:
        """The same as attributes of its fieldset, which `conditions.js` reads."""
        asked_if, criterion = self.question.asked_if, self.criterion
        if asked_if.keys() <= {TURN} or criterion is None:  # where no answer decides, the page has the question or has it not
            return ""
        decides = next((one for one in criterion.campaign.asked if one.name == asked_if["criterion"]), None)
        if decides is None:  # in the preview of a design that is not in order yet
            return ""
        way = way_of(asked_if)
        said = {"data-asked-if": f"{DECIDING_PREFIX}_{decides.pk}", "data-way": way, "data-point": asked_if[way]}
        return flatatt(said | ({} if self.question.is_optional else {"data-required": True}))


@dataclass(frozen=True)
class Check:
    """One thing that was asked of an item with a known answer. what: the criterion's name, empty for the whole; given and
    expected in words."""

    what: str
    given: str
    expected: str
    is_right: bool


@dataclass(frozen=True)
class Given:
    """An answer as it is kept. value: None for "cannot say"."""

    value: Any
    detail: dict | None = None

    @property
    def cannot_say(self) -> bool:
        return self.value is None


@dataclass(frozen=True)
class KeptAnswer:
    """An answer about one output that a snapshot keeps, for files of other tools. row: as an export has it; system: with its
    checkpoint and sample; turns, output: the texts that it is about."""

    row: Mapping[str, Any]
    system: str
    turns: Sequence[str]
    output: str


@dataclass(frozen=True)
class AgreementRule:
    """How answers are filtered and agreement measured."""

    level: Level
    mad: float | None
    on_zero_mad: str
    seed: int
    points: Sequence[float] = ()  # of the scale, also those that nobody gave


class Kind:
    """The base of all kinds.

    name: under which criteria, files and snapshots know it. part: where its answers stand in what is sent, {part: {criterion
    id: answer}}; prefix: of its inputs' names. template: of its widget; keys: (HTML of the keys, what they do), for the list
    of keys. script: of its widget, by its path under static/: a module that exports `drawAll`, which draws all its widgets of
    a page; the widget says `data-script`, so that the page runs it again where the next item took its place. script_words:
    {name: text} of what the script says (`word`). table: the model that stores its answers. files: what its exports and
    imports are called. writes: files of other tools that a published snapshot holds of the answers to each question, {path, in
    which {} is the question: what writes them, given its name and the answers that are kept}.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str] = ""
    sides: ClassVar[int] = 1
    part: ClassVar[str]
    prefix: ClassVar[str]
    template: ClassVar[str]
    keys: ClassVar[Sequence[tuple[Any, Any]]] = ()
    script: ClassVar[str] = ""
    script_words: ClassVar[Mapping[str, str]] = {}
    table: ClassVar[type]
    files: ClassVar[str]
    asks: ClassVar[Asks] = Asks.TRUTH  # what its verdict rests on, where no researcher says otherwise
    is_graded: bool = False  # is a preference asked with how strong it is?
    counted: ClassVar[str] = ""  # what a known answer is called, where it is not as its files are
    takes_suggestions: ClassVar[bool] = False  # may what somebody answered before be suggested to its annotators?
    has_upper_end: ClassVar[bool] = True  # is its number never above the scale's highest?
    marks_texts: ClassVar[bool] = False  # does its widget mark the texts themselves?
    is_repeated: ClassVar[bool] = False  # may the same item be shown again, to see whether the answer stays?
    settings: ClassVar[Collection[str]] = ()  # what a criterion's `settings` may hold; `check` reads their values
    form: ClassVar[type[Form] | None] = None  # of its settings, on the page of the campaign's design
    form_template: ClassVar[str] = "includes/kind_settings.html"
    elicited: ClassVar[int] = 2  # HEDS 3.0, question 4.3.8: directly; 3: relatively, 6: by annotation

    def presented(self, question: Question) -> tuple[int, str]:
        """HEDS 3.0, question 4.3.5: 1 as options, 3 as a slider, 5 otherwise, with words for it."""
        return 1, ""

    # -- settings

    def question_name(self, criterion: Criterion | None) -> str:
        return str(criterion)

    def spec_fields(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """A criterion's fields from what its `form` was filled in with."""
        return dict(settings)

    def form_values(self, spec: Any) -> dict[str, Any]:
        """What the form shows of a criterion, or of a specification of one."""
        return {name: getattr(spec, name, None) for name in (self.form.base_fields if self.form else ())}

    def check(self, spec: Any) -> None:
        """Raises Refused where a criterion of this kind can't be asked."""

    def fixed_by_answers(self, criterion: Any) -> tuple:
        """What of a criterion gives its answers their meaning, and can't change once there are any."""
        return criterion.name, criterion.kind, criterion.low, criterion.high, criterion.best, criterion.settings

    # -- answering

    def keys_of(self, question: Question) -> Sequence[tuple[Any, Any]]:
        """What the list of keys says of this question."""
        return self.keys

    def field(self, question: Question) -> str:
        return f"{self.prefix}_{question.key}"

    def posted(self, posted: Mapping[str, str]) -> dict[str, Any]:
        """{part: {criterion id: answer}} of what a form sent, {} where it has nothing of this kind."""
        start, answers = f"{self.prefix}_", {}
        for name, text in posted.items():
            key = name.removeprefix(start)
            if name.startswith(start) and key.isascii() and key.isdecimal() and len(key) < 19:
                value = text if text == CANNOT_SAY else self.typed(text)
                if value is not None:
                    answers[int(key)] = value
        return {self.part: answers} if answers else {}

    def typed(self, text: str) -> Any:
        """One input's text as the answer that is sent; None where it is none."""
        return text or None

    def sent(self, answer: Mapping[str, Any], question: Question) -> Any:
        """The answer to this question in all that was sent; None where there is none."""
        by_criterion = answer.get(self.part)
        if not isinstance(by_criterion, dict):
            return None
        value = by_criterion.get(question.key, by_criterion.get(str(question.key)))
        return None if value == "" else value

    def widget(self, question: Question, answer: Mapping[str, Any], was_refused: bool) -> Widget:
        value = self.sent(answer, question)
        return Widget(question, value, was_refused and not self._is_answered(question, value))

    def suggested(self, question: Question, item: Item) -> Any:
        """The answer that an item's form begins with, as it would be sent: another's or a model's; None where there is none."""
        return None

    def _is_answered(self, question: Question, value: Any) -> bool:
        if value is None:
            return question.is_optional
        try:
            self.given(question, value)
        except Refused:
            return False
        return True

    def given(self, question: Question, sent: Any) -> Given:
        """Raises Refused where what was sent is no answer to the question."""
        raise NotImplementedError

    def please(self, questions: Sequence[Question]) -> str:
        """What is said where these were left open."""
        names = ", ".join(question.criterion.name for question in questions if question.criterion)
        return gettext("Please also answer: %(criteria)s.") % {"criteria": names}

    def row(self, question: Question, assignment: Assignment, given: Given, reason: str) -> Any:
        """An unsaved row of `table`; `store.rows_of` fills in who and why."""
        raise NotImplementedError

    def rows(self, question: Question, assignment: Assignment, given: Given, reason: str) -> list:
        """All unsaved rows of an answer."""
        return [self.row(question, assignment, given, reason)]

    def in_words(self, sent: Any) -> str:
        """A sent answer, for the person who gave it."""
        return str(CANNOT_SAY_WORDS if sent == CANNOT_SAY else sent)

    def row_in_words(self, row: Any) -> str:
        raise NotImplementedError

    def beside_in_words(self, row: Any) -> str:
        """What an answer says beside what counts, for researchers; empty: nothing."""
        return ""

    # -- checks: items whose answer is known, and items shown again

    def known(self, criterion: Criterion, answer: Any) -> list:
        """The accepted answers as they are stored; raises Refused."""
        raise NotImplementedError

    def checked(self, row: Any, expected: Mapping[str, Any], swapped: bool) -> Check | None:
        """None where nothing is expected of it."""
        raise NotImplementedError

    def as_given(self, row: Any) -> Any:
        """The answer as known answers have it."""
        raise NotImplementedError

    # -- files

    columns: ClassVar[Sequence[str]] = ()  # of an export, between the criterion and the comment
    optional_columns: ClassVar[Collection[str]] = ()  # which a file has only where an answer keeps them in its `detail`
    fields: ClassVar[Sequence[Field]] = ()  # of an import

    def cells(self, row: Any) -> dict[str, Any]:
        """{column: value} of an answer."""
        raise NotImplementedError

    writes: ClassVar[Mapping[str, Callable[[str, Sequence[KeptAnswer]], str]]] = {}

    # -- quality

    def assess(self, values: np.ndarray, rule: AgreementRule) -> ScoreReport | JudgmentReport:
        """values: (raters, units), nan where missing."""
        raise NotImplementedError

    def own_agreement(self, answers: AnswerQuerySet, seed: int = 0) -> dict[str, Any]:
        """What only this kind measures of how far people agree, {name in the report: figures}. answers: all that count, before
        any filter; none are read where the kind measures nothing of its own."""
        return {}

    def own_agreement_in_words(self, report: Mapping[str, Any]) -> str:
        """What a report says of these, a sentence; empty: nothing."""
        return ""

    def leaning_in_words(self, rows: Iterable[Mapping[str, Any]]) -> str:
        """What a board says where answers were given over suggestions; empty where none was. rows: as exports have them."""
        return ""

    @property
    def reversal(self) -> float | None:
        """What a value and that of exchanged sides add up to, where an answer is about two sides."""
        return None

    def level(self, rule_level: Level) -> Level:
        """At which level agreement is measured where the rule says this one."""
        return rule_level

    # -- board

    def sign(self, best: str) -> int:
        return WORST_TO_BEST[Criterion.Best(best)]
