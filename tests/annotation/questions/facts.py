"""A third kind of question, all of it: how many facts of a text are right, 0 to 9, or cannot say."""

from django import forms

from annotation.questions.columns import DIRECTION_FIELDS, Field, maybe
from annotation.questions.value_kind import ValueKind, imported_direction


class FactsForm(forms.Form):
    most = forms.IntegerField(initial=9, min_value=1, max_value=9, label="Facts at most")


class Facts(ValueKind):
    name = "facts"
    title = "the number of right facts"
    about = "Facts: how many facts of outputs already here are right"
    files = part = prefix = "facts"
    template = "facts.html"
    keys = (("<kbd>0</kbd> to <kbd>9</kbd>", "so many facts are right"),)
    form = FactsForm
    columns, value_column = ("of", "right"), "right"
    fields = (
        Field("right", "how many facts are right", others=("correct", "right_facts")),
        maybe("of", "how many there are at most; default 9"),
        *DIRECTION_FIELDS,
    )

    def spec_fields(self, settings):
        return {"low": 0, "high": settings["most"], "cannot_say": True}

    def form_values(self, spec):
        return {"most": spec.high}

    def cells(self, row):
        return {"of": row.criterion.high, "right": row.value}

    def imported_settings(self, row):
        most = row.whole("of")
        return imported_direction(row) | ({"low": 0, "high": most} if most is not None else {})

    def new_settings(self, row, name):
        return {"low": 0, "high": 9} | self.imported_settings(row)

    def level(self, rule_level):
        return "ratio"  # no right fact is nothing, and eight are twice four
