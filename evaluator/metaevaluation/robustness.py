"""Can a judge be fooled? Attacks on good answers, and the share of good answers that are preferred to each.

Sai et al. 2019 ("Re-evaluating ADEM") found judges that prefer a generic or a broken reply to a good one. The suite was
written down before any comparator was tuned, and nothing of it is used in training: `FAMILIAR` attacks are of kinds that
training knows in other words, `HELD_OUT` attacks do the same harm in a way that no training example does.

`BROKEN` attacks spoil a whole answer: its longer words alone, nonsense around them, half of it, one word of it changed, another
text behind it, its names and numbers changed. A comparator learns to tell such texts (`comparator.supervision.broken`, by
recipes of its own); what is told of a kind comes from one that did not learn that kind.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.judges.degenerate_outputs import words_of

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
NONSENSE = ("bla", "fro", "gli", "mur", "nok", "plo", "quee", "rix", "sna", "tro", "vash", "zib")
NAMES = ("Robert", "Tuesday", "Norway", "Susan", "Chicago", "November")
SMALLEST_SHARE = 0.8  # of cases in which the good answer is to win: below it a judge is fooled
# Of fewer cases no share is told: even if the good answer won them all, SMALLEST_SHARE would not be shown with 95% confidence
# (Clopper and Pearson 1934: the lower bound of n out of n is 0.025 ** (1 / n)).
FEWEST_CASES = 17
SHORTEST_CUT = 4  # words of an answer that is cut

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


def _keywords(text: str) -> list[str]:
    """The longer half of its different words, the longest first."""
    found = sorted(dict.fromkeys(words_of(text)), key=len, reverse=True)
    return found[: -(-len(found) // 2)]


def _keyword_list(context: Sequence[str], answer: str, other: str, rng: np.random.Generator) -> list[str]:
    """Of the answer; of the answer and of what it answers."""
    asked = _keywords(context[-1]) if context else []
    return [", ".join(_keywords(answer)), " ".join(dict.fromkeys([*asked, *_keywords(answer)]))]


def _gibberish(context: Sequence[str], answer: str, other: str, rng: np.random.Generator) -> list[str]:
    """Every third word is a key word of the answer or of what it answers, the others are none."""
    known = _keywords(answer) + (_keywords(context[-1]) if context else [])
    if not known:
        return []
    syllables = [NONSENSE[i] for i in rng.integers(len(NONSENSE), size=(2 * len(known), 2)).flat]
    made = ["".join(syllables[i : i + 2]) for i in range(0, len(syllables), 2)]
    return [" ".join(word for i, key in enumerate(known) for word in (*made[2 * i : 2 * i + 2], key)) + " ."]


def _cut(context: Sequence[str], answer: str, other: str, rng: np.random.Generator) -> list[str]:
    words = answer.split()
    return [" ".join(words[: len(words) // 2])] if len(words) >= SHORTEST_CUT else []


def _one_word_changed(context: Sequence[str], answer: str, other: str, rng: np.random.Generator) -> list[str]:
    """Into one of another answer."""
    words, others = answer.split(), [word for word in other.split() if words_of(word)]
    places = [i for i, word in enumerate(words) if words_of(word)]
    if not places or not others:
        return []
    words[places[rng.integers(len(places))]] = others[rng.integers(len(others))]
    return [" ".join(words)]


def _appended(context: Sequence[str], answer: str, other: str, rng: np.random.Generator) -> list[str]:
    tails = (*OFF_TOPIC, *OFF_TOPIC_HELD_OUT, *([other] if other else []))
    return [f"{answer} {tails[rng.integers(len(tails))]}"]


def _swapped(context: Sequence[str], answer: str, other: str, rng: np.random.Generator) -> list[str]:
    """Each number is another one, and each name, a word with a capital that begins no sentence, is one of NAMES."""
    words = answer.split()
    for i, word in enumerate(words):
        begins = i == 0 or words[i - 1][-1] in ".!?:"
        if any(c.isdigit() for c in word):
            words[i] = "".join(str((int(c) + int(rng.integers(1, 9))) % 10) if c in "0123456789" else c for c in word)
        elif word[0].isupper() and len(word) > 1 and not begins:
            words[i] = NAMES[rng.integers(len(NAMES))]
    return [" ".join(words)]


BROKEN: dict[str, Attack] = {
    "keyword list": _keyword_list,
    "gibberish": _gibberish,
    "cut": _cut,
    "one word changed": _one_word_changed,
    "appended": _appended,
    "swapped": _swapped,
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
    suites: list[tuple[dict[str, Attack], bool]] = [
        (FAMILIAR, False),
        (HELD_OUT, True),
        ({"negated": _negation}, False),
        (BROKEN, False),
    ]
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
