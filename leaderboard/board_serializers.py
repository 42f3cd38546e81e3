"""What the API says of its boards: serializers made from the dataclasses, so that its schema is that of the tree."""

from dataclasses import is_dataclass
from functools import cache
from inspect import getdoc
from typing import Any, Literal, get_args, get_origin

from rest_framework import serializers

from leaderboard.boards.board import Board
from leaderboard.boards.cautions import Caution
from leaderboard.boards.estimates import Name
from leaderboard.boards.exports import SENTENCES
from leaderboard.boards.tree import hints, may_be_none, without_none

FIELDS: dict[Any, type[serializers.Field]] = {
    str: serializers.CharField,
    Name: serializers.CharField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    bool: serializers.BooleanField,
}


@cache
def serializer_of(kind: type) -> type[serializers.Serializer]:
    """Of a dataclass: a field for each of its own. Its docstring describes it."""
    made: dict[str, Any] = {name: field_of(found) for name, found in hints(kind).items()}
    name = f"Board{kind.__name__.removeprefix('Board')}Serializer"
    return type(name, (serializers.Serializer,), {**made, "__doc__": getdoc(kind)})


def field_of(kind: Any, **more: Any) -> serializers.Field:
    """Of a type: a dataclass, a tuple, one of several words, or a number, word or truth; each may be None."""
    more |= {"allow_null": True} if may_be_none(kind) else {}
    kind = without_none(kind)
    if is_dataclass(kind):
        return serializer_of(kind)(**more)  # type: ignore[arg-type]
    if get_origin(kind) is tuple:
        inside = get_args(kind)[0]
        if is_dataclass(inside):
            return serializer_of(inside)(many=True, **more)  # type: ignore[arg-type]
        return serializers.ListField(child=field_of(inside), **more)
    if get_origin(kind) is Literal:
        return serializers.ChoiceField(choices=list(get_args(kind)), **more)
    return FIELDS[kind](**more, **({"allow_blank": True} if FIELDS[kind] is serializers.CharField else {}))


SaidSerializer = type(
    "BoardSaidSerializer",
    (serializers.Serializer,),
    {name: serializers.CharField(allow_blank=True, help_text=getdoc(say) or "") for name, say in SENTENCES.items()}
    | {"__doc__": "What is said of the board, in sentences; empty where there is nothing to say."},
)


class BoardSerializer(serializer_of(Board)):  # type: ignore[misc]
    """A finished tournament (`boards.board.Board`), and what must be said wherever it goes."""

    said = SaidSerializer()
    chosen = serializers.CharField(required=False, help_text="Where nobody chose what the board is about: what was taken.")
    warnings = serializer_of(Caution)(many=True)
