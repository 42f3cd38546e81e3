"""A pretrained model that is read and never trained, with its tokenizer."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import numpy as np
from transformers import PreTrainedModel

from evaluator.encoders.devices import chosen
from evaluator.encoders.encoding import Encoder, InContext
from evaluator.encoders.hidden_states import batches, embeddings, hidden_states, pair_features
from evaluator.encoders.pretrained import ENCODER_PACKAGE, default_encoder, digest_of, pretrained_encoder, pretrained_tokenizer

MAX_LENGTH = 512  # tokens of one text, or what the model has positions for


@dataclass(frozen=True)
class FrozenModel:
    """On the chosen device, in fp32, so that its numbers differ by device in no more than rounding."""

    name: str
    model: PreTrainedModel
    encoder: Encoder

    @classmethod
    def of(cls, name: str, source: str, model: PreTrainedModel) -> Self:
        """A model with the tokenizer of the source that it comes from."""
        return cls(name, model.to(chosen()).eval(), Encoder(pretrained_tokenizer(source, model), MAX_LENGTH))

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Which model it is, for a metric's settings."""
        versions = {package: version(package) for package in ("torch", "transformers")}
        return {"weights": digest_of(self.model), "max_length": self.encoder.max_length, "versions": versions}


@dataclass(frozen=True)
class TextEncoder(FrozenModel):
    """A pretrained encoder."""

    @classmethod
    def load(cls, source: str = "", layers: int | None = None) -> "TextEncoder":
        """From a folder or a name on the Hugging Face hub; without one, the encoder that is installed with the package.
        layers: its first ones only, so that the last of these is "the last layer" (as bert_score chooses a layer).
        Raises OSError or ValueError where there is no such encoder."""
        name, source = Path(source).name or ENCODER_PACKAGE, source or default_encoder()
        return cls.of(name, source, pretrained_encoder(source, **({"num_hidden_layers": layers} if layers else {})))

    @cached_property
    def settings(self) -> dict[str, Any]:
        return {"encoder": self.name, "layers": self.model.config.num_hidden_layers, **super().settings}

    def sentences(self, strings: Sequence[str]) -> np.ndarray:
        """(n, h) the mean of the last layer's vectors, of length 1; too long a string is embedded by its end."""
        unique = list(dict.fromkeys(strings))
        rows = {string: row for row, string in enumerate(unique)}
        vectors: np.ndarray = embeddings(self.model, self.encoder, unique).cpu().numpy()  # (u, h)
        return vectors[[rows[string] for string in strings]]

    def tokens(self, strings: Sequence[str]) -> list[np.ndarray]:
        """(t, h) of each string: the last layer's vectors of its tokens, without the marks of beginning and end; too long a
        string keeps its beginning."""
        sequences = self.encoder.singles(strings)
        vectors: list[np.ndarray] = [np.empty(0)] * len(strings)
        for rows, batch in batches(self.model, self.encoder, sequences):
            hidden = hidden_states(self.model, batch).cpu().numpy()  # (b, t, h)
            for row, states in zip(rows, hidden):
                vectors[row] = states[1 : sequences.lengths[row] - 1]
        return vectors

    def pairs(self, texts: Sequence[InContext]) -> np.ndarray:
        """(n, 3h) of each context and output read together, as a comparator reads them (`hidden_states.pair_features`)."""
        vectors = np.empty((len(texts), 3 * self.model.config.hidden_size))
        for rows, batch in batches(self.model, self.encoder, self.encoder.pairs(texts)):
            vectors[rows] = pair_features(self.model, batch).cpu().numpy()
        return vectors

    def words(self, strings: Sequence[str]) -> list[np.ndarray]:
        """(t, h) of each string: the encoder's input embeddings of its tokens, which know nothing of their neighbours."""
        table = self.model.get_input_embeddings().weight.detach().cpu().numpy()  # (v, h)
        return [table[ids[1:-1]] for ids in self.encoder.singles(strings).ids]


@cache
def installed() -> TextEncoder:
    """The encoder that is installed with the package, loaded once in a process."""
    return TextEncoder.load()
