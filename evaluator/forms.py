"""What several pages' forms share."""

import json

from django import forms


class CriterionField(forms.TypedChoiceField):
    """People's criterion: its name, "" for judgments of pairs, None for the first. Sent as JSON, so that no name can be
    taken for one of the other two."""

    def __init__(self, **kwargs):
        super().__init__(required=False, coerce=json.loads, empty_value=None, **kwargs)

    def offer(self, names: list[str], default: str, pairs: str, named: str = "{}") -> None:
        self.choices = [("null", default), *((json.dumps(name), named.format(name) if name else pairs) for name in names)]
