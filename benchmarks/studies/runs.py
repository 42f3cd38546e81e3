"""Trainings of small generators with settings drawn at random (Zhou & Xu 2020, 4.1), and what their checkpoints answer.

The dialogues are dealt into three parts that share none: what generators learn from, contexts of which a comparator learns
(`supervised`), and contexts in which checkpoints are compared (`watched`). Those that a judged set comes from are left out."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.studies.study import Result
from evaluator.comparator.examples import Exchange
from evaluator.comparator.supervision.self_supervision import exchanges, unseen
from evaluator.generators.decoders import Decoder
from evaluator.generators.dialogue import AnsweredTurn
from evaluator.generators.sequence_models import ARCHITECTURES
from evaluator.generators.training_loop import Settings, checkpoints, validation_loss

DIALOGUES = "dailydialog_multiref.jsonl"
RANGE = {  # of the random settings: the paper says "in a predefined range", and not which
    "learning_rate": (3e-4, 5e-3),  # by its logarithm
    "dropout": (0.0, 0.5),
    "batch": (16, 32, 64),
}
SHARES = {"learnt": 0.6, "supervised": 0.15, "watched": 0.25}  # of the dialogues
PICKED = (0.3, 0.5, 0.8, 1.0)  # shares of the training at which the four checkpoints stand


@dataclass(frozen=True)
class Size:
    """How much is trained: runs of each of the groups, iterations, and contexts."""

    groups: int
    runs: int
    iterations: int
    checkpoints: int
    width: int
    watched: int
    supervised: int

    @property
    def names(self) -> list[str]:
        """A group is one architecture with several settings."""
        kinds = list(ARCHITECTURES)
        return [f"{kinds[g % len(kinds)]}-{g + 1}-{k + 1}" for g in range(self.groups) for k in range(self.runs)]

    @property
    def picked(self) -> list[int]:
        """Which of the checkpoints are the four"""
        return [round(share * self.checkpoints) - 1 for share in PICKED]


@dataclass(frozen=True)
class Dialogues:
    learnt: list[AnsweredTurn]
    supervised: list[Exchange]
    watched: list[Exchange]


def group_of(name: str) -> str:
    """ "lstm-1-4" -> "lstm-1\""""
    return name.rpartition("-")[0]


def dealt(data: Path, judged: Sequence[Sequence[str]], size: Size, seed: int) -> Dialogues:
    """judged: contexts of the sets, whose dialogues are left out. Of each other dialogue that is not learnt from, one exchange,
    drawn by the seed."""
    rows = [json.loads(line) for line in (data / DIALOGUES).read_text(encoding="utf-8").splitlines()]
    left = unseen(exchanges((row["dialogue_id"], row["turns"], row["references"]) for row in rows), judged)
    by_dialogue: dict[str, list[Exchange]] = {}
    for exchange in left:
        by_dialogue.setdefault(exchange.dialogue, []).append(exchange)
    rng, groups = Random(seed), list(by_dialogue.values())
    rng.shuffle(groups)
    a = round(SHARES["learnt"] * len(groups))
    b = a + round(SHARES["supervised"] * len(groups))
    one_each = lambda some, most: [rng.choice(group) for group in some][:most]
    learnt = [AnsweredTurn(e.context, e.replies[0]) for group in groups[:a] for e in group]
    return Dialogues(learnt, one_each(groups[a:b], size.supervised), one_each(groups[b:], size.watched))


def drawn(name: str, size: Size, seed: int) -> Settings:
    """The settings of one run; architecture, length and width are not drawn."""
    rng = Random(f"{seed} {name}")
    low, high = RANGE["learning_rate"]
    return Settings(
        architecture=name.split("-")[0],
        iterations=size.iterations,
        every=size.iterations // size.checkpoints,
        width=size.width,
        batch=rng.choice(RANGE["batch"]),
        learning_rate=low * (high / low) ** rng.random(),
        dropout=rng.uniform(*RANGE["dropout"]),
        warmup=max(1, min(100, size.iterations // 6)),
    )


def trained(name: str, dialogues: Dialogues, size: Size, seed: int) -> Result:
    """{settings, loss: of each checkpoint on watched exchanges, nats a word, supervised, watched: what the four answer}"""
    settings = drawn(name, size, seed)
    held_out = [AnsweredTurn(e.context, e.replies[0]) for e in dialogues.watched]
    found: dict[str, Any] = {"settings": vars(settings), "loss": [], "supervised": [], "watched": [], "reached": []}
    for i, checkpoint in enumerate(checkpoints(dialogues.learnt, settings, seed)):
        found["loss"].append(validation_loss(checkpoint, held_out))
        if i in size.picked:
            for part in ("supervised", "watched"):
                asked = [exchange.context for exchange in getattr(dialogues, part)]
                found[part].append([reply.text for reply in checkpoint.replies(asked, Decoder(), seed)])
            found["reached"].append(checkpoint.iteration / checkpoint.total)
    return found
