"""A member of the joint comparator: trained on the pairs of the other folds, judged on its own by all games of its contexts."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from evaluator.comparator.joint_model import JointModel, both_orders, guard, triples
from evaluator.comparator.training.dataset import Data, Run, Step, measured, of_stage, shown_by
from evaluator.comparator.training.out_of_fold import OutOfFold
from evaluator.encoders.encoding import by_length
from evaluator.encoders.hidden_states import Tick
from evaluator.judges.calibration import Head
from evaluator.judges.protocol import likeliest, mean_points, meetings
from evaluator.metaevaluation.consistency import circular_triples, measure_consistency
from evaluator.metaevaluation.held_out import worth

BUCKET = 8  # steps whose pairs are dealt by length: on two judged campaigns 8% of what is read is padding, instead of 69%
ORDER, DROPOUT = (8,), (10,)  # in the seeds of the batches' order and of dropout


def start(run: Run, fold: int) -> JointModel:
    """A member before its training."""
    base = run.start()
    model = JointModel(base.encoder, run.settings.ties)
    model.start_from(base)
    return model


def batches(data: Data, fold: int, size: int, rng: np.random.Generator, stage: str) -> list[np.ndarray]:
    """A stage's pairs of the other folds in an order drawn anew, `size` at a time, of similar length as far as BUCKET steps
    allow."""
    pairs = rng.permutation((data.taught_without(fold)[data.a] & of_stage(data, stage)).nonzero()[0])  # (p',)
    outputs = np.array([sum(segments) for segments in data.sequences.segments])  # (n,) tokens of each
    lengths = np.minimum(data.sequences.lengths[data.a[pairs]] + outputs[data.b[pairs]], data.encoder.max_length)  # (p',)
    buckets = np.arange(len(pairs)) // (size * BUCKET)  # (p',)
    order = pairs[np.lexsort([lengths, buckets])]
    made = [order[i : i + size] for i in range(0, len(order), size)]
    return [made[i] for i in rng.permutation(len(made))]


def losses(model: JointModel, run: Run, fold: int, number: int, step: Step, part: int) -> Iterator[torch.Tensor]:
    """Of a step's pairs, in parts of so many tokens; each pair is shown in an order drawn anew in every step."""
    data = run.data
    shown = step.rows[shown_by(data, step)[step.rows]]  # (q,)
    swap = np.random.default_rng([run.seed, 9, fold, number]).random(len(shown)) < 0.5  # (q,)
    a, b = np.where(swap, [data.b[shown], data.a[shown]], [data.a[shown], data.b[shown]])  # (q,), (q,)
    targets = np.where(swap[:, None], data.learnt[shown, ::-1], data.learnt[shown])  # (q, 3)
    sequences = triples(data.sequences, a, b, data.encoder.max_length)
    for rows in by_length(sequences.lengths, max(1, part // int(sequences.lengths.max(initial=1)))):
        log_p = model(data.encoder.batch(sequences, rows))  # (b, 3)
        yield model.losses(log_p, torch.as_tensor(targets[rows], dtype=log_p.dtype).to(log_p.device)).sum() / len(shown)


def judge(model: JointModel, run: Run, fold: int, tick: Tick) -> dict[str, Any]:
    """What a member says of its fold: `utilities` (m,), its scores of the texts; `orders` (q, 2, 3), of the measured pairs in
    either order; `triples`, circular and all of each context. Every two texts of a context are read once."""
    data = run.data
    rows = (data.folds == fold).nonzero()[0]  # (m,)
    a, b = meetings(data.contexts[rows].tolist())  # (g,)
    p = both_orders(model, data.encoder, data.sequences, rows[a], rows[b], tick)  # (2, g, 3)
    answers = {}  # of two texts, (2, 3)
    for one, other, answer in zip(rows[a].tolist(), rows[b].tolist(), p.swapaxes(0, 1), strict=True):
        answers[one, other], answers[other, one] = answer, answer[::-1, ::-1]
    inside = measured(data)
    inside = inside[data.folds[data.a[inside]] == fold]  # (q,)
    orders = [answers[pair].tolist() for pair in zip(data.a[inside].tolist(), data.b[inside].tolist(), strict=True)]
    return {"orders": orders, **_round_robin(p.mean(0), rows, a, b, data, run.settings.guards)}


def wholeness(run: Run, tick: Tick) -> None:
    """Nothing stands beside the pair."""


def out_of_fold(records: list[dict[str, Any]], run: Run, whole: None = None, tick: Tick | None = None) -> list[OutOfFold]:
    """Of the one criterion: a head that leaves the answers as they are, the scores (n,), and what the answers on people's
    pairs are worth."""
    data = run.data
    scores = np.full(len(data.texts), np.nan)  # (n,)
    judged = measured(data)  # (p',)
    a, b = data.a[judged], data.b[judged]  # (p',)
    orders = np.empty((len(judged), 2, 3))
    for fold, record in enumerate(records):
        scores[data.folds == fold] = record["utilities"]
        orders[data.folds[a] == fold] = np.reshape(record["orders"], (-1, 2, 3))
    p = orders.mean(1)  # (p', 3)
    if run.settings.guards:
        p = guard(p, [data.texts[i] for i in a], [data.texts[i] for i in b])
    pairs, units = [data.pairs[i] for i in judged], data.units[a]
    found = worth(p[:, 0] - p[:, 2], likeliest(p), p, data.texts, pairs, units, run.seed)
    flipped = likeliest(orders[:, 0]) != likeliest(orders[:, 1])  # (p',)
    consistency = measure_consistency(flipped, units, _circles(records, data), run.seed)
    return [OutOfFold(Head(1.0, 0.0, 0.0), scores, replace(found, consistency=consistency))]


def _circles(records: list[dict[str, Any]], data: Data) -> list[tuple[int, int]]:
    """(circular, all) triples of each unit that intervals draw."""
    found: dict[int, tuple[int, int]] = {}
    for fold, record in enumerate(records):
        rows = np.flatnonzero(data.folds == fold)
        first = np.unique(data.contexts[rows], return_index=True)[1]
        for unit, (circular, every) in zip(data.units[rows[first]].tolist(), record["triples"], strict=True):
            known = found.get(unit, (0, 0))
            found[unit] = (known[0] + circular, known[1] + every)
    return list(found.values())


def _round_robin(p: np.ndarray, rows: np.ndarray, a: np.ndarray, b: np.ndarray, data: Data, guards: bool) -> dict[str, Any]:
    """Of p (g, 3) for every two texts a (g,), b (g,) of `rows` (m,) with a common context: the texts' scores, and how often
    three go in a circle."""
    if guards:
        p = guard(p, [data.texts[i] for i in rows[a]], [data.texts[i] for i in rows[b]])
    chosen = likeliest(p)  # (g,)
    beats = np.zeros((len(rows), len(rows)), dtype=bool)
    beats[a, b], beats[b, a] = chosen == "A", chosen == "B"
    groups = [np.flatnonzero(data.contexts[rows] == context) for context in np.unique(data.contexts[rows])]
    return {
        "utilities": mean_points(len(rows), a, b, p).tolist(),
        "triples": [circular_triples(beats[np.ix_(group, group)]) for group in groups],
    }
