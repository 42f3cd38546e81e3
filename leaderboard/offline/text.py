"""What the commands without a server print, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leaderboard.offline.answers import Answers


def account(answers: Answers) -> dict[str, Any]:
    """What became of the file's answers: read = used for this or another question + left out."""
    return {
        "file": answers.file,
        "sha256": answers.sha256,
        "read_as": answers.shape or "rows",
        "read": answers.read,
        "left_out": dict(answers.left_out),
        "listed": [list(place) for place in answers.listed],
    }


def gate(result: Mapping[str, Any]) -> str:
    growing = {
        "file": "Units count in the order of the file: add new judgments at its end.",
        "answered_at": "Units count in the order of answered_at.",
    }[result["ordered_by"]]
    judges = result["judges"]
    people = "people" if result["judged_by"] == "people" else "a program"
    lines = [
        result["sentence"],
        f"Wins {result['wins']}, ties {result['ties']}, losses {result['losses']}; a unit is a {result['unit']}.",
        f"Judged by {people}"
        + (f" on {result['criterion']}" if result["criterion"] else "")
        + (f": {_some(judges)}." if judges else "."),
        f"The interval holds for contexts like these, as these judges see them, however often you look. {growing}",
        *account_lines(result),
        *(f"Note: {sentence}" for sentence in result["assumed"]),
        *(f"Warning: {sentence}" for sentence in result["warnings"]),
        f"Method: {result['method']}. Code {result['code']}.",
    ]
    return "\n".join(lines)


def account_lines(result: Mapping[str, Any]) -> list[str]:
    left_out = result["left_out"]
    lines = [
        f"{result['file']}: {result['read']:,} answers read"
        + ("." if not left_out else f", {sum(left_out.values()):,} left out:")
    ]
    return [*lines, *(f"  {count:,} {reason}" for reason, count in left_out.items())]


def _some(names: Sequence[str], most: int = 10) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
