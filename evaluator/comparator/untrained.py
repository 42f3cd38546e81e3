"""What the encoder says of a text before any training: its two cosines, and how whole the output reads.

Whole outputs are told from broken ones (supervision/broken.py) by linear directions over two vectors of the middle layers,
where encoders know most of a text's form (Tenney et al. 2019, "BERT rediscovers the classical NLP pipeline"): the mean of the
output's tokens, and its last token. A direction is Fisher's: the mean step from broken to whole over the spread of the steps
and of whole outputs. No judgment and no gradient is needed, so one is learnt for each member without the member's fold, and
again without each kind: an attack is reported by one that did not learn its kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from transformers import PreTrainedModel

from evaluator.comparator.supervision.broken import broken
from evaluator.encoders.encoding import Encoder
from evaluator.encoders.hidden_states import Kept, Tick, batches, embeddings_by_string, kept_embeddings, middle_states
from evaluator.encoders.pooling import mean_over
from evaluator.judges.texts import Text

MIDDLE = 2 / 3  # of the layers. Our choice, on dailydialog_zhao, with those below.
RIDGE = 10.0  # times the mean variance, added to each: with less, whole outputs of other campaigns lacked more
MOST = 12.0  # of a lack: a text of another kind of writing loses no more
FEWEST = 8  # broken outputs from which a kind is learnt
ALL_KINDS = ""  # what has learnt every kind


@dataclass(frozen=True)
class Wholeness:
    """Directions (k, m, 2, h) and levels (k, m, 2) for each of k `kinds` that was left out, for each of m members, for the mean
    and the last token; a whole output is at 0 +- 1 of each."""

    kinds: tuple[str, ...]  # ALL_KINDS first, where none is left out
    directions: torch.Tensor
    levels: torch.Tensor

    def lack(self, form: torch.Tensor, which: np.ndarray) -> np.ndarray:
        """What outputs lack of being whole, 0 or more: form (n, 2, h), member of each (n,), -1 for all -> (n, k)"""
        directions, levels = self.directions.cpu().numpy(), self.levels.cpu().numpy()
        at = np.einsum("nvh,kmvh->nkmv", form.cpu().numpy(), directions, optimize=True) - levels  # (n, k, m, 2)
        lacks = np.minimum(np.logaddexp(0, -at).sum(-1), MOST)  # (n, k, m)
        alone = lacks[np.arange(len(which)), :, np.maximum(which, 0)]  # (n, k)
        return np.asarray(np.where((which < 0)[:, None], lacks.mean(-1), alone))

    def without(self, kind: str) -> int:
        """Which column of `lack` has not learnt the kind."""
        return self.kinds.index(kind) if kind in self.kinds else 0


def cosines(
    model: PreTrainedModel, encoder: Encoder, texts: Sequence[Text], tick: Tick | None = None, kept: Kept | None = None
) -> np.ndarray:
    """(n, 2) of each output with the last turn of its context, and with the whole context, each embedded alone. kept: vectors
    of contexts from earlier calls, and this one's; contexts are then embedded apart from the outputs."""
    sides = [[text.context[-1] if text.context else "" for text in texts], [" ".join(text.context) for text in texts]]
    outputs = [encoder.shown(text.output) for text in texts]
    if kept is None:
        of_outputs = of_contexts = embeddings_by_string(model, encoder, [*outputs, *sides[0], *sides[1]], tick)
    else:
        of_contexts = kept_embeddings(model, encoder, [*sides[0], *sides[1]], kept)
        of_outputs = embeddings_by_string(model, encoder, outputs, tick)
    own = torch.stack([of_outputs[string] for string in outputs])  # (n, h)
    others = [torch.stack([of_contexts[string] for string in side]) for side in sides]  # (n, h) each
    return torch.stack([(own * other).sum(1) for other in others], dim=1).cpu().numpy()


