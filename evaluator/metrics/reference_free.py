"""The reference-free regression of Zhao et al. (2020), equations 5 and 6: score(c, o) = 4 MLP(d) + 1 with d an encoding of
context and output together, and MLP ending in a sigmoid.

Here d is frozen, what a comparator's linear unit reads before any training, and only the MLP learns; in the paper RoBERTa
learns along, after it has learnt to tell the next utterance. A comparator of this product learns along too.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from evaluator.judges.protocol import Numbers
from evaluator.judges.texts import Referenced
from evaluator.metrics.networks import on_features, tensor
from evaluator.metrics.out_of_fold import Features, Fit, Judged, scored

HIDDEN = 64


class Regressor(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(width, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 1))

    def forward(self, d: torch.Tensor) -> torch.Tensor:
        """(b, h) -> (b,) from 1 to 5"""
        score: torch.Tensor = 4 * self.mlp(d).squeeze(-1).sigmoid() + 1
        return score


def reference_free(features: Features) -> Fit:
    """Utilities are on the scale from 1 to 5, to which the lowest and the highest score that was learnt from are moved."""

    def fit(texts: Sequence[Referenced], scores: Numbers, seed: int) -> Judged:
        texts, scores = scored(texts, scores, with_references=False)
        wanted = tensor(1 + 4 * (scores - scores.min()) / np.ptp(scores))  # (n,)
        return on_features(Regressor, features.pairs, texts, wanted, F.mse_loss, seed)

    return fit
