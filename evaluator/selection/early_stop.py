"""Watch a training without a server: hand each checkpoint's outputs over, and read the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.errors import Refused
from evaluator.judges.protocol import Judge
from evaluator.judges.texts import Referenced, Text
from evaluator.selection.advice import Advice, advice
from evaluator.selection.curve import ByPairs, ByUtility, Comparisons, Curve, Floats, curve_of
from evaluator.selection.rules import Rules, asked_of

Outputs = tuple[str | None, ...]


class EarlyStop:
    """judge: any; contexts: (n,) the turns to answer, in the order of the outputs; groups: (n,) labels of contexts that are not
    independent, or None; references: (n,) what people wrote for each, for metrics that read it.

    Every answer of the judge is kept. So a checkpoint costs one reading of its outputs, or of the pairs that `asked_of` names.
    """

    def __init__(
        self,
        judge: Judge,
        contexts: Sequence[Sequence[str]],
        rules: Rules | None = None,
        *,
        groups: Sequence[Any] | None = None,
        references: Sequence[Sequence[str]] | None = None,
        total: int | None = None,
    ):
        if not contexts:
            raise Refused("A training is compared on at least one context.")
        for what, given in (("groups", groups), ("lists of references", references)):
            if given is not None and len(given) != len(contexts):
                raise Refused(f"There are {len(contexts)} contexts and {len(given)} {what}.")
        self.judge, self.rules, self.groups, self.total = judge, rules or Rules(), groups, total
        self.contexts = [tuple(turns) for turns in contexts]
        self._references = [tuple(one) for one in references] if references is not None else None
        self._outputs: dict[int, Outputs] = {}
        self._utilities: dict[int, Floats] = {}
        self._said: dict[tuple[int, int], Floats] = {}  # by steps, the later one first
        self._advice: Advice | None = None

    @property
    def steps(self) -> list[int]:
        return sorted(self._outputs)

    def add(self, step: int, outputs: Sequence[str | None]) -> Advice:
        """outputs: (n,) in the order of the contexts, None for one that is not there. A step may come late; the same step again
        with the same outputs changes nothing.

        Raises Refused for other outputs of a step that came before, and what the judge raises; then nothing was added."""
        if len(outputs) != len(self.contexts):
            raise Refused(f"Step {step} has {len(outputs)} outputs for {len(self.contexts)} contexts.")
        if step < 0:
            raise Refused(f"A step is at least 0, not {step}.")
        if step in self._outputs:
            if self._outputs[step] != tuple(outputs):
                raise Refused(f"Step {step} came before, with other outputs.")
            return self.advice
        if all(output is None for output in outputs):
            raise Refused(f"Step {step} has no output.")
        self._ask(step, tuple(outputs))
        self._outputs[step] = tuple(outputs)
        self._advice = advice(self.curve, self.rules)
        return self._advice

    @property
    def advice(self) -> Advice:
        """On what was added so far. Raises Refused before the first."""
        if self._advice is None:
            raise Refused("A training without a checkpoint has no verdict.")
        return self._advice

    def readings(self, step: int) -> int:
        """How many outputs, or pairs of them, the judge was asked about when the step came."""
        if self.judge.kind == "pointwise":
            return int(np.isfinite(self._utilities[step]).sum())
        return sum(int((~np.isnan(row)).sum()) for (later, _), row in self._said.items() if later == step)

    @property
    def curve(self) -> Curve:
        said: Comparisons
        place = {step: i for i, step in enumerate(self.steps)}
        if self.judge.kind == "pointwise":
            said = ByUtility(np.array([self._utilities[step] for step in place]), self.judge.preferences)
        else:
            said = ByPairs({(place[later], place[earlier]): row for (later, earlier), row in self._said.items()})
        return curve_of(list(place), said, len(self.contexts), self.groups, self.total)

    def _ask(self, step: int, outputs: Outputs) -> None:
        if self.judge.kind == "pointwise":
            there = [i for i, output in enumerate(outputs) if output is not None]
            row = np.full(len(outputs), np.nan)
            row[there] = self.judge.utilities(self._texts(outputs, there))
            self._utilities[step] = row
            return
        before = [one for one in self.steps if one < step]
        best = self._advice.best.step if self._advice else None
        asked = asked_of(len(before), self.rules, before.index(best) if best in before else None)
        answers = {(step, before[i]): self._compared(outputs, self._outputs[before[i]]) for i in asked}
        self._said.update(answers)

    def _compared(self, later: Outputs, earlier: Outputs) -> Floats:
        assert self.judge.kind == "pairwise"
        there = [i for i, pair in enumerate(zip(later, earlier)) if None not in pair]
        row = np.full(len(later), np.nan)
        if there:
            row[there] = self.judge.compare(self._texts(later, there), self._texts(earlier, there)).outcomes
        return row

    def _texts(self, outputs: Outputs, there: Sequence[int]) -> list[Text]:
        group = ["" if self.groups is None else str(self.groups[i]) for i in there]
        if self._references is None:
            return [Text(self.contexts[i], outputs[i] or "", group=of) for i, of in zip(there, group)]
        return [Referenced(self.contexts[i], outputs[i] or "", self._references[i], group=of) for i, of in zip(there, group)]
