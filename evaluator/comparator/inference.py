"""Forward passes: each text is encoded once, in batches of similar length."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from transformers import PreTrainedModel

from evaluator.comparator.devices import texts_at_once
from evaluator.comparator.encoding import Batch, Encoder, Sequences, by_length, last_turns
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
    chosen: Sequence[int] | np.ndarray,
    tick: Tick | None = None,
) -> np.ndarray:
    """Raw utilities of the chosen texts -> (len(chosen), criteria); cosines (n,) as from `beside_pairs`."""
    chosen = np.asarray(chosen, dtype=int)  # (c,)
    u = np.empty((len(chosen), model.criteria))  # (c, criteria)
    model.eval()
    for rows, batch in _batches(model.encoder, encoder, sequences, chosen, tick):
        u[rows] = model(batch, cosines[chosen[rows]]).cpu().numpy()
    return u


def beside_pairs(
    apart: PreTrainedModel,
    references: "References | None",
    encoder: Encoder,
    texts: Sequence[Text],
    tick: Tick | None = None,
    hidden: Sequence[Any] = (),
) -> tuple[torch.Tensor, np.ndarray]:
    """What stands beside the encoded pair, as `References.beside` gives it: cosines (n,) and the likeness to references (n,);
    where there are none, the cosines of each output with the last turns of its context, and 0."""
    sides = [last_turns(text.context) for text in texts], [encoder.shown(text.output) for text in texts]
    unique = {string: row for row, string in enumerate(dict.fromkeys([*sides[0], *sides[1]]))}
    vectors = embeddings(apart, encoder, list(unique), tick)  # (s, h)
    contexts, outputs = (vectors[[unique[string] for string in side]] for side in sides)  # (n, h), (n, h)
    if references is None:
        return (contexts * outputs).sum(-1).cpu(), np.zeros(len(texts))
    cosines, likeness = references.beside(texts, contexts, outputs, hidden)  # (n,), (n,)
    return torch.as_tensor(cosines, dtype=torch.float32), likeness


def embeddings(apart: PreTrainedModel, encoder: Encoder, strings: Sequence[str], tick: Tick | None = None) -> torch.Tensor:
    """Of each string -> (s, h) fp32 on the device of `apart`, each of length 1; too long a string is embedded by its end."""
    sequences = encoder.singles(strings, keep_end=True)
    vectors = torch.empty(len(strings), apart.config.hidden_size, device=apart.device)
    for rows, batch in _batches(apart, encoder, sequences, np.arange(len(strings)), tick):
        vectors[rows] = embed(apart, batch).clone()
    return vectors


def _batches(
    reader: PreTrainedModel, encoder: Encoder, sequences: Sequences, chosen: np.ndarray, tick: Tick | None
) -> Iterator[tuple[np.ndarray, Batch]]:
    """Positions in `chosen` (c,) and those texts, for a forward pass without gradients."""
    done, lengths = 0, sequences.lengths[chosen]
    for rows in by_length(lengths, texts_at_once(reader, int(lengths.max(initial=1)))):
        with torch.inference_mode():
            yield rows, encoder.batch(sequences, chosen[rows])
        done += len(rows)
        if tick:
            tick(done / len(chosen))
