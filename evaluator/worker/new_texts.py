"""A campaign's judge on texts that are no outputs of it, such as a training's. Imported inside task bodies."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from annotation.models import Context, Output, Reference, Snapshot
from core.errors import Refused
from evaluator.judges import protocol
from evaluator.judges.texts import Referenced, Text, named
from evaluator.metaevaluation.refit import FIRST_PAIRS, Refit, log_odds
from evaluator.models import ComparatorVersion, Judge
from evaluator.versions.selectors import refit
from evaluator.worker import comparators, players
from evaluator.worker.card import measure_here
from evaluator.worker.judge_tables.material import Material, material
from evaluator.worker.registration import json_ready

ONE_EACH = "one member a context"  # in what is kept of a judge
Report = Callable[[float, str], None]
NewText = tuple[int, Text, float | None]  # the context's id, the text, its log probability as its generator gives it


class NewTexts:
    """judge: the row; criterion, snapshot: whose judgments it is set beside; contexts: ids of those that the texts answer.
    one_each: a comparator reads each output by one member also in contexts that it did not learn from, at a third of the cost.
    reading: {scale, theta, tie_threshold} of a pointwise judge's differences, None for their order. Raises Refused where it
    cannot be loaded."""

    def __init__(
        self,
        judge: Judge,
        criterion: str,
        snapshot: Snapshot | None,
        contexts: Sequence[int],
        seed: int = 0,
        one_each: bool = True,
    ):
        self.judge, self.warning = judge, ""
        self.references = _references(contexts)
        self._anew: Refit | None = None
        self.reading: dict[str, float] | None = None
        if judge.version is not None:
            self._load_comparator(judge.version, one_each)
        else:
            self._load_other(criterion, snapshot, seed)
        settings = json_ready(dict(getattr(self.player, "settings", {}))) if judge.version is None else judge.settings
        if judge.version is not None and one_each:
            settings = {**settings, ONE_EACH: True}
        given = sorted([pk, *texts] for pk, (_, texts) in self.references.items() if texts)
        self.record: dict[str, Any] = {
            "name": judge.name,
            "digest": judge.digest,
            "settings": settings,
            "seed": seed,
            "references": hashlib.sha256(json.dumps(given).encode()).hexdigest() if judge.version is None else "",
        }

    @property
    def reads_pairs(self) -> bool:
        return self.player.kind == "pairwise"

    def utilities(self, written: Sequence[NewText], report: Report) -> np.ndarray:
        """(n,) NaN where the judge says nothing"""
        assert self.player.kind == "pointwise"
        texts = self._with_references(written)
        return np.asarray(self.player.utilities(texts, on_progress=_without_point(report)), dtype=float)

    def outcomes(self, later: Sequence[NewText], earlier: Sequence[NewText], report: Report) -> np.ndarray:
        """(n,) 1 where the later is better, 0 for a tie, -1 where the earlier is; text by text."""
        assert self.player.kind == "pairwise"
        sides = [self._with_references(side) for side in (later, earlier)]
        said = self.player.compare(sides[0], sides[1], on_progress=_without_point(report))
        return (self._anew.preferences(log_odds(said.probabilities)) if self._anew else said).outcomes

    def _load_comparator(self, version: ComparatorVersion, one_each: bool) -> None:
        campaign = self.judge.campaign
        measure_here(version, campaign)
        comparator = comparators.load(version)
        comparator.one_each = one_each
        self.player: protocol.Judge = comparator
        found = refit(version, campaign)
        self._anew = Refit(**found) if found else None
        if self.player.kind == "pointwise":
            head = self._anew or self.player.head
            self.reading = {
                "scale": self._anew.scale if self._anew else 1.0,
                "theta": head.theta,
                "tie_threshold": head.tie_threshold,
            }

    def _load_other(self, criterion: str, snapshot: Snapshot | None, seed: int) -> None:
        known = material(self.judge.campaign, criterion, snapshot.digest) if snapshot else None
        if self.judge.kind in (Judge.Kind.METRIC, Judge.Kind.MODEL_METRIC):
            asked = [Referenced(turns, "", tuple(given)) for turns, given in self.references.values()]
            self.player = players.metric(self.judge.settings, asked, known)
        elif self.judge.kind == Judge.Kind.IMPORTED:
            raise Refused(f"The judgments of {self.judge.name} are imported; it reads no new texts.")
        else:
            self.player = players.at_work(self.judge, criterion, seed, known)
        if self.player.kind == "pointwise":
            self._fit(known, seed)

    def _fit(self, known: Material | None, seed: int) -> None:
        """Ties and scale on the pairs that people judged, as for a board."""
        found = None
        if known is not None and known.texts:
            u = np.asarray(self.player.utilities(known.texts, on_progress=None), dtype=float)
            found = players.fitted(u, known, self.player.preferences, seed)
        if found is None:
            few = f"People judged fewer than {FIRST_PAIRS} pairs that {self.judge.name} judges too"
            self.warning = f"{few}, so only equal scores are ties."
            return
        head = asdict(found[0])
        self.reading = {name: head[name] for name in ("scale", "theta", "tie_threshold")}

    def _with_references(self, texts: Sequence[NewText]) -> list[Referenced]:
        return [
            Referenced(text.context, text.output, tuple(self.references[pk][1]), logprob=logprob, **named(text))
            for pk, text, logprob in texts
        ]


def _references(contexts: Sequence[int]) -> dict[int, tuple[tuple[str, ...], list[str]]]:
    """{context's id: (its turns, what people wrote there)}"""
    rows = Context.objects.filter(pk__in=contexts).only("turns").order_by("pk")
    found: dict[int, tuple[tuple[str, ...], list[str]]] = {context.pk: (tuple(context.turns), []) for context in rows}
    human = Output.objects.filter(context__in=contexts, system__is_human=True, replaced_at=None).order_by("pk")
    given = Reference.objects.filter(context__in=contexts).order_by("context_id", "number")
    for pk, text in [*given.values_list("context_id", "text"), *human.values_list("context_id", "text")]:
        if text.strip() and text not in found[pk][1]:
            found[pk][1].append(text)
    return found


def _without_point(report: Report) -> protocol.OnProgress:
    return lambda done, message, _: report(done, message)
