"""One training loop for all architectures: a checkpoint every n iterations, and no work when nobody asks for the next.

for checkpoint in checkpoints(exchanges, Settings("lstm"), seed=1):
    if watched.add(checkpoint.iteration, [reply.text for reply in checkpoint.replies(contexts)]).stop:
        break
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

import torch
from torch import Tensor, nn

from core.errors import Refused
from evaluator.generators.causal import Tokens, is_folder, load
from evaluator.generators.decoders import Decoder
from evaluator.generators.dialogue import AnsweredTurn
from evaluator.generators.sequence_models import ARCHITECTURES, SequenceModel
from evaluator.generators.vocabulary import END, PAD, START, TURN, UNKNOWN, Vocabulary


@dataclass(frozen=True)
class Settings:
    """architecture: a name, or the folder of a causal language model (`causal`), whose first checkpoint is 0, before it learns,
    and which may have no other. Raises Refused for an architecture that is not there, or numbers below 1."""

    architecture: str = "lstm"
    iterations: int = 1200
    every: int = 100  # iterations between two checkpoints
    width: int = 128
    batch: int = 32
    learning_rate: float = 2e-3
    warmup: int = 100  # iterations in which the rate rises
    dropout: float = 0.3
    longest: int = 24  # words of a reply that are learned
    longest_context: int = 48

    def __post_init__(self) -> None:
        if self.architecture not in ARCHITECTURES and not is_folder(self.architecture):
            there = f"{', '.join(ARCHITECTURES)}, and folders of causal language models"
            raise Refused(f"There is no architecture {self.architecture!r}; there are {there}.")
        least = self.iterations if self.architecture in ARCHITECTURES else self.iterations + 1
        if min(least, self.every, self.width // 8, self.batch, self.warmup) < 1:
            raise Refused("Iterations, their distance, the batch and the warm-up are at least 1, the width at least 8.")

    @classmethod
    def of(cls, architecture: str, iterations: int, every: int) -> Settings:
        """With what suits it: a pretrained model learns in smaller steps, and reads tokens, of which a word has several."""
        if architecture in ARCHITECTURES or not is_folder(architecture):
            return cls(architecture, iterations, every)
        return cls(architecture, iterations, every, batch=8, learning_rate=5e-5, longest=48, longest_context=128)


@dataclass(frozen=True)
class Reply:
    """log_probability: of the words and the end, in nats, as the model gives it; an output that was cut has no end."""

    text: str
    log_probability: float


@dataclass(frozen=True)
class Checkpoint:
    """The model goes on learning: ask for its replies before the next checkpoint. loss: nats a word, mean since the last; NaN
    where it has not learned yet."""

    iteration: int
    total: int
    loss: float
    model: SequenceModel
    vocabulary: Vocabulary | Tokens
    settings: Settings

    @torch.inference_mode()
    def replies(
        self, contexts: Sequence[Sequence[str]], decoder: Decoder | None = None, seed: int = 0, batch: int = 64
    ) -> list[Reply]:
        """In the order of the contexts. The same seed gives the same replies."""
        decoder, draws, found = decoder or Decoder(), torch.Generator().manual_seed(seed), []
        self.model.eval()
        for begin in range(0, len(contexts), batch):
            part = contexts[begin : begin + batch]
            source = _padded([self.vocabulary.encode_context(turns, self.settings.longest_context) for turns in part])
            said, logs = decoder.replies(self.model, source, (PAD, UNKNOWN, START, TURN), draws)
            found += [Reply(self.vocabulary.text(ids), log) for ids, log in zip(said, logs)]
        self.model.train()
        return found


def checkpoints(training: Sequence[AnsweredTurn], settings: Settings, seed: int = 0) -> Iterator[Checkpoint]:
    """Every `every` iterations, and at the end. torch's random state is the loop's own while it learns, and the caller's
    between. Raises Refused without an exchange."""
    if not training and settings.iterations:
        raise Refused("Training needs at least one exchange.")
    rng = Random(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model, vocabulary = _begun(training, settings)
        state = torch.get_rng_state()
    if isinstance(vocabulary, Tokens):
        settings = replace(settings, longest_context=_room(settings, vocabulary))
        yield Checkpoint(0, settings.iterations, float("nan"), model, vocabulary, settings)
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda done: min(1.0, (done + 1) / settings.warmup))
    done = 0
    while done < settings.iterations:
        part = min(settings.every, settings.iterations - done)
        losses = []
        with torch.random.fork_rng(devices=[]):
            torch.set_rng_state(state)
            for _ in range(part):
                loss = _loss(model, *_batch(training, vocabulary, rng, settings))
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                losses.append(loss.item())
            state = torch.get_rng_state()
        done += part
        yield Checkpoint(done, settings.iterations, sum(losses) / part, model, vocabulary, settings)


def _begun(training: Sequence[AnsweredTurn], settings: Settings) -> tuple[SequenceModel, Vocabulary | Tokens]:
    if make := ARCHITECTURES.get(settings.architecture):
        vocabulary = Vocabulary(training)
        return make(len(vocabulary), settings.width, settings.dropout), vocabulary
    return load(settings.architecture)


def _room(settings: Settings, tokens: Tokens) -> int:
    """Tokens of a context, which the reply and three marks leave room for. Raises Refused where they leave none."""
    room = min(settings.longest_context, tokens.room - settings.longest - 3)
    if room < 1:
        raise Refused(f"The model has positions for {tokens.room} tokens, too few for replies of {settings.longest}.")
    return room


def validation_loss(checkpoint: Checkpoint, held_out: Sequence[AnsweredTurn]) -> float:
    """Nats a word on exchanges that were not learned from."""
    checkpoint.model.eval()
    with torch.inference_mode():
        loss = float(_loss(checkpoint.model, *_tensors(held_out, checkpoint.vocabulary, checkpoint.settings)))
    checkpoint.model.train()
    return loss


def _batch(
    training: Sequence[AnsweredTurn], vocabulary: Vocabulary | Tokens, rng: Random, settings: Settings
) -> tuple[Tensor, Tensor]:
    return _tensors([rng.choice(training) for _ in range(settings.batch)], vocabulary, settings)


def _tensors(chosen: Sequence[AnsweredTurn], vocabulary: Vocabulary | Tokens, settings: Settings) -> tuple[Tensor, Tensor]:
    """Source (batch, s) and target with both end marks (batch, t)."""
    sources = [vocabulary.encode_context(exchange.context, settings.longest_context) for exchange in chosen]
    targets = [[START, *vocabulary.encode(exchange.reply)[: settings.longest], END] for exchange in chosen]
    return _padded(sources), _padded(targets)


def _padded(rows: Sequence[Sequence[int]]) -> Tensor:
    return nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD)


def _loss(model: SequenceModel, source: Tensor, target: Tensor) -> Tensor:
    memory, mask = model.encode(source)
    logits = model.decode(target[:, :-1], memory, mask)  # (batch, t - 1, vocabulary)
    return nn.functional.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=PAD)
