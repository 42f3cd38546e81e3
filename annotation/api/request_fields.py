"""A request holds only fields that there are: a misspelt one is an error that names it, not a design that nobody asked for."""

import difflib
import re
from collections.abc import Iterable, Mapping

from django.http import QueryDict
from rest_framework.serializers import ListField, Serializer, ValidationError

from core.errors import shortened

OF_EVERY_REQUEST = {"csrfmiddlewaretoken", "format"}  # of a browser's form, and of DRF's own in a query
MOST = 20  # that one answer names


class KnownFields(Serializer):
    """Before a serializer of DRF's, for what requests hold. Fields that can only be read are known too, so that what a GET gave
    can be changed and sent back; `returned` names those that another serializer adds there."""

    returned: tuple[str, ...] = ()

    def to_internal_value(self, data):
        wrong = errors_of(unknown_in(data, self._known()), self._known())
        try:
            value = super().to_internal_value(data)
        except ValidationError as error:
            raise ValidationError(wrong | error.detail) from None
        if wrong:
            raise ValidationError(wrong)
        return value

    def _known(self) -> list[str]:
        return [*self.fields, *self.returned]


class ShortList(ListField):
    """Of a request. One that is too long is refused before its entries are looked at, each of which might have an error."""

    def run_child_validation(self, data):
        if len(data) > self.max_length:
            raise ValidationError(self.error_messages["max_length"].format(max_length=self.max_length))
        return super().run_child_validation(data)


def refuse_unknown(shape: type[Serializer], data) -> None:
    """For a request that no serializer reads whole."""
    known = list(shape().fields)
    if wrong := errors_of(unknown_in(data, known), known):
        raise ValidationError(wrong)


def unknown_in(data, known: Iterable[str]) -> list[str]:
    """The first names in a request that are none of its fields. A form may write a list or an object as name[0] or name.key."""
    if not isinstance(data, Mapping):
        return []
    allowed = {*known, *OF_EVERY_REQUEST}
    names = {re.split(r"[.\[]", name)[0] or name: None for name in data} if isinstance(data, QueryDict) else data
    return [str(name) for name in names if name not in allowed][:MOST]


def errors_of(unknown: list[str], known: list[str]) -> dict[str, list[str]]:
    """A sentence for each, with the field that was probably meant, else with all that there are."""
    sentences = {}
    for name in unknown:
        near = difflib.get_close_matches(shortened(name).lower(), known, n=1)
        meant = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}."
        sentences[name] = [f"No such field; {meant}"]
    return sentences
