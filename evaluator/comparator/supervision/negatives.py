"""Replies made worse, for next-utterance supervision: each kind takes an exchange and gives a reply to avoid.

Random and corrupted negatives follow Zhao et al. 2020 (section 5.2) and Sai et al. 2020 (hard negatives); the weak
generator stands in for the systems whose outputs will be judged.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from evaluator.comparator.supervision.unlabelled import Exchange

GENERIC = (
    "i am not sure .",
    "yes .",
    "no .",
    "really ?",
    "me too .",
    "sure .",
    "what do you mean ?",
    "sounds good .",
    "i think so .",
    "of course .",
    "haha .",
    "all right .",
    "that is great .",
    "maybe .",
    "oh .",
    "right .",
    "i have no idea .",
    "what ?",
)
BLANK = ("", ".", "...", "?", "!")
FILLERS = ("and things like that", "or something like that", "so yeah", "anyway", "to be honest", "if you know what i mean")
DENIED = {
    "is": "is not",
    "are": "are not",
    "am": "am not",
    "can": "can not",
    "will": "will not",
    "do": "do not",
    "have": "have not",
    "was": "was not",
    "would": "would not",
    "should": "should not",
    "not": "",
    "n't": "",
    "'s": "is not",
    "'m": "am not",
}


class Negatives:
    """Makes them from the exchanges themselves."""

    def __init__(self, exchanges: Sequence[Exchange]):
        self.exchanges = exchanges
        self.replies = [(exchange.dialogue, reply) for exchange in exchanges for reply in exchange.replies]
        self.words = [word for _, reply in self.replies for word in reply.split()]
        self.of_dialogue: dict[str, list[int]] = defaultdict(list)
        for i, exchange in enumerate(exchanges):
            self.of_dialogue[exchange.dialogue].append(i)
        if len(self.of_dialogue) < 2:
            raise ValueError("Next-utterance supervision needs at least two dialogues.")
        self.followers = _followers(reply for _, reply in self.replies)

    def make(self, kind: str, i: int, reply: str, rng: np.random.Generator) -> str:
        """A worse reply to exchange i, from a good one."""
        return KINDS[kind](self, i, reply, rng)

    def random(self, i: int, reply: str, rng: np.random.Generator) -> str:
        """A reply of another dialogue."""
        while True:
            dialogue, other = self.replies[rng.integers(len(self.replies))]
            if dialogue != self.exchanges[i].dialogue:
                return other

    def same_dialogue(self, i: int, reply: str, rng: np.random.Generator) -> str:
        """A reply to another turn of this dialogue: on the topic, out of place."""
        elsewhere = [j for j in self.of_dialogue[self.exchanges[i].dialogue] if abs(j - i) > 1]
        return _pick(self.exchanges[_pick(elsewhere, rng)].replies, rng) if elsewhere else self.random(i, reply, rng)

    def generated(self, i: int, reply: str, rng: np.random.Generator, longest: int = 25) -> str:
        """What a trigram model of all replies goes on to say after none to three words of the reply."""
        words = ["", "", *reply.split()[: rng.integers(0, 4)]]
        while len(words) < longest:
            pair = (words[-2], words[-1])
            key = pair if pair in self.followers and rng.random() < 0.7 else (words[-1],)
            word = _pick(self.followers[key], rng) if key in self.followers else ""
            if not word:
                break
            words.append(word)
        return " ".join(words[2:]) or "."

    def replaced(self, i: int, reply: str, rng: np.random.Generator) -> str:
        """A third of the words are others."""
        return " ".join(_pick(self.words, rng) if rng.random() < 0.35 else word for word in reply.split())

    def padded(self, i: int, reply: str, rng: np.random.Generator) -> str:
        """With another dialogue's reply, or with fillers, before or after it."""
        extra = self.random(i, reply, rng) if rng.random() < 0.5 else " , ".join(_pick(FILLERS, rng) for _ in range(4))
        return f"{reply} {extra}" if rng.random() < 0.5 else f"{extra} {reply}"

    def parroted(self, i: int, reply: str, rng: np.random.Generator) -> str:
        """A turn of the context, mostly the last."""
        context = self.exchanges[i].context
        return context[-1] if rng.random() < 0.7 else _pick(context, rng)


def generic(source: Negatives, i: int, reply: str, rng: np.random.Generator) -> str:
    return _pick(GENERIC, rng)


def blank(source: Negatives, i: int, reply: str, rng: np.random.Generator) -> str:
    return _pick(BLANK, rng)


def shuffled(source: Negatives, i: int, reply: str, rng: np.random.Generator) -> str:
    return " ".join(str(word) for word in rng.permutation(reply.split()))


def dropped(source: Negatives, i: int, reply: str, rng: np.random.Generator) -> str:
    """A third of the words are gone."""
    return " ".join(word for word in reply.split() if rng.random() > 0.35) or "."


def repeated(source: Negatives, i: int, reply: str, rng: np.random.Generator) -> str:
    """One to three words, or all, said again and again."""
    words = reply.split()
    if rng.random() < 1 / 3:
        return " ".join(words * 2)
    start, length = int(rng.integers(len(words))), int(rng.integers(1, 4))
    rest = words[start + length :] if rng.random() < 0.5 else []
    return " ".join([*words[:start], *words[start : start + length] * int(rng.integers(3, 6)), *rest])


def truncated(source: Negatives, i: int, reply: str, rng: np.random.Generator) -> str:
    words = reply.split()
    return " ".join(words[: max(1, int(len(words) * rng.uniform(0.2, 0.6)))])


def negated(source: Negatives, i: int, reply: str, rng: np.random.Generator) -> str:
    words = reply.split()
    at = next((at for at, word in enumerate(words) if word in DENIED), None)
    if at is None:
        return f"no , {reply}"
    return " ".join(word for word in [*words[:at], DENIED[words[at]], *words[at + 1 :]] if word)


KINDS: dict[str, Callable[[Negatives, int, str, np.random.Generator], str]] = {
    "random": Negatives.random,
    "same dialogue": Negatives.same_dialogue,
    "generated": Negatives.generated,
    "replaced": Negatives.replaced,
    "padded": Negatives.padded,
    "parroted": Negatives.parroted,
    "generic": generic,
    "blank": blank,
    "shuffled": shuffled,
    "dropped": dropped,
    "repeated": repeated,
    "truncated": truncated,
    "negated": negated,
}


def _followers(replies) -> dict[tuple, list[str]]:
    """What follows one word, and two, in the replies; "" begins and ends a reply."""
    found: dict[tuple, list[str]] = defaultdict(list)
    for reply in replies:
        words = ["", "", *reply.split(), ""]
        for before, last, word in zip(words, words[1:], words[2:]):
            found[before, last].append(word)
            found[last,].append(word)
    return dict(found)


def _pick(items: Sequence, rng: np.random.Generator):
    return items[int(rng.integers(len(items)))]
