"""The questions of the datasheet that want the researchers' words."""

from dataclasses import dataclass
from typing import Any

from django import forms

from annotation.assessment.datasheet.own_words import Written
from annotation.assessment.datasheet.questions import MOST_CHARACTERS, SECTIONS
from annotation.assessment.datasheet.sheet import SheetAnswer

NOT_YET = ("", "not answered yet")


@dataclass(frozen=True)
class Asked:
    """A question with the fields that it has."""

    answer: SheetAnswer
    chosen: Any
    text: Any

    @property
    def stored(self) -> str:
        """What somebody else stored meanwhile, where the fields say something else."""
        fields = [field for field in (self.chosen, self.text) if field and field.form.is_stale]
        differs = any(field.value() != field.initial for field in fields)
        return (self.answer.answer or "nothing") if differs else ""

    @property
    def has_errors(self) -> bool:
        return bool((self.chosen and self.chosen.errors) or (self.text and self.text.errors))


@dataclass(frozen=True)
class SheetSection:
    """criterion: what it is about, in section 4."""

    title: str
    criterion: str
    asked: list[Asked]

    @property
    def answered(self) -> int:
        return sum(one.answer.own is not None for one in self.asked)

    @property
    def has_errors(self) -> bool:
        return any(one.has_errors for one in self.asked)


class DatasheetForm(forms.Form):
    """seen: which answers were stored when the page was shown."""

    seen = forms.CharField(widget=forms.HiddenInput, required=False, max_length=100)

    def __init__(self, data=None, *, sheet: list[SheetAnswer], left_over, seen: str):
        self.rows = [answer for answer in sheet if answer.is_asked or answer.own]
        self.left_over = list(left_over)
        initial: dict[str, Any] = {"seen": seen}
        for answer in self.rows:
            own = answer.own
            chosen = [str(place) for place in own.chosen] if own else []
            initial[_name(answer, "chosen")] = chosen if answer.question.several else "".join(chosen[:1])
            initial[_name(answer, "text")] = own.text if own else ""
        super().__init__(data, initial=initial, auto_id="%s")
        self.now, self.is_stale = seen, False
        for answer in self.rows:
            self._add(answer)
        if self.left_over:
            choices = [(str(row.pk), str(row)) for row in self.left_over]
            self.fields["discard"] = forms.MultipleChoiceField(choices=choices, required=False)

    def _add(self, answer: SheetAnswer) -> None:
        question = answer.question
        choices = [(str(place), words) for place, words in question.choices]
        if question.several:
            self.fields[_name(answer, "chosen")] = forms.MultipleChoiceField(
                choices=choices, required=False, widget=forms.CheckboxSelectMultiple
            )
        elif choices:
            self.fields[_name(answer, "chosen")] = forms.ChoiceField(
                choices=[*choices, NOT_YET], required=False, widget=forms.RadioSelect
            )
        if question.explained or not choices:
            widget = forms.TextInput if question.is_short else forms.Textarea(attrs={"rows": 1 if choices else 2})
            self.fields[_name(answer, "text")] = forms.CharField(
                required=False, max_length=MOST_CHARACTERS, widget=widget, label="In words" if choices else question.words
            )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        self.is_stale = self.data.get("seen", "") != self.now
        if self.is_stale:
            self.add_error(
                None,
                "Somebody else saved answers in the meantime. Where they differ from yours, theirs stand below the field. Save "
                "again to keep yours.",
            )
        return data

    @property
    def written(self) -> list[Written]:
        """Of a form that is valid."""
        data, written = self.cleaned_data, []
        for answer in self.rows:
            sent = data.get(_name(answer, "chosen")) or []
            chosen = tuple(map(int, [sent] if isinstance(sent, str) else sent))
            text = data.get(_name(answer, "text"), "").replace("\r\n", "\n")
            written.append(Written(answer.question.number, answer.criterion, chosen, text))
        return written

    @property
    def discarded(self) -> list[int]:
        return list(map(int, self.cleaned_data.get("discard", [])))

    @property
    def sections(self) -> list[SheetSection]:
        """Section 4 once for each criterion."""
        found: dict[tuple[str, str], SheetSection] = {}
        for answer in self.rows:
            of = (answer.criterion.name if answer.criterion else "pairs") if answer.question.by_criterion else ""
            section = found.setdefault((answer.question.section, of), SheetSection(SECTIONS[answer.question.section], of, []))
            section.asked.append(Asked(answer, *(self._field(answer, part) for part in ("chosen", "text"))))
        return list(found.values())

    def _field(self, answer: SheetAnswer, part: str):
        name = _name(answer, part)
        return self[name] if name in self.fields else None


def _name(answer: SheetAnswer, part: str) -> str:
    on = f"-{answer.criterion.pk}" if answer.criterion else ""
    return f"{part}-{answer.question.number}{on}"
