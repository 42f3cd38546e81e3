"""How the hidden states of a text's tokens become one vector: as an encoder's own files say, else by its family.

Sentence encoders say it in 1_Pooling/config.json (sentence-transformers). SimCSE reads [CLS] (Gao et al. 2021), without the
layer that it learns above it. A model that reads from left to right has seen a text when it has read its last token. For all
others the mean: of BERT, untrained for sentences, it says more than [CLS] (Reimers & Gurevych 2019, table 1).
"""

import json
from dataclasses import dataclass
from pathlib import Path

import torch
from transformers import PreTrainedModel
from transformers.utils.hub import cached_file

MEAN, CLS, LAST = "mean", "cls", "last"
WAYS = (MEAN, CLS, LAST)
CONFIG = "1_Pooling/config.json"
# Divided by the root of the length, a mean has the same direction.
IN_CONFIG = {"mean_tokens": MEAN, "mean_sqrt_len_tokens": MEAN, "cls_token": CLS, "lasttoken": LAST}
TRIED, SHARED = 8, 5  # tokens of two texts, and how many of them are the same
ROUNDING = 1e-4  # of a hidden state, whose size is about 1


@dataclass(frozen=True)
class Pooling:
    """way: of WAYS; by: what says so, for a metric's settings."""

    way: str
    by: str


def pooling_of(source: str, model: PreTrainedModel, asked: str = "") -> Pooling:
    """asked: one of WAYS, against what the files say. Raises ValueError for another one, and where the files want one that
    is not offered."""
    if asked:
        if asked not in WAYS:
            raise ValueError(f"Pooling is {', '.join(WAYS)}, not {asked!r}.")
        return Pooling(asked, "chosen")
    if wanted := _in_files(source):
        return Pooling(wanted, CONFIG)
    if "simcse" in source.lower():
        return Pooling(CLS, "SimCSE, by its name")
    if reads_from_left_to_right(model):
        return Pooling(LAST, "reads from left to right")
    return Pooling(MEAN, "default")


def _in_files(source: str) -> str:
    """What sentence-transformers' file says; empty where there is none."""
    if Path(source).is_dir():
        found = Path(source) / CONFIG
        path = str(found) if found.is_file() else None
    else:
        path = cached_file(source, CONFIG, _raise_exceptions_for_missing_entries=False)
    if path is None:
        return ""
    said = json.loads(Path(path).read_text(encoding="utf-8"))
    modes = [name.removeprefix("pooling_mode_") for name, on in said.items() if on is True and name.startswith("pooling_mode_")]
    modes += [said["pooling_mode"]] if isinstance(said.get("pooling_mode"), str) else []
    known = [IN_CONFIG.get(mode, mode if mode in WAYS else "") for mode in modes]
    if len(known) != 1 or not known[0]:
        raise ValueError(f"{CONFIG} wants {' and '.join(modes) or 'nothing'}, which is not offered: choose one with --pooling.")
    return known[0]


def reads_from_left_to_right(model: PreTrainedModel) -> bool:
    """Whether later tokens change nothing of earlier ones, tried on two texts."""
    vocabulary = model.get_input_embeddings().weight.shape[0]
    one = torch.arange(1, 1 + TRIED) % vocabulary  # (t,)
    other = torch.cat([one[:SHARED], (one[SHARED:] + TRIED) % vocabulary])
    ids = torch.stack([one, other]).to(model.device)  # (2, t)
    model.eval()
    with torch.inference_mode():
        hidden = model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state.float()  # (2, t, h)
    return bool((hidden[0, :SHARED] - hidden[1, :SHARED]).abs().max() < ROUNDING)


def pooled(hidden: torch.Tensor, mask: torch.Tensor, way: str, cls: torch.Tensor, last: torch.Tensor) -> torch.Tensor:
    """(b, h) of hidden (b, t, h) with its mask (b, t); cls, last (b,): where each text has its [CLS] and its last token"""
    if way == MEAN:
        return mean_over(hidden, mask)
    return hidden[torch.arange(len(hidden), device=hidden.device), cls if way == CLS else last]


def mean_over(hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Mean of hidden (b, t, h) over the tokens of mask (b, t) -> (b, h)"""
    mask = mask.unsqueeze(-1).float()  # (b, t, 1)
    return (hidden * mask).sum(1) / mask.sum(1)
