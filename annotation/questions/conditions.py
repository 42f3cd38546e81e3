"""Questions that are asked only where an earlier answer about the same output says so, or only at some turns of a conversation.

A condition is a criterion's `asked_if`: {"criterion": name of an earlier one, "below" | "at_least" | "equal": a point of its
scale}, or {"turn": "last"}, or {"turn": [1, 3]}; {} where it is asked of every output. Nobody answered the earlier one (left
out, cannot say, itself not asked): it does not hold, as that of turns for an output of no conversation. Pairs have no
conditions. People write it in words, on every page, command and in files: "Overall below 3", "last turn", "turns 1, 3".
"""

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext

from core.errors import Refused, quoted

ASKS: dict[str, Callable[[float, float], bool]] = {"below": operator.lt, "at_least": operator.ge, "equal": operator.eq}
DECIDES = "scale"  # the kind whose answers decide
TURN, LAST = "turn", "last"
Turn = tuple[int, int] | None  # of so many, as `Context.turn`
WORDS = {"below": "below", "at_least": "at least", "equal": ""}
EXPECTED = 'a condition names a criterion and a whole number, as {"criterion": "Overall", "below": 3}; or at_least, or equal.'
AT_TURNS = re.compile(r"(?:(last) turn|turns? (\d{1,4}(?:\s*,\s*\d{1,4})*))", re.IGNORECASE)
IF_ANSWERED = re.compile(r"(.+)\s+(below|at[ _]least|equal)(?: to)?\s+(-?\d{1,4})", re.IGNORECASE | re.DOTALL)
LONGEST = 200  # characters; a criterion's name has 100
EXPECTED_WORDS = 'a condition is written as "Overall below 3" (or at_least, or equal), "last turn", or "turns 1, 3"'
EXPECTED_TURNS = 'a condition on turns is {"turn": "last"}, or names some by their numbers, as {"turn": [1, 3]}.'


def way_of(asked_if: Mapping[str, Any]) -> str:
    """below, at_least or equal; or turn."""
    return next(name for name in (TURN, *ASKS) if name in asked_if)


def depends_on_answers(asked_if: Mapping[str, Any]) -> bool:
    """And not on turns alone, which no answer changes."""
    return "criterion" in asked_if


def holds_at(asked_if: Mapping[str, Any], turn: Turn) -> bool:
    """May it be asked of this turn, whatever is answered before?"""
    if TURN not in asked_if:
        return True
    return turn is not None and (turn[0] == turn[1] if asked_if[TURN] == LAST else turn[0] in asked_if[TURN])


def holds(asked_if: Mapping[str, Any], value: float | None) -> bool:
    """value: what was answered to the criterion that decides, None where nothing was."""
    way = way_of(asked_if)
    return value is not None and ASKS[way](value, asked_if[way])


def in_words(asked_if: Mapping[str, Any]) -> str:
    """For researchers and files: "asked only if Overall is below 3"; empty without a condition."""
    if not asked_if:
        return ""
    way = way_of(asked_if)
    if way == TURN:
        at = f"turn {_numbers(asked_if)}" if asked_if[TURN] != LAST else "the last turn"
        return f"asked only at {at} of a conversation"
    return " ".join(filter(None, ["asked only if", asked_if["criterion"], "is", WORDS[way], str(asked_if[way])]))


def untold(criterion: str, asked_if: Mapping[str, Any]) -> str:
    """What must be said with what judges say of the criterion, since none is told of its condition; empty without one."""
    if not asked_if:
        return ""
    return (
        f"{criterion} is {in_words(asked_if)}. No judge is told so: how a judge agrees with people is known of the outputs that"
        " people were asked about, and its own means and boards are about all outputs."
    )


def _numbers(asked_if: Mapping[str, Any]) -> str:
    return ", ".join(map(str, asked_if[TURN]))


def for_annotators(asked_if: Mapping[str, Any]) -> str:
    """The same in the language of the page."""
    if TURN in asked_if:
        at_some = gettext("only at some turns: %(turns)s") % {"turns": _numbers(asked_if)}
        return gettext("only at the last turn") if asked_if[TURN] == LAST else at_some
    said = {
        "below": gettext("only if “%(criterion)s” is below %(point)s"),
        "at_least": gettext("only if “%(criterion)s” is at least %(point)s"),
        "equal": gettext("only if “%(criterion)s” is %(point)s"),
    }
    way = way_of(asked_if)
    return said[way] % {"criterion": asked_if["criterion"], "point": asked_if[way]}


def at_turns(words: str) -> dict[str, Any]:
    """ "last turn" or "turns 1, 3" as a condition; {} for other words."""
    turns = AT_TURNS.fullmatch(words.strip())
    return {TURN: LAST if turns[1] else [int(number) for number in turns[2].split(",")]} if turns else {}


