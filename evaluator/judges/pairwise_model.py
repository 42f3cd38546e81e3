"""A language model as a pairwise judge.

Language models lean to one side (Wang et al. 2024, "Large Language Models are not Fair Evaluators"), so each pair is asked
about in both orders, and two answers that disagree are a tie.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from evaluator.judges.answers import PromptAnswer
from evaluator.judges.language_model import CallForecast, LanguageModel
from evaluator.judges.protocol import Numbers, OnProgress, Preferences
from evaluator.judges.texts import Text

GRADES = {  # of an answer: above 0 the first text is better, 2 by much
    "A": 1, "C": 0, "B": -1,
    "1": 2, "2": 1, "3": 0, "4": -1, "5": -2,
}  # fmt: skip


class LanguageModelJudge(LanguageModel):
    """Follows `protocol.PairwiseJudge`. Two outputs with the same text are a tie without being asked about."""

    kind: Literal["pairwise"] = "pairwise"
    unit = "pairs"
    each_pair_costs = True  # so a tournament asks for the pairs that play alone (`judge.AskedVerdicts`)

    def __init__(self, *args: Any, **options: Any):
        """As `LanguageModel`."""
        super().__init__(*args, **options)
        self._flipped: set[frozenset[str]] = set()  # by the keys of both orders

    @property
    def settings(self) -> dict[str, Any]:
        return super().settings | {"orders": "both; a disagreement is a tie"}

    @property
    def used(self) -> dict[str, Any]:
        """With how many of the pairs had answers that flipped when the sides changed."""
        return super().used | {"pairs": len(self._judged), "flips": len(self._flipped)}

    def forecast(self, texts_a: Sequence[Text], texts_b: Sequence[Text]) -> CallForecast:
        """Of `compare` for the same texts."""
        return self._forecast(self._requests(texts_a, texts_b))

    def forecast_on(self, texts: Sequence[Text], pairs: Sequence[tuple[int, int]]) -> CallForecast:
        """Of a table or a tournament about these pairs of positions among the texts."""
        return self.forecast([texts[a] for a, _ in pairs], [texts[b] for _, b in pairs])

    def compare(
        self, texts_a: Sequence[Text], texts_b: Sequence[Text], *, on_progress: OnProgress | None = None
    ) -> Preferences:
        """Of a pair that stays unjudged the probabilities are NaN and the choice is "". Raises what `LanguageModel` says."""
        answers = self._answers(self._requests(texts_a, texts_b), on_progress)
        rows = [self._both_orders(a, b, answers) for a, b in zip(texts_a, texts_b, strict=True)]
        probabilities = np.array([p for p, _ in rows], dtype=float).reshape(-1, 3)
        return Preferences(probabilities, np.array([choice for _, choice in rows], dtype="<U3"))

    def _both_orders(self, a: Text, b: Text, answers: Mapping[str, PromptAnswer]) -> tuple[Numbers, str]:
        """((3,) mean of both orders, the choice); NaN and "" where an order has no answer. A side is chosen where it is
        slightly better at least in the mean of both orders; of A, tie and B, where both say so."""
        if a.output == b.output:
            return np.array([0.0, 1.0, 0.0]), "tie"
        keys = self._keyed(a, b)[0], self._keyed(b, a)[0]
        pair = frozenset(keys)
        if missing := [key for key in keys if key not in answers]:
            self._why[pair] = self._unreadable.get(missing[0], "It was not asked.")
            return np.full(3, np.nan), ""
        self._why.pop(pair, None)
        self._judged.add(pair)
        forth, back = (answers[key] for key in keys)
        grades = GRADES[forth.label], -GRADES[back.label]
        if np.sign(grades[0]) != np.sign(grades[1]):
            self._flipped.add(pair)
        mean = sum(grades) / 2
        return (_said(forth) + _said(back)[::-1]) / 2, "A" if mean >= 1 else "B" if mean <= -1 else "tie"

    def _requests(self, texts_a: Sequence[Text], texts_b: Sequence[Text]) -> Iterable[tuple[str, dict[str, Any]]]:
        for a, b in zip(texts_a, texts_b, strict=True):
            if a.output != b.output:
                yield self._keyed(a, b)
                yield self._keyed(b, a)


def _said(answer: PromptAnswer) -> Numbers:
    """(3,) P(first), P(tie), P(second); certain of the choice where the server tells no probabilities."""
    shares = answer.probabilities or {answer.label: 1.0}
    sides = [sum(p for label, p in shares.items() if np.sign(GRADES[label]) == sign) for sign in (1, 0, -1)]
    return np.array(sides, dtype=float)
