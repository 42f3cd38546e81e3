"""What a comparator may learn from, and which there are. Reads only; never needs torch."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db.models import OuterRef, Q, Subquery

from annotation.access import campaigns_researched_by
from annotation.models import Campaign, Criterion, Job, Output, QualityDecision, Reference, Snapshot
from core.errors import Refused
from evaluator.comparator.settings import BASE_MANIFEST
from evaluator.models import ComparatorVersion, TrainingRun


@dataclass(frozen=True)
class TrainingBasis:
    """What of a snapshot counts."""

    criterion: str  # whose scores; empty: none
    judgments: bool  # the judgments of pairs too?
    warning: str  # why these are not above every doubt, one sentence; empty: they are accepted


def basis(snapshot: Snapshot, criterion: str | None = None) -> TrainingBasis:
    """The named criterion (empty: judgments of pairs alone), or by default the campaign's first that has scores: no figure of
    the answers has a say in it. Judgments of pairs count beside it where they are accepted. Raises Refused where the snapshot
    lacks what is named."""
    decisions = list(snapshot.decisions.select_related("criterion"))
    scored = [d for d in decisions if d.criterion_id and not d.on_pairs]
    pairs = next((d for d in decisions if not d.criterion_id), None)
    if not scored and pairs is None:
        raise Refused(
            f"Snapshot {snapshot.name} has judgments of pairs by criterion only. People's boards rest on scores or on overall"
            " judgments of pairs, and comparators learn from these."
        )
    chosen = _chosen(snapshot, scored, pairs, criterion)
    accepted_pairs = pairs is not None and pairs.is_usable
    if chosen is None:
        return TrainingBasis("", True, "" if accepted_pairs or pairs is None else _warning("The judgments of pairs are", pairs))
    warning = "" if chosen.is_usable else _warning(_scores_of(chosen), chosen)
    return TrainingBasis(chosen.criterion.name, accepted_pairs, warning)


def usual_criterion(snapshot: Snapshot | None) -> str | None:
    """Which criterion `basis` takes where none is named; None where there is nothing to take."""
    try:
        return basis(snapshot).criterion if snapshot else None
    except Refused:
        return None


def by_default(snapshot: Snapshot | None, criterion: str) -> str:
    """What is said where nobody chose a criterion and there are several: which one was taken, and by which rule."""
    if snapshot is None or len(criteria(snapshot)) < 2:
        return ""
    if not criterion:
        return "Nobody chose a criterion, so this is about the judgments of pairs."
    first = "the campaign's first criterion with scores" if criterion == basis(snapshot).criterion else "the newest there is"
    return f"Nobody chose a criterion, so this is about {criterion}, {first}."


def others_in(snapshot: Snapshot, names: list[str]) -> dict[str, str]:
    """Of the criteria named to be learnt beside another, those that the snapshot has scores for, with why these are not above
    every doubt (empty: they are accepted)."""
    found = {
        d.criterion.name: d
        for d in snapshot.decisions.filter(on_pairs=False, criterion__name__in=names).select_related("criterion")
    }
    return {name: "" if d.is_usable else _warning(_scores_of(d), d) for name, d in found.items()}


def _chosen(snapshot, scored, pairs, criterion) -> QualityDecision | None:
    """The decision about the criterion to use, or None for the judgments of pairs alone."""
    if criterion:
        named = next((d for d in scored if d.criterion.name == criterion), None)
        if named is None:
            known = ", ".join(d.criterion.name for d in scored) or "judgments of pairs only"
            where = f"snapshot {snapshot.name} of campaign {snapshot.campaign.slug!r}"
            raise Refused(f"There are no scores for the criterion {criterion!r} in {where}; it has: {known}.")
        return named
    if criterion == "" and pairs is None:
        raise Refused(f"Snapshot {snapshot.name} of campaign {snapshot.campaign.slug!r} has no judgments of pairs.")
    if criterion == "" or not scored:
        return None
    return min(scored, key=lambda decision: (decision.criterion.position, decision.criterion.pk))


def _scores_of(decision: QualityDecision) -> str:
    """In the words of a board's own warning (leaderboard/boards/cautions.py), so that it stands there once."""
    lowest = " (lowest is best)" if decision.criterion.best == Criterion.Best.LOW else ""
    return f"The scores of {decision.criterion.name}{lowest} are"


