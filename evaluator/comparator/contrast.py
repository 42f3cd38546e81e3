"""Tuning the encoder behind the cosines on dialogues: which of the replies of a batch belongs to which context?

Both are embedded apart, and the cosine of a context with its own reply is to exceed that with all other replies of the
batch (in-batch negatives: Henderson et al. 2017, "Efficient natural language response suggestion", section 4).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from evaluator.comparator import checkpoint, loop
from evaluator.comparator.encoding import Batch, Encoder
from evaluator.comparator.inference import Tick
from evaluator.comparator.model import embed, use_bf16
from evaluator.comparator.settings import Settings
from evaluator.comparator.supervision import Exchange

BATCH = 32  # contexts in a step; with as many replies again from other exchanges
TURNS = 3  # of a context; the last alone in three of ten, since its cosine is asked for too
MAX_LENGTH = 56  # tokens
SCALE = 20.0  # of the cosines at the start, as sentence-transformers has it


class Matcher(nn.Module):
    """An encoder, and how much a difference of cosines says."""

    def __init__(self, encoder: nn.Module):
        super().__init__()
        self.encoder = encoder
        self.log_scale = nn.Parameter(torch.tensor(SCALE).log())

    def forward(self, contexts: Batch, replies: Batch, bf16: bool) -> torch.Tensor:
        """Batches of b contexts and r replies -> (b, r) scaled cosines"""
        context = F.normalize(embed(self.encoder, contexts, bf16), dim=-1)  # (b, h)
        reply = F.normalize(embed(self.encoder, replies, bf16), dim=-1)  # (r, h)
        return context @ reply.T * self.log_scale.exp()


def train_matcher(
    exchanges: Sequence[Exchange], settings: Settings, seed: int, directory: Path, state: loop.State, tick: Tick
) -> nn.Module:
    """The encoder in `directory`, tuned."""
    encoder = Encoder(checkpoint.load_tokenizer(directory), MAX_LENGTH)
    model = Matcher(checkpoint.load_encoder(directory))
    bf16 = use_bf16(settings.precision)
    rng = np.random.default_rng([seed, 4])
    rounds = [rng.permutation(len(exchanges)) for _ in range(settings.contrast_passes)]
    batches = [order[i : i + BATCH] for order in rounds for i in range(0, len(order), BATCH)]

    def losses(step: int) -> Iterator[torch.Tensor]:
        draw = np.random.default_rng([seed, 5, step])
        shown = [exchanges[i] for i in batches[step]]
        others = [exchanges[i] for i in draw.integers(len(exchanges), size=len(shown))]
        contexts = [e.context[-1] if draw.random() < 0.3 else " ".join(e.context[-TURNS:]) for e in shown]
        replies = [e.replies[draw.integers(len(e.replies))] for e in [*shown, *others]]
        asked, answered = encoder.singles(contexts, keep_end=True), encoder.singles(replies)
        cosines = model(encoder.batch(asked, range(len(contexts))), encoder.batch(answered, range(len(replies))), bf16)
        own = torch.arange(len(shown))
        yield F.cross_entropy(cosines, own) + F.cross_entropy(cosines[:, : len(shown)].T, own)

    def after(step: int, loss: float, notes: list) -> None:
        tick(step / len(batches))

    loop.run(model, settings, settings.contrast_learning_rate, len(batches), losses, [seed, 6], state, after)
    return model.encoder
