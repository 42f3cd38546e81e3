"""Questions that are asked only after some answers to an earlier one: "Why?" only if the score is low.

The condition stands in the criterion's settings, {"asked_if": {"criterion": name, "from": 1, "to": 2}}.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import Refused, quoted

ASKED_IF = "asked_if"
SCRIPT = "js/annotate/conditions.js"  # hides what is not asked


@dataclass(frozen=True)
class Condition:
    """The answer on the criterion called so is a number from `low` to `high`."""

    criterion: str
    low: int
    high: int

    def holds(self, values: Mapping[str, float | None]) -> bool:
        """values: {criterion: what was answered, None for "cannot say"}, of the questions that were asked."""
        value = values.get(self.criterion)
        return value is not None and self.low <= value <= self.high

    def __str__(self) -> str:
        points = f"{self.low}" if self.low == self.high else f"{self.low} to {self.high}"
        return f"only if {self.criterion} is {points}"


def condition_of(criterion: Any) -> Condition | None:
    """Of a criterion, or of a specification of one."""
    stated = criterion.settings.get(ASKED_IF)
    return Condition(stated["criterion"], stated["from"], stated["to"]) if stated else None


def without_condition(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What only the kind of the question knows."""
    return {name: value for name, value in settings.items() if name != ASKED_IF}


def check_condition(spec: Any, earlier: Sequence[Any]) -> None:
    """Raises Refused where it can't be told from the criteria before whether the question is asked. earlier: those that are
    answered on a scale."""
    stated = spec.settings.get(ASKED_IF)
    if stated is None:
        return
    is_whole = isinstance(stated, dict) and set(stated) == {"criterion", "from", "to"}
    if not is_whole or type(stated["from"]) is not int or type(stated["to"]) is not int:
        raise Refused(f"{spec.name}: a condition names a criterion, and from which to which of its points this one is asked.")
    asked_before = next((one for one in earlier if one.name == stated["criterion"]), None)
    if asked_before is None:
        raise Refused(
            f"{spec.name} is asked after {quoted(str(stated['criterion']))}, which is no earlier criterion answered on a scale."
        )
    low, high = stated["from"], stated["to"]
    if not asked_before.low <= low <= high <= asked_before.high:
        scale = f"{asked_before.low} to {asked_before.high}"
        raise Refused(f"{spec.name} is asked if {asked_before.name} is {low} to {high}, but its scale is {scale}.")
