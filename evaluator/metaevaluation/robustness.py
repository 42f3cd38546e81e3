"""Can a judge be fooled? Attacks on good answers, and the share of good answers that are preferred to each.

Sai et al. 2019 ("Re-evaluating ADEM") found judges that prefer a generic or a broken reply to a good one. The suite was
written down before any comparator was tuned, and nothing of it is used in training: `FAMILIAR` attacks are of kinds that
training knows in other words, `HELD_OUT` attacks do the same harm in a way that no training example does.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

GENERIC = ("i do n't know .", "ok .", "that 's nice .", "i see .", "thank you .")
GENERIC_HELD_OUT = (
    "who can say ?",
    "no comment .",
    "hm , interesting .",
    "whatever you think is best .",
    "let us talk about it some other time .",
)
OFF_TOPIC = (
    "the capital of mongolia is ulaanbaatar .",
    "my goldfish learned to play the violin yesterday .",
    "photosynthesis turns sunlight into chemical energy .",
    "the museum closes its east wing every second tuesday .",
    "please remember to rotate the tires every ten thousand kilometers .",
)
OFF_TOPIC_HELD_OUT = (
    "add two eggs and whisk until the mixture is smooth .",
    "the third amendment concerns the quartering of soldiers .",
    "a triangle with equal sides has equal angles .",
    "the train to lisbon was invented by penguins .",
    "her grandmother 's piano has eighty eight keys .",
)
FILLER = "and so on and so forth , you name it , et cetera , and all of that kind of thing , and so on ."
FILLER_HELD_OUT = "well , you know , i mean , like , basically , at the end of the day , as i was saying ,"

Attack = Callable[[Sequence[str], str, str, np.random.Generator], Sequence[str]]


@dataclass(frozen=True)
class Attacked:
    """One attack on n answers."""

    name: str
    held_out: bool
    contexts: list[tuple[str, ...]]  # (n,)
    good: list[str]  # (n,) the honest answer
    bad: list[str]  # (n,) what it is attacked with
    answer: list[int]  # (n,) which of the answers it is an attack on


def _shuffled(context: Sequence[str], answer: str, other: str, rng: np.random.Generator) -> list[str]:
    words = answer.split()
    return [" ".join(words[i] for i in rng.permutation(len(words)))]


def _first_half_thrice(context: Sequence[str], answer: str, other: str, rng: np.random.Generator) -> list[str]:
    words = answer.split()
    half = words[: max(1, len(words) // 2)]
    return [" ".join(half * 3)]


def _last_word_on_and_on(context: Sequence[str], answer: str, other: str, rng: np.random.Generator) -> list[str]:
    words = answer.rstrip(" .!?").split() or [answer]
    return [" ".join([*words, *[words[-1]] * 6])]


FAMILIAR: dict[str, Attack] = {
    "generic": lambda context, answer, other, rng: GENERIC,
    "off-topic": lambda context, answer, other, rng: OFF_TOPIC,
    "other context": lambda context, answer, other, rng: [other],
    "repeated": _first_half_thrice,
    "shuffled": _shuffled,
    "empty": lambda context, answer, other, rng: [""],
    "padded": lambda context, answer, other, rng: [f"{answer} {FILLER}"],
    "parroted": lambda context, answer, other, rng: [context[-1]] if context else [],
}
HELD_OUT: dict[str, Attack] = {
    "generic": lambda context, answer, other, rng: GENERIC_HELD_OUT,
    "off-topic": lambda context, answer, other, rng: OFF_TOPIC_HELD_OUT,
    "other context": lambda context, answer, other, rng: [f"{other} {OFF_TOPIC_HELD_OUT[0]}"],
    "repeated": _last_word_on_and_on,
    "shuffled": lambda context, answer, other, rng: [" ".join(reversed(answer.split()))],
    "empty": lambda context, answer, other, rng: ["- - -"],
    "padded": lambda context, answer, other, rng: [f"{FILLER_HELD_OUT} {answer} {FILLER_HELD_OUT}"],
    "parroted": lambda context, answer, other, rng: [f"you said : {context[-1]}"] if context else [],
}
DENIED = {"is": "is not", "are": "are not", "am": "am not", "was": "was not", "can": "can not", "will": "will not"}


def negated(answer: str) -> str | None:
    """The answer with its first auxiliary denied, or the denial taken out; None where there is nothing to deny."""
    words = answer.split()
    for denial in ("n't", "not"):
        if denial in words:
            words.remove(denial)
            return " ".join(words)
    at = next((at for at, word in enumerate(words) if word in DENIED), None)
    return None if at is None else " ".join([*words[:at], DENIED[words[at]], *words[at + 1 :]])


def attacks(contexts: Sequence[Sequence[str]], answers: Sequence[str], seed: int = 0) -> list[Attacked]:
    """Every attack on every answer; contexts (n,) and good answers (n,) to them. "Other context" takes another's answer."""
    rng = np.random.default_rng(seed)
    others = _answers_elsewhere(contexts, answers, rng)
    made = []
    suites: list[tuple[dict[str, Attack], bool]] = [(FAMILIAR, False), (HELD_OUT, True), ({"negated": _negation}, False)]
    for suite, held_out in suites:
        for name, attack in suite.items():
            rows = [
                (tuple(context), answer, bad, i)
                for i, (context, answer, other) in enumerate(zip(contexts, answers, others, strict=True))
                for bad in attack(context, answer, other, rng)
                if bad != answer
            ]
            made.append(Attacked(name, held_out, *([list(column) for column in zip(*rows)] or [[], [], [], []])))
    return made


def preferred(good: np.ndarray, bad: np.ndarray) -> float:
    """Share of good answers' utilities (n,) above the attack's (n,); equal ones count half, none at all is NaN."""
    return float(((good > bad) + 0.5 * (good == bad)).mean()) if len(good) else float("nan")


def _negation(context: Sequence[str], answer: str, other: str, rng: np.random.Generator) -> list[str]:
    denied = negated(answer)
    return [] if denied is None else [denied]


def _answers_elsewhere(contexts: Sequence[Sequence[str]], answers: Sequence[str], rng: np.random.Generator) -> list[str]:
    """For each answer one that was given to another context ("" where there is no other context)."""
    keys = [tuple(context) for context in contexts]
    chosen = []
    for key in keys:
        candidates = [i for i in range(len(keys)) if keys[i] != key]
        chosen.append(answers[candidates[rng.integers(len(candidates))]] if candidates else "")
    return chosen
