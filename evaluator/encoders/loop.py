"""How an encoder and its head learn: the training loop, read top to bottom. Each step draws from its own seed, so that a run
that was cut goes on from its last saved step to exactly the weights of one that was not."""

import json
import math
import os
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import nn

from evaluator.encoders.allocator import give_memory_back
from evaluator.encoders.devices import repeatable

GIVE_BACK = 20  # steps, after which memory that the C library keeps for later goes back: it grows by gigabytes otherwise
SAVE_SECONDS = 60.0  # between two states on disk; resuming costs at most so much work


class Recipe(Protocol):
    """What of `comparator.settings.Settings` the loop reads."""

    @property
    def head_learning_rate(self) -> float: ...

    @property
    def weight_decay(self) -> float: ...

    @property
    def warmup(self) -> float: ...

    @property
    def from_scratch(self) -> bool: ...


class State:
    """Where a run stands, in one safetensors file: weights and moments in fp32, the step, and what was noted so far."""

    def __init__(self, path: Path, fingerprint: str):
        self.path, self.fingerprint = path, fingerprint
        self.started = self.saved = time.monotonic()  # started: moved back by what an earlier process spent

    def save(self, model: nn.Module, optimizer: torch.optim.Optimizer, step: int, notes: list[Any]) -> None:
        tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
        for i, moments in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{i}.{name}": tensor for name, tensor in moments.items()}
        metadata = {"fingerprint": self.fingerprint, "step": str(step), "seconds": str(self.seconds())}
        metadata |= {"notes": json.dumps(notes)}
        temporary = self.path.with_name(self.path.name + ".part")
        save_file({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, temporary, metadata)
        os.replace(temporary, self.path)
        self.saved = time.monotonic()

    def restore(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> tuple[int, list[Any]]:
        """(the next step, the notes); from the beginning where there is no state of this very run."""
        try:
            with safe_open(self.path, "pt") as file:
                metadata = file.metadata() or {}
                if metadata.get("fingerprint") != self.fingerprint:
                    return 0, []
                tensors = {name: file.get_tensor(name) for name in file.keys()}
        except (OSError, SafetensorError):
            return 0, []
        model.load_state_dict({n.removeprefix("model."): t for n, t in tensors.items() if n.startswith("model.")})
        state: dict[int, dict[str, Any]] = {}
        for name, tensor in tensors.items():
            if name.startswith("optimizer."):
                _, i, moment = name.split(".")
                state.setdefault(int(i), {})[moment] = tensor
        optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
        self.started = time.monotonic() - float(metadata["seconds"])
        return int(metadata["step"]), json.loads(metadata["notes"])

    def seconds(self) -> float:
        """Spent on the run, by all processes that had a part in it."""
        return time.monotonic() - self.started

    def due(self) -> bool:
        return time.monotonic() - self.saved >= SAVE_SECONDS


def run(
    model: nn.Module,
    settings: Recipe,
    learning_rate: float,
    steps: int,
    losses: Callable[[int], Iterable[torch.Tensor]],
    seed: list[int],
    state: State,
    after: Callable[[int, float, list[Any]], None],
    save_end: bool = False,
    parts: Sequence[int] = (),
    rate: Callable[[int], float] | None = None,
) -> list[Any]:
    """Train for `steps` steps and return the notes.

    losses(step)  the step's loss in parts that are summed: each is taken back through the model before the next is made,
                  so that no more than one part is in memory
    after         is told the step just done (from 1), its loss and the notes, to which it may add; may raise
    save_end      whether the state after the last step is saved, whatever the time
    parts         numbers of steps that each have a learning rate of their own, which climbs and falls; default: all in one
    rate(step)    the share of the learning rate that a step has, instead
    """
    optimizer = adamw(model, settings, learning_rate)
    rates = [group["lr"] for group in optimizer.param_groups]
    first, notes = state.restore(model, optimizer)
    trained = [p for p in model.parameters() if p.requires_grad]
    shares = [_share_of_rate(i, length, settings.warmup) for length in parts or [steps] for i in range(length)]  # (steps,)
    with repeatable(trained[0].device):
        for step in range(first, steps):
            _seed(int(np.random.SeedSequence([*seed, step]).generate_state(1)[0]), trained[0].device)  # dropout
            for group, first_rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = first_rate * (shares[step] if rate is None else rate(step))
            model.train()
            total = 0.0
            for part in losses(step):
                part.backward()
                total += float(part.detach())
            nn.utils.clip_grad_norm_(trained, 1.0)
            optimizer.step()
            optimizer.zero_grad()
            after(step + 1, total, notes)
            if step % GIVE_BACK == 0:
                give_memory_back()
            if state.due() if step + 1 < steps else save_end:
                state.save(model, optimizer, step + 1, notes)
    return notes


def _seed(number: int, device: torch.device) -> None:
    """Without an accelerator, torch writes down for each kind of them who asked it, which takes as long as a small step."""
    seeded = torch.default_generator if device.type == "cpu" else torch
    seeded.manual_seed(number)


def adamw(model: nn.Module, settings: Recipe, learning_rate: float) -> torch.optim.AdamW:
    """The encoder's embeddings stay as they are, for few words are met often enough to learn, unless it starts from scratch;
    the head has its own rate and no decay."""
    pretrained: Any = model.encoder
    tables = {id(weights) for part in pretrained.modules() if isinstance(part, nn.Embedding) for weights in part.parameters()}
    for name, parameter in pretrained.named_parameters():  # GPT-2's tables are called wte and wpe
        parameter.requires_grad_(settings.from_scratch or not ("embed" in name or id(parameter) in tables))
    encoder = [parameter for parameter in pretrained.parameters() if parameter.requires_grad]
    head = [p for name, p in model.named_parameters() if not name.startswith("encoder.") and p.requires_grad]
    groups = [{"params": encoder, "lr": learning_rate, "weight_decay": settings.weight_decay}]
    return torch.optim.AdamW([*groups, {"params": head, "lr": settings.head_learning_rate, "weight_decay": 0.0}])


def _share_of_rate(step: int, steps: int, warmup: float) -> float:
    """Climbs to 1 over the warm-up, then falls linearly towards 0."""
    warm = max(1, math.ceil(warmup * steps))
    return min((step + 1) / warm, (steps - step) / max(1, steps - warm))
