"""A word-level GRU encoder-decoder with attention, trained from scratch, that keeps a checkpoint on its way.

It is meant to be small and to get visibly better: after a tenth of its iterations it strings frequent words together, at
the end it writes whole sentences. On a few hundred exchanges it mostly recombines what it has read.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor, nn

from evaluator.generators.dialogue import AnsweredTurn, sentence
from evaluator.judges.texts import words

PAD, UNKNOWN, START, END, TURN = range(5)
SPECIAL = ("<pad>", "<unk>", "<s>", "</s>", "<turn>")


@dataclass(frozen=True)
class NeuralSettings:
    iterations: int = 1200
    keep_at: tuple[float, ...] = (0.1, 0.4, 1.0)  # shares of the iterations at which a checkpoint is kept
    width: int = 128
    batch: int = 32
    learning_rate: float = 2e-3
    dropout: float = 0.3
    word_dropout: float = 0.15  # share of the context's words hidden while training, so that no single word decides
    temperature: float = 0.6
    longest: int = 24  # words of a reply
    longest_context: int = 48


class Vocabulary:
    """Every word of the training exchanges; anything else is one unknown word."""

    def __init__(self, training: Sequence[AnsweredTurn]):
        counts = Counter(w for e in training for text in (*e.context, e.reply) for w in words(text))
        self.words = [*SPECIAL, *sorted(counts)]
        self._index = {word: i for i, word in enumerate(self.words)}

    def __len__(self) -> int:
        return len(self.words)

    def encode(self, text: str) -> list[int]:
        return [self._index.get(word, UNKNOWN) for word in words(text)]

    def encode_context(self, context: Sequence[str], longest: int) -> list[int]:
        ids = [i for turn in context for i in (*self.encode(turn), TURN)]
        return ids[-longest:] or [TURN]

    def text(self, ids: Sequence[int]) -> str:
        return sentence([self.words[i] for i in ids])


class Seq2Seq(nn.Module):
    def __init__(self, vocabulary: int, width: int, dropout: float):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width, padding_idx=PAD)
        self.encoder = nn.GRU(width, width // 2, batch_first=True, bidirectional=True)
        self.decoder = nn.GRU(width, width, batch_first=True)
        self.mix = nn.Linear(2 * width, width)
        self.dropout = nn.Dropout(dropout)

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(batch, s) -> states (batch, s, width), mask (batch, s), first decoder state (1, batch, width)."""
        mask = source != PAD
        packed = nn.utils.rnn.pack_padded_sequence(
            self.dropout(self.embedding(source)), mask.sum(1), batch_first=True, enforce_sorted=False
        )
        output, last = self.encoder(packed)  # last: (2, batch, width / 2)
        states, _ = nn.utils.rnn.pad_packed_sequence(output, batch_first=True, total_length=source.shape[1])
        return states, mask, torch.cat((last[0], last[1]), dim=1).unsqueeze(0)

    def decode(self, target: Tensor, hidden: Tensor, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """(batch, t) of words so far -> logits of the next word (batch, t, vocabulary) and the new decoder state."""
        output, hidden = self.decoder(self.dropout(self.embedding(target)), hidden)  # (batch, t, width)
        scores = output @ states.transpose(1, 2)  # (batch, t, s)
        attention = scores.masked_fill(~mask.unsqueeze(1), float("-inf")).softmax(-1)
        mixed = torch.tanh(self.mix(torch.cat((output, attention @ states), dim=-1)))  # (batch, t, width)
        return self.dropout(mixed) @ self.embedding.weight.T, hidden


class NeuralGenerator:
    """One checkpoint's weights, ready to answer."""

    def __init__(self, model: Seq2Seq, vocabulary: Vocabulary, settings: NeuralSettings):
        self._model = model.eval()
        self._vocabulary = vocabulary
        self._settings = settings

    @torch.inference_mode()
    def reply(self, context: tuple[str, ...], rng: Random) -> str:
        source = torch.tensor([self._vocabulary.encode_context(context, self._settings.longest_context)])
        states, mask, hidden = self._model.encode(source)
        reply = [START]
        while len(reply) <= self._settings.longest:
            logits, hidden = self._model.decode(torch.tensor([[reply[-1]]]), hidden, states, mask)
            logits = logits[0, 0] / self._settings.temperature  # (vocabulary,)
            logits[[PAD, UNKNOWN, START, TURN]] = float("-inf")
            if len(reply) == 1:
                logits[END] = float("-inf")  # an output is never empty
            word = rng.choices(range(len(self._vocabulary)), logits.softmax(0).tolist())[0]
            if word == END:
                break
            reply.append(word)
        return sentence([self._vocabulary.words[i] for i in reply[1:]])


@dataclass(frozen=True)
class NeuralCheckpoint:
    name: str
    iteration: int
    total_iterations: int
    loss: float  # nats per word, mean over the iterations since the previous checkpoint
    generator: NeuralGenerator


def _padded(rows: Sequence[Sequence[int]]) -> Tensor:
    return nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD)


def train(training: Sequence[AnsweredTurn], seed: int, settings: NeuralSettings | None = None) -> list[NeuralCheckpoint]:
    """Trains once and returns the checkpoints in order. The caller's torch random state is left as it was."""
    if not training:
        raise ValueError("Training needs at least one exchange.")
    settings = settings or NeuralSettings()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return _train(training, Random(seed), settings)


def _train(training: Sequence[AnsweredTurn], rng: Random, settings: NeuralSettings) -> list[NeuralCheckpoint]:
    vocabulary = Vocabulary(training)
    model = Seq2Seq(len(vocabulary), settings.width, settings.dropout)
    nn.init.normal_(model.embedding.weight, std=settings.width**-0.5)  # it is the output layer too: small logits at first
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate, weight_decay=0.01)
    kept = {max(1, round(share * settings.iterations)) for share in settings.keep_at}
    checkpoints: list[NeuralCheckpoint] = []
    losses: list[float] = []
    model.train()
    for iteration in range(1, settings.iterations + 1):
        loss = _loss(model, _batch(training, vocabulary, rng, settings))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if iteration in kept:
            copy = Seq2Seq(len(vocabulary), settings.width, settings.dropout)
            copy.load_state_dict(model.state_dict())
            mean_loss = sum(losses) / len(losses)
            checkpoints.append(
                NeuralCheckpoint(
                    f"step-{iteration}", iteration, settings.iterations, mean_loss, NeuralGenerator(copy, vocabulary, settings)
                )
            )
            losses = []
    return checkpoints


def _batch(
    training: Sequence[AnsweredTurn], vocabulary: Vocabulary, rng: Random, settings: NeuralSettings
) -> tuple[Tensor, Tensor]:
    """Source (batch, s) and target with both end marks (batch, t)."""
    chosen = [rng.choice(training) for _ in range(settings.batch)]
    sources = []
    for exchange in chosen:
        ids = vocabulary.encode_context(exchange.context, settings.longest_context)
        sources.append([UNKNOWN if i != TURN and rng.random() < settings.word_dropout else i for i in ids])
    targets = [[START, *vocabulary.encode(exchange.reply)[: settings.longest], END] for exchange in chosen]
    return _padded(sources), _padded(targets)


def _loss(model: Seq2Seq, batch: tuple[Tensor, Tensor]) -> Tensor:
    source, target = batch
    states, mask, hidden = model.encode(source)
    logits, _ = model.decode(target[:, :-1], hidden, states, mask)  # (batch, t - 1, vocabulary)
    return nn.functional.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=PAD)
