"""What members say of texts, and what stands beside it: each text is encoded once."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from transformers import PreTrainedModel

from evaluator.comparator.examples import Text
from evaluator.comparator.utility_model import UtilityModel
from evaluator.encoders.encoding import Encoder, Sequences, last_turns
from evaluator.encoders.hidden_states import Tick, batches, embeddings

if TYPE_CHECKING:
    from evaluator.comparator.references import References


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
    for rows, batch in batches(model.encoder, encoder, sequences, chosen, tick):
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
