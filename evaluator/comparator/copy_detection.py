"""Whether an output says its context back: in a row, in pieces, in another order, or as a list of its words."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile

import numpy as np

from evaluator.comparator.words import STOP_WORDS, impersonal, impersonal_turn, turn_words

COPIED_WORDS, COPIED_SHARE = 4, 0.7  # so many words running from one turn, and so much of the output
RUN = 3  # words in a row that an output hardly has in common with a turn by chance
ECHOED_SHARE = 0.4  # of a turn's words, that an output says back in runs where it echoes that turn alone
LONGEST = 500  # words of a context, or of a turn: a longer one has words in common with much
PIECED_WORDS = 6  # of an output that is put together from several turns
REORDERED_SHARE = 0.8  # of the words of both, that an output and a turn share where it is the turn in another order
REPLACED_WORDS, REPLACED_SHARE = 6, 0.76  # words of both, and the share in one order; people's own words share less
WHOLE_WORDS, WHOLE_SHARE = 6, 0.3  # so many words of a whole turn, and so much of the output
STREWN_WORDS = 5  # of a turn that is looked for with others put in between its own
STREWN_SHARE, STREWN_OF_TURN = 0.5, 0.9  # of the output, and of the turn, that stand in the other in their order
LISTED_WORDS, LISTED_SHARE, LISTED_OWN = 4, 0.7, 0.8  # content words, their share, and the context's share of them
STOP_SHARE = 0.25  # of a context's words, in English; where they are fewer, nothing is said of lists


def says_back(words: Sequence[str], context: Sequence[str]) -> bool:
    """Whether these words of an output say its context back."""
    turns = [turn_words(turn) for turn in context]
    if is_copied(words, turns) or is_listed(words, turns):
        return True
    return is_echo(impersonal(words), [impersonal_turn(turn) for turn in context])


def is_copied(words: Sequence[str], turns: Sequence[Sequence[str]]) -> bool:
    """Whether one turn's words, in a row, make up most of the output."""
    least = max(COPIED_WORDS, math.ceil(COPIED_SHARE * len(words)))
    first = len(words) - least
    if first < 0:
        return False
    core = _spaced(words[first:least])  # is in every run of so many words
    return any(
        _run_around(words, first, least, turn, place) >= least
        for turn in turns
        if len(turn) >= least
        for place in _places(core, _spaced(turn))
    )


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
    """Whether the output says turns back: in pieces, which make up most of it; in another order or with a few words replaced;
    or one of them whole, with something around it or in between."""
    runs, spaced = _runs(words), _spaced(words)
    pieces, echoed = [], []  # each (w,): where the words of one turn stand
    for turn in turns:
        if len(turn) >= max(WHOLE_WORDS, WHOLE_SHARE * len(words)) and _spaced(turn) in spaced:
            return True
        if _is_reordered(words, turn) or _is_strewn(words, turn):
            return True
        shared = runs & _runs(turn)
        if shared:
            pieces.append(_in_runs(words, shared))
            if _in_runs(turn, shared).mean() >= ECHOED_SHARE:
                echoed.append(pieces[-1])
    if _most(echoed, words, COPIED_WORDS):
        return True
    return len(pieces) > 1 and sum(map(len, turns)) <= LONGEST and _own(pieces) > 1 and _most(pieces, words, PIECED_WORDS)


def _most(places: Sequence[np.ndarray], words: Sequence[str], least: int) -> bool:
    """Whether most words stand in one of the places (w,) each, `least` of them or more."""
    return bool(places) and np.any(places, axis=0).sum() >= max(least, COPIED_SHARE * len(words))


def _own(places: Sequence[np.ndarray]) -> int:
    """In how many of the places (w,) each a run's length of words is that are in no other."""
    alone = np.sum(places, axis=0) == 1  # (w,)
    return sum((mine & alone).sum() >= RUN for mine in places)


def _is_reordered(words: Sequence[str], turn: Sequence[str]) -> bool:
    """Whether most words of both are the same, in whatever order."""
    shorter, longer = sorted((len(words), len(turn)))
    least = REORDERED_SHARE * longer
    return shorter >= max(COPIED_WORDS, least) and _shared(words, turn) >= least


def _is_strewn(words: Sequence[str], turn: Sequence[str]) -> bool:
    """Whether nearly the whole turn stands in the output in its order with other words between its own, or most of both are
    the same in one order."""
    shorter, longer = sorted((len(words), len(turn)))
    least = max(STREWN_OF_TURN * len(turn), STREWN_SHARE * len(words))
    if shorter >= REPLACED_WORDS:
        least = min(least, REPLACED_SHARE * longer)
    if not STREWN_WORDS <= len(turn) <= LONGEST or shorter < least:
        return False
    return _shared(words, turn) >= least and longest_common(words, turn) >= least


def is_listed(words: Sequence[str], turns: Sequence[Sequence[str]]) -> bool:
    """Whether the output lists content words of an English context instead of saying something: hardly a stop word among them,
    or several in a row that stand apart there."""
    context = [word for turn in turns for word in turn]
    known = set(context) - STOP_WORDS
    content = [word for word in words if word not in STOP_WORDS]
    stops = sum(word in STOP_WORDS for word in context)
    if len(set(content)) < LISTED_WORDS or len(context) > LONGEST or stops < STOP_SHARE * len(context):
        return False
    own = sum(word in known for word in content)
    if len(content) >= LISTED_SHARE * len(words) and own >= LISTED_OWN * len(content):
        return True
    beside = {pair for turn in turns for pair in zip(turn, turn[1:])}
    row = 0
    for before, word in zip(["", *words], words):
        if word not in known:
            row = 0
        else:
            row = 1 if (before, word) in beside else row + 1
        if row == LISTED_WORDS:
            return True
    return False


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


def _spaced(words: Sequence[str]) -> str:
    return f" {' '.join(words)} "
