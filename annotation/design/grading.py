"""Was an answer to an item with a known answer right?"""

from collections.abc import Mapping


def is_right(expected: Mapping, given: Mapping) -> bool:
    """expected: {"scores": {criterion: [accepted values]}, "choice": "A", "choices": {criterion: "A"}}, any part of it.
    given: {"scores": {criterion: value}, "choice": ..., "choices": {criterion: ...}}; choices are about the outputs as
    stored ("A", "tie", "B"), not about left and right. Where pairs are judged on each criterion, an expected "choice"
    holds for every criterion that has none of its own.

    Right where every expected part is met; what is not expected may be anything. Raises ValueError where nothing is
    expected: such an item has no known answer.
    """
    scores, choices, choice = expected.get("scores") or {}, expected.get("choices") or {}, expected.get("choice")
    if not scores and not choices and choice is None:
        raise ValueError("this item has no known answer")
    given_scores, given_choices = given.get("scores") or {}, given.get("choices") or {}
    if choice is not None and given_choices:
        choices, choice = dict.fromkeys(given_choices, choice) | dict(choices), None
    return (
        all(given_scores.get(criterion) in accepted for criterion, accepted in scores.items())
        and all(given_choices.get(criterion) == right for criterion, right in choices.items())
        and (choice is None or given.get("choice") == choice)
    )


def passes(right: int, asked: int, pass_mark: int | None) -> bool:
    """Are so many right answers enough for the pass mark (percent; None turns nobody away)?"""
    return pass_mark is None or 100 * right >= pass_mark * asked
