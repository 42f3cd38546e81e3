"""Forward passes: each text is encoded once, in batches of similar length."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn

from evaluator.comparator.encoding import Encoder, Sequences, by_length, last_turns
from evaluator.comparator.examples import Text
from evaluator.comparator.utility_model import UtilityModel, embed

if TYPE_CHECKING:
    from evaluator.comparator.references import References

Tick = Callable[[float], None]  # is told the share that is done, 0..1, after every batch


def utilities(
    model: UtilityModel,
    encoder: Encoder,
    sequences: Sequences,
    cosines: torch.Tensor,
    chosen: Sequence[int],
    bf16: bool,
    batch_size: int = 64,
    tick: Tick | None = None,
) -> np.ndarray:
    """Raw utilities of the chosen texts -> (len(chosen), criteria); cosines (n,) as from `beside_pairs`."""
    chosen = np.asarray(chosen, dtype=int)  # (c,)
    u = np.empty((len(chosen), model.criteria))  # (c, criteria)
    done = 0
    model.eval()
    for rows in by_length(sequences.lengths[chosen], batch_size):
        texts = chosen[rows]  # (b,)
        with torch.inference_mode():
            u[rows] = model(encoder.batch(sequences, texts), cosines[texts], bf16).numpy()
        done += len(rows)
        if tick:
            tick(done / len(chosen))
    return u


def text_cosines(
    apart: nn.Module, encoder: Encoder, texts: Sequence[Text], bf16: bool, batch_size: int = 64, tick: Tick | None = None
) -> torch.Tensor:
    """Cosine of each output with the last turns of its context, each embedded by itself -> (n,) fp32."""
    contexts, outputs = _apart(apart, encoder, texts, bf16, batch_size, tick)  # (n, h), (n, h)
    return (contexts * outputs).sum(-1)


def beside_pairs(
    apart: nn.Module,
    references: "References | None",
    encoder: Encoder,
    texts: Sequence[Text],
    bf16: bool,
    batch_size: int = 64,
    tick: Tick | None = None,
    hidden: Sequence[Sequence[int]] = (),
) -> tuple[torch.Tensor, np.ndarray]:
    """What stands beside the encoded pair, as `References.beside` gives it: cosines (n,) and the likeness to references (n,);
    the plain cosines and 0 where there are none."""
    contexts, outputs = _apart(apart, encoder, texts, bf16, batch_size, tick)  # (n, h), (n, h)
    if references is None:
        return (contexts * outputs).sum(-1), np.zeros(len(texts))
    cosines, likeness = references.beside(texts, contexts, outputs, hidden)  # (n,), (n,)
    return torch.as_tensor(cosines, dtype=torch.float32), likeness


def _apart(
    apart: nn.Module, encoder: Encoder, texts: Sequence[Text], bf16: bool, batch_size: int, tick: Tick | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """The last turns of each text's context, and its output, embedded -> (n, h), (n, h). Too long a string is embedded by its
    end."""
    contexts = [last_turns(text.context) for text in texts]
    outputs = [encoder.shown(text.output) for text in texts]
    unique = {string: row for row, string in enumerate(dict.fromkeys([*contexts, *outputs]))}
    vectors = embeddings(apart, encoder, list(unique), bf16, batch_size, tick)  # (s, h)
    context, output = (vectors[[unique[s] for s in strings]] for strings in (contexts, outputs))  # (n, h)
    return context, output


def embeddings(
    apart: nn.Module, encoder: Encoder, strings: Sequence[str], bf16: bool, batch_size: int = 64, tick: Tick | None = None
) -> torch.Tensor:
    """Of each string -> (s, h) fp32, each of length 1"""
    sequences = encoder.singles(strings, keep_end=True)
    vectors = torch.empty(len(strings), apart.config.hidden_size)
    done = 0
    for rows in by_length(sequences.lengths, batch_size):
        with torch.inference_mode():
            vectors[rows] = embed(apart, encoder.batch(sequences, rows), bf16).clone()
        done += len(rows)
        if tick:
            tick(done / len(strings))
    return vectors
