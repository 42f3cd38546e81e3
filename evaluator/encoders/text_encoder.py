"""A pretrained model that is read and never trained, with its tokenizer."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import numpy as np
from transformers import PreTrainedModel

from evaluator.encoders.devices import chosen
from evaluator.encoders.encoding import Encoder, InContext
from evaluator.encoders.hidden_states import batches, embeddings, hidden_states, pair_features
from evaluator.encoders.pooling import MEAN, Pooling, pooling_of
from evaluator.encoders.pretrained import ENCODER_PACKAGE, default_encoder, digest, pretrained_encoder, pretrained_tokenizer

MOST_KEPT = 256 * 2**20  # bytes of vectors
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
        encoder = Encoder(pretrained_tokenizer(source, model), MAX_LENGTH, own_marks=True)
        return cls(name, model.to(chosen()).eval(), encoder)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Which model it is, for a metric's settings."""
        versions = {package: version(package) for package in ("torch", "transformers")}
        return {"weights": digest(self.model), "max_length": self.encoder.max_length, "versions": versions}


@dataclass(frozen=True)
class TextEncoder(FrozenModel):
    """A pretrained encoder; pooling: how it embeds a whole text."""

    pooling: Pooling = Pooling(MEAN, "default")

    @classmethod
    def load(cls, source: str = "", layers: int | None = None, pooling: str = "") -> Self:
        """From a folder or a name on the Hugging Face hub; without one, the encoder that is installed with the package.
        layers: its first ones only, so that the last of these is "the last layer" (as bert_score chooses a layer). pooling:
        one of `pooling.WAYS`, against what the encoder's files or family say.
        Raises OSError or ValueError where there is no such encoder."""
        name, source = Path(source).name or ENCODER_PACKAGE, source or default_encoder()
        found = cls.of(name, source, pretrained_encoder(source, **({"num_hidden_layers": layers} if layers else {})))
        return replace(found, pooling=pooling_of(source, found.model, pooling))

    @cached_property
    def settings(self) -> dict[str, Any]:
        return {"encoder": self.name, "layers": self.model.config.num_hidden_layers, **super().settings}

    def sentences(self, strings: Sequence[str]) -> np.ndarray:
        """(n, h) the last layer's vectors, pooled, of length 1; too long a string is embedded by its end."""
        unique = list(dict.fromkeys(strings))
        rows = {string: row for row, string in enumerate(unique)}
        found = embeddings(self.model, self.encoder, unique, way=self.pooling.way)
        vectors: np.ndarray = found.cpu().numpy()  # (u, h)
        return vectors[[rows[string] for string in strings]]

    def tokens(self, strings: Sequence[str]) -> list[np.ndarray]:
        """(t, h) of each string: the last layer's vectors of its tokens, without the marks of beginning and end; too long a
        string keeps its beginning."""
        sequences = self.encoder.singles(strings)
        vectors: list[np.ndarray] = [np.empty(0)] * len(strings)
        for rows, batch in batches(self.model, self.encoder, sequences):
            hidden = hidden_states(self.model, batch).cpu().numpy()  # (b, t, h)
            for row, states in zip(rows, hidden):
                vectors[row] = states[self.encoder.inside(int(sequences.lengths[row]))]
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
        return [table[ids[self.encoder.inside(len(ids))]] for ids in self.encoder.singles(strings).ids]


@dataclass(frozen=True)
class KeptEncodings(TextEncoder):
    """Reads each text once, however many metrics ask: its vectors are kept by what it says. At most MOST_KEPT bytes are kept;
    what comes after that is read whenever it is asked for. Words need no keeping, since they are looked up in a table."""

    kept: dict[str, dict[Any, np.ndarray]] = field(default_factory=lambda: {"sentences": {}, "tokens": {}, "pairs": {}})

    def sentences(self, strings: Sequence[str]) -> np.ndarray:
        return np.array(self._once("sentences", strings, super().sentences))

    def tokens(self, strings: Sequence[str]) -> list[np.ndarray]:
        return self._once("tokens", strings, super().tokens)

    def pairs(self, texts: Sequence[InContext]) -> np.ndarray:
        read = super().pairs
        by_key = {(text.context, text.output): text for text in texts}
        ordered = [(text.context, text.output) for text in texts]
        return np.array(self._once("pairs", ordered, lambda keys: read([by_key[key] for key in keys])))

    def _once(self, what: str, keys: Sequence[Any], read: Callable[[list[Any]], Iterable[np.ndarray]]) -> list[np.ndarray]:
        kept = self.kept[what]
        new = [key for key in dict.fromkeys(keys) if key not in kept]
        fresh = dict(zip(new, read(new), strict=True)) if new else {}
        room = MOST_KEPT - sum(vectors.nbytes for known in self.kept.values() for vectors in known.values())
        for key, vectors in fresh.items():
            room -= vectors.nbytes
            if room < 0:
                break
            kept[key] = np.array(vectors)  # not a view of its batch
        return [fresh[key] if key in fresh else kept[key] for key in keys]


@cache
def installed() -> TextEncoder:
    """The encoder that is installed with the package, loaded once in a process."""
    return TextEncoder.load()
