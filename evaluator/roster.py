"""The judges of a campaign: which there are, by name, and how a row comes to be. Never needs torch.

A comparator, a metric and imported judgments get their row when somebody names them. Programs, reward models, language models
and metrics with a model of one's choice are set up by a command on the server alone: no page, form or request carries a
command, an address, a key or a model to load.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from annotation.data.spellings import spelled_alike
from annotation.models import AuditEvent, Campaign
from core.errors import Refused, quoted
from evaluator.metrics.registry import METRICS
from evaluator.models import ComparatorVersion, Judge

Kind = Judge.Kind
LONGEST_NAME = 100
SET_UP = (Kind.PROGRAM, Kind.REWARD_MODEL, Kind.LANGUAGE_MODEL, Kind.JURY, Kind.MODEL_METRIC)  # by a command
MOST_JURORS = 20


@dataclass(frozen=True)
class Player:
    """A judge that may play."""

    name: str
    kind: str
    version: ComparatorVersion | None = None


def candidates(campaign: Campaign) -> list[Player]:
    """All that may play in the campaign: its comparators, newest first, what commands set up or imported, then metrics."""
    rows = list(campaign.judges.exclude(kind=Kind.COMPARATOR).order_by("name"))
    named = {row.version_id: row.name for row in campaign.judges.filter(kind=Kind.COMPARATOR)}
    versions = campaign.comparators.filter(retired_at=None)
    found = [Player(named.get(version.pk, version.name), Kind.COMPARATOR, version) for version in versions]
    found += [Player(row.name, row.kind) for row in rows if row.kind != Kind.METRIC]
    taken = {one.name for one in found}
    return found + [Player(name, Kind.METRIC) for name in METRICS if name not in taken]


def judge_named(campaign: Campaign, name: str) -> Judge:
    """The judge of this name. Raises Refused for one that nobody knows, or that is retired."""
    row = campaign.judges.select_related("version").filter(name=name).first()
    if row is not None and row.version is not None and row.version.retired_at:
        raise Refused(f"Comparator {name} is retired.")
    if row is not None:
        return row
    version = campaign.comparators.filter(name=name, retired_at=None).first()
    if version is not None:
        return judge_of(campaign, version)
    if name in METRICS:
        return _made(campaign, Kind.METRIC, name, {"metric": name})
    known = ", ".join(one.name for one in candidates(campaign))
    raise Refused(f"There is no judge {quoted(name)} in campaign {campaign.slug!r}; there are: {known}.")


def judge_of(campaign: Campaign, version: ComparatorVersion) -> Judge:
    """The comparator as a judge of the campaign."""
    row = campaign.judges.select_related("version").filter(version=version).first()
    if row is not None:
        return row
    taken = campaign.judges.filter(name=version.name).exists()
    name = f"{version.name} (comparator)" if taken else version.name
    return _made(campaign, Kind.COMPARATOR, name, {"comparator": version.name}, version)


def named_for_import(name: str) -> str:
    """A judge's name without spaces around it. Raises Refused where it is none."""
    name = name.strip()
    if not name or len(name) > LONGEST_NAME:
        raise Refused(f"A judge has a name of 1 to {LONGEST_NAME} characters.")
    return name


def is_free_for_import(campaign: Campaign, name: str) -> bool:
    """Is the name nobody's, or that of a judge whose judgments are imported?"""
    row = campaign.judges.filter(name=name).first()
    return row.kind == Kind.IMPORTED if row else not _alike(campaign.judges.exclude(kind=Kind.IMPORTED), campaign, name)


def _alike(judges, campaign: Campaign, name: str) -> str | None:
    """One of these judges, or of the campaign's comparators, that has this name in any spelling."""
    return spelled_alike(name, [row.name for row in (*judges.only("name"), *campaign.comparators.only("name"))])


def imported_judge(campaign: Campaign, name: str) -> Judge:
    """The judge under whose name judgments are imported. Raises Refused where the name is another judge's."""
    if not is_free_for_import(campaign, name):
        raise Refused(f"There is a judge {quoted(name)} already that is no import; choose another name.")
    return campaign.judges.filter(name=name).first() or _made(campaign, Kind.IMPORTED, name, {})


def jury_of(campaign: Campaign, names: Sequence[str], by: str) -> dict:
    """The settings of a jury of these judges, each as it is now. Raises Refused."""
    if not 2 <= len(set(names)) <= MOST_JURORS or len(set(names)) < len(names):
        raise Refused(f"A jury has 2 to {MOST_JURORS} different judges.")
    rows = [judge_named(campaign, name) for name in names]
    if nested := [row.name for row in rows if row.kind == Kind.JURY]:
        raise Refused(f"{quoted(nested[0])} is a jury; name its judges.")
    return {"jurors": {row.name: row.digest for row in rows}, "by": by}


def set_up_jury(campaign: Campaign, judges: Sequence[str], by: str, name: str = "", user=None) -> Judge:
    """Several judges of the campaign that answer together. Raises Refused."""
    return set_up(campaign, Kind.JURY, name or "jury", jury_of(campaign, judges, by), user)


@transaction.atomic
def set_up(campaign: Campaign, kind: str, name: str, settings: dict, user=None) -> Judge:
    """What a command names, of SET_UP, for whoever researches the campaign to let play. The same settings again are the same
    judge, with the budget and prices named last. Raises Refused where the name stands for other settings."""
    assert kind in SET_UP
    name = name.strip()
    if not name or len(name) > LONGEST_NAME:
        raise Refused(f"A judge has a name of 1 to {LONGEST_NAME} characters.")
    row = campaign.judges.select_for_update().filter(name=name).first()
    if row is None and (alike := spelled_alike(name, METRICS) or _alike(campaign.judges, campaign, name)):
        raise Refused(f"There is a judge {quoted(alike)} already; choose another name than {quoted(name)}.")
    if row is not None and (row.kind != kind or row.digest != Judge.digest_of(kind, settings)):
        spent = kind == Kind.LANGUAGE_MODEL and row.replies.exists()
        if row.kind != kind or row.tournaments.exists() or row.runs.exists() or spent:
            raise Refused(f"There is a judge {quoted(name)} already, with other settings; give this one another name (--name).")
    if row is None:
        row = _made(campaign, kind, name, settings)
    elif row.settings != settings:
        row.settings, row.digest = settings, Judge.digest_of(kind, settings)
        row.save(update_fields=["settings", "digest"])
    AuditEvent.objects.create(campaign=campaign, user=user, action="judge set up", detail={"judge": name, "kind": kind})
    return row


def _made(campaign: Campaign, kind: str, name: str, settings: dict, version: ComparatorVersion | None = None) -> Judge:
    """Whoever else makes it at the same time makes the same row."""
    fields = {"kind": kind, "settings": settings, "digest": Judge.digest_of(kind, settings), "version": version}
    return Judge.objects.get_or_create(campaign=campaign, name=name, defaults=fields)[0]
