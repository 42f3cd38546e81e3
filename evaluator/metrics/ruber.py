"""RUBER's unreferenced metric (Tao et al. 2018, section 3.2; Zhao et al. 2020, equation 4): does a reply go with its context?

    s(c, o) = sigmoid(MLP([c; o; c^T M o])),  trained to make  max(0, 0.5 - s(c, people's reply) + s(c, a wrong reply))  small

A wrong reply is one that people gave to another context.
c and o are frozen embeddings of context and output, reduced as ADEM's are (theirs are recurrent and learn along: with few
replies, M over all dimensions learns nothing). M starts as the identity.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from evaluator.judges.protocol import Numbers
from evaluator.judges.texts import Referenced, Text, context_key, kin_of
from evaluator.metrics.adem import PrincipalComponents
from evaluator.metrics.networks import Learnt, learnt, tensor
from evaluator.metrics.out_of_fold import Features, Fit, Judged, replies_of

MARGIN = 0.5  # Tao et al. 2018, section 3.2
HIDDEN = 64
NEGATIVES = 8  # wrong replies for each right one, in the validation contexts


class Unreferenced(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.bilinear = nn.Parameter(torch.eye(width))  # M
        self.mlp = nn.Sequential(nn.Linear(2 * width + 1, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 1))

    def forward(self, contexts: torch.Tensor, outputs: torch.Tensor) -> torch.Tensor:
        """(b, h), (b, h) -> (b,) from 0 to 1"""
        together = ((contexts @ self.bilinear) * outputs).sum(-1, keepdim=True)  # (b, 1)
        s: torch.Tensor = self.mlp(torch.cat([contexts, outputs, together], -1)).squeeze(-1).sigmoid()
        return s


def ranking_loss(right: torch.Tensor, wrong: torch.Tensor) -> torch.Tensor:
    """(b,), (b,) -> (): the mean margin that is missing"""
    return (MARGIN - right + wrong).clamp(min=0).mean()


def unreferenced(features: Features) -> Fit:
    def fit(texts: Sequence[Referenced], scores: Numbers, seed: int) -> Judged:
        replies = replies_of(texts)
        read = features.contexts(replies), features.outputs(replies)  # (r, h), (r, h)
        reduced = PrincipalComponents(np.concatenate(read))
        scale = float(reduced(np.concatenate(read)).std()) or 1.0

        def seen(vectors: Numbers) -> torch.Tensor:
            return tensor(reduced(vectors) / scale)

        c, o = seen(read[0]), seen(read[1])  # (r, k)
        others = OtherReplies(replies)

        def loss(model: nn.Module, rows: Numbers, rng: np.random.Generator) -> torch.Tensor:
            wrong = others.drawn(rows, rng)
            return ranking_loss(model(c[rows], o[rows]), model(c[rows], o[wrong]))

        task = Learnt(lambda: Unreferenced(c.shape[1]), loss, kin_of(replies), NEGATIVES)
        model = learnt(task, seed)

        def judged(given: Sequence[Referenced]) -> Numbers:
            with torch.inference_mode():
                s = model(seen(features.contexts(given)), seen(features.outputs(given)))
            return np.asarray(s.numpy(), dtype=float)

        return judged

    return fit


class OtherReplies:
    """Replies to other contexts."""

    def __init__(self, replies: Sequence[Text]):
        _, self._context = np.unique([context_key(reply.context) for reply in replies], return_inverse=True)  # (r,)

    def drawn(self, rows: Numbers, rng: np.random.Generator) -> Numbers:
        """For each of the rows (b,) that of a reply to another context, of which there must be one"""
        wrong = rng.integers(len(self._context), size=len(rows))
        while (same := self._context[wrong] == self._context[rows]).any():
            wrong[same] = rng.integers(len(self._context), size=int(same.sum()))
        return wrong
