"""Tuning the encoder behind the cosine on dialogues: which of the replies of a batch belongs to which context?

Both are embedded apart, and the cosine of a context with its own reply is to exceed that with all other replies of the
batch (in-batch negatives: Henderson et al. 2017, "Efficient natural language response suggestion", section 4).
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from transformers import PreTrainedModel

from evaluator.comparator import devices, storage
from evaluator.comparator.encoding import Batch, Encoder, by_length, last_turns
from evaluator.comparator.inference import Tick
from evaluator.comparator.settings import Settings
from evaluator.comparator.supervision.self_supervision import Exchange
from evaluator.comparator.training import loop
from evaluator.comparator.utility_model import embed

BATCH = 64  # contexts in a step, each with two of its replies
PART = 32  # replies, of similar length, that are padded together
LAST_TURN_ALONE = 0.3  # how often a context is its last turn
MAX_LENGTH = 56  # tokens
SCALE = 20.0  # of the cosines at the start, as sentence-transformers has it


class Matcher(nn.Module):
    """An encoder, and how much a difference of cosines says."""

    def __init__(self, encoder: PreTrainedModel):
        super().__init__()
        self.encoder = encoder
        self.log_scale = nn.Parameter(torch.tensor(SCALE, device=encoder.device).log())

    def forward(self, contexts: Batch, replies: Sequence[Batch]) -> torch.Tensor:
        """Batches of b contexts and, in parts, of r replies -> (b, r) scaled cosines"""
        answers = torch.cat([embed(self.encoder, part) for part in replies])  # (r, h)
        return embed(self.encoder, contexts) @ answers.T * self.log_scale.exp()


def train_matcher(
    exchanges: Sequence[Exchange], settings: Settings, seed: int, directory: Path, state: loop.State, tick: Tick
) -> PreTrainedModel:
    """The encoder in `directory`, tuned."""
    encoder = Encoder(storage.load_tokenizer(directory), MAX_LENGTH, precision=settings.precision)
    model = Matcher(storage.load_encoder(directory))
    devices.spare_memory(model.encoder, 3 * BATCH, MAX_LENGTH)
    rng = np.random.default_rng([seed, 4])
    rounds = [rng.permutation(len(exchanges)) for _ in range(settings.contrast_passes)]
    batches = [order[i : i + BATCH] for order in rounds for i in range(0, len(order), BATCH)]

    def losses(step: int) -> Iterator[torch.Tensor]:
        draw = np.random.default_rng([seed, 5, step])
        shown = [exchanges[i] for i in batches[step]]
        contexts = [e.context[-1] if draw.random() < LAST_TURN_ALONE else last_turns(e.context) for e in shown]
        two = [draw.permutation(len(e.replies))[[0, -1]] for e in shown]  # the same twice where there is one
        asked = encoder.batch(encoder.singles(contexts, keep_end=True), range(len(shown)))
        replies = encoder.singles([e.replies[k[turn]] for turn in (0, 1) for e, k in zip(shown, two)])
        parts = list(by_length(replies.lengths, PART))
        back = np.argsort(np.concatenate(parts))  # to the order of the exchanges
        cosines = model(asked, [encoder.batch(replies, rows) for rows in parts])[:, back]  # (b, 2b)
        own = torch.arange(len(shown), device=cosines.device)
        itself = torch.eye(len(shown), dtype=torch.bool, device=cosines.device)
        first, second = cosines.split(len(shown), dim=1)  # (b, b)
        hidden = [side.masked_fill(itself, -math.inf) for side in (first, second)]  # a context's other reply is no negative
        yield (
            F.cross_entropy(torch.cat([first, hidden[1]], 1), own)
            + F.cross_entropy(torch.cat([hidden[0], second], 1), own + len(shown))
            + F.cross_entropy(first.T, own)
            + F.cross_entropy(second.T, own)
        ) / 2

    def after(step: int, loss: float, notes: list[Any]) -> None:
        tick(step / len(batches))

    loop.run(model, settings, settings.contrast_learning_rate, len(batches), losses, [seed, 6], state, after)
    return model.encoder
