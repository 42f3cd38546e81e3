"""Error spans (ESA, MQM): what is wrong in an output is marked, with a severity and, where there is a list, a category.

The answer that counts is the sum of the errors' weights, so that boards, agreement and files read a number as of any kind; the
marks stand beside it (`detail["spans"]`).
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext, gettext_lazy, gettext_noop, ngettext

from annotation.models import Annotator, Assignment, Criterion, Item, LikertScore, Output
from annotation.models.judgment import AnswerQuerySet
from annotation.quality.krippendorff import Level
from annotation.questions.columns import cannot_say
from annotation.questions.kind import CANNOT_SAY, CANNOT_SAY_WORDS, Given, Question, Widget
from annotation.questions.spans import marks, other_tools, suggestions
from annotation.questions.spans.agreement import agreement_of, in_a_sentence
from annotation.questions.spans.columns import SPAN_FIELDS, SPANS
from annotation.questions.spans.method import MQM, Scheme
from annotation.questions.spans.suggestions import SUGGESTED, SUGGESTED_BY
from annotation.questions.value_kind import ValueKind
from core.errors import Refused
from core.rowfiles import BadField, Row
from core.rows import json_in

HIGHEST = 25  # where scales are drawn to; five major errors, or a text that is no translation. Sums above it count as they are
MOST_SEVERITIES, MOST_CATEGORIES = 9, 100  # a digit is the key of a severity
WEIGHED = re.compile(r"(?P<name>.*\S)\s+(?P<weight>\d+(?:\.\d+)?)$")
SEVERITIES, CATEGORIES, IN_SOURCE = "severities", "categories", "source"
ESA_SEVERITIES = [["minor", 1.0], ["major", 5.0]]
# Freitag et al. 2021, table 3, with the weights of table 4.
MQM_CATEGORIES: list[list] = [
    *([f"Accuracy/{name}", {}] for name in ("Addition", "Omission", "Mistranslation", "Untranslated text")),
    ["Fluency/Punctuation", {"minor": 0.1}],
    *([f"Fluency/{name}", {}] for name in ("Spelling", "Grammar", "Register", "Inconsistency", "Character encoding")),
    ["Terminology/Inappropriate for context", {}],
    ["Terminology/Inconsistent use of terminology", {}],
    ["Style/Awkward", {}],
    *([f"Locale convention/{name} format", {}] for name in ("Address", "Currency", "Date", "Name", "Telephone", "Time")),
    ["Other", {}],
    ["Source error", {}],
    ["Non-translation", {"minor": 25.0, "major": 25.0, "critical": 25.0}],
]
IMPORTED = {
    SEVERITIES: [[name, weight] for name, weight in MQM.severities.items()],
    CATEGORIES: MQM_CATEGORIES,
    IN_SOURCE: True,
}
SEVERITY_WORDS = {
    "neutral": gettext_lazy("neutral"),
    "minor": gettext_lazy("minor"),
    "major": gettext_lazy("major"),
    "critical": gettext_lazy("critical"),
}

SCRIPT_WORDS = {
    "text_to_mark": gettext_noop("The text. Select what is wrong, then choose how grave it is."),
    "context_to_mark": gettext_noop("The context. Select what the text lacks, then choose how grave that is."),
    "select_first": gettext_noop("Select some words first."),
    "marked": gettext_noop("{severity}: {words}. Marked: {count}."),
    "taken_off": gettext_noop("No longer marked: {words}. Marked: {count}."),
    "severity_of": gettext_noop("Severity of “{words}”"),
    "category_of": gettext_noop("Category of “{words}”"),
    "take_off": gettext_noop("Remove the mark of “{words}”"),
}


def scheme_of(settings: Mapping[str, Any]) -> Scheme:
    """Of a criterion's settings, which hold lists since a database keeps no order of keys."""
    severities = {name: float(weight) for name, weight in settings.get(SEVERITIES, ESA_SEVERITIES)}
    categories = {name: {s: float(w) for s, w in own.items()} for name, own in settings.get(CATEGORIES, ())}
    return Scheme(severities, categories)


