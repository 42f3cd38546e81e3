"""Which judges a run may have, and what an evaluation takes with each on this installation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, OuterRef, Subquery

from annotation.models import Campaign
from evaluator.models import ComparatorVersion, Judge
from evaluator.roster import candidates
from evaluator.selection.evaluation_cost import Cost, cost
from evaluator.versions.registry import comparator_in_use
from evaluator.versions.selectors import architecture
from leaderboard.models import Run, RunCheckpoint, RunComparison

LOOKED_AT = 200  # newest evaluations of all judges


@dataclass(frozen=True)
class Choice:
    """A judge that a run may have. is_default: where none is named."""

    name: str
    kind: str
    cost: Cost
    is_default: bool


def choices(campaign: Campaign) -> list[Choice]:
    """In the order of the roster, without judgments that are imported: of new texts they say nothing."""
    players = [one for one in candidates(campaign) if one.kind != Judge.Kind.IMPORTED]
    digests = dict(campaign.judges.values_list("name", "digest"))
    keys = [_key(one.version, digests.get(one.name) or _digest(one.kind, one.name)) for one in players]
    default = comparator_in_use(campaign)
    earlier = _earlier()
    return [
        Choice(one.name, one.kind, _cost(earlier.get(key, []), one.version), one.version is not None and one.version == default)
        for one, key in zip(players, keys, strict=True)
    ]


def of_run(run: Run) -> Cost:
    """With the run's own judge."""
    return _cost(_earlier().get(_key(run.judge.version, run.judge.digest), []), run.judge.version)


def _digest(kind: str, name: str) -> str:
    return Judge.digest_of(kind, {"metric": name})


def _key(version: ComparatorVersion | None, digest: str) -> int | str:
    """The same comparator or settings are the same judge, in whichever campaign."""
    return version.pk if version else digest


def _cost(earlier: Sequence[tuple[bool, int, float]], version: ComparatorVersion | None) -> Cost:
    pairs = any(reads_pairs for reads_pairs, _, _ in earlier)
    return cost([(count, seconds) for _, count, seconds in earlier], pairs, architecture(version) if version else "")


def _earlier() -> dict[int | str, list[tuple[bool, int, float]]]:
    """Of each judge: (reads pairs, outputs or pairs, seconds) of its evaluations on this installation, the newest first. A
    run's first one is left out."""
    judged = RunCheckpoint.objects.exclude(judged_at=None).exclude(seconds=None)
    first = judged.filter(run=OuterRef("run")).order_by("judged_at", "pk").values("pk")[:1]
    newest = judged.exclude(pk=Subquery(first)).order_by("-judged_at", "-pk")
    fields = ("pk", "run", "run__judge__version", "run__judge__digest", "seconds")
    rows = list(newest.values_list(*fields)[:LOOKED_AT])
    outputs = {pk: len(ids) for pk, ids in Run.objects.filter(pk__in={row[1] for row in rows}).values_list("pk", "contexts")}
    compared = RunComparison.objects.filter(later__in=[row[0] for row in rows]).values_list("later").annotate(Count("pk"))
    opponents, found = dict(compared.order_by()), defaultdict(list)
    for pk, run, version, digest, seconds in rows:
        against = opponents.get(pk, 0)
        found[version or digest].append((against > 0, outputs[run] * max(against, 1), seconds))
    return found
