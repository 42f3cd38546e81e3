"""What metrics read: an output with its references, and what a metric needs besides.

A metric takes `evaluator.judges.texts.Text` as every judge does. Where it needs more of an output, the text is a
`Referenced`, which `referenced` makes of the outputs of a campaign:

- the references of an output are those that came with its context, and what the human-written systems wrote for that context;
- a human-written output is no reference for itself, and metrics that need references do not judge it: its utility is NaN, so
  that such rows drop out of whatever is measured.

Nothing that is missing becomes a zero. What a whole metric lacks is a `MissingInput`, one sentence; what one output lacks is a
utility of NaN, and `MetricJudge.lacks` says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.errors import Refused
from evaluator.judges.texts import BESIDE, REFERENCES, Text, fold_in, fold_of, folds_by_key, keys_of, kin_of

if TYPE_CHECKING:
    from evaluator.encoders.text_encoder import TextEncoder
    from evaluator.metrics.language_models import LanguageModel

WORDNET = Path("/usr/share/wordnet")  # where Debian's and Ubuntu's `wordnet-base` puts it
FOLDS = 5

# What a metric may need, and the sentence for those who have not got it.
NEEDS = {
    "references": REFERENCES,
    "encoder": "an encoder",
    "scores": "people's scores to learn from",
    "replies": "human-written replies to learn from",
    "masked": "a masked language model, and none is installed",
    "causal": "a causal language model, and none is installed",
    "corpus": "texts that the n-gram model is counted from",
    "wordnet": f"WordNet's files in {WORDNET} (the package wordnet-base of Debian and Ubuntu)",
    "logprob": "the generator's own log probability of its output",
}
MODELS = ("encoder", "masked", "causal")  # of these, what a model is named for
OF_OUTPUTS = ("references", "logprob")  # each output brings them; everything else is given to `build`


@dataclass(frozen=True)
class ModelSource:
    """A model by a folder, or by its name on the hub; empty: the encoder that is installed. pooling: against what an encoder's
    own files and family say (`encoders.pooling.WAYS`)."""

    source: str = ""
    pooling: str = ""

    @property
    def name(self) -> str:
        return Path(self.source).name

    def named(self, metric: str) -> str:
        """What a row of the metric with this model is called."""
        return f"{metric}, {self.name}" if self.source else metric


class MissingInput(Refused):
    """A metric cannot be made, or judge anything, of what it was given; str() is one plain sentence."""


@dataclass(frozen=True)
class Training:
    """What learned metrics learn from. What stands here, or is of a group that does, is judged by the model that did not see
    its fold."""

    texts: Sequence[Text]  # (n,)
    folds: Sequence[int]  # (n,) one context lies in one fold, and so does one group
    # People's mean scores, on any scale, NaN where unknown: (n,), or (n, c) by several criteria. Most metrics learn the first.
    scores: Sequence[float] | Sequence[Sequence[float]] | NDArray[np.float64] | None = None
    seed: int = 0
    scales: Sequence[tuple[float, float]] | None = None  # (c,) lowest and highest score of each criterion; default: as seen
    medians: Sequence[float] | Sequence[Sequence[float]] | NDArray[np.float64] | None = None  # of people's, as scores are

    def __post_init__(self) -> None:
        if len(self.folds) != len(self.texts) or self.scores is not None and len(self.scores) != len(self.texts):
            raise ValueError(f"{len(self.texts)} texts need as many folds, and as many scores where there are scores.")
        if len(set(self.folds)) < 2:
            raise ValueError("Learning out of fold needs at least two folds.")
        own = {(keys_of(text)[0], fold) for text, fold in zip(self.texts, self.folds)}
        if len({key for key, _ in own}) < len(own):
            raise ValueError("A context or group lies in two folds, so a model would judge what it has seen.")

    def on_scale(self, medians: bool = False) -> NDArray[np.float64]:
        """(n, c) from 0, the lowest score of a criterion's scale, to 1. medians: where they are known, instead of means."""
        given = self.medians if medians and self.medians is not None else self.scores
        if given is None:
            return np.full((len(self.texts), 1), np.nan)
        values = np.asarray(given, dtype=float).reshape(len(self.texts), -1)
        if self.scales is not None:
            low, high = np.array(self.scales, dtype=float).T
        else:
            low, high = np.nanmin(values, 0, initial=np.inf), np.nanmax(values, 0, initial=-np.inf)
        with np.errstate(invalid="ignore"):  # a criterion by which nobody scored has no scale
            return np.asarray((values - low) / np.where(high > low, high - low, 1.0))

    @property
    def by(self) -> str:
        """What stays together in a fold, for a record of settings."""
        return "by group" if any(text.group for text in self.texts) else "by context"

    def folds_of(self, texts: Sequence[Text]) -> list[int | None]:
        """The folds of any texts (m,), None where several models or all of them know nothing of it."""
        known = folds_by_key(self.texts, self.folds)
        found = [fold_in(known, text) for text in texts]
        return [None if fold == BESIDE else fold for fold in found]

    @classmethod
    def dealt(cls, texts: Sequence[Text], scores: Sequence[float] | None = None, folds: int = FOLDS, seed: int = 0) -> Training:
        """With contexts, or groups of them, dealt into so many folds of nearly equal size, or as many as there are."""
        kin = kin_of(texts)
        fold = fold_of(kin, min(folds, len(set(kin))), seed)
        return cls(texts, [fold[key] for key in kin], scores, seed)


@dataclass(frozen=True)
class Inputs:
    """All that `build` was given."""

    encoder: TextEncoder | None = None
    masked: LanguageModel | None = None
    causal: LanguageModel | None = None
    corpus: Sequence[str] = ()
    training: Training | None = None
    wordnet: Path = WORDNET


def turns_of(texts: Sequence[Text]) -> list[str]:
    """Every turn of every context, each context once: a corpus for the n-gram model that holds none of the judged outputs."""
    return [turn for context in dict.fromkeys(text.context for text in texts) for turn in context]
