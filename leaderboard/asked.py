"""Which board somebody asks for, and who is to judge: the one reading of addresses, requests, forms and commands."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import Refused, quoted
from leaderboard.models import Tournament

Basis = Tournament.Basis
# What `judge` meant, beside `named` and `comparator`, before it was a name: addresses and embedded boards of then still work.
BEFORE = {"people": Basis.PEOPLE, "comparator": Basis.JUDGE, "calibrated": Basis.CORRECTED, "other": Basis.JUDGE}


@dataclass(frozen=True)
class Asked:
    """basis: empty where nothing was asked. judge: a name; empty: people alone, or the comparator in use."""

    basis: str = ""
    judge: str = ""


def asked_of(given: Mapping[str, Any]) -> Asked:
    """basis and judge, by name; a judge alone is that judge's board. Raises Refused for a basis that there is not, and for a
    judge where people alone are asked."""
    basis, judge, named, comparator = (str(given.get(name) or "") for name in ("basis", "judge", "named", "comparator"))
    named = named or comparator
    if not basis and judge in BEFORE:
        if judge == "other" and not named:
            raise Refused("Name the judge: basis=judge&judge=NAME.")
        basis, judge = BEFORE[judge], named
    elif named:
        raise Refused("A judge is named by judge=NAME; there is neither `named` nor `comparator` any more.")
    basis = basis or (Basis.JUDGE if judge else "")
    if basis and basis not in Basis.values:
        raise Refused(f"The basis is {', '.join(Basis.values[:-1])} or {Basis.values[-1]}, not {quoted(basis)}.")
    if basis == Basis.PEOPLE and judge:
        raise Refused("The basis is people, who use no judge. Name a judge with the basis judge or corrected.")
    return Asked(basis, judge)
