"""Learned metrics: one model for each fold of the contexts or their groups, trained without it. What was learnt from, or is of
such a group, is judged by the model that did not see it, all else by the mean of all: what a comparator does too
(`comparator.predict`)."""

from collections.abc import Callable, Sequence

import numpy as np

from evaluator.encoders.text_encoder import TextEncoder
from evaluator.judges.protocol import Numbers, OnProgress
from evaluator.judges.texts import Referenced, Text, as_referenced, common_words, named
from evaluator.metrics.inputs import MissingInput, Training
from evaluator.metrics.metric import Measure

Judged = Callable[[Sequence[Referenced]], Numbers]  # texts (n,) -> (n,)
Fit = Callable[[Sequence[Referenced], Numbers, int], Judged]  # texts (n,), scores (n, c) NaN where unknown, seed -> a model


class Features:
    """What an encoder says of texts; each is read once, however many models ask."""

    def __init__(self, encoder: TextEncoder):
        self._encoder = encoder
        self._sentences: dict[str, Numbers] = {}
        self._pairs: dict[tuple[tuple[str, ...], str], Numbers] = {}

    def sentences(self, strings: Sequence[str]) -> Numbers:
        """(n, h) as `TextEncoder.sentences`"""
        new = [string for string in dict.fromkeys(strings) if string not in self._sentences]
        if new:
            self._sentences.update(zip(new, self._encoder.sentences(new)))
        return np.array([self._sentences[string] for string in strings])

    def pairs(self, texts: Sequence[Text]) -> Numbers:
        """(n, 3h) as `TextEncoder.pairs`"""
        new = [key for key in dict.fromkeys((text.context, text.output) for text in texts) if key not in self._pairs]
        if new:
            self._pairs.update(zip(new, self._encoder.pairs([Text(*key) for key in new])))
        return np.array([self._pairs[text.context, text.output] for text in texts])

    def contexts(self, texts: Sequence[Text]) -> Numbers:
        """(n, h) of all turns in a row"""
        return self.sentences([" ".join(text.context) for text in texts])

    def outputs(self, texts: Sequence[Text]) -> Numbers:
        """(n, h)"""
        return self.sentences([text.output for text in texts])


def out_of_fold(fit: Fit, training: Training, scores: Numbers | None = None) -> Measure:
    """A measure that learnt from the training; scores (n, c): from these instead of its own."""
    texts, folds = [as_referenced(text) for text in training.texts], np.asarray(training.folds)
    if scores is None:
        given = np.full(len(texts), np.nan) if training.scores is None else np.asarray(training.scores, dtype=float)
        scores = given.reshape(len(texts), -1)  # (n, c)
    members, common = {}, np.array(common_words(texts, training.folds))  # (n,)
    for fold in sorted(set(training.folds)):
        others = np.flatnonzero((folds != fold) & ~common)
        members[fold] = fit([texts[i] for i in others], scores[others], training.seed)

    def measure(texts: Sequence[Referenced], on_progress: OnProgress | None = None) -> Numbers:
        where = training.folds_of(texts)
        measured = np.empty(len(texts))
        for fold in set(where):
            rows = [i for i, its in enumerate(where) if its == fold]
            judges = list(members.values()) if fold is None else [members[fold]]
            measured[rows] = np.mean([judge([texts[i] for i in rows]) for judge in judges], axis=0)
        return measured

    return measure


def scored(texts: Sequence[Referenced], scores: Numbers, with_references: bool) -> tuple[list[Referenced], Numbers]:
    """Those texts that people scored by the first criterion, and that have a reference where one is needed, with these scores
    (n,). Raises MissingInput where they do not vary."""
    scores = scores[:, 0]
    rows = [i for i, text in enumerate(texts) if np.isfinite(scores[i]) and (text.references or not with_references)]
    if not rows or np.ptp(scores[rows]) == 0:
        needed = " that have references" if with_references else ""
        raise MissingInput(f"There are no different scores of texts{needed} in the other folds, so nothing can be learnt.")
    return [texts[i] for i in rows], scores[rows]


def replies_of(texts: Sequence[Referenced]) -> list[Text]:
    """Every human-written reply to each context, once. Raises MissingInput where fewer than two contexts have one."""
    replies = [Text(text.context, reference, **named(text)) for text in texts for reference in text.references]
    replies += [Text(text.context, text.output, **named(text)) for text in texts if text.human]
    unique = list(dict.fromkeys(replies))
    if len({reply.context for reply in unique}) < 2:
        raise MissingInput("Fewer than two contexts of the other folds have a human-written reply, so nothing can be learnt.")
    return unique
