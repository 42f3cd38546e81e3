"""A metric at work: a pointwise judge over (context, output, references)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Literal

import numpy as np

from evaluator.judges.protocol import Numbers, OnProgress, Preferences
from evaluator.judges.texts import Referenced, Text, as_referenced
from evaluator.metrics.inputs import NEEDS, MissingInput

# Utilities that differ by less than this share of the larger are equal: float32 has 24 bits, and sums lose some of them.
ROUNDING = 1e-6

Measure = Callable[[Sequence[Referenced], OnProgress | None], Numbers]  # different texts (n,) -> (n,), higher is better


@dataclass(frozen=True)
class MetricJudge:
    """A metric under its name. `settings` is JSON that says how its numbers were made: a part of a signature."""

    name: str
    needs: frozenset[str]
    measure: Measure
    settings: Mapping[str, Any]
    kind: Literal["pointwise"] = "pointwise"

    def utilities(self, texts: Sequence[Text], *, on_progress: OnProgress | None = None) -> Numbers:
        """(n,) on the metric's own scale, higher is better; NaN for a text that lacks what the metric needs (`lacks`), and
        for that one only. Equal texts are measured once. Raises MissingInput where no text has what it needs."""
        ordered = [as_referenced(text) for text in texts]
        unique = list(dict.fromkeys(text for text in ordered if not self.lacks(text)))
        if ordered and not unique:
            raise MissingInput(
                f"The metric {self.name!r} can judge none of these {len(texts)} outputs: {self.lacks(ordered[0])}."
            )
        measured = self.measure(unique, on_progress) if unique else np.empty(0)
        utility = dict(zip(unique, np.asarray(measured, dtype=float).tolist(), strict=True))
        return np.array([utility.get(text, np.nan) for text in ordered], dtype=float)

    def lacks(self, text: Text) -> str:
        """Why the metric does not judge this text, in words; empty where it does."""
        text = as_referenced(text)
        if "references" in self.needs and text.human:
            return "a human-written output is a reference and is not judged by references"
        if "references" in self.needs and not text.references:
            return f"it needs {NEEDS['references']}"
        if "logprob" in self.needs and text.logprob is None:
            return f"it needs {NEEDS['logprob']}"
        return ""

    def preferences(self, utility_a: Numbers, utility_b: Numbers) -> Preferences:
        """Utilities (n,) of the sides -> the side with the higher one; a tie where they are equal within float rounding.

        The probabilities are 0 and 1: a metric says which output it takes for better and not how surely. Probabilities that
        mean something come from a scale and a tie threshold fitted on people's pairs (`comparator.calibration.fit_head`).
        Raises MissingInput where a utility is NaN.
        """
        a, b = np.asarray(utility_a, dtype=float), np.asarray(utility_b, dtype=float)  # (n,)
        if np.isnan(a).any() or np.isnan(b).any():
            raise MissingInput(
                f"The metric {self.name!r} has no utility for some of these outputs, so it compares none with them."
            )
        tie = np.isclose(a, b, rtol=ROUNDING, atol=0.0)  # (n,)
        return Preferences.likeliest(np.stack([~tie & (a > b), tie, ~tie & (b > a)], axis=1).astype(float))


def versions(*packages: str) -> dict[str, str]:
    """Package -> version, for `settings`."""
    return {package: version(package) for package in packages}
