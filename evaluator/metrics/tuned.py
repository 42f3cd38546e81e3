"""Learned metrics whose encoder learns along, as in their papers, on the comparator's own loop (`encoders.loop`).

    discriminator-tuned    BERT learns to tell people's texts from systems' (Zhou & Xu 2020, 4.1)
    reference-free-tuned   the next utterance first, then people's scores (Zhao et al. 2020, equations 5 and 6, table 6)
    ruber-semi-supervised  RUBER's unreferenced metric by its margin first, then people's scores (Zhao et al. 2020, 5.2)
    aspects-tuned          one encoder with a head for each aspect ("three-head BERT evaluator", 3); -apart: one encoder each

The rates start as a comparator's do: the papers' are of much larger encoders. As in Zhao et al. (appendix B), a rate is divided
by ten when the loss on the validation contexts does not fall, and learning stops when the encoder's is below 1e-7. Of a stage
the weights with the least such loss are kept.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from transformers import PreTrainedModel

from evaluator.encoders import loop
from evaluator.encoders.encoding import Encoder, Sequences, by_length
from evaluator.encoders.hidden_states import embed, pair_features
from evaluator.encoders.text_encoder import TextEncoder
from evaluator.judges.protocol import Numbers
from evaluator.judges.texts import Referenced, Text, kin_of, named
from evaluator.metrics.aspects import GRID, balanced_loss, beside_references, good_of, searched_beta
from evaluator.metrics.inputs import Inputs, MissingInput
from evaluator.metrics.metric import Measure
from evaluator.metrics.networks import parted, tensor
from evaluator.metrics.out_of_fold import Features, Fit, Judged, out_of_fold, replies_of, scored
from evaluator.metrics.ruber import OtherReplies, Unreferenced, ranking_loss

EPOCHS = 50  # at most: Zhao et al. 2020, table 6
DECAY, LOWEST = 0.1, 1e-7  # of the learning rate: Zhao et al. 2020, appendix B
HIDDEN = 64
READ_AT_ONCE = 64

Loss = Callable[[torch.Tensor, Numbers], torch.Tensor]  # answers (b, ...) to the rows (b,) -> ()


@dataclass(frozen=True)
class Recipe:
    """A comparator's (`comparator.settings.Settings`), as `encoders.loop` reads it."""

    learning_rate: float = 5e-5
    head_learning_rate: float = 1e-3
    weight_decay: float = 0.01
    warmup: float = 0.1
    from_scratch: bool = False
    batch_size: int = 16
    epochs: int = 3  # where there are too few contexts to validate on


RECIPE = Recipe()


def _lean(encoder: PreTrainedModel) -> PreTrainedModel:
    """A copy that computes each layer again on the way back, with the same dropout: equal gradients in half the memory."""
    copied = copy.deepcopy(encoder)
    if copied.supports_gradient_checkpointing:
        copied.activation_checkpointing_enable({"use_reentrant": False})
    return copied


class PairReader(nn.Module):
    """Context and output read together, as a comparator reads them, and a head above."""

    def __init__(self, encoder: TextEncoder, answers: int):
        super().__init__()
        self.encoder = _lean(encoder.model)
        width = 3 * encoder.model.config.hidden_size
        self.head = nn.Sequential(nn.Linear(width, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, answers)).to(encoder.model.device)

    def prepared(self, tokens: Encoder, texts: Sequence[Text]) -> list[Sequences]:
        return [tokens.pairs(texts)]

    def forward(self, tokens: Encoder, read: Sequence[Sequences], rows: Numbers) -> torch.Tensor:
        """-> (b, answers) logits"""
        batch = tokens.batch(read[0], rows).to(self.encoder.device)
        logits: torch.Tensor = self.head(pair_features(self.encoder, batch))
        return logits


class ApartReader(nn.Module):
    """Context and output embedded apart by one encoder, and RUBER's unreferenced metric of both (equation 4)."""

    def __init__(self, encoder: TextEncoder):
        super().__init__()
        self.encoder = _lean(encoder.model)
        self.head = Unreferenced(encoder.model.config.hidden_size).to(encoder.model.device)

    def prepared(self, tokens: Encoder, texts: Sequence[Text]) -> list[Sequences]:
        contexts = tokens.singles([" ".join(text.context) for text in texts], keep_end=True)
        return [contexts, tokens.singles([text.output for text in texts])]

    def forward(self, tokens: Encoder, read: Sequence[Sequences], rows: Numbers) -> torch.Tensor:
        """-> (b, 1) from 0 to 1"""
        contexts, outputs = (embed(self.encoder, tokens.batch(one, rows)) for one in read)  # (b, h)
        s: torch.Tensor = self.head(contexts, outputs)
        return s.unsqueeze(-1)


Reader = PairReader | ApartReader


