"""The encoder of a metric: a pretrained model that is read and never trained."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoTokenizer, PreTrainedModel

from evaluator.comparator.devices import chosen, texts_at_once
from evaluator.comparator.encoding import Batch, Encoder, Sequences, by_length
from evaluator.comparator.examples import Text
from evaluator.comparator.inference import embeddings
from evaluator.comparator.settings import ENCODER_PACKAGE, default_encoder
from evaluator.comparator.utility_model import hidden_states, pair_features, positions, pretrained_encoder
from evaluator.judge import Numbers
from evaluator.metrics.metric import versions

MAX_LENGTH = 512  # tokens of one text, or what the encoder has positions for


@dataclass(frozen=True)
class TextEncoder:
    """A pretrained encoder with its tokenizer."""

    name: str
    model: PreTrainedModel
    encoder: Encoder

    @classmethod
    def load(cls, source: str = "", layers: int | None = None) -> "TextEncoder":
        """From a folder or a name on the Hugging Face hub; without one, the encoder that is installed with the package.
        layers: its first ones only, so that the last of these is "the last layer" (as bert_score chooses a layer).
        Raises OSError or ValueError where there is no such encoder."""
        name = Path(source).name or ENCODER_PACKAGE
        source = source or default_encoder()
        model = pretrained_encoder(source, **({"num_hidden_layers": layers} if layers else {})).to(chosen()).eval()
        return cls(name, model, tokenizer_of(source, model))

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Which encoder it is, for a metric's settings."""
        return {
            "encoder": self.name,
            "weights": digest(self.model),
            "layers": self.model.config.num_hidden_layers,
            "max_length": self.encoder.max_length,
            "versions": versions("torch", "transformers"),
        }

    def sentences(self, strings: Sequence[str]) -> Numbers:
        """(n, h) the mean of the last layer's vectors, of length 1; too long a string is embedded by its end."""
        unique = list(dict.fromkeys(strings))
        rows = {string: row for row, string in enumerate(unique)}
        vectors: Numbers = embeddings(self.model, self.encoder, unique).cpu().numpy()  # (u, h)
        return vectors[[rows[string] for string in strings]]

    def tokens(self, strings: Sequence[str]) -> list[Numbers]:
        """(t, h) of each string: the last layer's vectors of its tokens, without the marks of beginning and end; too long a
        string keeps its beginning."""
        sequences = self.encoder.singles(strings)
        vectors: list[Numbers] = [np.empty(0)] * len(strings)
        for rows, batch in batches(self.model, self.encoder, sequences):
            hidden = hidden_states(self.model, batch.to(self.model.device)).cpu().numpy()  # (b, t, h)
            for row, states in zip(rows, hidden):
                vectors[row] = states[1 : sequences.lengths[row] - 1]
        return vectors

    def pairs(self, texts: Sequence[Text]) -> Numbers:
        """(n, 3h) of each context and output read together, as a comparator reads them (`utility_model.pair_features`)."""
        sequences = self.encoder.pairs(texts)
        vectors = np.empty((len(texts), 3 * self.model.config.hidden_size))
        for rows, batch in batches(self.model, self.encoder, sequences):
            vectors[rows] = pair_features(self.model, batch.to(self.model.device)).cpu().numpy()
        return vectors

    def words(self, strings: Sequence[str]) -> list[Numbers]:
        """(t, h) of each string: the encoder's input embeddings of its tokens, which know nothing of their neighbours."""
        table = self.model.get_input_embeddings().weight.detach().cpu().numpy()  # (v, h)
        return [table[ids[1:-1]] for ids in self.encoder.singles(strings).ids]


@cache
def installed() -> TextEncoder:
    """The encoder that is installed with the package, loaded once in a process."""
    return TextEncoder.load()


def batches(model: PreTrainedModel, encoder: Encoder, sequences: Sequences) -> Iterator[tuple[Numbers, Batch]]:
    """Positions (b,) and those sequences, of similar length, for forward passes without gradients."""
    longest = int(sequences.lengths.max(initial=1))
    for rows in by_length(sequences.lengths, texts_at_once(model, longest)):
        with torch.inference_mode():
            yield rows, encoder.batch(sequences, rows)


def tokenizer_of(source: str, model: PreTrainedModel, max_length: int = MAX_LENGTH) -> Encoder:
    """The tokenizer of a model, for texts that it has positions for, in fp32: a metric's numbers differ by device in no more
    than rounding."""
    tokenizer = AutoTokenizer.from_pretrained(source, local_files_only=Path(source).is_dir())
    return Encoder(tokenizer, min(max_length, positions(model)), precision="fp32")


def digest(model: PreTrainedModel) -> str:
    """Of its weights, 12 hexadecimal digits: a name may stand for several models."""
    sha256 = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        sha256.update(name.encode() + tensor.detach().cpu().contiguous().numpy().tobytes())
    return sha256.hexdigest()[:12]