def _warning(what: str, decision: QualityDecision) -> str:
    return f"{what} not accepted: {decision.report.get('reason') or decision.verdict}"


def criteria(snapshot: Snapshot | None) -> list[str]:
    """What can be named as criterion: those with scores, and "" where there are judgments of pairs."""
    if snapshot is None:
        return []
    decisions = snapshot.decisions.filter(on_pairs=False).select_related("criterion")
    return [d.criterion.name if d.criterion else "" for d in decisions]


def knows_who_wrote_what(campaign: Campaign) -> bool:
    """Whether a comparator can learn from the campaign without anybody's judgments."""
    outputs = Output.objects.filter(context__campaign=campaign, replaced_at=None)
    return (
        outputs.filter(Q(system__is_human=True) | Q(checkpoint__isnull=False)).exists()
        or Reference.objects.filter(context__campaign=campaign).exists()
        or campaign.dialogues.exists()
    )


def lenders(campaign: Campaign, user) -> list[Snapshot]:
    """The newest snapshot of each other campaign that the user researches: what a training may learn from beside."""
    others = campaigns_researched_by(user).exclude(pk=campaign.pk)
    newest = Snapshot.objects.filter(campaign=OuterRef("campaign")).order_by("-accepted_at", "-id").values("pk")[:1]
    found = Snapshot.objects.filter(campaign__in=others, pk=Subquery(newest)).defer("content")
    return list(found.select_related("campaign").order_by("campaign__title", "campaign__slug"))


def version_named(name: str) -> ComparatorVersion:
    version = ComparatorVersion.objects.filter(name=name).first()
    if version is None:
        known = ", ".join(ComparatorVersion.objects.values_list("name", flat=True)[:10])
        raise Refused(f"There is no comparator {name!r}; {'there is: ' + known if known else 'none is trained yet'}.")
    return version


def ceiling(version: ComparatorVersion) -> dict | None:
    """One annotator against the rest on the judgments it is measured on; of several campaigns, the one with most pairs."""
    found = [c for _, _, c in ceilings(version.metrics, version.settings)]
    return max(found, key=lambda c: c["pairs"], default=None)


def ceilings(metrics: dict, settings: dict) -> list[tuple[str, str, dict]]:
    """(campaign, what people gave, ceiling) of each source that a version with these is measured on."""
    measured = [found for found in sorted(metrics.get("ceilings", {}).items()) if found[0] not in settings.get("beside", [])]
    return [(slug, kind, c) for slug, kinds in measured for kind, c in kinds.items() if c["pairs"]]


GIVEN = {"scores": "people's scores", "judgments": "people's judgments of pairs"}
LEARNT = {
    "scores": "pairs made from the scores",
    "judgments": "pairs that people judged",
    "strong": "pairs of human-written text",
    "weak": "pairs of checkpoints",
    "dialogues": "pairs of a reply and one from another conversation",
    "scored outputs": "outputs with a mean score",
    "exchanges": "replies in conversations",
    "exchanges left out": "replies left out, since their conversation holds a judged context or is the only one left",
}


def sources(version: ComparatorVersion) -> list[tuple[str, int]]:
    """What it learned from, counted, in words."""
    given, learnt = version.metrics.get("sources", {}), version.metrics.get("learnt_from", {})
    return [(words, given[k]) for k, words in GIVEN.items() if k in given] + [
        (words, learnt[k]) for k, words in LEARNT.items() if k in learnt
    ]


def learned_from(version: ComparatorVersion, campaign: Campaign) -> bool:
    """Whether its own held-out figures are about people's judgments of this campaign; those of an uploaded one are about
    campaigns elsewhere, and none are about a campaign that it learned from beside, or without anybody's judgments."""
    here = campaign.slug in version.settings.get("sources", {}) and campaign.slug not in version.settings.get("beside", [])
    return here and learned_from_people(version)


