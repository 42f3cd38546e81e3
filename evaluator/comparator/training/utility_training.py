"""A member of the utility comparator: trained on the texts of the other folds, judged by its utilities of its own."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from evaluator.comparator.settings import Settings
from evaluator.comparator.training import out_of_fold as held_out
from evaluator.comparator.training.dataset import UNJUDGED, Data, Run, Step, measured, of_stage, shown_by
from evaluator.comparator.untrained import Wholeness, cosines, forms, learn
from evaluator.comparator.utility_model import UtilityModel, utilities
from evaluator.encoders import pretrained
from evaluator.encoders.hidden_states import Tick

ORDER, DROPOUT = (), (2,)  # in the seeds of the batches' order and of dropout


def start(run: Run, fold: int) -> UtilityModel:
    """A member before its training."""
    model = run.start(run.data.criteria)
    model.ties = run.settings.ties
    weigh_cosines(model, run.data, fold, run.settings)
    return model


def weigh_cosines(model: UtilityModel, data: Data, fold: int, settings: Settings) -> None:
    """At the start the cosine varies over the training texts `cosine_share` times as much as the encoded pair's utility; one
    that is the same for all of them says nothing, and nothing about other texts. All criteria start alike."""
    model.cosine.requires_grad_(settings.cosine_share > 0)
    rows = data.taught_without(fold).nonzero()[0]  # (m,)
    cosines = data.cosines[rows].numpy()  # (m,)
    u = utilities(model, data.encoder, data.sequences, torch.zeros_like(data.cosines), rows)[:, 0]  # (m,)
    weight = settings.cosine_share * u.std() / cosines.std() if cosines.std() > 1e-6 else 0.0
    model.cosine.data.fill_(weight)
    model.utility.bias.data -= weight * cosines.mean()  # the level stays


def batches(data: Data, fold: int, size: int, rng: np.random.Generator, stage: str) -> list[np.ndarray]:
    """The texts of the other folds, whole contexts together, about `size` texts of similar length at a time; of the contexts
    that the stage learns from."""
    lengths = data.sequences.lengths
    learnt = data.contexts[data.a[of_stage(data, stage)]]
    if stage != UNJUDGED:
        learnt = np.concatenate([learnt, data.contexts[~np.isnan(data.scores).all(1)]])
    texts = (data.taught_without(fold) & np.isin(data.contexts, learnt)).nonzero()[0]
    groups = [rng.permutation(texts[data.contexts[texts] == c]) for c in np.unique(data.contexts[texts])]
    groups = [group[i : i + size] for group in groups for i in range(0, len(group), size)]
    noise = rng.uniform(0.8, 1.25, size=len(groups))  # so that an epoch's batches are not the last one's
    order = np.argsort([lengths[group].max() * n for group, n in zip(groups, noise, strict=True)])
    made = _packed([groups[i] for i in order], size)
    return [made[i] for i in rng.permutation(len(made))]


def losses(model: UtilityModel, run: Run, fold: int, number: int, step: Step, part: int) -> Iterator[torch.Tensor]:
    """Of a step's texts (b,), in parts of so many tokens: of each criterion the mean over its pairs and the mean over its
    scores; the first criterion weighs as much as all others together."""
    data, texts = run.data, step.rows  # (b,)
    inside = np.flatnonzero(np.isin(data.a, texts) & np.isin(data.b, texts) & shown_by(data, step))  # (q,)
    is_scored = ~np.isnan(data.scores) & (step.stage != UNJUDGED)  # (n, c)
    paired = np.bincount(data.criterion[inside], minlength=data.criteria).clip(1).tolist()  # (c,)
    scored = is_scored[texts].sum(0).clip(1).tolist()  # (c,)
    position = np.full(len(data.scores), -1)  # (n,) a text's row in the part
    for rows in parts(data, texts, part):
        position[:] = -1
        position[rows] = np.arange(len(rows))
        u = model(data.encoder.batch(data.sequences, rows), data.cosines[rows])  # (b, c)
        here = inside[(position[data.a[inside]] >= 0) & (position[data.b[inside]] >= 0)]  # (q',)
        total = u.new_zeros(())
        for c in range(data.criteria):
            pairs, known = here[data.criterion[here] == c], np.flatnonzero(is_scored[rows, c])  # (q",), (b',)
            d = u[position[data.a[pairs]], c] - u[position[data.b[pairs]], c]  # (q",)
            of_pairs = model.pair_losses(d, _like(u, data.learnt[pairs])).sum() / paired[c]
            of_scores = model.score_losses(u[known, c], _like(u, data.scores[rows, c][known]), c).sum() / scored[c]
            total = total + (of_pairs + run.settings.score_weight * of_scores) / (max(data.criteria - 1, 1) if c else 1)
        yield total


def parts(data: Data, rows: np.ndarray, limit: int) -> list[np.ndarray]:
    """The texts `rows` (b,) in parts of at most `limit` tokens, padding included; a context's texts stay together unless
    they alone are too many. One text is a part, however long."""
    most = max(1, limit // int(data.sequences.lengths[rows].max()))  # texts
    contexts = data.contexts[rows]
    groups = [rows[contexts == context] for context in dict.fromkeys(contexts)]
    return _packed([group[i : i + most] for group in groups for i in range(0, len(group), most)], most)


def _packed(groups: list[np.ndarray], most: int) -> list[np.ndarray]:
    """Groups of texts joined in their order, at most so many texts together."""
    made: list[np.ndarray] = []
    for group in groups:
        if made and len(made[-1]) + len(group) <= most:
            made[-1] = np.concatenate([made[-1], group])
        else:
            made.append(group)
    return made


def judge(model: UtilityModel, run: Run, fold: int, tick: Tick) -> dict[str, Any]:
    """The utilities (m, c) that a member gives to the texts of its fold."""
    rows = (run.data.folds == fold).nonzero()[0]  # (m,)
    u = utilities(model, run.data.encoder, run.data.sequences, run.data.cosines, rows, tick)  # (m, c)
    return {"utilities": u.tolist()}


def wholeness(run: Run, tick: Tick) -> Wholeness | None:
    """What tells whole outputs from broken ones, for each member without its fold."""
    data, settings = run.data, run.settings
    rows = np.flatnonzero((data.folds >= 0) & ~data.common)
    texts = [data.texts[i] for i in rows.tolist()]
    return learn(pretrained.load_encoder(run.directory), data.encoder, texts, data.folds[rows], settings.folds, run.seed, tick)


def out_of_fold(
    records: list[dict[str, Any]], run: Run, whole: Wholeness | None = None, tick: Tick | None = None
) -> list[held_out.OutOfFold]:
    """By each criterion, what the members say of the contexts that they did not see, and what that is worth."""
    data, untrained = run.data, pretrained.load_encoder(run.directory)
    which = np.where(data.folds < run.settings.folds, data.folds, -1)  # (n,) a member, or all of them
    lack = whole.lack(forms(untrained, data.encoder, data.texts, tick), which)[:, 0] if whole else None  # (n,)
    beside = cosines(untrained, data.encoder, data.texts, tick)  # (n, 2)
    raw = np.full(data.scores.shape, np.nan)  # (n, c)
    for fold, record in enumerate(records):
        raw[data.folds == fold] = record["utilities"]
    judged = []
    for c in range(data.criteria):
        pairs = [data.pairs[i] for i in measured(data, c)]
        held = held_out.HeldOut(
            raw=raw[:, c],
            likeness=data.likeness,
            scores=data.scores[:, c],
            texts=data.texts,
            units=data.units,
            folds=data.folds,
            pairs=pairs,
            lack=lack,
            cosines=beside,
        )
        judged.append(held_out.judge(held, run.settings, run.seed))
    return judged


def _like(u: torch.Tensor, array: np.ndarray) -> torch.Tensor:
    return torch.as_tensor(array, dtype=u.dtype).to(u.device)
