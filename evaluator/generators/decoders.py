"""From a model's probabilities to replies, many at once: greedy, ancestral, nucleus (Holtzman et al. 2020), beam."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from core.errors import Refused
from evaluator.generators.sequence_models import SequenceModel
from evaluator.generators.vocabulary import END, PAD, START


@dataclass(frozen=True)
class Decoder:
    """kind: greedy, the likeliest word; ancestral, drawn from all; nucleus, from the fewest words whose probabilities sum to
    `mass`; beam, the likeliest reply among `beams` that are kept. longest: words. Raises Refused for other values."""

    kind: Literal["greedy", "ancestral", "nucleus", "beam"] = "nucleus"
    mass: float = 0.9
    beams: int = 4
    longest: int = 24

    def __post_init__(self) -> None:
        if self.kind not in ("greedy", "ancestral", "nucleus", "beam"):
            raise Refused(f"A decoder is greedy, ancestral, nucleus or beam, not {self.kind!r}.")
        if not 0 < self.mass <= 1 or self.beams < 1 or self.longest < 1:
            raise Refused("A nucleus has a mass above 0 and at most 1; beams and the longest reply are at least 1.")

    def replies(
        self, model: SequenceModel, source: Tensor, never: Sequence[int], draws: torch.Generator
    ) -> tuple[list[list[int]], list[float]]:
        """source: (batch, s). (words of each reply without its marks, logarithm of its probability in nats, its end included
        unless it was cut). never: words that are not said; their probability goes to the others."""
        memory, mask = model.encode(source)
        if self.kind == "beam":
            return self._beam(model, memory, mask, never)
        said = torch.full((len(source), 1), START)
        total, ended = torch.zeros(len(source)), torch.zeros(len(source), dtype=torch.bool)
        for step in range(self.longest):
            logs = _logs(model, said, memory, mask, never, first=step == 0)  # (batch, vocabulary)
            word = self._word(logs, draws).masked_fill(ended, PAD)
            total = total + logs.gather(1, word.unsqueeze(1)).squeeze(1).masked_fill(ended, 0.0)
            said, ended = torch.cat((said, word.unsqueeze(1)), dim=1), ended | (word == END)
            if ended.all():
                break
        return [_without_marks(row) for row in said.tolist()], total.tolist()

    def _word(self, logs: Tensor, draws: torch.Generator) -> Tensor:
        if self.kind == "greedy":
            return logs.argmax(1)
        chances = logs.exp()
        if self.kind == "nucleus":
            ordered = torch.from_numpy(np.sort(chances.numpy(), axis=1)[:, ::-1].copy())  # sorting places too is slow
            needed = (ordered.cumsum(1) - ordered < self.mass).sum(1, keepdim=True)  # before the others, enough is there
            chances = chances.masked_fill(chances < ordered.gather(1, needed - 1), 0.0)  # equally likely words stay together
        below = chances.cumsum(1)  # (batch, vocabulary)
        drawn = 1 - torch.rand(len(below), 1, generator=draws)  # above 0, so that no impossible word comes out
        return torch.searchsorted(below, drawn * below[:, -1:]).squeeze(1)

    def _beam(
        self, model: SequenceModel, memory: Tensor, mask: Tensor, never: Sequence[int]
    ) -> tuple[list[list[int]], list[float]]:
        """Kept replies are compared by their probability, as it is: a short one has an advantage."""
        batch, k = len(memory), self.beams
        memory, mask = memory.repeat_interleave(k, 0), mask.repeat_interleave(k, 0)
        said = torch.full((batch * k, 1), START)
        total = torch.full((batch, k), float("-inf"))
        total[:, 0] = 0.0  # all beams are one at first
        for step in range(self.longest):
            logs = _logs(model, said, memory, mask, never, first=step == 0)
            ended = (said == END).any(1)
            logs[ended] = float("-inf")
            logs[ended, PAD] = 0.0  # what has ended goes on unchanged
            grown = (total.unsqueeze(2) + logs.view(batch, k, -1)).flatten(1)  # (batch, k vocabulary)
            total, chosen = grown.topk(k, dim=1)
            beam, word = chosen // logs.shape[1], chosen % logs.shape[1]
            rows = (torch.arange(batch).unsqueeze(1) * k + beam).flatten()
            said = torch.cat((said[rows], word.view(-1, 1)), dim=1)
            if (said == END).any(1).all():
                break
        best = total.argmax(1)
        rows = torch.arange(batch) * k + best
        return [_without_marks(row) for row in said[rows].tolist()], total.max(1).values.tolist()


def _logs(model: SequenceModel, said: Tensor, memory: Tensor, mask: Tensor, never: Sequence[int], first: bool) -> Tensor:
    logits = model.next_word(said, memory, mask)  # (batch, vocabulary)
    logits[:, [*never, *([END] if first else [])]] = float("-inf")  # an output is never empty
    return logits.log_softmax(1)


def _without_marks(row: list[int]) -> list[int]:
    words = row[1:]
    return [word for word in (words[: words.index(END)] if END in words else words) if word != PAD]
