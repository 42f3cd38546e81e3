"""The paper's comparator (Zhou & Xu 2020, section 3.1): context, A and B are read together and one of three answers is
given. Judged in both orders and averaged, so that swapping the sides swaps the answer; nothing makes it transitive, and a
round robin of n outputs takes n (n - 1) readings where the utility comparator takes n."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from transformers import PreTrainedModel

from evaluator.comparator.predict import ALL, Trained
from evaluator.comparator.storage import Manifest
from evaluator.comparator.utility_model import UtilityModel
from evaluator.encoders.encoding import Batch, Encoder, Sequences
from evaluator.encoders.hidden_states import Tick, batches, hidden_states
from evaluator.encoders.pooling import mean_over
from evaluator.judges.degenerate_outputs import degenerate_shares
from evaluator.judges.protocol import OnProgress, Preferences, utilities
from evaluator.judges.texts import Text, context_key

CHUNK = 4096  # pairs whose tokens are in memory together


class JointModel(nn.Module):
    """Encoder, and one linear layer to the logits of A better, tie, B better. It reads the mean of all tokens and, of either
    output, its mean and its product with the context's: what `UtilityModel` reads of one."""

    def __init__(self, encoder: PreTrainedModel, ties: bool = True):
        super().__init__()
        self.encoder, self.ties = encoder, ties
        self.answer = nn.Linear(5 * encoder.config.hidden_size, 3, device=encoder.device)
        self.start_from(UtilityModel(encoder))

    def start_from(self, model: UtilityModel) -> None:
        """Say of A and B, read together, what the unit of `model` says of each alone: P(A) : P(B) = exp(u_a - u_b)."""
        of_all, *of_one = model.utility.weight.data.split(self.encoder.config.hidden_size, dim=1)  # (1, h) each
        half = torch.cat([torch.zeros_like(of_all), *of_one, *(-weight for weight in of_one)], dim=1) / 2  # (1, 5h)
        self.answer.weight.data = torch.cat([half, torch.zeros_like(half), -half])  # (3, 5h)
        nn.init.zeros_(self.answer.bias)

    def forward(self, batch: Batch) -> torch.Tensor:
        """Of a batch of triples -> (b, 3) log-probabilities; without the tie option the tie has none (-inf is kept finite)"""
        batch = batch.to(self.encoder.device)
        hidden = hidden_states(self.encoder, replace(batch, segments=batch.segments.clamp(max=1)))  # (b, t, h)
        context, *outputs = (mean_over(hidden, batch.mask * (batch.segments == part)) for part in range(3))  # (b, h)
        context = F.normalize(context, dim=-1) * math.sqrt(hidden.shape[-1])
        read = [mean_over(hidden, batch.mask)]
        for output in outputs:
            output = F.normalize(output, dim=-1)
            read += [output, output * context]
        logits = self.answer(torch.cat(read, dim=-1))  # (b, 3)
        if not self.ties:
            logits = logits + logits.new_tensor([0.0, -1e4, 0.0])
        return F.log_softmax(logits, dim=-1)

    def losses(self, log_p: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Cross-entropy with people's shares (equation 1): log_p (b, 3), targets (b, 3) -> (b,); without ties a tie of
        people's counts half for each side"""
        if not self.ties:
            halves = targets[:, 1:2] / 2
            targets = torch.cat([targets[:, :1] + halves, torch.zeros_like(halves), targets[:, 2:] + halves], dim=-1)
        return -(targets * log_p).sum(-1)


class JointComparator(Trained):
    """Answers to the same questions as `predict.Comparator`. Its scores go from 0 to 1 and depend on what is
    judged together."""

    kind: Literal["pairwise"] = "pairwise"

    def __init__(self, directory: Path, manifest: Manifest):
        super().__init__(directory, manifest, lambda encoder: JointModel(encoder, manifest.settings.ties))

    def compare(self, texts_a: Sequence[Text], texts_b: Sequence[Text], on_progress: OnProgress | None = None) -> Preferences:
        """Text by text, the mean of both orders; the two share their context. The choice is the likeliest answer."""
        p = self._both_orders(texts_a, texts_b, on_progress).mean(0)  # (n, 3)
        if self.manifest.settings.guards:
            p = guard(p, texts_a, texts_b)
        same = np.array([a == b for a, b in zip(texts_a, texts_b)], dtype=bool)  # (n,)
        p[same] = (p[same] + p[same, ::-1]) / 2  # to the last digit, whatever batches they were in
        return Preferences.likeliest(p)

    def one_order(self, texts_a: Sequence[Text], texts_b: Sequence[Text]) -> Preferences:
        """As the model answers with A shown first, neither averaged nor guarded."""
        return Preferences.likeliest(self._both_orders(texts_a, texts_b)[0])

    def score(self, texts: Sequence[Text], on_progress: OnProgress | None = None) -> np.ndarray:
        """(n,) mean of P(better) + P(tie) / 2 against the other texts of its context; 0.5 where there is none."""
        return utilities(self, texts, on_progress)

    def expected(self, scores: np.ndarray) -> np.ndarray:
        """Scores (n, 1) as they are; nothing is fitted to people's own."""
        return scores

    def differences(
        self,
        texts_a: Sequence[Text],
        texts_b: Sequence[Text],
        on_progress: OnProgress | None = None,
        unlearnt: Sequence[str] = (),
    ) -> np.ndarray:
        """(n,) P(A better) - P(B better); unlearnt: it learns no kind of broken outputs"""
        p = self.compare(texts_a, texts_b, on_progress).probabilities  # (n, 3)
        return p[:, 0] - p[:, 2]

    def _tell(self, on_progress: OnProgress, member: int, done: float) -> None:
        on_progress((member + done) / len(self.models), "Judging the pairs", None)

    def _both_orders(
        self, texts_a: Sequence[Text], texts_b: Sequence[Text], on_progress: OnProgress | None = None
    ) -> np.ndarray:
        """(2, n, 3), the mean of the members that judge each context"""
        keys = [[context_key(text.context) for text in texts] for texts in (texts_a, texts_b)]
        if keys[0] != keys[1]:
            raise ValueError("A joint comparator compares outputs of one context only.")
        unique = {text: i for i, text in enumerate(dict.fromkeys([*texts_a, *texts_b]))}
        sequences = self.encoder.pairs(list(unique))
        a, b = (np.array([unique[text] for text in texts], dtype=int) for texts in (texts_a, texts_b))  # (n,)
        which = self.members(texts_a)  # (n,)
        sums, counts = np.zeros((2, len(a), 3)), np.zeros(len(a))
        for i, model in enumerate(self.models):
            rows = ((which == i) | (which == ALL)).nonzero()[0]
            tick = partial(self._tell, on_progress, i) if on_progress else None
            sums[:, rows] += both_orders(model, self.encoder, sequences, a[rows], b[rows], tick)
            counts[rows] += 1
        return sums / counts[:, None]


def both_orders(
    model: JointModel, encoder: Encoder, sequences: Sequences, a: np.ndarray, b: np.ndarray, tick: Tick | None
) -> np.ndarray:
    """(2, n, 3) P(A better), P(tie), P(B better) of the pairs at positions a (n,), b (n,): with A shown first, and with B."""
    p = np.empty((2, len(a), 3))
    model.eval()
    for start in range(0, len(a), CHUNK):
        part = slice(start, start + CHUNK)
        for order, (first, second) in enumerate(((a[part], b[part]), (b[part], a[part]))):
            shown = triples(sequences, first, second, encoder.max_length)
            for rows, batch in batches(model.encoder, encoder, shown):
                p[order, start + rows] = model(batch).exp().cpu().numpy()
            if tick:
                tick((start + (order + 1) / 2 * len(first)) / len(a))
    p[1] = p[1, :, ::-1].copy()
    return p


def triples(sequences: Sequences, a: Sequence[int] | np.ndarray, b: Sequence[int] | np.ndarray, max_length: int) -> Sequences:
    """[CLS] turn [SEP] ... A [SEP] B [SEP] of the pairs at positions a (n,), b (n,) among texts read with their contexts; A is
    segment 1 and B 2. The context loses its first turns; where the outputs alone are too long, the longer loses its end."""
    ids, segments = [], []
    for i, j in zip(a, b, strict=True):
        first, second = sequences.segments[i].index(1), sequences.segments[j].index(1)  # where the outputs begin
        room = max_length - 1
        output_a, output_b = sequences.ids[i][first:], sequences.ids[j][second:]
        kept_a = min(len(output_a), max(room // 2, room - len(output_b)))
        kept_b = min(len(output_b), room - kept_a)
        output = [*output_a[: kept_a - 1], output_a[-1], *output_b[: kept_b - 1], output_b[-1]]  # each ends in [SEP]
        room -= len(output)
        context = sequences.ids[i][1:first][-room:] if room else []
        ids.append([sequences.ids[i][0], *context, *output])
        segments.append([0] * (1 + len(context)) + [1] * kept_a + [2] * kept_b)
    return Sequences(ids, segments)


def guard(p: np.ndarray, texts_a: Sequence[Text], texts_b: Sequence[Text]) -> np.ndarray:
    """Probabilities (n, 3); where the more degenerate output is preferred, both change places by the difference of shares."""
    unique = list(dict.fromkeys([*texts_a, *texts_b]))
    share = dict(zip(unique, degenerate_shares(unique)))
    more = np.array([share[a] - share[b] for a, b in zip(texts_a, texts_b, strict=True)])  # (n,) of A
    changed = np.where(more * (p[:, 0] - p[:, 2]) > 0, np.abs(more), 0.0)[:, None]  # (n, 1)
    return np.asarray((1 - changed) * p + changed * p[:, ::-1])
