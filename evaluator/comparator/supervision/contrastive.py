"""Tuning the encoder behind the cosine on dialogues: which of the replies of a batch belongs to which context?

Both are embedded apart, and the cosine of a context with its own reply is to exceed that with all other replies of the
batch (in-batch negatives: Henderson et al. 2017, "Efficient natural language response suggestion", section 4).

A larger encoder can teach a small one, which then judges as fast as before: half of what is to be met are the softmaxes of the
teacher's cosines over the batch's replies, and over its contexts (affinity mimicking: Wu et al. 2023, "TinyCLIP: CLIP
distillation via affinity mimicking and weight inheritance"), as soft targets beside the hard ones (Hinton et al. 2015,
"Distilling the knowledge in a neural network", section 2; the temperature is the inverse of the student's own scale).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from transformers import PreTrainedModel

from evaluator.comparator.examples import Exchange
from evaluator.comparator.settings import Settings
from evaluator.comparator.supervision.self_supervision import passes_over
from evaluator.encoders import devices, loop, pretrained
from evaluator.encoders.encoding import Encoder, by_length, last_turns
from evaluator.encoders.hidden_states import Tick, embed

BATCH = 64  # contexts in a step, each with two of its replies
PART = 32  # replies, of similar length, that are padded together
LAST_TURN_ALONE = 0.3  # how often a context is its last turn
MAX_LENGTH = 56  # tokens
TAUGHT = 0.5  # share of the teacher's answers in what is to be met; the rest is which reply is a context's own
NEVER = -1e4  # a cosine of what is no candidate: its probability is 0
SCALE = 20.0  # of the cosines at the start, as sentence-transformers has it


class Matcher(nn.Module):
    """An encoder, and how much a difference of cosines says."""

    def __init__(self, encoder: PreTrainedModel):
        super().__init__()
        self.encoder = encoder
        self.log_scale = nn.Parameter(torch.tensor(SCALE, device=encoder.device).log())

    def forward(self, encoder: Encoder, contexts: Sequence[str], replies: Sequence[str]) -> torch.Tensor:
        """Cosines of b contexts with r replies, in parts of similar length -> (b, r)"""
        asked = encoder.batch(encoder.singles(contexts, keep_end=True), range(len(contexts)))
        answers = encoder.singles(replies)
        parts = list(by_length(answers.lengths, PART))
        back = np.argsort(np.concatenate(parts))  # to the order of the replies
        embedded = torch.cat([embed(self.encoder, encoder.batch(answers, rows)) for rows in parts])[back]  # (r, h)
        return embed(self.encoder, asked) @ embedded.T


def train_matcher(
    exchanges: Sequence[Exchange],
    settings: Settings,
    seed: int,
    directory: Path,
    state: loop.State,
    tick: Tick,
    teacher: tuple[Path, PreTrainedModel] | None = None,
) -> PreTrainedModel:
    """The encoder in `directory`, tuned; taught by that of a teacher's folder, which was tuned before."""
    encoder, teaching = _reader(directory, settings), _reader(teacher[0], settings) if teacher else None
    model = Matcher(pretrained.load_encoder(directory))
    devices.spare_memory(model.encoder, 3 * BATCH, MAX_LENGTH)
    taught_by = Matcher(teacher[1]).eval() if teacher else None
    rng = np.random.default_rng([seed, 4])
    rounds = passes_over(len(exchanges), settings.contrast_passes, settings.pass_most, rng)
    batches = [order[i : i + BATCH] for order in rounds for i in range(0, len(order), BATCH)]

    def losses(step: int) -> Iterator[torch.Tensor]:
        draw = np.random.default_rng([seed, 5, step])
        shown = [exchanges[i] for i in batches[step]]
        contexts = [e.context[-1] if draw.random() < LAST_TURN_ALONE else last_turns(e.context) for e in shown]
        two = [draw.permutation(len(e.replies))[[0, -1]] for e in shown]  # the same twice where there is one
        replies = [e.replies[k[turn]] for turn in (0, 1) for e, k in zip(shown, two)]
        scale = model.log_scale.exp()
        told = None
        if taught_by and teaching:
            with torch.no_grad():
                told = taught_by(teaching, contexts, replies) * scale  # (b, 2b)
        yield matching_loss(model(encoder, contexts, replies) * scale, told)

    def after(step: int, loss: float, notes: list[Any]) -> None:
        tick(step / len(batches))

    loop.run(model, settings, settings.contrast_learning_rate, len(batches), losses, [seed, 6], state, after)
    return model.encoder


def matching_loss(scaled: torch.Tensor, told: torch.Tensor | None = None) -> torch.Tensor:
    """Mean cross-entropy of b contexts with two replies each, the first ones (b) and then the second, and of those with the
    contexts: scaled (b, 2b), and told (b, 2b) by the teacher, on the same scale -> ()"""
    own = torch.eye(len(scaled), device=scaled.device)  # (b, b)
    none = torch.zeros_like(own)
    wanted = [torch.cat([own, none], 1), torch.cat([none, own], 1), own, own]
    if told is not None:
        wanted = [(1 - TAUGHT) * hard + TAUGHT * soft.softmax(1) for hard, soft in zip(wanted, _choices(told))]
    return torch.stack([F.cross_entropy(*both) for both in zip(_choices(scaled), wanted)]).sum() / 2


def _choices(scaled: torch.Tensor) -> list[torch.Tensor]:
    """What is chosen among: of each context its first reply and its second one, (b, 2b) each, where the other of the two is no
    candidate; and of each first reply and each second one the context, (b, b) each."""
    first, second = scaled.split(len(scaled), dim=1)  # (b, b)
    itself = torch.eye(len(scaled), dtype=torch.bool, device=scaled.device)
    hidden = [side.masked_fill(itself, NEVER) for side in (first, second)]
    return [torch.cat([first, hidden[1]], 1), torch.cat([hidden[0], second], 1), first.T, second.T]


def _reader(directory: Path, settings: Settings) -> Encoder:
    return Encoder(pretrained.load_tokenizer(directory), MAX_LENGTH, precision=settings.precision)