def forms(model: PreTrainedModel, encoder: Encoder, texts: Sequence[Text], tick: Tick | None = None) -> torch.Tensor:
    """(n, 2, h) of each output read alone: the mean of its tokens in a middle layer, and the last of them"""
    strings = list(dict.fromkeys(encoder.shown(text.output) for text in texts))
    place, sequences = {string: i for i, string in enumerate(strings)}, encoder.singles(strings)
    found = torch.empty(len(strings), 2, model.config.hidden_size)
    for rows, batch in batches(model, encoder, sequences, tick=tick):
        hidden = middle_states(model, batch, MIDDLE)  # (b, t, h)
        inner = batch.mask.clone()  # (b, t) less the marks around the output
        inner[:, 0] = 0
        last = (batch.mask.sum(1) - 2).clamp(min=0)  # (b,)
        inner[torch.arange(len(last)), last + 1] = 0
        inner[:, 0] |= inner.sum(1) == 0  # nothing was written
        found[rows] = torch.stack([mean_over(hidden, inner), hidden[torch.arange(len(last)), last]], dim=1).cpu()
    return found[[place[encoder.shown(text.output)] for text in texts]]


def learn(
    model: PreTrainedModel, encoder: Encoder, texts: Sequence[Text], folds: np.ndarray, members: int, seed: int, tick: Tick
) -> Wholeness | None:
    """Of n texts in folds (n,), each member's without its own; None where there are too few whole outputs to learn from"""
    rows, made = broken(texts, seed)
    kinds = {name: found for name, found in made.items() if len(found[0]) >= FEWEST}
    if len(kinds) < 2:
        return None
    every = [text for _, spoilt in kinds.values() for text in spoilt]
    read = forms(model, encoder, [*(texts[i] for i in rows), *every], tick).numpy()  # (m + b, 2, h)
    whole, place = read[: len(rows)], {int(row): i for i, row in enumerate(rows)}
    ends = np.cumsum([len(rows), *(len(spoilt) for _, spoilt in kinds.values())])
    parts = [
        (np.array([place[int(row)] for row in of]), read[start:end])
        for (of, _), start, end in zip(kinds.values(), ends, ends[1:])
    ]
    names = (ALL_KINDS, *kinds)
    shape = (len(names), members, 2)
    directions, levels = torch.zeros(*shape, read.shape[-1]), torch.zeros(shape)
    for member in range(members):
        mine = folds[rows] != member  # (m,)
        for view in (0, 1):
            steps = [(whole[of, view] - spoilt[:, view])[mine[of]] for of, spoilt in parts]
            found = _directions(whole[mine, view], steps)
            for k, (direction, level) in enumerate(found):
                directions[k, member, view], levels[k, member, view] = torch.as_tensor(direction), level
    return Wholeness(names, directions, levels)


def _directions(whole: np.ndarray, steps: Sequence[np.ndarray]) -> list[tuple[np.ndarray, float]]:
    """(direction (h,), level) with all kinds, and without each: whole (m, h), and steps (b, h) from broken to whole by kind"""
    size = whole.std(0) + 1e-6  # (h,)
    spread = np.cov((whole / size).T, bias=True) if len(whole) > 1 else np.eye(whole.shape[1])
    known = [(kind / size).astype(float) for kind in steps]
    means = [kind.mean(0) if len(kind) else np.zeros(len(size)) for kind in known]
    moments = [kind.T @ kind / max(len(kind), 1) for kind in known]
    found = []
    for left_out in (None, *range(len(steps))):
        chosen = [k for k in range(len(steps)) if k != left_out]
        within = spread + sum(moments[k] for k in chosen) / len(chosen)
        within = within + RIDGE * np.trace(within) / len(within) * np.eye(len(within))
        direction = np.linalg.solve(within, np.mean([means[k] for k in chosen], axis=0)) / size  # (h,)
        at = whole @ direction  # (m,)
        scale = float(at.std()) or 1.0
        found.append((direction / scale, float(at.mean()) / scale))
    return found
