"""The evaluator with one head for each aspect ("three-head BERT", section 3): is an output good by naturalness, quality, ...?

It reads the output and then its reference, not the context: [CLS] output [SEP] reference [SEP]. Each head is a logistic
regression on one encoding, trained together by balanced cross-entropy (equation 1). Their BERT learns along; here the encoding
is frozen. The utility is the logit of the first aspect, as a comparator judges by its first criterion; of several references
the mean counts.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from evaluator.judges.protocol import Numbers
from evaluator.judges.texts import Referenced, Text, fold_of, kin_of
from evaluator.metrics.inputs import MissingInput
from evaluator.metrics.networks import VALIDATION, on_features, tensor
from evaluator.metrics.out_of_fold import Features, Fit, Judged

GOOD = 0.8  # of the scale from the lowest to the highest score: 5 on their scale from 1 to 6 (section 4.1)
ROUNDING = 1e-9
HIDDEN = 64
GRID = (0, -0.05, 0.05, -0.1, 0.1, -0.15, 0.15, -0.2, 0.2, -0.25, 0.25)  # about the share that is not good: section 4.3


class Heads(nn.Module):
    def __init__(self, width: int, aspects: int):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(width, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, aspects))

    def forward(self, d: torch.Tensor) -> torch.Tensor:
        """(b, h) -> (b, c) logits"""
        logits: torch.Tensor = self.mlp(d)
        return logits


def balanced_loss(logits: torch.Tensor, good: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
    """Equation 1, the mean of -beta y log(p) - (1 - beta) (1 - y) log(1 - p) over what is known: logits (b, c), good (b, c) NaN
    where unknown, beta (c,) -> ()"""
    known = ~good.isnan()
    good, beta = good.nan_to_num(), beta.nan_to_num()  # a NaN would reach the gradient even where it counts for nothing
    losses = -beta * good * F.logsigmoid(logits) - (1 - beta) * (1 - good) * F.logsigmoid(-logits)  # (b, c)
    return (losses * known).sum() / known.sum().clamp(min=1)


def heads(features: Features) -> Fit:
    def fit(texts: Sequence[Referenced], scores: Numbers, seed: int) -> Judged:
        rows = [i for i, text in enumerate(texts) if text.references and np.isfinite(scores[i]).any()]
        good = tensor(good_of(scores[rows]))  # (n, c)
        beta = 1 - good.nanmean(0)  # (c,) the share that is not good, after Zhou et al. 2017
        if not rows or not 0 < beta[0] < 1:
            raise MissingInput(
                "The texts with references in the other folds are all good or all not, so nothing can be learnt."
            )
        read, owner = beside_references([texts[i] for i in rows])  # (m,), (m,)
        network = lambda width: Heads(width, len(beta))
        loss = lambda logits, good: balanced_loss(logits, good, beta)
        kin = kin_of([texts[i] for i in rows])
        asked = on_features(network, features.pairs, read, good[owner], loss, seed, [kin[i] for i in owner])

        def judged(others: Sequence[Referenced]) -> Numbers:
            read, owner = beside_references(others)
            first = asked(read)[:, 0]  # (m,)
            return np.asarray(np.bincount(owner, first) / np.bincount(owner))

        return judged

    return fit


def searched_beta(features: Features, read: Sequence[Text], good: Numbers, kin: Sequence[str], seed: int) -> float:
    """Of the betas of GRID the one with the best F1 on one context in ten, by a head of its own on the frozen encoding. read
    (m,) texts, good (m,) NaN where unknown, kin (m,); the share that is not good where there are too few contexts."""
    known: Numbers = np.flatnonzero(np.isfinite(good))
    if not len(known):
        return float("nan")
    keys = [kin[i] for i in known]
    share = float(1 - good[known].mean())
    if len(set(keys)) < VALIDATION:
        return share
    fold = fold_of(keys, VALIDATION, seed + 1)
    out = np.array([fold[key] == 0 for key in keys])
    learnt, kept = known[~out], known[out]

    def f1(beta: float) -> float:
        loss = lambda logits, wanted: balanced_loss(logits, wanted, tensor(np.array([beta])))
        texts, wanted = [read[i] for i in learnt], tensor(good[learnt][:, None])
        asked = on_features(lambda w: Heads(w, 1), features.pairs, texts, wanted, loss, seed, [kin[i] for i in learnt])
        return f1_of_good(asked([read[i] for i in kept])[:, 0], good[kept])

    return best_beta(f1, share)


def best_beta(f1: Callable[[float], float], share: float) -> float:
    """Of the betas of GRID; of equally good ones the nearest to the share."""
    tried = [float(np.clip(share * (1 + step), 0.0, 1.0)) for step in GRID]
    return max(tried, key=f1)


def f1_of_good(logits: Numbers, good: Numbers) -> float:
    """Of the good ones, called so where logits (n,) are above 0; 0 where there are none of either."""
    said = logits > 0
    return 2 * float((said & (good == 1)).sum()) / max(1.0, float(said.sum() + good.sum()))


def good_of(scores: Numbers) -> Numbers:
    """(n, c) scores, from 0 to 1 on their criterion's scale -> 1 where good, 0 where not, NaN where unknown"""
    return np.where(np.isnan(scores), np.nan, scores >= GOOD - ROUNDING)


def beside_references(texts: Sequence[Referenced]) -> tuple[list[Text], Numbers]:
    """Each output beside each of its references (m,), and whose it is (m,)"""
    owner = np.repeat(np.arange(len(texts)), [len(text.references) for text in texts])
    return [Text((text.output,), reference) for text in texts for reference in text.references], owner