def parsed(words: str) -> dict[str, Any]:
    """What somebody wrote as a condition; {} for no words. Raises Refused."""
    if not words.strip() or (turns := at_turns(words)):
        return turns if words.strip() else {}
    if len(words) > LONGEST or not (said := IF_ANSWERED.fullmatch(words.strip())):
        raise Refused(f"{EXPECTED_WORDS}, not {quoted(words.strip())}.")
    return {"criterion": said[1], said[2].lower().replace(" ", "_"): int(said[3])}


def check(criteria: Sequence[Any]) -> None:
    """criteria: specifications, or criteria, in the order in which they are asked. Raises Refused."""
    place = {one.name: number for number, one in enumerate(criteria)}
    for number, one in enumerate(criteria):
        if one.asked_if:
            try:
                shaped(one.asked_if)
            except Refused as refused:
                raise Refused(f"{one.name}: {refused}") from None
            if TURN in one.asked_if:
                continue
            name = one.asked_if["criterion"]
            if name not in place:
                raise Refused(f"{one.name}: there is no criterion {quoted(name)} for its condition.")
            if name == one.name:
                raise Refused(f"{one.name}: its condition is about itself; name an earlier criterion.")
            decider = criteria[place[name]]
            if place[name] > number:
                circular = " Each would wait for the other." if _leads_to(decider, one.name, criteria) else ""
                raise Refused(f"{one.name}: its condition is about {quoted(name)}, which is asked later.{circular}")
            _check_point(one, decider)


def shaped(asked_if: Any) -> dict[str, Any]:
    """The condition, if it is built as one, or written in words. Raises Refused."""
    said = parsed(asked_if) if isinstance(asked_if, str) else asked_if if isinstance(asked_if, dict) else {}
    if TURN in said:
        turns = said[TURN]
        are_numbers = isinstance(turns, list) and bool(turns) and all(type(turn) is int and turn > 0 for turn in turns)
        if set(said) != {TURN} or not (turns == LAST or are_numbers):
            raise Refused(EXPECTED_TURNS)
        return said
    ways = [name for name in ASKS if name in said]
    point = said[ways[0]] if len(ways) == 1 else None
    is_whole = isinstance(point, int) and not isinstance(point, bool)
    if not is_whole or set(said) != {"criterion", *ways} or not isinstance(said["criterion"], str):
        raise Refused(EXPECTED)
    return said


def _check_point(one: Any, decider: Any) -> None:
    if decider.kind != DECIDES:
        raise Refused(f"{one.name}: {quoted(decider.name)} has no points, so that no condition can be about it.")
    way = way_of(one.asked_if)
    point, scale = one.asked_if[way], f"{decider.low} to {decider.high}"
    if not decider.low <= point <= decider.high:
        raise Refused(f"{one.name}: {point} is not on the scale of {quoted(decider.name)}, which goes from {scale}.")
    if way == "below" and point == decider.low:
        raise Refused(f"{one.name}: no answer to {quoted(decider.name)} is below {point}, so it would never be asked.")


def _leads_to(one: Any, name: str, criteria: Sequence[Any]) -> bool:
    """Does a criterion wait for the one of this name, itself or by others?"""
    by_name, seen = {other.name: other for other in criteria}, set()
    while one and isinstance(one.asked_if, dict) and one.name not in seen:
        seen.add(one.name)
        if one.asked_if.get("criterion") == name:
            return True
        one = by_name.get(one.asked_if.get("criterion"))
    return False


def check_pairs(by_criterion: bool, criteria: Iterable[Any]) -> None:
    """Raises Refused where a condition would be asked of pairs."""
    if by_criterion and (one := next((one for one in criteria if one.asked_if), None)):
        raise Refused(f"{one.name}: it has a condition, which is about one output; judge pairs on the whole, or take it off.")


def not_asked(criteria: Sequence[Any], value_of: Callable[[Any], float | None], turn: Turn = None) -> list[Any]:
    """The criteria whose condition does not hold, of all in order. value_of(criterion): what was answered, None for nothing."""
    values: dict[str, float | None] = {}
    gone = []
    for one in criteria:
        decides = one.asked_if.get("criterion")
        if not holds_at(one.asked_if, turn) or decides and not holds(one.asked_if, values.get(decides)):
            gone.append(one)
        else:
            values[one.name] = value_of(one)
    return gone


def check_turns(criteria: Sequence[Any]) -> None:
    """Raises Refused where there may be turns at which nothing is asked."""
    if criteria and all(TURN in one.asked_if for one in criteria):
        raise Refused(
            "Each criterion is asked only at some turns of a conversation; at least one has to be asked at all of them."
        )
