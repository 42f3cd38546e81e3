"""A scale: whole numbers from `low` to `high`, with words for its ends or for each point. Buttons, a number, or a slider."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import forms
from django.utils.html import escape
from django.utils.translation import gettext, gettext_lazy

from annotation.models import Criterion
from annotation.questions.columns import SCALE_FIELDS, folded_word, is_cannot_say
from annotation.questions.kind import Given, Question, Widget
from annotation.questions.value_kind import ValueKind, imported_direction
from core.errors import Refused, quoted
from core.rowfiles import BadField, Row, shown

ONE_LINE, BUTTONS = 11, 21  # points that fit beside each other on a phone; that are buttons and not a number field
SHARES_BELOW, FEWEST_SHARES = 10, 5  # a highest point that no share reaches; answers of one person that tell of shares
FINE, FEWEST_REMARKED = 50, 10  # steps of a scale that is seldom used in its lowest tenth alone; answers that tell so
LETTER = re.compile(r"[^\W\d_]")
LOWEST, HIGHEST = -1000, 1000  # ends that a scale may have
SLIDER = "slider"  # the setting that makes a scale one
WORDS = "words"  # how a question is shown that is answered by no or yes
TYPED_KEYS = ((gettext_lazy("<kbd>0</kbd> to <kbd>9</kbd>"), gettext_lazy("type the score of the current criterion")),)
SLIDER_KEYS = (
    *TYPED_KEYS,
    ("<kbd>←</kbd> <kbd>→</kbd> <kbd>PgUp</kbd> <kbd>PgDn</kbd>", gettext_lazy("move the slider that has the focus")),
)


class ScaleForm(forms.Form):
    low = forms.IntegerField(initial=1, required=False, label="Lowest")
    low_label = forms.CharField(max_length=60, required=False, label="Lowest means")
    high = forms.IntegerField(initial=5, required=False, label="Highest")
    high_label = forms.CharField(max_length=60, required=False, label="Highest means")
    anchors = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        label="What each point means",
        help_text="One point on each line, for example: 3 acceptable",
    )
    slider = forms.BooleanField(required=False, label="Answered by moving a slider")

    def clean_anchors(self) -> dict[str, str]:
        anchors: dict[str, str] = {}
        for line in filter(None, map(str.strip, self.cleaned_data["anchors"].splitlines())):
            point, _, meaning = line.partition(" ")
            point, meaning = point.rstrip(":.="), meaning.lstrip("=:- ").strip()
            if not point.removeprefix("-").isdecimal() or len(point) > 5 or not meaning:
                raise forms.ValidationError(f"“{line}”: start with a point of the scale, then give its meaning.")
            if str(int(point)) in anchors:
                raise forms.ValidationError(f"The point {point} occurs twice.")
            if len(meaning) > 200:
                raise forms.ValidationError(f"The meaning of {point} is longer than 200 characters.")
            anchors[str(int(point))] = meaning
        return anchors

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        low, high = data.get("low"), data.get("high")
        if low is None or high is None:
            self.add_error(None, "The ends of the scale must be two whole numbers.")
        elif low >= high:
            self.add_error(None, "The highest point of the scale must be above the lowest.")
        elif strange := [point for point in data.get("anchors") or () if not low <= int(point) <= high]:
            self.add_error("anchors", f"{strange[0]} is no point of this scale.")
        return data


class ScaleWidget(Widget):
    """Its points as buttons, or a field for a number."""

    @property
    def shape(self) -> str:
        """words: a word for each of two points, in place of the points; anchored: a text beside each point; line, many: buttons
        in one line or several; number: a field to type in; slider: the same, with a slider."""
        assert self.criterion is not None, "a scale is a criterion's"
        return shape_of(self.criterion)

    @property
    def points(self) -> list[tuple[str, str, bool]]:
        """(point, what it means, is it chosen)"""
        assert self.criterion is not None, "a scale is a criterion's"
        return [(str(point), word, point == self.value) for point, word in _words_by_point(self.criterion).items()]

    @property
    def meanings(self) -> list[tuple[str, str]]:
        """(point, what it means) of the points that have a meaning beside the ends' labels."""
        assert self.criterion is not None, "a scale is a criterion's"
        return sorted(self.criterion.anchors.items(), key=lambda anchor: int(anchor[0]))

    @property
    def number(self) -> int | None:
        """What stands in the field for a number."""
        return self.value if isinstance(self.value, int) else None

    @property
    def lowest_is_best(self) -> bool:
        return self.question.sign < 0