def learned_from_people(version: ComparatorVersion) -> bool:
    return any(version.settings.get(switch, True) for switch in ("human_scores", "human_judgments"))


def refit(version: ComparatorVersion, campaign: Campaign) -> dict | None:
    """Scale and ties that its differences have in the campaign (`metaevaluation.refit.Refit`), where it did not learn from
    that one and they were fitted anew."""
    return version.measured_here.get(campaign.slug, {}).get("refit")


def criterion_in(version: ComparatorVersion, campaign: Campaign) -> str:
    """Whose scores it learned from the campaign; where it did not learn from it, the criterion that it is named by."""
    return version.settings.get("sources", {}).get(campaign.slug, [version.criterion])[0]


def architecture(version: ComparatorVersion) -> str:
    """One of `comparator.settings.ARCHITECTURES`."""
    return version.settings.get("architecture", "utility")


def folder(version: ComparatorVersion) -> Path:
    return settings.MODELS_DIR / version.name


NO_BASE = "none"  # no base has this name
BASE_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


def base_folder(name: str) -> Path:
    """Where a base of this name lies, or would lie. Raises Refused for what cannot be a name."""
    if not BASE_NAME.fullmatch(name) or name == NO_BASE:
        raise Refused(f"A base is named with at most 64 small letters, digits and hyphens, not {name!r}.")
    return settings.MODELS_DIR / "bases" / name


def bases() -> dict[str, dict]:
    """{name: manifest} of those that are finished; the one that trainings start from by default comes first."""
    found = {}
    for path in sorted((settings.MODELS_DIR / "bases").glob(f"*/{BASE_MANIFEST}")):
        try:
            found[path.parent.name] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue  # being written, or damaged: no training starts from it
    return dict(sorted(found.items(), key=lambda named: named[0] != settings.DEFAULT_BASE))


OWN_ENCODER = ("encoder", "from_scratch", "teacher")  # fields of a recipe that exclude a base made before


def base_for(recipe: dict, named: str | None) -> str:
    """The base that a training with this recipe starts from; empty: none. None names the default one, where it is there and
    the recipe asks neither for another encoder nor for no conversations. Raises Refused where there is none of that name."""
    if named is None:
        own = any(recipe.get(field) for field in OWN_ENCODER)
        asks_otherwise = own or not recipe.get("next_utterance", True)
        return settings.DEFAULT_BASE if not asks_otherwise and settings.DEFAULT_BASE in bases() else ""
    if named in ("", NO_BASE):
        return ""
    if not (base_folder(named) / BASE_MANIFEST).is_file():
        known = ", ".join(bases())
        raise Refused(f"There is no base {named!r}; {'there is: ' + known if known else 'none is made yet'}.")
    if any(recipe.get(field) for field in OWN_ENCODER):
        raise Refused(f"The base {named!r} brings its own encoder; name either a base or an encoder (or a teacher).")
    return named


def open_uploads(campaign) -> list[Job]:
    """Uploaded comparators that are not looked at yet, and the latest where it was refused."""
    jobs = list(campaign.jobs.filter(task="evaluator.tasks.admit")[:5])
    return [j for i, j in enumerate(jobs) if not j.is_finished or (i == 0 and j.status == Job.Status.FAILED)]


def versions(campaign):
    """The campaign's comparators, the newest first, with what their rows show."""
    return campaign.comparators.select_related("run").prefetch_related("campaigns")


def open_runs(campaign) -> list[TrainingRun]:
    """Runs that a page shows: those not finished, and the latest where it failed or was cancelled; not those for another
    campaign, to which this one only lends its judgments."""
    runs = campaign.training_runs.select_related("job", "version")[:20]
    runs = [run for run in runs if campaign.slug not in run.settings.get("beside", [])]
    return [r for i, r in enumerate(runs) if not r.job.is_finished or (i == 0 and r.job.status != r.job.Status.DONE)]
