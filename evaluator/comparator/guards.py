"""Plain guards for what an encoder is easily fooled by.

Nothing said, the context said back, one thing said over and over: such an output stands hardly higher than the worst twentieth.
A phrase that fits everywhere ("i see .") is often a good answer; one that has little to do with its context loses something,
and so does a lone word.
Both look at the words, in English, and are the same for every comparator.
"""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import takewhile

import numpy as np

from evaluator.comparator.examples import Text

COPIED_WORDS, COPIED_SHARE = 4, 0.7  # so many words running from one turn, and so much of the output
LOWEST = 0.05  # the share of outputs that a guarded one stands among: some honest ones are stopped as well
LEFT = 0.02  # of how far a guarded output would stand above those, so that two of them keep their order
LITTLE_WORDS = 4  # the most words of an output that says little
LITTLE_LOSS = 0.5  # standard deviations of the utility, that such an output loses, and a lone word once more
LITTLE_TO_DO = 0.5  # the share of outputs whose cosine with their context counts as "little to do with it"
SAYS_LITTLE = frozenset("""
    a about again ah all alright am and anyway are be believe but bye can cool could course did do does done dont exactly fine
    for get go good got great guess haha have hello here hey hi hm hmm hope how i idea if im interesting is it its just know
    like look maybe me mean much my nice no not nothing now nt of oh ok okay please pretty problem really right s say see
    shall should so sorry sounds sure t talk tell than thank thanks that thats the then there they think this to too true
    understand us very want was way we well welcome what whatever when where which who why will with would wow yeah yep yes
    yet you your
""".split())
REPEATED_PAIRS, REPEATED_SHARE = 8, 0.55  # so many pairs of neighbouring words at least, and so few different ones


def guarded(texts: Sequence[Text]) -> np.ndarray:
    """(n,) True for an output that is blank, copied from its context, or mostly repetition."""
    return np.array([_is_guarded(text) for text in texts], dtype=bool)


def says_little(texts: Sequence[Text]) -> np.ndarray:
    """(n,) True for an output of few words, each of which fits everywhere."""
    return np.array([0 < len(words) <= LITTLE_WORDS and SAYS_LITTLE.issuperset(words) for words in _outputs(texts)], dtype=bool)


def lowered(
    u: np.ndarray, texts: Sequence[Text], cosines: np.ndarray, most: float, apart: float, loss: float
) -> np.ndarray:
    """Utilities (n,) of n texts: an output that says little loses `loss` where its cosine (n,) is below `apart`, and where it
    is a lone word; of what a guarded one has above `most`, little is left."""
    alone = np.array([len(words) == 1 for words in _outputs(texts)], dtype=bool)  # (n,)
    u = u - loss * says_little(texts) * ((cosines < apart).astype(float) + alone)
    return np.where(guarded(texts), np.minimum(u, most + LEFT * (u - most)), u)


def _is_guarded(text: Text) -> bool:
    words = _words(text.output)
    return not words or is_copied(words, [_turn(turn) for turn in text.context]) or is_repetition(words)


def is_copied(words: Sequence[str], turns: Sequence[Sequence[str]]) -> bool:
    """Whether one turn's words, in a row, make up most of the output."""
    least = max(COPIED_WORDS, math.ceil(COPIED_SHARE * len(words)))
    first = len(words) - least
    if first < 0:
        return False
    core = _spaced(words[first:least])  # is in every run of so many words
    return any(
        _run_around(words, first, least, turn, place) >= least
        for turn in turns if len(turn) >= least
        for place in _places(core, _spaced(turn))
    )  # fmt: skip


def _places(words: str, turn: str) -> Iterator[int]:
    """Before how many words of a turn some words stand in it; both with a space around each word."""
    at, place = turn.find(words), 0
    last = 0
    while at >= 0:
        place += turn.count(" ", last, at)
        yield place
        last, at = at, turn.find(words, at + 1)


def _run_around(words: Sequence[str], first: int, last: int, turn: Sequence[str], place: int) -> int:
    """How many words in a row both share around words[first:last], which stand at turn[place:]."""
    before = takewhile(lambda pair: pair[0] == pair[1], zip(reversed(words[:first]), reversed(turn[:place])))
    after = takewhile(lambda pair: pair[0] == pair[1], zip(words[last:], turn[place + last - first :]))
    return sum(1 for _ in before) + last - first + sum(1 for _ in after)


def is_repetition(words: Sequence[str]) -> bool:
    pairs = list(zip(words, words[1:]))
    return len(pairs) >= REPEATED_PAIRS and len(set(pairs)) <= REPEATED_SHARE * len(pairs)


def _outputs(texts: Sequence[Text]) -> list[list[str]]:
    return [_words(text.output) for text in texts]


def _words(text: str) -> list[str]:
    """Lower-case words; marks that hold no letter or digit are none."""
    spoken = lambda word: word if word.isalnum() else "".join(c for c in word if c.isalnum())
    words = map(spoken, text.casefold().split())
    return [word for word in words if word]


@lru_cache(maxsize=4096)
def _turn(turn: str) -> list[str]:
    """The words of a turn: the outputs of a context share it."""
    return _words(turn)


def _spaced(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "
