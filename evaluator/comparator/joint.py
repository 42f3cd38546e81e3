"""The paper's comparator (Zhou & Xu 2020, section 3.1): context, A and B are read together and one of three answers is
given. Judged in both orders and averaged, so that swapping the sides swaps the answer; nothing makes it transitive, and a
round robin of n outputs takes n (n - 1) readings where the utility comparator takes n."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from evaluator.comparator import loop
from evaluator.comparator.encoding import Encoder, Sequences, by_length
from evaluator.comparator.examples import Pair, Text
from evaluator.comparator.model import hidden_states, mean_over, use_bf16
from evaluator.comparator.predict import Comparison
from evaluator.comparator.settings import Settings


class JointModel(nn.Module):
    """Encoder, mean over the tokens, one linear layer to the logits of A better, tie, B better."""

    def __init__(self, encoder: nn.Module, ties: bool = True):
        super().__init__()
        self.encoder, self.ties = encoder, ties
        self.answer = nn.Linear(encoder.config.hidden_size, 3)

    def forward(self, batch, bf16: bool) -> torch.Tensor:
        """(b, 3) log-probabilities; without the tie option the tie has none (-inf is kept finite)"""
        logits = self.answer(mean_over(hidden_states(self.encoder, batch, bf16), batch.mask))  # (b, 3)
        if not self.ties:
            logits = logits + torch.tensor([0.0, -1e4, 0.0])
        return F.log_softmax(logits, dim=-1)


class JointComparator:
    """A joint model at work, behind the same two questions as `predict.Comparator`: `score` and `compare`."""

    def __init__(self, model: JointModel, encoder: Encoder, bf16: bool):
        self.model, self.encoder, self.bf16 = model, encoder, bf16

    def compare(self, texts_a: Sequence[Text], texts_b: Sequence[Text], batch_size: int = 64) -> Comparison:
        """Text by text, the mean of both orders; the two share their context. The choice is the likeliest answer."""
        if any(a.context != b.context for a, b in zip(texts_a, texts_b, strict=True)):
            raise ValueError("A joint comparator compares outputs of one context only.")
        there, back = triples(self.encoder, texts_a, texts_b), triples(self.encoder, texts_b, texts_a)
        sequences = Sequences(there.ids + back.ids, there.segments + back.segments)
        p = np.empty((len(sequences.ids), 3))
        self.model.eval()
        for rows in by_length(sequences.lengths, batch_size):
            with torch.inference_mode():
                p[rows] = self.model(self.encoder.batch(sequences, rows), self.bf16).exp().numpy()
        p = (p[: len(texts_a)] + p[len(texts_a) :, ::-1]) / 2  # (n, 3)
        clear = (p[:, 0] != p[:, 2]) & (np.maximum(p[:, 0], p[:, 2]) > p[:, 1])  # (n,)
        choices = np.where(clear, np.where(p[:, 0] > p[:, 2], "A", "B"), "tie")
        return Comparison(p, choices, np.zeros(len(p), dtype=bool))

    def score(self, texts: Sequence[Text]) -> np.ndarray:
        """(n,) mean of P(better) + P(tie) / 2 against the other texts of its context; 0.5 where there is none."""
        groups: dict[tuple, list[int]] = {}
        for i, text in enumerate(texts):
            groups.setdefault(text.context, []).append(i)
        games = [(a, b) for group in groups.values() for k, a in enumerate(group) for b in group[k + 1 :]]
        won, played = np.zeros(len(texts)), np.zeros(len(texts))
        if games:
            a, b = np.array(games).T  # (g,)
            p = self.compare([texts[i] for i in a], [texts[i] for i in b]).probabilities  # (g, 3)
            for side, share in ((a, p[:, 0] + p[:, 1] / 2), (b, p[:, 2] + p[:, 1] / 2)):
                np.add.at(won, side, share)
                np.add.at(played, side, 1)
        return np.divide(won, played, out=np.full(len(texts), 0.5), where=played > 0)


def triples(encoder: Encoder, texts_a: Sequence[Text], texts_b: Sequence[Text]) -> Sequences:
    """[CLS] turn [SEP] ... A [SEP] B [SEP]; both outputs are segment 1, and the context loses its first turns."""
    first, second = encoder.pairs(texts_a), encoder.pairs([Text((), text.output) for text in texts_b])
    ids, segments = [], []
    for a, kinds, b in zip(first.ids, first.segments, second.ids, strict=True):
        start = kinds.index(1)  # where A begins
        output = [*a[start:], *b[1:]][: encoder.max_length - 1]
        room = encoder.max_length - 1 - len(output)
        context = a[1:start][-room:] if room else []
        ids.append([encoder.cls, *context, *output])
        segments.append([0] * (1 + len(context)) + [1] * len(output))
    return Sequences(ids, segments)


def train_joint(
    model: JointModel, encoder: Encoder, texts: Sequence[Text], pairs: Sequence[Pair], settings: Settings, seed: int,
    state: loop.State, tick: Callable[[float], None] = lambda done: None,
) -> None:
    """Maximum likelihood of people's shares (equation 1), each pair in an order drawn anew in every epoch."""
    bf16 = use_bf16(settings.precision)
    there = triples(encoder, [texts[p.a] for p in pairs], [texts[p.b] for p in pairs])
    back = triples(encoder, [texts[p.b] for p in pairs], [texts[p.a] for p in pairs])
    rng = np.random.default_rng([seed, 8])
    steps = [order[i : i + settings.batch_size] for order in (rng.permutation(len(pairs)) for _ in range(settings.epochs))
             for i in range(0, len(pairs), settings.batch_size)]  # fmt: skip

    def losses(step: int) -> Iterator[torch.Tensor]:
        draw = np.random.default_rng([seed, 9, step])
        for sequences, swap in ((there, False), (back, True)):
            rows = steps[step][(draw.random(len(steps[step])) < 0.5) == swap]
            if not len(rows):
                continue
            targets = torch.tensor([pairs[i].target[::-1] if swap else pairs[i].target for i in rows])  # (b, 3)
            if not model.ties:
                targets = targets[:, [0, 2]] + targets[:, 1:2] / 2
                targets = torch.stack([targets[:, 0], torch.zeros(len(rows)), targets[:, 1]], dim=-1)
            log_p = model(encoder.batch(sequences, rows), bf16)  # (b, 3)
            yield -(targets * log_p).sum() / len(steps[step])

    after = lambda step, loss, notes: tick(step / len(steps))
    loop.run(model, settings, settings.learning_rate, len(steps), losses, [seed, 10], state, after)
