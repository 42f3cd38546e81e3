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
    outputs = [text.output for text in texts]
    unique = {string: row for row, string in enumerate(dict.fromkeys([*wholes, *lasts, *outputs]))}
    sequences = encoder.singles(list(unique), keep_end=True)
    vectors = None  # (s, h)
    done = 0
    for rows in by_length(sequences.lengths, batch_size):
        with torch.inference_mode():
            embedded = F.normalize(embed(frozen, encoder.batch(sequences, rows), bf16), dim=-1)  # (b, h)
        if vectors is None:
            vectors = torch.empty(len(unique), embedded.shape[1])
        vectors[rows] = embedded
        done += len(rows)
        if tick:
            tick(done / len(unique))
    if vectors is None:
        return torch.zeros(0, COSINES)
    whole, last, output = (vectors[[unique[s] for s in strings]] for strings in (wholes, lasts, outputs))  # (n, h)
    return torch.stack([(whole * output).sum(-1), (last * output).sum(-1)], dim=-1).clone()  # (n, 2)
