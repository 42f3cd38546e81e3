"""References that are looked up: how likely is an output in view of what people answered in contexts like this one, among the
dialogues that were learnt from? No weights are learnt for it, so it knows each dialogue as it was.

Replies to similar contexts as references: Tsuta et al. 2020, "uBLEU: Uncertainty-aware automatic evaluation method for
open-domain dialogue systems" (section 3). Here the outputs' density given the context is estimated with kernels over
embeddings; what is likely everywhere counts for less, as in the objective of Li et al. 2016, "A diversity-promoting objective
function for neural conversation models" (equation 9).

They also tell what is near to everything: the cosine of output and context counts from the mean of those that each has with
its nearest neighbours (Conneau et al. 2018, "Word translation without parallel data", section 2.3).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel

from evaluator.comparator.examples import Exchange
from evaluator.encoders.encoding import Encoder, last_turns
from evaluator.encoders.hidden_states import Kept, Tick, embeddings, embeddings_by_string, kept_embeddings
from evaluator.judges.texts import Text

NEAR = 0.05  # width of the kernel over contexts: one whose cosine is so much less counts e times less
ALIKE = 15.0  # steepness of the kernel over replies
ANYWHERE = 0.5  # weight of how likely the output is in any context
AT_ONCE = 64  # texts that are looked at together: 25 MB for 100,000 replies
NEIGHBOURS = 10  # of an output among the remembered contexts, and of a context among the remembered replies
MOST = 20_000  # exchanges that are remembered, drawn by the seed: two kilobytes each, with two replies


@dataclass(frozen=True)
class References:
    """e exchanges with r replies, embedded by the encoder of the cosine; each vector has length 1."""

    contexts: torch.Tensor  # (e, h)
    replies: torch.Tensor  # (r, h), an exchange's replies together, in the order of the exchanges
    counts: torch.Tensor  # (e,) replies of each exchange

    def beside(
        self, texts: Sequence[Text], contexts: torch.Tensor, outputs: torch.Tensor, hidden: Sequence[Any] = ()
    ) -> tuple[np.ndarray, np.ndarray]:
        """(cosines (n,), likeness (n,)) of texts whose contexts (n, h) and outputs (n, h) are embedded.

        cosine    of output and context, less half the mean of the output's with its nearest contexts and half the mean of the
                  context's with its nearest replies
        likeness  log(sum_j w_j exp(ALIKE m_j)) / ALIKE - ANYWHERE log(mean_j exp(ALIKE m_j)) / ALIKE, with m_j the output's
                  largest cosine with the replies of exchange j and w the softmax of the contexts' cosines over NEAR
        hidden    exchanges that a text may not see, by text; the plain cosine and 0 where it sees none
        """
        hidden = [np.asarray(h, dtype=int) for h in hidden] if len(hidden) else [np.empty(0, dtype=int)] * len(texts)
        nth = self._nth_replies()
        owner = np.repeat(np.arange(len(self.counts)), self.counts)  # (r,)
        seen = len(self.counts) - np.array([len(h) for h in hidden])  # (n,) exchanges
        first: dict[tuple[str, ...], int] = {}  # row of each context
        firsts = np.array([first.setdefault(text.context, row) for row, text in enumerate(texts)], dtype=int)  # (n,)
        crowd, likeness = np.zeros(len(texts)), np.zeros(len(texts))  # (n,), (n,)
        for rows in _chunks(np.array(list(first.values()), dtype=int)):
            near = contexts[rows] @ self.replies.T  # (m, r)
            crowd[rows] = _nearest(_without(near, [np.flatnonzero(np.isin(owner, hidden[row])) for row in rows]))
        cosines = (contexts * outputs).sum(-1).cpu().numpy() - crowd[firsts] / 2  # (n,)
        for rows in _chunks(np.flatnonzero(seen)):
            blind = [hidden[row] for row in rows]
            shared, of_row = np.unique(firsts[rows], return_inverse=True)  # (k,), (m,)
            near = _without(contexts[shared] @ self.contexts.T, [hidden[row] for row in shared])  # (k, e)
            kernel = _without((ALIKE * _most_alike(outputs[rows], nth)).exp(), blind, 0.0)  # (m, e) at most e^15
            given = ((near / NEAR).softmax(1)[of_row] * kernel).sum(1).cpu().numpy()  # (m,)
            likeness[rows] = (np.log(given) - ANYWHERE * np.log(kernel.sum(1).cpu().numpy() / seen[rows])) / ALIKE
            cosines[rows] -= _nearest(_without(outputs[rows] @ self.contexts.T, blind)) / 2
        return cosines, likeness

    def only(self, exchanges: np.ndarray) -> "References | None":
        """Those of the exchanges (e,), True for each that stays; None where none does."""
        stays = torch.as_tensor(exchanges)  # (e,)
        replies = self.replies[stays.repeat_interleave(self.counts)]
        return References(self.contexts[stays], replies, self.counts[stays]) if stays.any() else None

    def _nth_replies(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """The first replies, the second ones, ...: each with the exchanges (k,) that have so many, and their replies (k, h)."""
        starts = self.counts.cumsum(0) - self.counts  # (e,)
        have = [(self.counts > n).nonzero()[:, 0] for n in range(int(self.counts.max()))]
        return [(those, self.replies[starts[those] + n]) for n, those in enumerate(have)]


def _most_alike(outputs: torch.Tensor, nth: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> torch.Tensor:
    """The largest cosine of each output (m, h) with the replies of each exchange -> (m, e)"""
    (_, first), *others = nth  # every exchange has a reply
    largest = outputs @ first.T  # (m, e)
    for those, replies in others:
        near = outputs @ replies.T  # (m, k)
        if len(those) == largest.shape[1]:
            torch.maximum(largest, near, out=largest)
        else:
            largest[:, those] = torch.maximum(largest[:, those], near)
    return largest


def _chunks(rows: np.ndarray) -> list[np.ndarray]:
    return [rows[start : start + AT_ONCE] for start in range(0, len(rows), AT_ONCE)]


def _without(values: torch.Tensor, columns: Sequence[np.ndarray], nothing: float = -math.inf) -> torch.Tensor:
    """values (m, e), with `nothing` in some columns of each row"""
    values[np.repeat(np.arange(len(columns)), [len(these) for these in columns]), np.concatenate(columns)] = nothing
    return values


def _nearest(cosines: torch.Tensor) -> np.ndarray:
    """The mean of the NEIGHBOURS largest in each row of (m, e) that are not -inf -> (m,); 0 where none is."""
    largest = cosines.topk(min(NEIGHBOURS, cosines.shape[1]), sorted=False).values  # (m, k)
    there = largest.isfinite()
    means: np.ndarray = (largest.where(there, 0.0).sum(1) / there.sum(1).clamp(min=1)).cpu().numpy()
    return means


def beside_pairs(
    apart: PreTrainedModel,
    references: References | None,
    encoder: Encoder,
    texts: Sequence[Text],
    tick: Tick | None = None,
    hidden: Sequence[Any] = (),
    kept: Kept | None = None,
) -> tuple[torch.Tensor, np.ndarray]:
    """What stands beside the encoded pair, as `References.beside` gives it: cosines (n,) and the likeness to references (n,);
    where there are none, the cosines of each output with the last turns of its context, and 0. kept: vectors of contexts from
    earlier calls, and this one's; contexts are then embedded apart from the outputs."""
    sides = [last_turns(text.context) for text in texts], [encoder.shown(text.output) for text in texts]
    if kept is None:
        found = [embeddings_by_string(apart, encoder, [*sides[0], *sides[1]], tick)] * 2
    else:
        found = [kept_embeddings(apart, encoder, sides[0], kept), embeddings_by_string(apart, encoder, sides[1], tick)]
    contexts, outputs = (torch.stack([of[string] for string in side]) for of, side in zip(found, sides))  # (n, h), (n, h)
    if references is None:
        return (contexts * outputs).sum(-1).cpu(), np.zeros(len(texts))
    cosines, likeness = references.beside(texts, contexts, outputs, hidden)  # (n,), (n,)
    return torch.as_tensor(cosines, dtype=torch.float32), likeness


def remember(
    exchanges: Sequence[Exchange], apart: PreTrainedModel, encoder: Encoder, seed: int, tick: Tick | None = None
) -> References:
    """The references of exchanges that `kept` chose, embedded by `apart`; in fp16, as they are saved."""
    exchanges = kept(exchanges, seed)
    contexts = [last_turns(exchange.context) for exchange in exchanges]
    replies = [encoder.shown(reply) for exchange in exchanges for reply in exchange.replies]
    vectors = embeddings(apart, encoder, [*contexts, *replies], tick).half().float()  # (e + r, h)
    counts = torch.tensor([len(exchange.replies) for exchange in exchanges])  # (e,)
    return References(vectors[: len(exchanges)], vectors[len(exchanges) :], counts)


def kept(exchanges: Sequence[Exchange], seed: int) -> list[Exchange]:
    """At most MOST of them, in their order."""
    if len(exchanges) <= MOST:
        return list(exchanges)
    chosen = np.random.default_rng([seed, 7]).permutation(len(exchanges))[:MOST]
    return [exchanges[i] for i in np.sort(chosen)]
