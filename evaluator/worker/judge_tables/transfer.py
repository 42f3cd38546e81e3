"""What judges are worth on another campaign than the one they learnt from, or whose people gave them their ties (Zhao et al.
2020, section 6.1), and what fewer of people's scores are worth to one that learns (section 6.2). Imported inside commands."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from core.errors import Refused
from evaluator.judges.calibration import decide, fit_head
from evaluator.judges.protocol import Numbers
from evaluator.judges.texts import context_key
from evaluator.metaevaluation.agreement import accuracy
from evaluator.metaevaluation.correlation import UndefinedCorrelation, pearson, spearman
from evaluator.metaevaluation.held_out import decide_by_other_folds
from evaluator.metaevaluation.pairs import JudgedPair, as_arrays
from evaluator.metaevaluation.resampling import correlation_interval
from evaluator.metrics.inputs import FOLDS, ModelSource, turns_of
from evaluator.metrics.metric import MetricJudge
from evaluator.metrics.registry import METRICS, build
from evaluator.worker.judge_tables.material import INSTALLED, Material, model_given, model_needed
from evaluator.worker.registration import json_ready

LEARN = frozenset({"scores", "replies"})
SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)  # of the contexts that people scored
TRIALS = 3  # draws of these contexts, for each share below one


Named = tuple[str, ModelSource]  # a metric, and what it reads with


def with_models(names: Sequence[str], models: Mapping[str, Sequence[ModelSource]]) -> list[Named]:
    """Each metric with each model that is named for it, or with what is installed."""
    return [(name, model) for name in names for model in models.get(model_needed(name), [INSTALLED])]


def matrix(metrics: Sequence[Named], campaigns: Sequence[Material], seed: int) -> dict[str, Any]:
    """{rows: [{judge, train, test, outputs, pearson, spearman, pairs, accuracy, with_ties}], without: [{judge, why}]}: each
    metric on each campaign, by what it learnt, and the ties it was given, on each. Where both are one campaign it is out of
    fold. pearson and accuracy have 95% intervals over contexts drawn by the seed: pearson_low, pearson_high and so on."""
    rows, without = [], []
    for metric_name, model in metrics:
        name = model.named(metric_name)
        try:
            for train in campaigns:
                metric = _metric(metric_name, model, train)
                u = {known.campaign.slug: metric.utilities(known.texts) for known in campaigns}
                rows += [_cell(name, train, test, u, seed) for test in campaigns]
        except Refused as refused:
            rows = [row for row in rows if row["judge"] != name]
            without.append({"judge": name, "why": str(refused).rstrip(".")})
    return json_ready({"rows": rows, "without": without})


def fewer_labels(name: str, known: Material, seed: int, model: ModelSource = INSTALLED) -> list[dict[str, Any]]:
    """[{judge, labels: outputs with people's scores, pearson, spearman, pearson_low, pearson_high}]: the means over TRIALS
    draws of whole contexts, and the lowest and highest Pearson; None where one draw is all there is. The judge is measured
    out of fold on all outputs. Raises Refused for a metric that learns nothing from scores."""
    if "scores" not in METRICS[name].needs or known.training is None:
        raise Refused(f"{name!r} does not learn from people's scores.")
    scores = np.asarray(known.training.scores, dtype=float)  # (n,)
    keys = np.array([context_key(text.context) for text in known.texts])
    scored = np.unique(keys[np.isfinite(scores)])
    found = []
    for share in SHARES:
        trials = []
        for trial in range(TRIALS if share < 1 else 1):
            drawn = np.random.default_rng(seed + trial).permutation(scored)[: max(2, round(share * len(scored)))]
            fewer = np.where(np.isin(keys, drawn), scores, np.nan)
            training = replace(known.training, scores=fewer)
            try:
                given = model_given(name, model, known.models)
                u = build(name, corpus=turns_of(known.texts), training=training, **given).utilities(known.texts)
                trials.append((int(np.isfinite(fewer).sum()), *_correlations(u, scores)))
            except Refused:  # too few to learn from
                continue
        if trials:
            labels, *figures = np.mean(trials, axis=0).tolist()
            by_pearson = [trial[1] for trial in trials]
            low, high = (min(by_pearson), max(by_pearson)) if len(trials) > 1 else (None, None)
            found.append({"judge": model.named(name), "labels": round(labels), "pearson": figures[0], "spearman": figures[1]})
            found[-1] |= {"pearson_low": low, "pearson_high": high}
    return json_ready(found)


def _metric(name: str, model: ModelSource, train: Material) -> MetricJudge:
    learns, given = METRICS[name].needs & LEARN, model_given(name, model, train.models)
    return build(name, corpus=turns_of(train.texts), training=train.training if learns else None, **given)


def _cell(name: str, train: Material, test: Material, u: dict[str, Numbers], seed: int) -> dict[str, Any]:
    mine, others = u[test.campaign.slug], u[train.campaign.slug]
    scores = test.source.scores[:, 0]
    by_pearson, by_spearman = _correlations(mine, scores)
    low, high = _pearson_interval(mine, scores, test.people.units, seed)
    pairs, known = _judged(test, mine), _judged(train, others)
    row = {"judge": name, "train": train.campaign.slug, "test": test.campaign.slug, "outputs": int(np.isfinite(mine).sum())}
    row |= {"pearson": by_pearson, "pearson_low": low, "pearson_high": high, "spearman": by_spearman, "pairs": len(pairs)}
    row |= dict.fromkeys(("accuracy", "accuracy_low", "accuracy_high", "with_ties"), np.nan)
    if not pairs or not known:
        return row
    d, by_people = _differences(mine, pairs), np.array([pair.choice for pair in pairs])
    found = accuracy(d, pairs, test.people.units[[pair.a for pair in pairs]], seed)
    choices = _by_own_people(test, pairs, d) if train is test else _by_others(_differences(others, known), known, d)
    row |= {"accuracy": found.value, "accuracy_low": found.low, "accuracy_high": found.high}
    return row | {"with_ties": float((choices == by_people).mean())}


def _pearson_interval(u: Numbers, scores: Numbers, units: np.ndarray, seed: int) -> tuple[float, float]:
    """95% over contexts; NaN where it is not defined."""
    known = np.flatnonzero(np.isfinite(u) & np.isfinite(scores))
    if len(np.unique(units[known])) < 2:
        return np.nan, np.nan
    u, scores = u[known], scores[known]
    found = correlation_interval("pearson", u, scores, units[known], seed)
    return found or (np.nan, np.nan)


def _by_others(d: Numbers, pairs: Sequence[JudgedPair], wanted: Numbers) -> Numbers:
    """What differences `wanted` say with the ties that fit d (p,) on these people's pairs."""
    _, _, targets, weights = as_arrays(pairs)
    size = float(np.sqrt(np.mean(d**2))) or 1.0  # the search for a scale begins at the judge's own
    head = fit_head(d / size, targets, weights)
    return decide(head.scale * wanted / size, head.tie_threshold)


def _by_own_people(known: Material, pairs: Sequence[JudgedPair], d: Numbers) -> Numbers:
    _, _, targets, weights = as_arrays(pairs)
    units = known.people.units[[pair.a for pair in pairs]]
    return decide_by_other_folds(d, targets, weights, units % FOLDS)


def _judged(known: Material, u: Numbers) -> list[JudgedPair]:
    return [pair for pair in known.source.pairs if np.isfinite(u[pair.a]) and np.isfinite(u[pair.b])]


def _differences(u: Numbers, pairs: Sequence[JudgedPair]) -> Numbers:
    return np.array([u[pair.a] - u[pair.b] for pair in pairs])


def _correlations(u: Numbers, scores: Numbers) -> tuple[float, float]:
    """Pearson and Spearman over outputs that have both; NaN where they are not defined."""
    known = np.isfinite(u) & np.isfinite(scores)
    try:
        return pearson(u[known], scores[known]), spearman(u[known], scores[known])
    except UndefinedCorrelation:
        return np.nan, np.nan
