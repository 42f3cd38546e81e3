"""Watch a training without a server: hand each checkpoint's outputs over, and read the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.errors import Refused
from evaluator.judges.protocol import Judge
from evaluator.judges.texts import Text
from evaluator.selection.advice import Advice, advice
from evaluator.selection.curve import ByPairs, ByUtility, Comparisons, Curve, Floats, curve_of
from evaluator.selection.rules import Rules, asked_of


class EarlyStop:
    """judge: any; contexts: (n,) the turns to answer, in the order of the outputs; groups: (n,) labels of contexts that are not
    independent, or None. Every answer of the judge is kept, so a checkpoint costs one reading of its outputs, or of the pairs
    that `asked_of` names."""

    def __init__(
        self,
        judge: Judge,
        contexts: Sequence[Sequence[str]],
        rules: Rules | None = None,
        *,
        groups: Sequence[Any] | None = None,
        total: int | None = None,
    ):
        if not contexts:
            raise Refused("A training is compared on at least one context.")
        if groups is not None and len(groups) != len(contexts):
            raise Refused(f"There are {len(contexts)} contexts and {len(groups)} groups.")
        self.judge, self.rules, self.groups, self.total = judge, rules or Rules(), groups, total
        self.contexts = [tuple(turns) for turns in contexts]
        self.steps: list[int] = []
        self._texts: list[list[Text]] = []
        self._utilities: list[Floats] = []
        self._said: dict[tuple[int, int], Floats] = {}
        self._advice: Advice | None = None

    def add(self, step: int, outputs: Sequence[str]) -> Advice:
        """outputs: (n,) in the order of the contexts. The newest step comes last; the same step again with the same outputs
        changes nothing. Raises Refused for others, and what the judge raises; then nothing was added."""
        if len(outputs) != len(self.contexts):
            raise Refused(f"Step {step} has {len(outputs)} outputs for {len(self.contexts)} contexts.")
        if step in self.steps:
            if [text.output for text in self._texts[self.steps.index(step)]] != list(outputs):
                raise Refused(f"Step {step} came before, with other outputs.")
            return self.advice
        if step < 0 or (self.steps and step < self.steps[-1]):
            raise Refused(f"Step {step} comes after step {self.steps[-1] if self.steps else 0}.")
        texts = [Text(turns, output) for turns, output in zip(self.contexts, outputs)]
        self._ask(texts)
        self.steps.append(step)
        self._texts.append(texts)
        self._advice = advice(self.curve, self.rules)
        return self._advice

    @property
    def advice(self) -> Advice:
        """On what was added so far. Raises Refused before the first."""
        if self._advice is None:
            raise Refused("A training without a checkpoint has no verdict.")
        return self._advice

    @property
    def curve(self) -> Curve:
        said: Comparisons
        if self.judge.kind == "pointwise":
            said = ByUtility(np.array(self._utilities), self.judge.preferences)
        else:
            said = ByPairs(self._said)
        return curve_of(self.steps, said, len(self.contexts), self.groups, self.total)

    def _ask(self, texts: list[Text]) -> None:
        if self.judge.kind == "pointwise":
            self._utilities.append(self.judge.utilities(texts))
            return
        best = self.steps.index(self._advice.best.step) if self._advice else None
        m = len(self.steps)
        for earlier in asked_of(m, self.rules, best):
            self._said[m, earlier] = self.judge.compare(texts, self._texts[earlier]).outcomes.astype(float)
