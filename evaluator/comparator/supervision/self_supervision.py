"""What teaches a comparator without anybody judging: replies that people wrote, and what is known of who wrote a text.

next utterance  a reply that people wrote to a context is better than one made worse or meant for another context
                (Tao et al. 2018, RUBER; Zhao et al. 2020, section 5.2)
strong          human-written is better than generated; two human-written texts, or two samples of one checkpoint, tie
                (Zhou & Xu 2020, section 3.1)
weak            a later checkpoint of a system is better than an earlier one (the same section)

Next utterance stays apart from strong: it calls human-written text worse where it answers another context.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.comparator.examples import Exchange
from evaluator.judges.protocol import pairs_of
from evaluator.judges.texts import Text
from evaluator.metaevaluation.pairs import JudgedPair

MAX_TURNS = 8  # of a context that a reply is learnt in; more would be cut by the token limit anyhow
SMALLEST_MARGIN = 0.1  # of a training's iterations between two checkpoints (Zhou & Xu 2020, section 3.1)
MOST_REPLIES = 500  # exchanges whose replies are compared with others' where there is nothing else to compare. Our choice.
CONVERGED = 0.8  # no two checkpoints from beyond this share of the training: "almost converged"
A_BETTER, TIE, B_BETTER = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Origin:
    """Who wrote a text."""

    system: str
    human: bool = False
    checkpoint: str = ""
    reached: float | None = None  # share of the training's iterations done at the checkpoint, 0..1; None: not known


def exchanges(dialogues: Iterable[tuple[str, Sequence[str], Sequence[Sequence[str]]]]) -> list[Exchange]:
    """One for each turn that answers another; dialogues are (id, turns, references), references[i] other replies to
    turns[i]. An empty reply is left out."""
    found = []
    for dialogue, turns, references in dialogues:
        for i in range(1, len(turns)):
            others = references[i - 1] if i - 1 < len(references) else []
            if turns[i].strip():
                found.append(Exchange(tuple(turns[max(0, i - MAX_TURNS) : i]), _different([turns[i], *others]), dialogue))
    return found


def passes_over(n: int, passes: float, most: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Which of n exchanges each pass shows, in which order: all of them, or `most`, and then the next pass goes on with others.
    The last one may be a part."""
    size = min(n, most)
    total = round(passes * size)
    order = np.array([i for _ in range(-(-total // max(n, 1))) for i in rng.permutation(n)], dtype=int)[:total]
    return [order[start : start + size] for start in range(0, total, size)]


def unseen(given: Sequence[Exchange], judged: Iterable[Sequence[str]]) -> list[Exchange]:
    """The exchanges of dialogues that none of the judged contexts comes from (told by its last two turns), so that what
    is learnt from them knows no text that is held out."""
    ends = {ending(context) for context in judged}
    touched = {exchange.dialogue for exchange in given if ending(exchange.context) in ends}
    return [exchange for exchange in given if exchange.dialogue not in touched]


@dataclass(frozen=True)
class Conversations:
    """Those that were learnt from, without their texts: a context is told by a hash of its last two turns."""

    endings: np.ndarray  # (k,) int64, sorted: the hash of each context that was answered
    dialogues: np.ndarray  # (k,) int64: the number of its conversation
    remembered: np.ndarray  # (e,) int64: the conversation of each exchange of the references

    @classmethod
    def of(cls, exchanges: Sequence[Exchange], remembered: Sequence[Exchange]) -> "Conversations":
        """remembered: those of the exchanges that the references hold, in their order"""
        number: dict[str, int] = {}
        dialogues = [number.setdefault(exchange.dialogue, len(number)) for exchange in exchanges]
        endings = [_hash_of_ending(exchange.context) for exchange in exchanges]
        order = np.argsort(np.array(endings, dtype=np.int64), kind="stable")
        own = [number[exchange.dialogue] for exchange in remembered]
        sorted_endings, of_ending = np.array(endings, dtype=np.int64)[order], np.array(dialogues, dtype=np.int64)[order]
        return cls(sorted_endings, of_ending, np.array(own, dtype=np.int64))

    def around(self, context: Sequence[str]) -> np.ndarray:
        """The numbers of the conversations that the context stands in."""
        known = np.int64(_hash_of_ending(context))
        start, end = (np.searchsorted(self.endings, known, side) for side in ("left", "right"))
        return np.unique(self.dialogues[start:end])

    def hidden_from(self, contexts: Iterable[Sequence[str]]) -> list[np.ndarray]:
        """Of each context, the remembered exchanges of the conversations that it stands in: a comparator that looked up the
        very replies to what it learns from would trust them too much elsewhere."""
        return [np.flatnonzero(np.isin(self.remembered, self.around(context))) for context in contexts]


def _hash_of_ending(context: Sequence[str]) -> int:
    """64 bits of SHA-256: among a million contexts, two of different endings meet with a chance of 3 in 100 million."""
    digest = hashlib.sha256("\n".join(ending(context)).encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def strong_pairs(texts: Sequence[Text], origins: Sequence[Origin]) -> list[JudgedPair]:
    """All pairs within a context of which something is known; origins (n,) of texts (n,)."""
    pairs = []
    for a, b in np.transpose(pairs_of(texts)).tolist():
        one, other = origins[a], origins[b]
        if one.human != other.human:
            pairs.append(JudgedPair(a, b, A_BETTER if one.human else B_BETTER, 1.0, "strong"))
        elif one.human or (one.system, one.checkpoint) == (other.system, other.checkpoint):
            pairs.append(JudgedPair(a, b, TIE, 1.0, "strong"))
    return pairs


def weak_pairs(texts: Sequence[Text], origins: Sequence[Origin]) -> list[JudgedPair]:
    """Pairs of one system's checkpoints in a context; `Pair.margin` is how far apart they are, as a share of the training."""
    pairs = []
    for a, b in np.transpose(pairs_of(texts)).tolist():
        one, other = origins[a], origins[b]
        if one.system != other.system or one.reached is None or other.reached is None:
            continue
        margin = round(abs(one.reached - other.reached), 9)  # 0.9 - 0.8 is a tenth, also in floating point
        if margin >= SMALLEST_MARGIN and min(one.reached, other.reached) <= CONVERGED:
            target = A_BETTER if one.reached > other.reached else B_BETTER
            pairs.append(JudgedPair(a, b, target, 1.0, "weak", margin))
    return pairs


def reply_pairs(given: Sequence[Exchange]) -> tuple[list[Text], list[JudgedPair]]:
    """A dialogue's own reply is better than one of another dialogue: texts and pairs from a third of the dialogues, drawn by
    hash, and from no more than MOST_REPLIES exchanges. The other two thirds are left to the base. None from one dialogue."""
    drawn = sorted({exchange.dialogue for exchange in given}, key=_by_hash)
    chosen = set(drawn[: len(drawn) // 3 or len(drawn)])
    kept = [exchange for exchange in given if exchange.dialogue in chosen][:MOST_REPLIES]
    texts: list[Text] = []
    pairs: list[JudgedPair] = []
    for exchange in kept:
        others = [other for other in kept if other.dialogue != exchange.dialogue]
        if others:
            other = others[int(_by_hash(f"{exchange.dialogue}:{exchange.context}"), 16) % len(others)]
            pairs.append(JudgedPair(len(texts), len(texts) + 1, A_BETTER, 1.0, "dialogues"))
            replies = exchange.replies[0], other.replies[0]
            texts += [Text(exchange.context, reply, group=exchange.dialogue) for reply in replies]
    return texts, pairs


def _by_hash(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _different(replies: Iterable[str]) -> tuple[str, ...]:
    """Less the empty ones and those that differ in case or spacing only."""
    kept: dict[str, str] = {}
    for reply in replies:
        kept.setdefault(" ".join(reply.casefold().split()), reply)
    kept.pop("", None)
    return tuple(kept.values())


def ending(context: Sequence[str]) -> tuple[str, ...]:
    """The last two turns, letters and digits alone: releases differ in spacing, case and quotes."""
    return tuple("".join(c for c in turn.casefold() if c.isalnum()) for turn in context[-2:])
