"""What other evaluators would have chosen among several runs' best checkpoints: metrics on the same outputs."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from core.errors import Refused
from leaderboard.models import Run, RunCheckpoint
from leaderboard.runs.judgments import RunJudge, written

METRICS = ("bleu-234", "adem", "discriminator", "reference-free")  # Zhou & Xu 2020, table 3; Zhao et al. 2020


def by_metrics(
    runs: Sequence[Run],
    best: Sequence[RunCheckpoint],
    shared: Sequence[int],
    load: Callable[[Run, str], RunJudge],
    progress: Callable[[str], None] = lambda said: None,
) -> list[dict[str, Any]]:
    """{by, choice, values: {run: mean over the shared contexts}, contexts: how many it judges in every run, why: what it lacks}
    of each metric. A metric that lacks something chooses nothing, and says why. load: the metric of a campaign by its name."""
    found = []
    for name in METRICS:
        progress(f"Asking {name}")
        try:
            judge = load(runs[0], name)
            u = np.array([_on(judge, run, one, shared) for run, one in zip(runs, best, strict=True)])  # (r, n)
            judged = np.isfinite(u).all(0)
            why = "" if judged.any() else "It judges none of the outputs."
        except Refused as refused:
            u, judged, why = np.empty((len(runs), 0)), np.empty(0, dtype=bool), str(refused)
        means = u[:, judged].mean(1).tolist() if judged.any() else [None] * len(runs)
        values = {run.name: mean for run, mean in zip(runs, means, strict=True)}
        choice = None if why else max(values, key=values.__getitem__)
        found.append({"by": name, "choice": choice, "values": values, "contexts": int(judged.sum()), "why": why})
    return found


def _on(judge: RunJudge, run: Run, checkpoint: RunCheckpoint, shared: Sequence[int]) -> np.ndarray:
    """(n,) utilities in the order of the shared contexts"""
    outputs = {one.context: one for one in written(run, checkpoint)}
    return judge.utilities([outputs[pk] for pk in shared], lambda share, message: None)
