"""May a newly trained comparator take the place of the one in use? Questions with their answers, pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.quality.crossed import PEOPLE
from evaluator.metaevaluation.agreement import Share, agreement, share
from evaluator.metaevaluation.pairs import JudgedPair
from evaluator.metaevaluation.robustness import SMALLEST_SHARE

LARGEST_CALIBRATION_ERROR = 0.05
# What the gate asks for, by the names of `robustness`; the card reports the other attacks as they are.
ASKED_ATTACKS = {
    "empty": "blank",
    "parroted": "copied",
    "repeated": "repeated",
    "off-topic": "off-topic",
    "other context": "other-context",
    "keyword list": "keyword-list",
    "gibberish": "gibberish",
    "cut": "cut",
    "shuffled": "shuffled",
    "appended": "appended-to",
    "negated": "negated",
    "one word changed": "one-word-changed",
}


@dataclass(frozen=True)
class GateQuestion:
    """One question of the gate; the answer is a sentence that stands by itself."""

    question: str
    passed: bool
    answer: str


def better_than_chance(found: Share) -> GateQuestion:
    """found: its agreement with people's clear preferences (`agreement.accuracy`)"""
    orders = f"It agrees with {found.value:.0%} of people's held-out preferences"
    answer = f"{orders} ({found.low:.0%} to {found.high:.0%}{_of_whom(found)}); chance is 50%."
    return GateQuestion("Better than chance?", bool(found.low > 0.5), answer)


def not_below(
    name: str, own: np.ndarray, theirs: np.ndarray, pairs: Sequence[JudgedPair], contexts: np.ndarray, seed: int
) -> GateQuestion:
    """own, theirs (p,): which side of the pairs each prefers, by the sign; contexts (p,). Passed where there is no pair to
    compare the two on."""
    clear = sum(pair.choice != "tie" for pair in pairs)
    if not clear:
        return GateQuestion(f"Not below {name}?", True, f"No pair is held out for both it and {name}.")
    ahead = lambda choices: agreement(own, choices) - agreement(theirs, choices)
    found = share(ahead, pairs, contexts, seed, cut=False)
    interval = f"{found.value:+.3f} ({found.low:+.3f} to {found.high:+.3f}{_of_whom(found)})"
    return GateQuestion(f"Not below {name}?", found.value >= 0, f"Against {name}, on the same {clear} pairs: {interval}.")


def _of_whom(found: Share) -> str:
    """Whom an interval speaks of, in words."""
    people = {PEOPLE: f", for people like these {found.annotators} annotators", None: ""}
    return people.get(found.population, f", for these {found.annotators} annotators only")


def unreadable(name: str) -> GateQuestion:
    """Of the version in use, where its files are gone or of an earlier kind."""
    return GateQuestion(f"Not below {name}?", True, f"{name}, can no longer be read, so this question counts as passed.")


def accepted(warning: str) -> GateQuestion:
    return GateQuestion("Are its training judgments accepted?", not warning, warning or "They are.")


def calibrated(measured: dict[str, float] | None) -> GateQuestion:
    """measured: `card_figures.calibration`"""
    if measured is None:
        return GateQuestion("Calibrated?", True, "Its calibration was not measured.")
    off, low, high = (measured[key] for key in ("error", "low", "high"))
    answer = f"Its expected calibration error on held-out contexts is {off:.3f} ({low:.3f} to {high:.3f})"
    return GateQuestion(
        "Calibrated?", off <= LARGEST_CALIBRATION_ERROR, f"{answer}; at most {LARGEST_CALIBRATION_ERROR} is allowed."
    )


def not_fooled(table: list[dict[str, Any]]) -> GateQuestion:
    """table: `card_figures.attack_table`. Text that is blank, copied, repeated, off-topic, another context's or broken has to
    lose to the honest output, and so has what denies it or has another answer's word; of the other attacks the worst is told,
    since a good answer may well be short or generic, and another name or number takes knowledge."""
    asked = [row for row in table if row["attack"] in ASKED_ATTACKS]
    if not asked:
        return GateQuestion("Hard to fool?", True, "No adversarial test was run.")
    worst = min(asked, key=lambda row: row["share"])
    answer = f"The most successful attack is {_attack(worst)}: the honest output wins in {_cases(worst)}"
    answer += f" ({worst['low']:.0%} to {worst['high']:.0%}); at least {SMALLEST_SHARE:.0%} is required."
    if others := [row for row in table if row not in asked]:
        least = min(others, key=lambda row: row["share"])
        answer += f" Reported, not required: {_attack(least)}, {_cases(least)}."
    return GateQuestion("Hard to fool?", worst["share"] >= SMALLEST_SHARE, answer)


def _cases(row: dict[str, Any]) -> str:
    return f"{row['share']:.0%} of {row['n']:,} cases"


def _attack(row: dict[str, Any]) -> str:
    """The attack in the words of the question."""
    return f"{ASKED_ATTACKS.get(row['attack'], row['attack'])} text" + (" (in other words)" if row["other_words"] else "")
