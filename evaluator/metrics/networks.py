"""Small networks on frozen features, and how they learn: AdamW, until the contexts kept for validation get no better."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from evaluator.encoders.devices import repeatable
from evaluator.judges.protocol import Numbers
from evaluator.judges.texts import Text, fold_of, kin_of

VALIDATION = 10  # one context in so many is kept to tell when to stop: Zhao et al. 2020, section 4, split 0.8 : 0.1 : 0.1
EPOCHS, PATIENCE = 200, 20
BATCH, RATE, DECAY = 32, 1e-3, 1e-2

Loss = Callable[[nn.Module, Numbers, np.random.Generator], torch.Tensor]  # model, rows (b,), for random choices -> ()


@dataclass(frozen=True)
class Learnt:
    """What is to be learnt."""

    model: Callable[[], nn.Module]
    loss: Loss
    kin: Sequence[str]  # (n,) of the rows: what is kept for validation is kept whole (`kin_of`)
    repeats: int = 1  # how often the loss of the validation rows is drawn, where it draws


def learnt(task: Learnt, seed: int) -> nn.Module:
    """The model of the epoch with the least loss on the validation rows, or of the last where there are too few contexts."""
    training, validation = parted(task.kin, seed)
    with repeatable(torch.device("cpu")):
        torch.manual_seed(seed)
        model = task.model().train()
        best, least, since = copy.deepcopy(model.state_dict()), float("inf"), 0
        rng = np.random.default_rng([seed, 13])
        optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=DECAY)
        for _ in range(EPOCHS if len(validation) else PATIENCE):
            for rows in np.array_split(rng.permutation(training), -(-len(training) // BATCH)):
                optimizer.zero_grad()
                task.loss(model, rows, rng).backward()
                optimizer.step()
            now = _loss(task, model, validation) if len(validation) else 0.0
            better = now < least or not len(validation)
            since = 0 if better else since + 1
            if better:
                best, least = copy.deepcopy(model.state_dict()), now
            if since >= PATIENCE:
                break
    model.load_state_dict(best)
    return model.eval()


def parted(kin: Sequence[str], seed: int) -> tuple[Numbers, Numbers]:
    """Of rows (n,) by their kin, those that are learnt from, and those of the validation contexts; none where there are too few
    contexts or groups of them."""
    fold = fold_of(kin, VALIDATION, seed) if len(set(kin)) >= VALIDATION else dict.fromkeys(kin, 1)
    kept = np.array([fold[key] == 0 for key in kin])
    return np.flatnonzero(~kept), np.flatnonzero(kept)


def _loss(task: Learnt, model: nn.Module, rows: Numbers) -> float:
    """Of the same random choices in every epoch"""
    rng = np.random.default_rng(0)
    with torch.inference_mode():
        return float(np.mean([task.loss(model, rows, rng).item() for _ in range(task.repeats)]))


def on_features(
    network: Callable[[int], nn.Module],
    features: Callable[[Sequence[Text]], Numbers],
    texts: Sequence[Text],
    wanted: torch.Tensor,
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    seed: int,
    kin: Sequence[str] | None = None,
) -> Callable[[Sequence[Text]], Numbers]:
    """What a network says of texts, learnt from n of them.

    network   reads (n, h), the features with mean 0 and standard deviation 1 on the texts that it learns from
    loss      of its answers (b, ...) and those of wanted (n, ...) -> ()
    kin       of the texts (n,), where it is not their own
    """
    read = features(texts)  # (n, h)
    mean, spread = read.mean(0), read.std(0)
    spread = np.where(spread > 1e-6, spread, 1.0)
    d = tensor((read - mean) / spread)
    of_rows = lambda model, rows, rng: loss(model(d[rows]), wanted[rows])
    model = learnt(Learnt(lambda: network(d.shape[1]), of_rows, kin or kin_of(texts)), seed)

    def asked(others: Sequence[Text]) -> Numbers:
        with torch.inference_mode():
            return np.asarray(model(tensor((features(others) - mean) / spread)).numpy(), dtype=float)

    return asked


def tensor(values: Numbers) -> torch.Tensor:
    """In fp32 on the CPU: these networks are too small to be worth the way to another device"""
    return torch.tensor(np.asarray(values), dtype=torch.float32)
