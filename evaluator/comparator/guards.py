"""Plain guards for what an encoder is easily fooled by.

Nothing said, the context said back, one thing said over and over: such an output stands hardly higher than the worst twentieth.
A phrase that fits everywhere ("i see .") is often a good answer; one that has little to do with its context loses something,
and so does a lone word.
Both look at the words, in English, and are the same for every comparator.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import takewhile

import numpy as np

from evaluator.comparator.examples import Text

COPIED_WORDS, COPIED_SHARE = 4, 0.7  # so many words running from one turn, and so much of the output
RUN = 3  # words in a row that an output hardly has in common with a turn by chance
ECHOED_SHARE = 0.4  # of a turn's words, that an output says back in runs where it echoes the turn
REORDERED_SHARE = 0.8  # of the words of both, that an output and a turn share where it is the turn in another order
WHOLE_WORDS, WHOLE_SHARE = 6, 0.3  # so many words of a whole turn, and so much of the output
STREWN_WORDS, STREWN_MOST = 5, 500  # words of a turn that is looked for with others put in between its own
STREWN_SHARE, STREWN_OF_TURN = 0.5, 0.9  # of the output, and of the turn, that stand in the other in their order
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
DOUBLED_PAIRS, DOUBLED_SHARE = 4, 0.3  # so many pairs of neighbours that are the same word, and so many of all pairs
PERSONS = {
    word: words.split()[0]
    for words in (
        "you i me we us", "your my our", "yours mine ours", "yourself myself ourselves", "are am re m", "youre im", "was were",
        "youve ive weve", "youd id wed", "youll ill",
    )
    for word in words.split()
}  # fmt: skip


def guarded(texts: Sequence[Text]) -> np.ndarray:
    """(n,) True for an output that is blank, says its context back, or is mostly repetition."""
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
    if not words or is_repetition(words) or is_copied(words, [_turn(turn) for turn in text.context]):
        return True
    return is_echo(_impersonal(words), [_impersonal_turn(turn) for turn in text.context])


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


def is_echo(words: Sequence[str], turns: Sequence[Sequence[str]]) -> bool:
    """Whether the output says turns back: in pieces, which make up most of it; in another order; or one of them whole, with
    something around it or in between."""
    runs, spaced = _runs(words), _spaced(words)
    from_turns = np.zeros(len(words), dtype=bool)  # (w,)
    for turn in turns:
        if len(turn) >= max(WHOLE_WORDS, WHOLE_SHARE * len(words)) and _spaced(turn) in spaced:
            return True
        if _is_reordered(words, turn) or _is_strewn(words, turn):
            return True
        shared = runs & _runs(turn)
        if shared and _in_runs(turn, shared).mean() >= ECHOED_SHARE:
            from_turns |= _in_runs(words, shared)
    return from_turns.sum() >= max(COPIED_WORDS, COPIED_SHARE * len(words))


def _is_reordered(words: Sequence[str], turn: Sequence[str]) -> bool:
    """Whether most words of both are the same, in whatever order."""
    shorter, longer = sorted((len(words), len(turn)))
    least = REORDERED_SHARE * longer
    return shorter >= max(COPIED_WORDS, least) and _shared(words, turn) >= least


def _is_strewn(words: Sequence[str], turn: Sequence[str]) -> bool:
    """Whether nearly the whole turn stands in the output in its order, with other words between its own."""
    least = max(STREWN_OF_TURN * len(turn), STREWN_SHARE * len(words))
    if not STREWN_WORDS <= len(turn) <= STREWN_MOST or min(len(words), len(turn)) < least:
        return False
    return _shared(words, turn) >= least and longest_common(words, turn) >= least


def _shared(words: Sequence[str], others: Sequence[str]) -> int:
    return (Counter(words) & Counter(others)).total()


def longest_common(words: Sequence[str], others: Sequence[str]) -> int:
    """Length of the longest common subsequence, with a bit for each of the others (Hyyrö 2004, "Bit-parallel LCS-length
    computation revisited")."""
    places: dict[str, int] = {}
    for place, word in enumerate(others):
        places[word] = places.get(word, 0) | 1 << place
    every = (1 << len(others)) - 1
    rest = every
    for word in words:
        met = rest & places.get(word, 0)
        rest = (rest + met | rest - met) & every
    return len(others) - rest.bit_count()


def _runs(words: Sequence[str]) -> set[tuple[str, ...]]:
    return set(zip(*(words[i:] for i in range(RUN))))


def _in_runs(words: Sequence[str], runs: set[tuple[str, ...]]) -> np.ndarray:
    """(w,) True for a word that stands in one of the runs."""
    starts = np.array([run in runs for run in zip(*(words[i:] for i in range(RUN)))], dtype=bool)
    return np.convolve(starts, np.ones(RUN)) > 0 if len(starts) else np.zeros(len(words), dtype=bool)


def is_repetition(words: Sequence[str]) -> bool:
    """Whether few of its pairs of neighbouring words differ, or many are a word twice."""
    pairs = list(zip(words, words[1:]))
    doubled = sum(a == b for a, b in pairs)
    if doubled >= max(DOUBLED_PAIRS, DOUBLED_SHARE * len(pairs)):
        return True
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


def _impersonal(words: Sequence[str]) -> list[str]:
    """The words with "I" and "you" the same: "are you sure" said back is "am i sure"."""
    return [PERSONS.get(word, word) for word in words]


@lru_cache(maxsize=4096)
def _impersonal_turn(turn: str) -> list[str]:
    return _impersonal(_turn(turn))


def _spaced(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "
