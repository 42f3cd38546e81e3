"""Any causal language model that transformers loads from a folder, on the interface of the small architectures.

Context and reply are one text, as DialoGPT reads them (Zhang et al. 2020, section 3.1): turns with the token of a text's end
after each, the reply's too. The model's own tokens come after our five marks; its end is `END`. All words are worked out anew
at each step, as for the others.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, PreTrainedModel

from core.errors import Refused, quoted
from evaluator.encoders.devices import chosen
from evaluator.encoders.encoding import special_tokens
from evaluator.encoders.pretrained import positions, pretrained_tokenizer
from evaluator.generators.sequence_models import SequenceModel
from evaluator.generators.vocabulary import END, PAD, SPECIAL

OURS = len(SPECIAL)
TRIED, SHARED = 8, 5  # tokens of the two texts on which a model is tried, and how many of them are the same
LOOKS_AHEAD = 1e-4  # what later tokens may change of an earlier logit by rounding


def is_folder(architecture: str) -> bool:
    """Does it name a folder with a model of transformers?"""
    return Path(architecture, "config.json").is_file()


class Tokens:
    """The model's tokenizer as a vocabulary. room: tokens that the model has positions for, context and reply together."""

    def __init__(self, tokenizer: Any, room: int):
        self._tokenizer, self.room = tokenizer, room
        first, self.end, _ = special_tokens(tokenizer)
        self._first = [] if first == self.end else [first + OURS]
        self.never = sorted({*tokenizer.all_special_ids} - {self.end})

    def __len__(self) -> int:
        return OURS + len(self._tokenizer)

    def encode(self, text: str) -> list[int]:
        """Marks that are written in a text are left out."""
        ids = self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        return [i + OURS for i in ids if i != self.end and i not in self.never]

    def encode_context(self, context: Sequence[str], longest: int) -> list[int]:
        """Its last tokens; after the last turn comes the mark with which the reply starts."""
        ids = [i for turn in context for i in (*self.encode(turn), END)][:-1]
        return [*self._first, *ids[-longest:]] or [END]

    def text(self, ids: Sequence[int]) -> str:
        said: str = self._tokenizer.decode([i - OURS for i in ids], skip_special_tokens=True)
        return said.strip()

    def blank(self) -> list[int]:
        """Of the model's tokens, those that show nothing by themselves: no reply begins with one."""
        shown = self._tokenizer.batch_decode([[i] for i in range(len(self._tokenizer))])
        return [i for i, text in enumerate(shown) if not text.strip()]


class Causal(SequenceModel):
    """memory is the context itself, moved to the right, so that the reply follows it without padding between."""

    def __init__(self, model: PreTrainedModel, tokens: Tokens):
        super().__init__()
        self.model, self._end = model, tokens.end
        self._known = min(len(tokens) - OURS, model.config.vocab_size)  # some models have room for more than are there
        self._never, self._blank = ([i + OURS for i in ids if i < self._known] for ids in (tokens.never, tokens.blank()))
        self._takes = set(inspect.signature(model.forward).parameters)

    def encode(self, source: Tensor) -> tuple[Tensor, Tensor]:
        there = (source != PAD).sum(1, keepdim=True)  # (batch, 1)
        place = torch.arange(source.shape[1]) - (source.shape[1] - there)  # (batch, s)
        mask = place >= 0
        return source.gather(1, place.clamp(min=0)).masked_fill(~mask, PAD), mask

    def decode(self, target: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        return self._logits(target, memory, mask, target.shape[1])

    def next_word(self, target: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        logits = self._logits(target, memory, mask, 1)[:, 0]
        if target.shape[1] == 1:
            logits[:, self._blank] = float("-inf")
        return logits

    def _logits(self, target: Tensor, memory: Tensor, mask: Tensor, newest: int) -> Tensor:
        """(batch, newest, vocabulary) after the newest words"""
        words, seen = torch.cat((memory, target), dim=1), torch.cat((mask, target != PAD), dim=1)
        ids = torch.where(words < OURS, self._end, words - OURS)
        more = {"position_ids": (seen.cumsum(1) - 1).clamp(min=0), "logits_to_keep": newest, "use_cache": False}
        more = {name: value for name, value in more.items() if name in self._takes}
        given = {"input_ids": ids, "attention_mask": seen.long(), **more}
        there = {name: value.to(self.model.device) if isinstance(value, Tensor) else value for name, value in given.items()}
        said = self.model(**there).logits[:, -newest:, : self._known].float().cpu()
        marks = torch.full((*said.shape[:2], OURS), float("-inf"))
        marks[..., END] = said[..., self._end]
        said[..., self._end] = float("-inf")
        logits = torch.cat((marks, said), dim=-1)
        logits[..., self._never] = float("-inf")
        return logits


def load(folder: str) -> tuple[Causal, Tokens]:
    """On the chosen device, in fp32. Raises Refused where it is no causal language model, or cannot be loaded."""
    try:
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, local_files_only=True).to(chosen())
        tokenizer = pretrained_tokenizer(folder, model)
    except (OSError, ValueError, KeyError) as error:
        raise Refused(f"{quoted(folder)} cannot be loaded as a causal language model: {str(error).splitlines()[0]}") from error
    if looks_ahead(model) > LOOKS_AHEAD:
        raise Refused(f"{quoted(folder)} is no causal language model: what it says of a token depends on later ones.")
    tokens = Tokens(tokenizer, positions(model))
    return Causal(model, tokens), tokens


@torch.inference_mode()
def looks_ahead(model: PreTrainedModel) -> float:
    """By how much a logit changes most where only later tokens differ; 0 for a causal model."""
    model.eval()
    ids = torch.arange(2 * TRIED - SHARED, device=model.device) % model.config.vocab_size
    one, other = ids[:TRIED], torch.cat((ids[:SHARED], ids[TRIED:]))
    said = model(input_ids=torch.stack((one, other))).logits[:, :SHARED]
    return float((said[0] - said[1]).abs().max())
