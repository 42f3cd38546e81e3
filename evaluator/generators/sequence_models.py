"""Three encoder-decoders from the field, on one interface: an LSTM with attention (Hochreiter & Schmidhuber 1997; Luong et al.
2015), a convolutional one (Gehring et al. 2017) and a Transformer (Vaswani et al. 2017).

    memory, mask = model.encode(source)          # (batch, s) -> (batch, s, width), (batch, s): True where there is a word
    logits = model.decode(target, memory, mask)  # (batch, t) words so far -> (batch, t, vocabulary), of the next word at each
    logits = model.next_word(target, memory, mask)  # the same after the last one alone: (batch, vocabulary)

`decode` works the words so far out anew at each step: replies are short, and so all three read alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from evaluator.generators.vocabulary import PAD

LONGEST = 512  # positions that have an embedding
HEADS, LAYERS, KERNEL = 4, 2, 3


class SequenceModel(nn.Module):
    """The interface."""

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        raise NotImplementedError

    def decode(self, target: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        raise NotImplementedError

    def next_word(self, target: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        raise NotImplementedError


class Small(SequenceModel):
    """What the three share: word embeddings, which are the output layer too."""

    def __init__(self, vocabulary: int, width: int, dropout: float):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=width**-0.5)  # small logits at first
        self.dropout = nn.Dropout(dropout)

    def states(self, target: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        """(batch, t) words so far -> (batch, t, width)"""
        raise NotImplementedError

    def decode(self, target: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        return self.logits(self.states(target, memory, mask))

    def next_word(self, target: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        return self.logits(self.states(target, memory, mask)[:, -1])

    def logits(self, states: Tensor) -> Tensor:
        """(..., width) -> (..., vocabulary)"""
        logits: Tensor = self.dropout(states) @ self.embedding.weight.T
        return logits


def attended(queries: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
    """Dot-product attention: (batch, t, width) over (batch, s, width) -> (batch, t, width)."""
    scores = queries @ memory.transpose(1, 2)  # (batch, t, s)
    return scores.masked_fill(~mask.unsqueeze(1), float("-inf")).softmax(-1) @ memory


class LSTM(Small):
    def __init__(self, vocabulary: int, width: int, dropout: float):
        super().__init__(vocabulary, width, dropout)
        self.encoder = nn.LSTM(width, width // 2, batch_first=True, bidirectional=True)
        self.decoder = nn.LSTM(width, width, batch_first=True)
        self.mix = nn.Linear(2 * width, width)

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        mask = source != PAD
        words = self.dropout(self.embedding(source))
        packed = nn.utils.rnn.pack_padded_sequence(words, mask.sum(1), batch_first=True, enforce_sorted=False)
        memory, _ = nn.utils.rnn.pad_packed_sequence(self.encoder(packed)[0], batch_first=True, total_length=source.shape[1])
        return memory, mask

    def states(self, target: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        start = (memory * mask.unsqueeze(-1)).sum(1, keepdim=True) / mask.sum(1)[:, None, None]  # (batch, 1, width)
        first = start.transpose(0, 1).contiguous()
        states, _ = self.decoder(self.dropout(self.embedding(target)), (first, torch.zeros_like(first)))
        mixed: Tensor = torch.tanh(self.mix(torch.cat((states, attended(states, memory, mask)), dim=-1)))
        return mixed


class Positioned(Small):
    """Words with their positions, for the two that read all words at once."""

    def __init__(self, vocabulary: int, width: int, dropout: float):
        super().__init__(vocabulary, width, dropout)
        self.positions = nn.Embedding(LONGEST, width)
        nn.init.normal_(self.positions.weight, std=width**-0.5)

    def words(self, ids: Tensor) -> Tensor:
        """(batch, t) -> (batch, t, width), each of variance 1"""
        placed = self.embedding(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        words: Tensor = self.dropout(placed * (self.embedding.embedding_dim / 2) ** 0.5)
        return words


class Convolutional(Positioned):
    def __init__(self, vocabulary: int, width: int, dropout: float):
        super().__init__(vocabulary, width, dropout)
        self.encoder = nn.ModuleList(nn.Conv1d(width, 2 * width, KERNEL, padding=KERNEL // 2) for _ in range(LAYERS))
        self.decoder = nn.ModuleList(nn.Conv1d(width, 2 * width, KERNEL) for _ in range(LAYERS))
        self.query = nn.ModuleList(nn.Linear(width, width) for _ in range(LAYERS))
        self.out = nn.Linear(width, width)

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        mask = source != PAD
        states = self.words(source) * mask.unsqueeze(-1)
        for layer in self.encoder:
            gated = nn.functional.glu(layer(states.transpose(1, 2)), dim=1).transpose(1, 2)
            states = (states + gated) * 0.5**0.5 * mask.unsqueeze(-1)
        return states, mask

    def states(self, target: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        words = states = self.words(target)
        for layer, query in zip(self.decoder, self.query):
            before = nn.functional.pad(states.transpose(1, 2), (KERNEL - 1, 0))  # a word sees none after it
            gated = nn.functional.glu(layer(before), dim=1).transpose(1, 2)
            seen = attended((query(gated) + words) * 0.5**0.5, memory, mask)  # Gehring et al., equation 1
            states = (states + (gated + seen) * 0.5**0.5) * 0.5**0.5
        out: Tensor = self.out(states)
        return out


class Transformer(Positioned):
    def __init__(self, vocabulary: int, width: int, dropout: float):
        super().__init__(vocabulary, width, dropout)
        how: dict[str, Any] = {"dim_feedforward": 4 * width, "dropout": dropout, "batch_first": True, "norm_first": True}
        reader, writer = nn.TransformerEncoderLayer(width, HEADS, **how), nn.TransformerDecoderLayer(width, HEADS, **how)
        self.encoder = nn.TransformerEncoder(reader, LAYERS, nn.LayerNorm(width), enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoder(writer, LAYERS, nn.LayerNorm(width))

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        mask = source != PAD
        memory: Tensor = self.encoder(self.words(source), src_key_padding_mask=~mask)
        return memory, mask

    def states(self, target: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        size = target.shape[1]
        later = torch.ones(size, size, dtype=torch.bool, device=target.device).triu(1)
        states: Tensor = self.decoder(self.words(target), memory, tgt_mask=later, memory_key_padding_mask=~mask)
        return states


ARCHITECTURES: dict[str, Callable[[int, int, float], SequenceModel]] = {
    "lstm": LSTM,
    "convolutional": Convolutional,
    "transformer": Transformer,
}
