"""Forward passes: each text is encoded once, in batches of similar length."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from evaluator.comparator.encoding import Encoder, Sequences, by_length
from evaluator.comparator.examples import Text
from evaluator.comparator.model import COSINES, UtilityModel, embed

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
    """Raw utility of the chosen texts -> (len(chosen),); cosines (n, 2) as from `text_cosines`."""
    chosen = np.asarray(chosen, dtype=int)  # (c,)
    u = np.empty(len(chosen))  # (c,)
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
    frozen: nn.Module,
    encoder: Encoder,
    texts: Sequence[Text],
    bf16: bool,
    batch_size: int = 64,
    tick: Tick | None = None,
) -> torch.Tensor:
    """Cosine, by the untrained encoder, of each output with its context and with the last turn -> (n, 2) fp32.

    Too long a string is embedded by its end.
    """
    wholes = [" ".join(text.context) for text in texts]
    lasts = [text.context[-1] if text.context else "" for text in texts]
    outputs = [encoder.shown(text.output) for text in texts]
    if not texts:
        return torch.zeros(0, COSINES)
    unique = {string: row for row, string in enumerate(dict.fromkeys([*wholes, *lasts, *outputs]))}
    vectors = embeddings(frozen, encoder, list(unique), bf16, batch_size, tick)  # (s, h)
    whole, last, output = (vectors[[unique[s] for s in strings]] for strings in (wholes, lasts, outputs))  # (n, h)
    return torch.stack([(whole * output).sum(-1), (last * output).sum(-1)], dim=-1)  # (n, 2)


def embeddings(
    frozen: nn.Module, encoder: Encoder, strings: Sequence[str], bf16: bool, batch_size: int = 64, tick: Tick | None = None
) -> torch.Tensor:
    """Of each string, as sentence-transformers embeds it: the mean of the hidden states, of length 1 -> (s, h) fp32."""
    sequences = encoder.singles(strings, keep_end=True)
    vectors = torch.empty(len(strings), frozen.config.hidden_size)
    done = 0
    for rows in by_length(sequences.lengths, batch_size):
        with torch.inference_mode():
            embedded = F.normalize(embed(frozen, encoder.batch(sequences, rows), bf16), dim=-1)  # (b, h)
        vectors[rows] = embedded.clone()
        done += len(rows)
        if tick:
            tick(done / len(strings))
    return vectors
