"""The utility comparator: each (context, output) is encoded once to a scalar utility u for each criterion, and the
probabilities of A better / tie / B better follow from d = u_a - u_b alone. So swapping the sides swaps the answer, and
A > B, B > C imply A > C, by construction."""

import math
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from transformers import AutoConfig, AutoModel, PreTrainedModel
from transformers.initialization import no_init_weights

from evaluator.comparator.allocator import keep_freed_memory
from evaluator.comparator.devices import use_bf16
from evaluator.comparator.encoding import Batch

AGREEMENT = 4.0  # what the cosine of output and context, inside the encoded pair, weighs at the start
# Up to so many tokens plain attention trains 1.5 times as fast on a CPU as torch's fused one, whose backward pass is slow
# there; beyond, it takes too much memory.
EAGER_TOKENS = 192


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
        read = F.linear(self.features(batch), self.utility.weight)  # (b, c)
        return familiar * read + self.utility.bias + (2 - familiar) * self.cosine * cosines.unsqueeze(-1)  # (b, c)

    def features(self, batch: Batch) -> torch.Tensor:
        """What the linear units read: -> (b, 3h) in fp32"""
        return pair_features(self.encoder, batch)

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


def pair_features(encoder: PreTrainedModel, batch: Batch) -> torch.Tensor:
    """Of each context read with its output: the mean of all tokens, the mean of the output's, and its product with the mean of
    the context's -> (b, 3h) in fp32"""
    hidden = hidden_states(encoder, batch)  # (b, t, h)
    output = F.normalize(mean_over(hidden, batch.mask * batch.segments), dim=-1)  # (b, h)
    context = F.normalize(mean_over(hidden, batch.mask * (1 - batch.segments)), dim=-1)  # (b, h)
    agreement = output * context * math.sqrt(hidden.shape[-1])  # (b, h), of the size of 1
    return torch.cat([mean_over(hidden, batch.mask), output, agreement], dim=-1)  # (b, 3h)


def hidden_states(encoder: PreTrainedModel, batch: Batch) -> torch.Tensor:
    """The last layer's -> (b, t, h) in fp32"""
    config, kind = encoder.config, encoder.device.type
    if encoder._supports_sdpa and config._attn_implementation in ("sdpa", "eager"):
        wanted = "eager" if kind == "cpu" and batch.ids.shape[1] <= EAGER_TOKENS else "sdpa"
        if config._attn_implementation != wanted:
            encoder.set_attn_implementation(wanted)
    with torch.autocast(kind, torch.bfloat16) if use_bf16(batch.precision, encoder.device) else nullcontext():
        hidden: torch.Tensor = encoder(**arguments_of(encoder, batch)).last_hidden_state.float()
    return hidden


def arguments_of(model: PreTrainedModel, batch: Batch) -> dict[str, torch.Tensor]:
    """What the model is called with; the segments where it knows any."""
    arguments = {"input_ids": batch.ids, "attention_mask": batch.mask}
    if model.config.model_type == "xlnet" or getattr(model.config, "type_vocab_size", 0) > 1:  # XLNet tells any two apart
        arguments["token_type_ids"] = batch.segments
    return arguments


def mean_over(hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Mean of hidden (b, t, h) over the tokens of mask (b, t) -> (b, h)"""
    mask = mask.unsqueeze(-1).float()  # (b, t, 1)
    return (hidden * mask).sum(1) / mask.sum(1)


def embed(encoder: PreTrainedModel, batch: Batch) -> torch.Tensor:
    """As sentence-transformers does: the mean of the last hidden states, of length 1 -> (b, h) in fp32"""
    batch = batch.to(encoder.device)
    return F.normalize(mean_over(hidden_states(encoder, batch), batch.mask), dim=-1)


def pretrained_encoder(source: str, **config: Any) -> PreTrainedModel:
    """The encoder of a folder, or of a name on the Hugging Face hub where that may be reached, with its weights; config: what
    is to differ from its own configuration."""
    local = Path(source).is_dir()
    return _prepared(AutoModel.from_pretrained(source, dtype=torch.float32, local_files_only=local, **config))


def empty_encoder(folder: str) -> PreTrainedModel:
    """The same architecture, its weights yet to be loaded."""
    with no_init_weights():  # drawing random ones takes longer than reading a file
        return _new_encoder(folder)


def parameters_named(folder: str) -> int:
    """How many numbers the encoder of a configuration holds; none of them is allocated."""
    with torch.device("meta"), no_init_weights():
        return sum(parameter.numel() for parameter in _new_encoder(folder).parameters())


def random_encoder(folder: str, seed: int) -> PreTrainedModel:
    """The same architecture with random weights: training from scratch."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return _new_encoder(folder)


def positions(encoder: PreTrainedModel) -> int:
    """How many tokens the encoder has positions for; RoBERTa and its kin count theirs from after the padding's."""
    known: int = getattr(encoder.config, "max_position_embeddings", None) or 0
    tables = [table for name, table in encoder.named_modules() if name.endswith("position_embeddings")]
    before = max((table.padding_idx + 1 for table in tables if getattr(table, "padding_idx", None) is not None), default=0)
    return known - before if known > 0 else sys.maxsize  # XLNet, whose positions are relative, says -1


def _new_encoder(folder: str) -> PreTrainedModel:
    config = AutoConfig.from_pretrained(folder, local_files_only=True)
    return _prepared(AutoModel.from_config(config, dtype=torch.float32))


def _prepared(encoder: PreTrainedModel) -> PreTrainedModel:
    keep_freed_memory()
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None  # BERT's [CLS] layer: never used here, and not in every pretrained file
    encoder.config.use_cache = False  # GPT-2's, for the word after the last
    return encoder
