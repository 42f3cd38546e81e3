"""The utility comparator: each (context, output) is encoded once to a scalar utility u for each criterion, and the
probabilities of A better / tie / B better follow from d = u_a - u_b alone. So swapping the sides swaps the answer, and
A > B, B > C imply A > C, by construction."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from transformers import PreTrainedModel

from evaluator.encoders.encoding import Batch, Encoder, Sequences
from evaluator.encoders.hidden_states import Tick, batches, pair_features

AGREEMENT = 4.0  # what the cosine of output and context, inside the encoded pair, weighs at the start


def log_probabilities(d: torch.Tensor, theta: torch.Tensor) -> torch.Tensor:
    """log P(A), log P(tie), log P(B) by Rao & Kupper (1967) with theta = log of their tie parameter.

    d      (p,) difference of utilities, in logits        theta  () > 0, half the width of the tie, in logits
    P(A) = s(d - theta), P(B) = s(-d - theta), and what is left: P(tie) = s(theta - d) s(theta + d) (1 - exp(-2 theta)).
    """
    tie = F.logsigmoid(theta - d) + F.logsigmoid(theta + d) + torch.log(-torch.expm1(-2 * theta))  # (p,)
    return torch.stack([F.logsigmoid(d - theta), tie, F.logsigmoid(-d - theta)], dim=-1)  # (p, 3)


class UtilityModel(nn.Module):
    """Encoder; for each criterion one linear unit over the mean of all tokens, the mean of the output's, and its product with
    the mean of the context's; plus the cosine of the two embedded apart (by another encoder), with a learnt weight.

    In a context longer than most that were learnt from, the linear unit counts for less and the cosine for as much more, up to
    twice (`Encoder.familiarity`).
    Each unit starts as the cosine of output and context inside the encoded pair: cosines are the best untrained judges that
    we know of.
    """

    def __init__(self, encoder: PreTrainedModel, criteria: int = 1):
        super().__init__()
        self.encoder, self.ties, self.criteria = encoder, True, criteria  # ties: whether there is a third answer
        width = encoder.config.hidden_size
        each = () if criteria == 1 else (criteria,)
        self.utility = nn.Linear(3 * width, criteria)
        self.cosine = nn.Parameter(torch.full(each, AGREEMENT))
        self.raw_theta = nn.Parameter(torch.tensor(math.log(math.expm1(0.5))))  # theta 0.5: P(tie) = 0.24 at d = 0
        # Slope and intercept from u to the logit of the mean score.
        self.level = nn.Parameter(torch.tensor([1.0, 0.0]).repeat(*each, 1))
        nn.init.zeros_(self.utility.weight)
        nn.init.zeros_(self.utility.bias)
        nn.init.constant_(self.utility.weight[:, 2 * width :], AGREEMENT / math.sqrt(width))
        self.to(encoder.device)

    @property
    def theta(self) -> torch.Tensor:
        return F.softplus(self.raw_theta) + 1e-4

    def forward(self, batch: Batch, cosines: torch.Tensor) -> torch.Tensor:
        """cosines (b,) -> utilities (b, c), one for each criterion, in fp32: bf16, which the encoder may use, is too coarse"""
        batch, cosines = batch.to(self.encoder.device), cosines.to(self.encoder.device)
        familiar = batch.familiarity.unsqueeze(-1)  # (b, 1)
        read = F.linear(pair_features(self.encoder, batch), self.utility.weight)  # (b, c)
        return familiar * read + self.utility.bias + (2 - familiar) * self.cosine * cosines.unsqueeze(-1)  # (b, c)

    def spread(self, criteria: int) -> "UtilityModel":
        """The same encoder with so many criteria, each of them this model's one."""
        model, mine = UtilityModel(self.encoder, criteria), self.state_dict()
        model.load_state_dict({name: mine[name].expand_as(tensor) for name, tensor in model.state_dict().items()})
        return model

    def pair_losses(self, d: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Cross-entropy with people's shares: d (p,), targets (p, 3) -> (p,); without ties by Bradley & Terry (1952)"""
        if not self.ties:
            return F.binary_cross_entropy_with_logits(d, targets[:, 0] + targets[:, 1] / 2, reduction="none")
        return -(targets * log_probabilities(d, self.theta)).sum(-1)

    def score_losses(self, u: torch.Tensor, scores: torch.Tensor, criterion: int = 0) -> torch.Tensor:
        """Cross-entropy with the mean score on 0..1: u (b,) and scores (b,) of one criterion -> (b,)"""
        slope, intercept = self.level.view(-1, 2)[criterion]
        return F.binary_cross_entropy_with_logits(slope * u + intercept, scores, reduction="none")


def utilities(
    model: UtilityModel,
    encoder: Encoder,
    sequences: Sequences,
    cosines: torch.Tensor,
    chosen: Sequence[int] | np.ndarray,
    tick: Tick | None = None,
) -> np.ndarray:
    """Raw utilities of the chosen texts -> (len(chosen), criteria); cosines (n,) as from `beside_pairs`."""
    chosen = np.asarray(chosen, dtype=int)  # (c,)
    u = np.empty((len(chosen), model.criteria))  # (c, criteria)
    model.eval()
    for rows, batch in batches(model.encoder, encoder, sequences, chosen, tick):
        u[rows] = model(batch, cosines[chosen[rows]]).cpu().numpy()
    return u
