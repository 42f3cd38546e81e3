"""A context as people read it: who says what, and how much of a long one is shown at first."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

ROLES = {
    "user": "User",
    "human": "User",
    "assistant": "Assistant",
    "bot": "Assistant",
    "gpt": "Assistant",
    "model": "Assistant",
    "system": "System",
    "developer": "System",
    "tool": "Tool",
    "function": "Tool",
}
LABELLED = re.compile(r"\s*\w[\w .'-]{0,30}:\s")  # a text that says itself who speaks
ROLE_LENGTH = 40  # characters of a role that is none of the known ones
LINE = 80  # characters that a line holds, about, on a screen beside another text
SHOWN = 12  # lines of a long context that are seen at first
LONG = 18  # lines from which on that is worth a button


@dataclass(frozen=True)
class Utterance:
    """One turn. speaker: its label, empty where the text names its speaker itself; is_second: the one who answers;
    is_long: only its end is seen at first."""

    speaker: str
    text: str
    is_second: bool = False
    is_long: bool = False


def conversation(turns: Sequence[str], roles: object = None) -> tuple[list[Utterance], list[Utterance]]:
    """(earlier turns that wait behind a button, the latest ones). roles: of chat messages, one for each turn.

    Turns without roles are taken to alternate. Speakers are numbered and not called A and B, which are the outputs' names.
    """
    speakers = _speakers(turns, roles)
    lines = [line_count(turn) for turn in turns]
    first = len(turns)
    while first > 0 and (first == len(turns) or sum(lines[first - 1 :]) <= SHOWN):
        first -= 1
    if sum(lines) <= LONG:
        first = 0
    second = "Assistant" if "Assistant" in speakers else "Speaker 2"
    utterances = [
        Utterance(
            speaker,
            turn,
            is_second=speaker == second if speaker else number % 2 == 1,
            is_long=number >= first and lines[number] > LONG,
        )
        for number, (speaker, turn) in enumerate(zip(speakers, turns))
    ]
    return utterances[:first], utterances[first:]


def line_count(text: str) -> int:
    """About how many lines a text takes."""
    return sum(max(1, ceil(len(line) / LINE)) for line in text.splitlines()) or 1


def _speakers(turns: Sequence[str], roles: object) -> list[str]:
    if isinstance(roles, list) and len(roles) == len(turns) and all(isinstance(role, str) for role in roles):
        return [ROLES.get(role.lower(), role[:ROLE_LENGTH]) for role in roles]
    if len(turns) < 2 or all(LABELLED.match(turn) for turn in turns):
        return [""] * len(turns)
    return [f"Speaker {1 + number % 2}" for number in range(len(turns))]
