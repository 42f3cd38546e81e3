"""Simulated campaigns: honest annotators give the truth with normal noise, rounded to 1-5; careless ones any point."""

import numpy as np

from annotation.quality.answer_arrays import Answers

NOISE = 0.8


def campaign(seed: int, honest: int = 8, careless: int = 2, outputs: int = 200, k: int = 4) -> Answers:
    """Each output scored by k annotators drawn at random; the last `careless` numbers are the careless ones."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(1, 5, outputs)
    annotator = np.argsort(rng.random((outputs, honest + careless)), axis=1)[:, :k].ravel()
    output = np.repeat(np.arange(outputs), k)
    value = np.clip(np.rint(truth[output] + rng.normal(0, NOISE, len(output))), 1, 5)
    value = np.where(annotator < honest, value, rng.integers(1, 6, len(output)))
    return Answers(annotator, output, np.zeros_like(output), value, rng.permutation(len(output)))
