"""The discriminative evaluator: was this output written by a person or generated? (Kannan & Vinyals 2017; what Zhou & Xu 2020
compare with in section 4.1, and what is left of their evaluator without comparison.)

A logistic regression on a frozen encoding of context and output, where theirs is a BERT that learns along. The utility is the
logit of "by a person". It needs no scores: it learns from the human-written replies and the generated outputs of the campaign.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from evaluator.judges.protocol import Numbers
from evaluator.judges.texts import Referenced, Text, named
from evaluator.metrics.inputs import MissingInput
from evaluator.metrics.networks import on_features, tensor
from evaluator.metrics.out_of_fold import Features, Fit, Judged, replies_of


class Logistic(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.linear = nn.Linear(width, 1)
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, d: torch.Tensor) -> torch.Tensor:
        """(b, h) -> (b,) logits"""
        logit: torch.Tensor = self.linear(d).squeeze(-1)
        return logit


def discriminator(features: Features) -> Fit:
    def fit(texts: Sequence[Referenced], scores: Numbers, seed: int) -> Judged:
        human = replies_of(texts)
        generated = list(dict.fromkeys(Text(text.context, text.output, **named(text)) for text in texts if not text.human))
        if not generated:
            raise MissingInput("There are no generated outputs in the other folds, so nothing tells them from people's.")
        both = [*human, *generated]
        by_people = tensor(np.repeat([1.0, 0.0], [len(human), len(generated)]))  # (n,)
        return on_features(Logistic, features.pairs, both, by_people, F.binary_cross_entropy_with_logits, seed)

    return fit