def severity_words(name: str) -> str:
    """In the page's language, where it is one of the usual ones."""
    return str(SEVERITY_WORDS.get(name, name))


class SpansForm(forms.Form):
    severities = forms.CharField(
        required=False,
        initial="minor 1\nmajor 5",
        widget=forms.Textarea(attrs={"rows": 3}),
        label="Severities and their weights",
        help_text="One on each line, as: minor 1. A text's score is the sum of its errors' weights; the lowest is best.",
    )
    categories = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 5}),
        label="Categories of errors",
        help_text="One on each line; empty: none is asked. Weights of its own follow a colon: Fluency/Punctuation: minor 0.1",
    )
    source = forms.BooleanField(required=False, initial=True, label="What is missing can be marked in the context")

    def clean_severities(self) -> list[list]:
        found = [_weighed(line) for line in _lines(self.cleaned_data["severities"])]
        return found or ESA_SEVERITIES

    def clean_categories(self) -> list[list]:
        return [_category(line) for line in _lines(self.cleaned_data["categories"])]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _weighed(words: str) -> list:
    """["minor", 1.0]; raises ValidationError."""
    match = WEIGHED.match(words.strip())
    if not match:
        raise forms.ValidationError(f"“{words}”: write a severity and its weight, for example: minor 1")
    return [match["name"], float(match["weight"])]


def _category(line: str) -> list:
    name, _, weights = line.rpartition(":") if re.search(r":[^:]*\d\s*$", line) else (line, "", "")
    return [name.strip(), dict(_weighed(part) for part in weights.split(",")) if weights else {}]


class SpansWidget(Widget):
    """Its severities as buttons, its categories as a list, and what was marked."""

    @property
    def settings(self) -> Mapping[str, Any]:
        assert self.criterion is not None, "errors are a criterion's"
        return self.criterion.settings

    @property
    def severities(self) -> list[tuple[str, str, int]]:
        """(name, in words, the key that marks with it)"""
        return [(name, severity_words(name), key) for key, name in enumerate(scheme_of(self.settings).severities, start=1)]

    @property
    def categories(self) -> list[str]:
        return [name for name, _ in self.settings.get(CATEGORIES, ())]

    @property
    def in_source(self) -> bool:
        return bool(self.settings.get(IN_SOURCE, True))

    @property
    def marked(self) -> str:
        """What stands in its field: JSON, as the script writes it; empty where nothing was answered."""
        return json.dumps(self.value, ensure_ascii=False) if isinstance(self.value, list) else ""