@dataclass(frozen=True)
class Stage:
    """What is learnt: texts (n,), and a loss of the answers to some of them."""

    texts: Sequence[Text]
    loss: Loss
    kin: Sequence[str] | None = None  # of the texts (`kin_of`), where it is not their own
    paired: bool = False  # texts 2 i and 2 i + 1 belong together: rows come in such pairs


class Plateau(Exception):
    """The rate has fallen below LOWEST."""


class Unsaved(loop.State):
    """A run of minutes, which is not kept on disk."""

    def __init__(self) -> None:
        super().__init__(Path(), "")

    def restore(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> tuple[int, list[Any]]:
        return 0, []

    def due(self) -> bool:
        return False


def share_of_rate(losses: Sequence[float]) -> float:
    """Of the first rate, after epochs with these validation losses: a tenth for each that was no better than all before."""
    worse = sum(loss >= min(losses[:i]) for i, loss in enumerate(losses) if i)
    return float(DECAY**worse)


def learn(model: Reader, tokens: Encoder, stage: Stage, seed: int) -> None:
    """In place."""
    read, units = model.prepared(tokens, stage.texts), np.arange(len(stage.texts)).reshape(-1, 1 + stage.paired)  # (u, 1 or 2)
    kin = kin_of(stage.texts) if stage.kin is None else stage.kin
    training, validation = parted([kin[row] for row in units[:, 0]], seed)
    size = max(1, RECIPE.batch_size // units.shape[1])
    steps = -(-len(training) // size)
    best, noted = copy.deepcopy(model.state_dict()), []  # noted: validation losses

    def losses(step: int) -> Iterator[torch.Tensor]:
        order = np.random.default_rng([seed, 17, step // steps]).permutation(training)
        rows = units[np.array_split(order, steps)[step % steps]].ravel()
        yield stage.loss(model(tokens, read, rows), rows)

    def after(step: int, loss: float, notes: list[Any]) -> None:
        nonlocal best
        if step % steps:
            return
        noted.append(_loss(model, tokens, stage, read, units[validation].ravel()) if len(validation) else -float(step))
        if noted[-1] <= min(noted):
            best = copy.deepcopy(model.state_dict())
        if share_of_rate(noted) * RECIPE.learning_rate < LOWEST:
            raise Plateau

    epochs = EPOCHS if len(validation) else RECIPE.epochs
    rate = lambda step: share_of_rate(noted)
    try:
        loop.run(model, RECIPE, RECIPE.learning_rate, epochs * steps, losses, [seed, 19], Unsaved(), after, rate=rate)
    except Plateau:
        pass
    model.load_state_dict(best)
    model.eval()


def _loss(model: Reader, tokens: Encoder, stage: Stage, read: Sequence[Sequences], rows: Numbers) -> float:
    model.eval()
    with torch.inference_mode():
        parts = np.array_split(rows.reshape(-1, 1 + stage.paired), -(-len(rows) // READ_AT_ONCE))
        total = [float(stage.loss(model(tokens, read, part.ravel()), part.ravel())) * part.size for part in parts]
    return sum(total) / len(rows)


def answers(model: Reader, tokens: Encoder, texts: Sequence[Text]) -> Numbers:
    """(n, c)"""
    read, found = model.prepared(tokens, texts), [np.empty(0)] * len(texts)
    with torch.inference_mode():
        for rows in by_length(read[0].lengths, READ_AT_ONCE):
            for row, said in zip(rows, model(tokens, read, rows).float().cpu().numpy()):
                found[row] = said
    return np.array(found, dtype=float)


def _started(encoder: TextEncoder, make: Callable[[], Reader], seed: int) -> Reader:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make()


def discriminator(encoder: TextEncoder) -> Fit:
    def fit(texts: Sequence[Referenced], scores: Numbers, seed: int) -> Judged:
        human = replies_of(texts)
        generated = list(dict.fromkeys(Text(text.context, text.output, **named(text)) for text in texts if not text.human))
        if not generated:
            raise MissingInput("There are no generated outputs in the other folds, so nothing tells them from people's.")
        by_people = tensor(np.repeat([1.0, 0.0], [len(human), len(generated)]))
        model = _started(encoder, lambda: PairReader(encoder, 1), seed)
        learn(model, encoder.encoder, Stage([*human, *generated], _bce(by_people)), seed)
        return lambda others: answers(model, encoder.encoder, others)[:, 0]

    return fit


def reference_free(encoder: TextEncoder) -> Fit:
    """Utilities are on the scale from 1 to 5 (equation 6), from the criterion's lowest to its highest score."""

    def fit(texts: Sequence[Referenced], scores: Numbers, seed: int) -> Judged:
        model = _started(encoder, lambda: PairReader(encoder, 1), seed)
        if nexts := _next_utterances(texts, seed):
            is_next = tensor(np.tile([1.0, 0.0], len(nexts) // 2))
            learn(model, encoder.encoder, Stage(nexts, _bce(is_next), paired=True), seed)
        texts, scores = scored(texts, scores, with_references=False)
        wanted = tensor(1 + 4 * scores)
        regression = lambda logits, rows: F.mse_loss(4 * logits[:, 0].sigmoid() + 1, wanted[rows].to(logits.device))
        learn(model, encoder.encoder, Stage(texts, regression), seed)
        return lambda others: 4 / (1 + np.exp(-answers(model, encoder.encoder, others)[:, 0])) + 1

    return fit


def ruber(encoder: TextEncoder) -> Fit:
    """Utilities are on the scale from 1 to 5."""

    def fit(texts: Sequence[Referenced], scores: Numbers, seed: int) -> Judged:
        model = _started(encoder, lambda: ApartReader(encoder), seed)
        if nexts := _next_utterances(texts, seed):
            ranked = lambda s, rows: ranking_loss(s[0::2, 0], s[1::2, 0])
            learn(model, encoder.encoder, Stage(nexts, ranked, paired=True), seed)
        texts, scores = scored(texts, scores, with_references=False)
        wanted = tensor(scores)
        regression = lambda s, rows: 16 * F.mse_loss(s[:, 0], wanted[rows].to(s.device))  # on the scale from 1 to 5
        learn(model, encoder.encoder, Stage(texts, regression), seed)
        return lambda others: 4 * answers(model, encoder.encoder, others)[:, 0] + 1

    return fit


def aspects(encoder: TextEncoder, apart: bool) -> Fit:
    """apart: an encoder for each aspect, of which the first judges, so that no other one is trained."""

    def fit(texts: Sequence[Referenced], scores: Numbers, seed: int) -> Judged:
        rows = [i for i, text in enumerate(texts) if text.references and np.isfinite(scores[i]).any()]
        good = tensor(good_of(scores[rows][:, :1] if apart else scores[rows]))  # (n, c)
        beta = 1 - good.nanmean(0)
        if not rows or not 0 < beta[0] < 1:
            raise MissingInput(
                "The texts with references in the other folds are all good or all not, so nothing can be learnt."
            )
        read, owner = beside_references([texts[i] for i in rows])
        of_rows, features = kin_of([texts[i] for i in rows]), Features(encoder)
        kin = [of_rows[i] for i in owner]
        found = [searched_beta(features, read, column[owner], kin, seed) for column in good.T.numpy()]
        beta = tensor(np.array(found))
        model = _started(encoder, lambda: PairReader(encoder, good.shape[1]), seed)
        loss = lambda logits, of: balanced_loss(logits, good[owner[of]].to(logits.device), beta.to(logits.device))
        learn(model, encoder.encoder, Stage(read, loss, kin), seed)

        def judged(others: Sequence[Referenced]) -> Numbers:
            read, owner = beside_references(others)
            return np.asarray(np.bincount(owner, answers(model, encoder.encoder, read)[:, 0]) / np.bincount(owner))

        return judged

    return fit


def _next_utterances(texts: Sequence[Referenced], seed: int) -> list[Text]:
    """A person's reply and a reply to another context, in turns; empty where fewer than two contexts have a reply."""
    try:
        replies = replies_of(texts)
    except MissingInput:
        return []
    rows = np.arange(len(replies))
    wrong = OtherReplies(replies).drawn(rows, np.random.default_rng([seed, 23]))
    return [text for i in rows for text in (replies[i], replace(replies[i], output=replies[wrong[i]].output))]


def _bce(wanted: torch.Tensor) -> Loss:
    return lambda logits, rows: F.binary_cross_entropy_with_logits(logits[:, 0], wanted[rows].to(logits.device))


FITS: dict[str, Callable[[TextEncoder], Fit]] = {
    "discriminator-tuned": discriminator,
    "reference-free-tuned": reference_free,
    "ruber-semi-supervised": ruber,
    "aspects-tuned": lambda encoder: aspects(encoder, apart=False),
    "aspects-tuned-apart": lambda encoder: aspects(encoder, apart=True),
}


def make(name: str, inputs: Inputs) -> tuple[Measure, dict[str, Any]]:
    """By its name in the registry."""
    encoder, training = inputs.encoder, inputs.training
    assert encoder is not None and training is not None  # `build` has seen to it
    measure = out_of_fold(FITS[name](encoder), training, training.on_scale(medians=name.startswith("aspects")))
    learning = {"epochs": EPOCHS, "rate": RECIPE.learning_rate, "decay": DECAY, "lowest_rate": LOWEST}
    learning |= {"beta_within": max(GRID)} if name.startswith("aspects") else {}
    learnt_from = {"folds": len(set(training.folds)), "texts": len(training.texts), "seed": training.seed}
    return measure, {**encoder.settings, **learning, **learnt_from, "encoder_learns": True, "out_of_fold": training.by}
