"""From what the members say of texts that they did not see to one head, fitted on people's answers about those texts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evaluator.comparator.degenerate_outputs import LOWEST, is_degenerate, lowered
from evaluator.comparator.examples import Pair, Text, as_arrays
from evaluator.comparator.head import NO_GUARD, Head, fit_head, fit_level, worth_beside
from evaluator.comparator.settings import Settings
from evaluator.metaevaluation.held_out import Agreement, evaluate

MOST_WORTH = 100.0  # logits for each unit of likeness, which varies by some hundredths


@dataclass(frozen=True)
class HeldOut:
    """What the members say of texts that they did not see, and what people say of the same, by one criterion."""

    raw: np.ndarray  # (n,) utilities as the members give them, NaN where nobody judged the context
    likeness: np.ndarray  # (n,) to references
    scores: np.ndarray  # (n,) people's mean, 0..1, NaN where unknown
    texts: Sequence[Text]  # (n,)
    contexts: np.ndarray  # (n,) context number
    folds: np.ndarray  # (n,)
    pairs: Sequence[Pair]  # by people


@dataclass(frozen=True)
class OutOfFold:
    """What the members say by one criterion, and what that is worth."""

    head: Head
    utilities: np.ndarray  # (n,) in the head's logits, NaN where nobody judged the context
    agreement: Agreement

    def row(self, name: str) -> dict[str, Any]:
        found, (low, high) = self.agreement, self.agreement.pairwise_interval
        row = {"name": name, "accuracy": found.pairwise_accuracy, "low": low, "high": high, "scale": self.head.scale}
        return row | {"clear_pairs": found.clear_pairs, "longer": found.longer_accuracy}


def judge(held: HeldOut, settings: Settings, seed: int) -> OutOfFold:
    """The head that is likeliest on what is held out, and what the utilities that it gives are worth."""
    a, b, targets, weights = as_arrays(held.pairs)
    scale, references, u = mix_references(held, settings) if settings.references else (1.0, 0.0, held.raw)
    guard = float(np.nanquantile(u, LOWEST)) if settings.guards else NO_GUARD
    u = lowered(u, held.texts, guard)  # (n,)
    head = fit_head(u[a] - u[b], targets, weights, settings.ties)
    u, logits = head.scale * u, head.scale
    slope, intercept = fit_level(u, held.scores)
    head = replace(head, scale=logits * scale, references=logits * references, guard=logits * guard)
    head = replace(head, slope=slope, intercept=intercept)
    return OutOfFold(head, u, evaluate(u, held.texts, held.pairs, held.contexts[a], held.folds[a], seed, settings.ties))


def mix_references(held: HeldOut, settings: Settings) -> tuple[float, float, np.ndarray]:
    """(scale, worth, u): the logits that a unit of the raw utilities and one of likeness are worth by all pairs; u (n,) their
    sum, in each fold mixed as the pairs of the others have it, and of one size in all. (1, 0, raw) where likeness says
    nothing. Pairs with a degenerate output have no say, since it is not judged by its likeness."""
    free = ~is_degenerate(held.texts) if settings.guards else np.ones(len(held.texts), dtype=bool)  # (n,)
    a, b, targets, weights = as_arrays([pair for pair in held.pairs if free[pair.a] and free[pair.b]])
    d, ahead = held.raw[a] - held.raw[b], held.likeness[a] - held.likeness[b]  # (q,)
    scale, worth = worth_beside(d, ahead, targets, weights, MOST_WORTH)
    if not worth:
        return 1.0, 0.0, held.raw
    size = lambda of_d, of_likeness: np.hypot(of_d * np.linalg.norm(d), of_likeness * np.linalg.norm(ahead))
    u = np.empty(len(held.raw))
    for fold in np.unique(held.folds):
        here, others = held.folds == fold, held.folds[a] != fold  # (n,), (q,)
        mixed = worth_beside(d[others], ahead[others], targets[others], weights[others], MOST_WORTH)
        same_size = size(scale, worth) / (size(*mixed) or 1.0)
        u[here] = same_size * (mixed[0] * held.raw[here] + mixed[1] * held.likeness[here])
    return scale, worth, u
