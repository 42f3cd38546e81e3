"""Was an answer to an item with a known answer right?"""

from collections.abc import Mapping
from typing import Any

NOT_BY_CRITERION = ("choice", "choices", "feedback")  # parts of a known answer that hold no accepted values by criterion


def wanted_values(expected: Mapping[str, Any], part: str, criterion: str) -> list[Any] | None:
    """The accepted values of a criterion, in the part ("scores") of its kind; None where it has no known answer."""
    values = (expected.get(part) or {}).get(criterion)
    return values if values is None or isinstance(values, list) else [values]


def wanted_choice(expected: Mapping[str, Any], criterion: str = "") -> str | None:
    """The accepted choice on a criterion, or on the whole; None where there is no known answer."""
    return (expected.get("choices") or {}).get(criterion, expected.get("choice"))


def is_right(expected: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """expected: {"scores": {criterion: [accepted values]}, "choice": "A", "choices": {criterion: "A"}}, any part of it; other
    kinds of questions have parts like "scores".
    given: {"scores": {criterion: value}, "choice": ..., "choices": {criterion: ...}}; choices are about the outputs as
    stored ("A", "tie", "B"), not about left and right. Where pairs are judged on each criterion, an expected "choice"
    holds for every criterion that has none of its own.

    Right where every expected part is met; what is not expected may be anything. Raises ValueError where nothing is
    expected: such an item has no known answer.
    """
    choices, choice = expected.get("choices") or {}, expected.get("choice")
    valued = [(part, criterion) for part in expected if part not in NOT_BY_CRITERION for criterion in expected[part] or {}]
    if not valued and not choices and choice is None:
        raise ValueError("this item has no known answer")
    given_choices = given.get("choices") or {}
    asked = [*choices, *(given_choices if choice is not None else ())]  # criteria of which a choice is expected
    return (
        all((given.get(part) or {}).get(name) in (wanted_values(expected, part, name) or ()) for part, name in valued)
        and all(given_choices.get(criterion) == wanted_choice(expected, criterion) for criterion in asked)
        and (choice is None or bool(given_choices) or given.get("choice") == choice)
    )


def passes(right: int, asked: int, pass_mark: int | None) -> bool:
    """Are so many right answers enough for the pass mark (percent; None turns nobody away)?"""
    return pass_mark is None or 100 * right >= pass_mark * asked
