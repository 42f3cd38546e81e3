"""The API's schema of a board: typed all the way, and what the API answers."""

import pytest

from annotation.api import schema as openapi
from leaderboard.board_serializers import BoardSerializer
from leaderboard.boards.exports import as_json
from tests.leaderboard.boards.example import example


@pytest.fixture(scope="module")
def schema() -> dict:
    return openapi.schema()


def below(schema: dict, name: str, seen: set[str]) -> set[str]:
    """The components that this one uses, itself too."""
    if name not in seen:
        seen.add(name)
        for word in str(schema["components"]["schemas"][name]).split("#/components/schemas/")[1:]:
            below(schema, word.split("'")[0], seen)
    return seen


def test_nothing_in_it_is_opaque(schema):
    components = schema["components"]["schemas"]
    names = below(schema, "Board", set())
    assert {"BoardStanding", "BoardDifference", "BoardJudge", "BoardLengthRow"} <= names and len(names) > 30
    for name in names:
        component = components[name]
        if component.get("type") == "object":  # not one of several words
            assert component["properties"], name
            for field, said in component["properties"].items():
                assert "additionalProperties" not in said and said.get("type") != "object", (name, field)


def test_what_is_answered_is_what_it_says():
    read = BoardSerializer(data=as_json(example()))
    assert read.is_valid(), read.errors
    assert set(as_json(example())) == set(BoardSerializer().fields) - {"chosen"}  # said of what a reader asked for


def test_it_names_no_default_that_the_page_does_not_have(schema):
    asked = schema["paths"]["/api/campaigns/{slug}/leaderboard/"]["get"]["parameters"]
    judge, basis = (next(one for one in asked if one["name"] == name) for name in ("judge", "basis"))
    assert "default" not in judge["schema"] and "default" not in basis["schema"]