class Spans(ValueKind):
    name = "spans"
    title = "marked errors (ESA, MQM)"
    about = "Error spans: what people marked as wrong in outputs already here"
    part, prefix, files = SPANS, SPANS, SPANS
    template = "includes/spans.html"
    keys = (
        ("<kbd>m</kbd>", gettext_lazy("go to the text; <kbd>Shift</kbd> and the arrows select what is wrong")),
        ("<kbd>1</kbd> <kbd>2</kbd>", gettext_lazy("mark it with the first, the second severity")),
        ("<kbd>0</kbd>", gettext_lazy("there is no error")),
        ("<kbd>Delete</kbd>", gettext_lazy("take off the mark at the caret")),
    )
    script = "js/annotate/spans.js"
    script_words = SCRIPT_WORDS
    columns, value_column = ("scheme", "errors", "score", SUGGESTED_BY, SUGGESTED), "errors"
    optional_columns, takes_suggestions = (SUGGESTED_BY, SUGGESTED), True
    number_column = "score"
    fields = SPAN_FIELDS
    settings = (SEVERITIES, CATEGORIES, IN_SOURCE)
    writes = {"mqm/{}.tsv": other_tools.mqm, "label_studio/{}.json": other_tools.label_studio}
    form = SpansForm
    form_template = "includes/spans_settings.html"
    counted = "sums of weights"
    marks_texts, is_told_by_detail = True, True
    has_upper_end = False
    elicited = 6

    def presented(self, question: Question) -> tuple[int, str]:
        return 5, "Errors are marked in the text, with their severity."

    # -- settings

    def spec_fields(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        return {"low": 0, "high": HIGHEST, "best": Criterion.Best.LOW, "settings": dict(settings)}

    def form_values(self, spec: Any) -> dict[str, Any]:
        severities = "\n".join(f"{name} {weight:g}" for name, weight in spec.settings.get(SEVERITIES, ESA_SEVERITIES))
        categories = "\n".join(_category_line(name, own) for name, own in spec.settings.get(CATEGORIES, ()))
        return {SEVERITIES: severities, CATEGORIES: categories, IN_SOURCE: spec.settings.get(IN_SOURCE, True)}

    def check(self, spec: Any) -> None:
        if spec.best != Criterion.Best.LOW or spec.low != 0 or spec.high <= 0:
            raise Refused(f"{spec.name}: errors are counted from 0 (low: 0), and the fewest are best (best: low).")
        for why in _flaws(spec.settings):
            raise Refused(f"{spec.name}: {why}.")

    # -- answering

    def keys_of(self, question: Question) -> Sequence[tuple[Any, Any]]:
        assert question.criterion is not None, "errors are a criterion's"
        return self.keys

    def typed(self, text: str) -> Any:
        """JSON of the page's script; without scripts, an error on each line, and 0 for none."""
        if text.strip() == "0":
            return []
        if text.lstrip()[:1] == "[":
            try:
                return json.loads(text)
            except (ValueError, RecursionError):
                return text
        return (marks.lines_read(text) or text) if text.strip() else None

    def widget(self, question: Question, answer: Mapping[str, Any], was_refused: bool) -> SpansWidget:
        plain = super().widget(question, answer, was_refused)
        return SpansWidget(plain.question, plain.value, plain.is_missing)

    def given(self, question: Question, sent: Any) -> Given:
        """What is marked has its place only in `row`, which has the texts."""
        criterion = question.criterion
        assert criterion is not None, "errors are a criterion's"
        if sent == CANNOT_SAY and question.cannot_say:
            return Given(None)
        try:
            found = marks.checked(sent, scheme_of(criterion.settings))
        except marks.BadMark:
            raise Refused(_please(criterion)) from None
        listed = [name for name, _ in criterion.settings.get(CATEGORIES, ())]
        if listed and any(mark.get("category") not in listed for mark in found):
            raise Refused(gettext("%(criterion)s: choose a category for each error.") % {"criterion": criterion.name})
        return given_of(criterion, found)

    def row(self, question: Question, assignment: Assignment, given: Given, reason: str) -> LikertScore:
        output = assignment.item.output
        placed = self._placed(question.criterion, output, given)
        if beside := suggestions.suggestion(output, question.criterion):  # type: ignore[arg-type]  # errors are a criterion's
            placed = Given(placed.value, (placed.detail or {}) | beside)
        return super().row(question, assignment, placed, reason)

    def _placed(self, criterion: Any, output: Output, given: Given) -> Given:
        if not (given.detail and given.detail["spans"]):
            return given
        try:
            found = marks.placed(given.detail["spans"], output.text, output.context.turns)
        except marks.BadMark:
            raise Refused(_please(criterion)) from None
        return given_of(criterion, found)

    def suggested(self, question: Question, item: Item) -> list[marks.Mark] | None:
        assert question.criterion is not None, "errors are a criterion's"
        return suggestions.suggestion(item.output, question.criterion).get(SUGGESTED)

    def please(self, questions: Sequence[Question]) -> str:
        names = ", ".join(question.criterion.name for question in questions if question.criterion)
        return gettext("Please mark the errors, or say that there are none: %(criteria)s.") % {"criteria": names}

    def in_words(self, sent: Any) -> str:
        return in_words(sent) if isinstance(sent, list) else super().in_words(sent)

    def row_in_words(self, row: LikertScore) -> str:
        return str(CANNOT_SAY_WORDS) if row.value is None else in_words((row.detail or {}).get("spans", []))

    def beside_in_words(self, row: LikertScore) -> str:
        return in_words(row.detail["spans"]) if row.detail and row.detail.get("spans") else ""

    # -- files

    def cells(self, row: LikertScore) -> dict[str, Any]:
        errors = None if row.value is None else (row.detail or {}).get("spans", [])
        beside = {name: (row.detail or {}).get(name) for name in self.optional_columns}
        return {"scheme": dict(sorted(row.criterion.settings.items())), "errors": errors, "score": row.value, **beside}

    def imported(self, row: Row, criterion: Criterion) -> Given:
        said = json_in(row.get(self.value_column))
        if cannot_say(row, self.value_column):
            return Given(None, self._suggested_in(row, criterion))
        try:
            given = given_of(criterion, marks.checked(said, scheme_of(criterion.settings)))
        except marks.BadMark as error:
            raise BadField(self.value_column, str(error)) from None
        given = Given(given.value, {**(given.detail or {}), **(self._suggested_in(row, criterion) or {})})
        if row.get("score") not in (None, "") and abs(row.number("score") - given.value) > 1e-6:
            raise BadField("score", f"is {row.number('score'):g}, and the errors weigh {given.value:g}")
        return given

    def _suggested_in(self, row: Row, criterion: Criterion) -> dict[str, Any] | None:
        """What a row says that its annotator was shown; raises BadField."""
        whose = row.name(SUGGESTED_BY, default="")
        if not whose:
            return None
        try:
            return {SUGGESTED_BY: whose, SUGGESTED: marks.checked(json_in(row.get(SUGGESTED)), scheme_of(criterion.settings))}
        except marks.BadMark as error:
            raise BadField(SUGGESTED, str(error)) from None

    def imported_row(self, criterion: Criterion, output: Output, annotator: Annotator, given: Given) -> LikertScore:
        detail = self._all_placed(given.detail or {}, output)
        return super().imported_row(criterion, output, annotator, Given(given.value, detail or None))

    def _all_placed(self, detail: dict[str, Any], output: Output) -> dict[str, Any]:
        """Raises BadField."""
        for name, column in (("spans", self.value_column), (SUGGESTED, SUGGESTED)):
            if detail.get(name):
                try:
                    detail = detail | {name: marks.placed(detail[name], output.text, output.context.turns)}
                except marks.BadMark as error:
                    raise BadField(column, str(error)) from None
        return detail

    def suggestion(self, row: Row, criterion: Criterion, output: Output) -> dict[str, Any]:
        given = self.imported(row, criterion)
        found = self._all_placed(given.detail or {}, output)
        return {"by": row.name("annotator"), "marks": found.get("spans", [])}

    def unsaid_in_words(self, answers: Iterable[tuple[LikertScore, Mapping[str, Any]]]) -> str:
        return suggestions.unsaid([(row.detail or {}, found["marks"]) for row, found in answers], "spans")

    def imported_settings(self, row: Row) -> dict[str, Any]:
        """The fewest errors are best, whatever a criterion's name is."""
        return {"best": Criterion.Best.LOW} | ({"settings": scheme} if (scheme := _scheme(row)) else {})

    def new_settings(self, row: Row, name: str) -> dict[str, Any]:
        return {"low": 0, "high": HIGHEST, "settings": IMPORTED} | self.imported_settings(row)

    def told(self, value: float | None, detail: Mapping[str, Any] | None) -> Any:
        """Marks that weigh as much are not the same answer."""
        return None if value is None else tuple(sorted(map(marks.span_of, (detail or {}).get("spans", ()))))

    def told_in_words(self, told: Any) -> str:
        return "empty" if told is None else f"{len(told)} errors"

    # -- quality

    def level(self, rule_level: Level) -> Level:
        return "interval"  # of the sum of weights

    def own_agreement(self, answers: AnswerQuerySet, seed: int = 0) -> dict[str, Any]:
        rows = list(answers.order_by("output_id", "annotator_id").values_list("output_id", "detail"))
        beside = suggestions.account([detail or {} for _, detail in rows], "spans")
        return {"marks": agreement_of(rows, seed), **({SUGGESTED: beside} if beside else {})}

    def own_agreement_in_words(self, report: Mapping[str, Any]) -> str:
        said = in_a_sentence(report.get("marks")), suggestions.in_a_sentence(report.get(SUGGESTED))
        return " ".join(filter(None, said))

    def leaning_in_words(self, rows: Iterable[Mapping[str, Any]]) -> str:
        answers = list(rows)
        found = suggestions.in_a_sentence(suggestions.account(answers, self.value_column))
        return " ".join(filter(None, [found, suggestions.of_systems(answers, self.value_column)]))


def given_of(criterion: Criterion, found: Sequence[marks.Mark]) -> Given:
    """Marks with what they weigh together, whether or not they have their places."""
    scheme = scheme_of(criterion.settings)
    weights = (scheme.weight(mark["severity"], mark.get("category", "")) for mark in found)
    return Given(round(sum(weights), 6), {"spans": list(found)})


def in_words(found: Sequence[Mapping[str, Any]]) -> str:
    """How many, and which severities and words."""
    if not found:
        return gettext("No errors")
    count = ngettext("%(count)s error", "%(count)s errors", len(found)) % {"count": len(found)}
    each = [" ".join(filter(None, (severity_words(m["severity"]), m.get("text") and f"“{m['text']}”"))) for m in found]
    return f"{count}: {'; '.join(each)}"


def _please(criterion: Criterion) -> str:
    about = {"criterion": criterion.name}
    return gettext("%(criterion)s: the marks do not fit the text. Please take them off and mark again.") % about


def _scheme(row: Row) -> dict[str, Any]:
    """The criterion's settings that a row of a file has; {} where it has none."""
    said = json_in(row.get("scheme"))
    if said in (None, "", {}):
        return {}
    for why in ["is no JSON object"] if not isinstance(said, dict) else _flaws(said):
        raise BadField("scheme", why)
    return said


def _flaws(settings: Mapping[str, Any]) -> list[str]:
    """What is wrong with settings of this kind, the first of it."""
    severities, categories = settings.get(SEVERITIES, ESA_SEVERITIES), settings.get(CATEGORIES, [])
    if not _pairs(severities, MOST_SEVERITIES) or not severities or not all(_is_weight(weight) for _, weight in severities):
        return [f'{SEVERITIES} is a list of at most {MOST_SEVERITIES} like ["minor", 1], with weights from 0 to 1000']
    if not _pairs(categories, MOST_CATEGORIES) or not all(isinstance(own, dict) for _, own in categories):
        return [f'{CATEGORIES} is a list of at most {MOST_CATEGORIES} like ["Fluency/Punctuation", {{"minor": 0.1}}]']
    if not all(_is_weight(weight) for _, own in categories for weight in own.values()):
        return ["the weights of categories are numbers from 0 to 1000"]
    return [] if isinstance(settings.get(IN_SOURCE, True), bool) else [f"{IN_SOURCE} is true or false"]


def _pairs(value: Any, most: int) -> bool:
    """Is it a list of [name, something], each name once?"""
    if not isinstance(value, list) or len(value) > most:
        return False
    if not all(isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) and pair[0].strip() for pair in value):
        return False
    names = [name for name, _ in value]
    return len(set(names)) == len(names) and all(len(name) <= marks.LONGEST_CATEGORY for name in names)


def _is_weight(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1000


def _category_line(name: str, own: Mapping[str, float]) -> str:
    weights = ", ".join(f"{severity} {weight:g}" for severity, weight in own.items())
    return f"{name}: {weights}" if weights else name
