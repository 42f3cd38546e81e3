"""Pretrained language models, and the log probabilities that they give to the tokens of a text.

A model that is to read from left to right is tried when it is loaded: where a later token changes the probability of an
earlier one, it is refused. XLNet reads in any order that its mask says (Yang et al. 2019, section 2.3), so it is given the one
from left to right.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional as F
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, PreTrainedModel

from evaluator.encoders.devices import texts_at_once
from evaluator.encoders.encoding import Sequences, by_length
from evaluator.encoders.hidden_states import arguments_of
from evaluator.encoders.text_encoder import FrozenModel
from evaluator.judges.protocol import Numbers
from evaluator.judges.texts import Text
from evaluator.metrics.inputs import MissingInput

Whole = NDArray[np.int64]
LOGITS_AT_ONCE = 2**25  # 128 MB: sequences x tokens x vocabulary
LOGITS_ON_CPU = 2**23  # where more are hardly faster
TRIED, SHARED = 8, 5  # tokens of the two texts on which a causal model is tried, and how many of them are the same
LOOKS_AHEAD = 1e-5  # in nats: what later tokens may change of an earlier one by rounding


class LanguageModel(FrozenModel):
    """A pretrained language model with its tokenizer."""

    @classmethod
    def masked(cls, source: str) -> "LanguageModel":
        """One that tells a masked token from those around it, from a folder or a name on the Hugging Face hub."""
        return cls._loaded(source, AutoModelForMaskedLM)

    @classmethod
    def causal(cls, source: str) -> "LanguageModel":
        """One that tells the next token, likewise. Raises MissingInput for one that looks ahead, as BERT does."""
        found = cls._loaded(source, AutoModelForCausalLM)
        if (change := found.looks_ahead()) > LOOKS_AHEAD:
            raise MissingInput(
                f"The model {found.name!r} is no causal language model: later tokens change the log probability of an earlier"
                f" one by {change:.2g}. A model like BERT is a masked one."
            )
        return found

    @classmethod
    def _loaded(cls, source: str, kind: Any) -> "LanguageModel":
        model = kind.from_pretrained(source, dtype=torch.float32, local_files_only=Path(source).is_dir())
        return cls.of(Path(source).name, source, model)

    @cached_property
    def settings(self) -> dict[str, Any]:
        return {"model": self.name, **super().settings}

    def sequences(self, texts: Sequence[Text]) -> Sequences:
        """Each context with its output; too long a context loses its beginning."""
        return self.encoder.pairs(texts)

    def is_mark(self, ids: Numbers) -> Numbers:
        """(t,) whether a token is a mark of a beginning or an end, and none of the text's"""
        return np.isin(ids, [self.encoder.cls, self.encoder.sep])

    def one_masked_at_a_time(self, sequences: Sequences, i: int) -> Numbers:
        """(m,) log probability of each token of sequence i that is no mark, with that one token masked."""
        mask = self.encoder.tokenizer.mask_token_id
        if mask is None:
            raise ValueError(f"The model {self.name!r} has no mask token, so it is no masked language model.")
        ids = np.array(sequences.ids[i])  # (t,)
        places = np.flatnonzero(~self.is_mark(ids))  # (m,)
        copies = np.repeat(ids[None], len(places), 0)  # (m, t)
        copies[np.arange(len(places)), places] = mask
        masked = Sequences(copies.tolist(), [sequences.segments[i]] * len(places))
        found = np.empty(len(places))
        for rows, logits in self._logits(masked, places):
            log_p = F.log_softmax(logits[:, 0], -1)  # (b, v)
            found[rows] = log_p.cpu().numpy()[np.arange(len(rows)), ids[places[rows]]]
        return found

    def looks_ahead(self) -> float:
        """By how much the log probability of a token changes most where only later ones differ; 0 for a causal model."""
        size = self.model.config.vocab_size
        tokens = np.random.default_rng(0).permutation(size)[: 2 * TRIED - SHARED].tolist()
        one, other = tokens[:TRIED], tokens[:SHARED] + tokens[TRIED:]
        first, second = self.from_left_to_right(Sequences([one, other], [[0] * TRIED] * 2))
        return float(np.abs(first[1:SHARED] - second[1:SHARED]).max())

    def from_left_to_right(self, sequences: Sequences) -> list[Numbers]:
        """(t,) of each sequence: log probability of every token given those before it; of the first, NaN."""
        found: list[Numbers] = [np.empty(0)] * len(sequences.ids)
        of_the_next = slice(1, None) if self.model.config.model_type == "xlnet" else slice(None, -1)
        for rows, logits in self._logits(sequences, in_order=True):
            log_p = F.log_softmax(logits[:, of_the_next], -1)  # (b, t - 1, v)
            for row, given in zip(rows, log_p):
                following = torch.tensor(sequences.ids[row][1:], device=given.device)[:, None]  # (t - 1, 1)
                found[row] = np.append(np.nan, given[: len(following)].gather(1, following)[:, 0].cpu().numpy())
        return found

    def _logits(
        self, sequences: Sequences, places: Whole | None = None, in_order: bool = False
    ) -> Iterator[tuple[Numbers, torch.Tensor]]:
        """Positions (b,) and logits (b, t, v) of those sequences; (b, 1, v) of one token of each with places (sequences,).
        in_order: XLNet's of each token, given those before it."""
        longest = int(sequences.lengths.max(initial=1))
        logits = self.model.config.vocab_size * (longest if places is None else 1)  # of a sequence
        most = (LOGITS_ON_CPU if self.model.device.type == "cpu" else LOGITS_AT_ONCE) // logits
        at_once = max(1, min(most, texts_at_once(self.model, longest)))
        for rows in by_length(sequences.lengths, at_once):
            batch = self.encoder.batch(sequences, rows).to(self.model.device)
            wanted = None if places is None else torch.tensor(places[rows], device=self.model.device)
            with torch.inference_mode():
                arguments = arguments_of(self.model, batch)
                if in_order and self.model.config.model_type == "xlnet":
                    arguments |= _left_to_right(batch.ids)
                yield rows, _logits_at(self.model, arguments, wanted).float()


def _left_to_right(ids: torch.Tensor) -> dict[str, torch.Tensor]:
    """XLNet's arguments for ids (b, t): no token sees itself or a later one, and each is told."""
    (b, t), device = ids.shape, ids.device
    order = torch.ones(t, t, device=device).triu()  # (t, t) 1 where the row's token does not see the column's
    return {"perm_mask": order.expand(b, t, t), "target_mapping": torch.eye(t, device=device).expand(b, t, t)}


def _logits_at(model: PreTrainedModel, arguments: dict[str, torch.Tensor], places: torch.Tensor | None) -> torch.Tensor:
    """(b, t, v), or (b, 1, v) of one place (b,) of each sequence, where the model's last layer then scores its vocabulary at no
    other: in a small model that layer takes as long as all before it."""
    if places is None:
        logits: torch.Tensor = model(**arguments).logits
        return logits
    rows = torch.arange(len(places), device=places.device)
    hook = model.get_output_embeddings().register_forward_pre_hook(lambda layer, given: (given[0][rows, places][:, None],))
    try:
        logits = model(**arguments).logits
    finally:
        hook.remove()
    return logits if logits.shape[1] == 1 else logits[rows, places][:, None]  # MobileBERT's head reads the layer's weights
