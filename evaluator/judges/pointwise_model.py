"""A language model as a pointwise judge: a score for each output, on the scale of the question.

The score is the mean over the points by their probabilities, where the server tells them (Liu et al. 2023, G-Eval), else the
one that was written. Scores agree in order however texts are shown, which comparisons need not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from evaluator.judges.answers import PromptAnswer
from evaluator.judges.language_model import CallForecast, LanguageModel
from evaluator.judges.protocol import Numbers, OnProgress, Preferences, by_order
from evaluator.judges.texts import Text


class LanguageModelScorer(LanguageModel):
    """Follows `protocol.PointwiseJudge`; its prompt asks for a score."""

    kind: Literal["pointwise"] = "pointwise"
    unit = "outputs"

    def __init__(self, *args: Any, **options: Any):
        """As `LanguageModel`."""
        super().__init__(*args, **options)
        assert self.prompt.points, "a prompt that asks for a score has a scale"
        self._points = self.prompt.points
        self._expected = 0  # scores by probabilities

    @property
    def settings(self) -> dict[str, Any]:
        return super().settings | {"scale": str(self._points)}

    @property
    def used(self) -> dict[str, Any]:
        """With how many outputs were scored, and of how many the score is a mean by probabilities."""
        return super().used | {"outputs": len(self._judged), "by_probabilities": self._expected}

    def forecast_on(self, texts: Sequence[Text], pairs: Sequence[tuple[int, int]] = ()) -> CallForecast:
        """Of a table or a tournament about these texts; pairs cost nothing more."""
        return self._forecast(self._requests(texts))

    def utilities(self, texts: Sequence[Text], *, on_progress: OnProgress | None = None) -> Numbers:
        """(n,) scores, turned about the middle of the scale where its lowest point is the best; NaN of what stays unjudged.
        Raises what `LanguageModel` says."""
        answers = self._answers(self._requests(texts), on_progress)
        keys = [self._keyed(text)[0] for text in texts]
        for key in set(keys):
            if key in answers:
                self._expected += key not in self._judged and answers[key].probabilities is not None
                self._judged.add(key)
                self._why.pop(key, None)
            else:
                self._why[key] = self._unreadable.get(key, "It was not asked.")
        scores = np.array([_score(answers[key]) if key in answers else np.nan for key in keys], dtype=float)
        return self._points.low + self._points.high - scores if self._points.lowest_best else scores

    def preferences(self, utility_a: Numbers, utility_b: Numbers) -> Preferences:
        return by_order(utility_a, utility_b)

    def lacks(self, text: Text) -> str:
        """Why it has no score; "" where it has one, or was not asked for one."""
        return self._why.get(self._keyed(text)[0], "").rstrip(".")

    def _requests(self, texts: Sequence[Text]) -> Iterable[tuple[str, dict[str, Any]]]:
        return (self._keyed(text) for text in texts)


def _score(answer: PromptAnswer) -> float:
    if answer.probabilities is None:
        return float(answer.label)
    return sum(p * float(label) for label, p in answer.probabilities.items())
