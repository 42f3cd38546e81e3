"""The learned metrics, by their names in the registry."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluator.judges.protocol import Numbers, OnProgress
from evaluator.judges.texts import Referenced
from evaluator.metrics import adem, aspects, networks, ruber
from evaluator.metrics.discriminator import discriminator
from evaluator.metrics.embeddings import by_tokens
from evaluator.metrics.embeddings import ruber as referenced
from evaluator.metrics.inputs import Inputs
from evaluator.metrics.metric import Measure
from evaluator.metrics.out_of_fold import Features, out_of_fold
from evaluator.metrics.reference_free import reference_free

FITS = {
    "adem": adem.adem,
    "adem-referenced": adem.referenced_part,
    "adem-unreferenced": adem.unreferenced_part,
    "ruber-unreferenced": ruber.unreferenced,
    "ruber": ruber.unreferenced,
    "reference-free": reference_free,
    "discriminator": discriminator,
    "aspects": aspects.heads,
}
LEARNING = {"epochs": networks.EPOCHS, "batch": networks.BATCH, "rate": networks.RATE, "decay": networks.DECAY}
CONSTANTS: dict[str, dict[str, Any]] = {
    "adem": {"dimensions": adem.DIMENSIONS, "penalties": list(adem.PENALTIES)},
    "ruber-unreferenced": {"margin": ruber.MARGIN, "hidden": ruber.HIDDEN, **LEARNING},
    "aspects": {"good": aspects.GOOD, "hidden": aspects.HIDDEN, **LEARNING},
}


def make(name: str, inputs: Inputs) -> tuple[Measure, dict[str, Any]]:
    """By its name in the registry."""
    encoder, training = inputs.encoder, inputs.training
    assert encoder is not None and training is not None  # `build` has seen to it
    scores = training.on_scale(medians=True) if name == "aspects" else None
    measure = out_of_fold(FITS[name](Features(encoder)), training, scores)
    constants = CONSTANTS.get("ruber-unreferenced" if name == "ruber" else "adem" if name in adem.PARTS else name, LEARNING)
    learnt_from = {"folds": len(set(training.folds)), "texts": len(training.texts), "seed": training.seed}
    if name == "ruber":
        measure = _full(by_tokens(encoder.tokens, referenced), measure)
    return measure, {**encoder.settings, **constants, **learnt_from, "out_of_fold": training.by}


def _full(referenced: Measure, unreferenced: Measure) -> Measure:
    """4 times the mean of both, plus 1: RUBER (Tao et al. 2018, section 3.3, the arithmetic mean) on the scale from 1 to 5.
    Both are from 0 to 1 already, so neither is moved to the range that it has on a data set, as Tao et al. do."""

    def measure(texts: Sequence[Referenced], on_progress: OnProgress | None = None) -> Numbers:
        return np.asarray(2 * (referenced(texts, on_progress) + unreferenced(texts, on_progress)) + 1)

    return measure