class Scale(ValueKind):
    name = "scale"
    title = "a scale"
    about = "Scores: people's Likert answers on outputs already here"
    files = "scores"
    template = "includes/scale.html"
    keys = (
        (
            gettext_lazy("<kbd>0</kbd> to <kbd>9</kbd>"),
            gettext_lazy("score the current criterion and go to the next (<kbd>0</kbd> also means ten)"),
        ),
        ("<kbd>Tab</kbd>", gettext_lazy("go from criterion to criterion")),
        ("<kbd>Backspace</kbd>", gettext_lazy("go back to the previous criterion")),
    )
    form = ScaleForm
    form_template = "includes/scale_settings.html"
    fields = SCALE_FIELDS
    settings = (SLIDER,)

    def presented(self, question: Question) -> tuple[int, str]:
        assert question.criterion is not None, "a scale is a criterion's"
        return {SLIDER: (3, ""), "number": (5, "A field to type a number in.")}.get(shape_of(question.criterion), (1, ""))

    def spec_fields(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        fields = {name: value for name, value in settings.items() if name != SLIDER}
        return fields | ({"settings": {SLIDER: True}} if settings[SLIDER] else {})

    def form_values(self, spec: Any) -> dict[str, Any]:
        lines = sorted(spec.anchors.items(), key=lambda anchor: int(anchor[0]))
        anchors = "\n".join(f"{point} {meaning}" for point, meaning in lines)
        return super().form_values(spec) | {"anchors": anchors, SLIDER: spec.settings.get(SLIDER, False)}

    def keys_of(self, question: Question) -> Sequence[tuple[Any, Any]]:
        assert question.criterion is not None, "a scale is a criterion's"
        shape, words = shape_of(question.criterion), _words_by_point(question.criterion)
        if shape == WORDS:
            named = [(f"<kbd>{point}</kbd>", escape(word)) for point, word in words.items() if 0 <= point <= 9]
            return (*named, *self.keys[1:])
        typed = {"number": TYPED_KEYS, SLIDER: SLIDER_KEYS}.get(shape)
        return (*typed, *self.keys[1:]) if typed else self.keys

    def check(self, spec: Any) -> None:
        if not isinstance(spec.settings.get(SLIDER, False), bool):
            raise Refused(f"{spec.name}: the setting {SLIDER} is true or false.")
        if not LOWEST <= spec.low < spec.high <= HIGHEST:
            raise Refused(f"The scale of {spec.name!r} must run from a lower to a higher whole number.")
        strange = set(spec.anchors) - {str(point) for point in range(spec.low, spec.high + 1)}
        if strange:
            raise Refused(f"{spec.name}: {min(strange)} is not a point of its scale, so it can't have a meaning.")

    def widget(self, question: Question, answer, was_refused: bool) -> ScaleWidget:
        plain = super().widget(question, answer, was_refused)
        return ScaleWidget(plain.question, plain.value, plain.is_missing)

    def value_in_words(self, criterion: Criterion, value: float) -> str:
        words = _words_by_point(criterion) if shape_of(criterion) == WORDS else {}
        return words.get(int(value)) or super().value_in_words(criterion, value)

    def please(self, questions) -> str:
        names = ", ".join(question.criterion.name for question in questions)
        return gettext("Please also score: %(criteria)s.") % {"criteria": names}

    def imported(self, row: Row, criterion: Criterion) -> Given:
        """A point, or its word: one of those that the file's scale lists, or that the campaign gives it."""
        said = row.get(self.value_column)
        if not isinstance(said, str) or is_cannot_say(said) or not _is_word(said):
            return super().imported(row, criterion)
        listed = scale_words(row.get("scale"))
        if listed and len(listed) != len(criterion.points):
            points = f"{quoted(criterion.name)} has {len(criterion.points)} points"
            raise BadField("scale", f"lists {len(listed)} words, but {points}")
        words = dict(zip(map(folded_word, listed), criterion.points)) or words_of(criterion)
        if folded_word(said) not in words:
            known = ", ".join(map(shown, words)) or "none"
            way = "list the scale's words from the lowest to the highest (scale: bad | fair | good), or write numbers"
            raise BadField(self.value_column, f"expected a number, found {shown(said)}; words with a point: {known}; {way}")
        return Given(words[folded_word(said)])

    def wrong_unit(self, criterion: Criterion, answers: Sequence[tuple[str, float]]) -> str:
        """Shares from 0 to 1 where points go to ten or more: all of a file's, or all of one person's."""
        if criterion.low != 0 or criterion.high < SHARES_BELOW:
            return ""
        whose = {"": [value for _, value in answers]}
        for name, value in answers:
            whose.setdefault(name, []).append(value)
        for name, values in whose.items():
            if are_shares(values) and (not name or len(values) >= FEWEST_SHARES):
                by = f" of {quoted(name)}" if name else ""
                scale = f"{criterion.low}-{criterion.high}"
                ends = f"has the scale {criterion.low} to {criterion.high}"
                return (
                    f"lies between 0 and 1 in every row{by}, and {quoted(criterion.name)} {ends}; write points of that scale, "
                    f"or, where they are such points, say so: scale {scale}"
                )
        return ""

    def remarks(self, criterion: Criterion, values: Sequence[float]) -> str:
        lowest_tenth = criterion.low + (criterion.high - criterion.low) / 10
        if len(values) < FEWEST_REMARKED or criterion.high - criterion.low < FINE or max(values) > lowest_tenth:
            return ""
        points = f"from {min(values):g} to {max(values):g}"
        return f"The scores on {quoted(criterion.name)} go {points}; its scale goes from {criterion.low} to {criterion.high}."

    def imported_settings(self, row: Row) -> dict[str, Any]:
        scale = None if scale_words(row.get("scale")) else _scale(row)
        return imported_direction(row) | ({"low": scale[0], "high": scale[1]} if scale else {})

    def new_settings(self, row: Row, name: str) -> dict[str, Any]:
        settings = self.imported_settings(row)
        if words := scale_words(row.get("scale")):
            anchors = {str(point): word for point, word in enumerate(words, start=1)}
            return settings | {"low": 1, "high": len(words), "anchors": anchors}
        if "low" not in settings:
            raise BadField("scale", f"is missing, and {quoted(name)} is a new criterion; expected [lowest, highest]")
        return settings


def are_shares(values: Sequence[float]) -> bool:
    """All from 0 to 1, and not all of them 0 or 1."""
    return all(0 <= value <= 1 for value in values) and any(0 < value < 1 for value in values)


def _words_by_point(criterion: Criterion) -> dict[int, str]:
    """{point: what it means, or nothing}"""
    ends = {criterion.low: criterion.low_label, criterion.high: criterion.high_label}
    return {point: criterion.anchors.get(str(point)) or ends.get(point, "") for point in criterion.points}


def shape_of(criterion: Criterion) -> str:
    """How a scale is shown; `ScaleWidget.shape` says which there are."""
    count = len(criterion.points)
    if criterion.settings.get(SLIDER):
        return SLIDER
    if count == 2 and all(_words_by_point(criterion).values()):
        return WORDS
    if count > BUTTONS:
        return "number"
    if any(criterion.anchors.values()):
        return "anchored"
    return "many" if count > ONE_LINE else "line"


def scale_words(value: Any) -> list[str]:
    """The words of a scale from the lowest to the highest point, a list or with | between them; none where it has numbers."""
    parts = value.split("|") if isinstance(value, str) else value if isinstance(value, list) else []
    words = [part.strip() for part in parts if isinstance(part, str) and _is_word(part)]
    return words if len(words) == len(parts) > 1 and len(set(map(folded_word, words))) == len(words) else []


def words_of(criterion: Criterion) -> dict[str, int]:
    """{a word, in one spelling: the point that it stands for} of the words that the campaign gives a scale's points."""
    ends = [(criterion.low, criterion.low_label), (criterion.high, criterion.high_label)]
    anchors = [(int(point), word) for point, word in criterion.anchors.items()]
    return {folded_word(word): point for point, word in [*ends, *anchors] if word.strip()}


def known_words(criteria: Iterable[Criterion], scale: Any = None) -> set[str]:
    """The words that stand for points, in one spelling; scale: as somebody typed it for a file."""
    listed = {folded_word(word) for word in scale_words(scale)}
    return listed.union(*(words_of(criterion) for criterion in criteria))


def _is_word(text: str) -> bool:
    """Has it letters, and is no number as 1e5?"""
    try:
        return math.isnan(float(text))
    except ValueError:
        return bool(LETTER.search(text))


def _scale(row: Row) -> tuple[int, int] | None:
    """[lowest, highest] as a list, or "1-5" / "1:5" as CSV writes it."""
    value = row.get("scale")
    if value is None:
        return None
    if isinstance(value, str):
        value = value.replace(":", "-").split("-")
    try:
        numbers = [float(v) for v in value if not isinstance(v, bool)]
        low, high = (int(n) for n in numbers if n == int(n))
    except (TypeError, ValueError, OverflowError):
        raise BadField("scale", "expected [lowest, highest], two whole numbers") from None
    if not LOWEST <= low < high <= HIGHEST:
        raise BadField("scale", "expected the lowest number first, and both between -1000 and 1000")
    return low, high
