"""From (context, output) to token ids: [CLS] turn [SEP] ... turn [SEP] output [SEP]."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import torch

from evaluator.encoders.sentence_cut import cut_at_sentence

TURNS = 3  # of a context that is read by itself
MAX_WORDS = 250  # Zhou & Xu 2020, section 4.1


class InContext(Protocol):
    """An output and the turns that it answers: `comparator.examples.Text`."""

    @property
    def context(self) -> tuple[str, ...]: ...

    @property
    def output(self) -> str: ...


@dataclass(frozen=True)
class Sequences:
    """Token ids and segments (0 context, 1 output) of n texts, unpadded."""

    ids: list[list[int]]
    segments: list[list[int]]
    cut_contexts: int = 0  # how many lost their first turns
    cut_outputs: int = 0  # how many lost their end
    whole_contexts: tuple[int, ...] = ()  # tokens of each context before it was cut; empty where there are none

    @cached_property
    def lengths(self) -> np.ndarray:
        return np.array([len(ids) for ids in self.ids], dtype=int)  # (n,)


@dataclass(frozen=True)
class Batch:
    """Padded tensors; b texts of at most t tokens."""

    ids: torch.Tensor  # (b, t)
    mask: torch.Tensor  # (b, t) 1 for a token, 0 for padding
    segments: torch.Tensor  # (b, t)
    familiarity: torch.Tensor  # (b,) of the contexts, 0..1 (Encoder.familiarity)
    precision: str  # in which the encoder reads it (devices.use_bf16)

    def to(self, device: torch.device) -> "Batch":
        ids, mask, segments = self.ids.to(device), self.mask.to(device), self.segments.to(device)
        return replace(self, ids=ids, mask=mask, segments=segments, familiarity=self.familiarity.to(device))


class Encoder:
    """Tokenises. A context keeps its last tokens; an output is cut at the sentence nearest to `max_words` words, and to
    tokens only when it fills `max_length` by itself: never before its context is gone. own_marks: a single string has its
    marks where the tokenizer puts them (XLNet's [CLS] comes last); a comparator always reads [CLS] first."""

    def __init__(
        self,
        tokenizer: Any,
        max_length: int,
        max_words: int = MAX_WORDS,
        familiar: float = math.inf,
        precision: str = "fp32",
        own_marks: bool = False,
    ):
        self.tokenizer, self.max_words, self.familiar, self.precision = tokenizer, max_words, familiar, precision
        self.max_length = min(max_length, tokenizer.model_max_length)  # what the encoder has positions for
        self.cls, self.sep, self.pad = special_tokens(tokenizer)
        self.cls_last = own_marks and self.sep != self.cls == tokenizer("a")["input_ids"][-1]

    def pairs(self, texts: Sequence[InContext]) -> Sequences:
        """Each context with its output."""
        turns = self._tokens([turn for text in texts for turn in text.context])
        shown = [self.shown(text.output) for text in texts]
        outputs = self._tokens(shown)
        ids, segments, whole, start, cut_contexts, cut_outputs = [], [], [], 0, 0, 0
        for text, kept, output in zip(texts, shown, outputs, strict=True):
            end = start + len(text.context)
            context = [token for turn in turns[start:end] for token in [*turn, self.sep]]
            start = end
            whole.append(len(context))
            cut_outputs += len(kept) < len(text.output) or len(output) > self.max_length - 2
            output = [*output[: self.max_length - 2], self.sep]
            room = self.max_length - 1 - len(output)
            cut_contexts += len(context) > room
            context = context[-room:] if room > 0 else []
            ids.append([self.cls, *context, *output])
            segments.append([0] * (1 + len(context)) + [1] * len(output))
        return Sequences(ids, segments, cut_contexts, cut_outputs, tuple(whole))

    def shown(self, output: str) -> str:
        """As much of an output as is read at all."""
        return cut_at_sentence(output, self.max_words)

    def singles(self, strings: Sequence[str], keep_end: bool = False) -> Sequences:
        """One string each; too long a string keeps its beginning, or its end where `keep_end`."""
        room = self.max_length - 2
        tokens = [t[-room:] if keep_end else t[:room] for t in self._tokens(strings)]
        ids = [[*t, self.sep, self.cls] if self.cls_last else [self.cls, *t, self.sep] for t in tokens]
        return Sequences(ids, [[0] * len(i) for i in ids])

    def inside(self, length: int) -> slice:
        """Where the tokens of a single string of `length` tokens stand, its marks left out."""
        return slice(0, length - 2) if self.cls_last else slice(1, length - 1)

    def batch(self, sequences: Sequences, chosen: Sequence[int] | np.ndarray) -> Batch:
        """The chosen texts, padded to the longest of them."""
        lengths = torch.tensor([len(sequences.ids[i]) for i in chosen])  # (b,)
        width = int(lengths.max())

        def padded(rows: list[list[int]], filler: int) -> torch.Tensor:
            return torch.tensor([[*rows[i], *[filler] * (width - len(rows[i]))] for i in chosen])

        mask = (torch.arange(width) < lengths.unsqueeze(1)).long()  # (b, t)
        familiarity = torch.tensor([self.familiarity(sequences, i) for i in chosen])  # (b,)
        return Batch(padded(sequences.ids, self.pad), mask, padded(sequences.segments, 0), familiarity, self.precision)

    def familiarity(self, sequences: Sequences, i: int) -> float:
        """1 for a context of up to `familiar` tokens, falling with the square of its length. Our choice."""
        tokens = sequences.whole_contexts[i] if sequences.whole_contexts else 0
        return min(1.0, self.familiar / max(tokens, 1)) ** 2

    def _tokens(self, strings: Sequence[str]) -> list[list[int]]:
        """Each string is tokenised once: the outputs of a context share its turns."""
        if not strings:
            return []
        unique = {s: i for i, s in enumerate(dict.fromkeys(strings))}
        clean = [s.encode("utf-8", "replace").decode("utf-8") for s in unique]  # a lone surrogate becomes "?"
        tokens = self.tokenizer(clean, add_special_tokens=False, verbose=False)["input_ids"]
        return [tokens[unique[s]] for s in strings]


def special_tokens(tokenizer: Any) -> tuple[int, int, int]:
    """What stands for [CLS], [SEP] and padding, which is masked: where there is none, as for GPT-2, the marks of a text's
    beginning and end. Raises ValueError where there is none of those either."""
    ids = {name: getattr(tokenizer, f"{name}_token_id") for name in ("cls", "bos", "sep", "eos", "pad")}
    known = {name: i for name, i in ids.items() if i is not None}
    sep = known.get("sep", known.get("eos"))
    if sep is None:
        raise ValueError("The encoder's tokenizer has no token that ends a text.")
    return known.get("cls", known.get("bos", sep)), sep, known.get("pad", sep)


def by_length(lengths: np.ndarray, batch_size: int) -> Iterator[np.ndarray]:
    """Positions in batches of similar length, the longest first (so memory peaks at once, not at the end)."""
    order = np.argsort(-lengths, kind="stable")  # (n,)
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]


def last_turns(context: Sequence[str]) -> str:
    """As much of a context as is embedded by itself."""
    return " ".join(context[-TURNS:])
