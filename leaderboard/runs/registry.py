"""Opening a run, taking it up again, and closing it."""

import hashlib
import json
import unicodedata
from dataclasses import asdict, dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.data.spellings import spelled_alike
from annotation.models import AuditEvent, Campaign, FormerName
from annotation.snapshots import latest_snapshot
from core.errors import UNSEEN, Refused, quoted
from core.rows import UNSEEN_AROUND
from evaluator.models import Judge
from evaluator.roster import judge_named, judge_of
from evaluator.selection.rules import Rules
from evaluator.versions.registry import comparator_in_use, gate_doubt
from evaluator.versions.selectors import basis, criterion_in, learned_from
from leaderboard.models import Run

MOST_RUNS = 1000  # of a campaign
MOST_CONTEXTS = 1000  # of a run: a judgment of each takes 15 s, and the intervals are narrow by then
LONGEST_NAME = 150  # characters; a system's name has room for the step besides
LONGEST_SETTINGS = 20_000  # characters, as JSON
TAKEN = {"compare"}  # other addresses
TURNED = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # would show a name as another one


@dataclass(frozen=True)
class Opened:
    """is_new: False where the run was there. left_out: what was sent and is not kept, a sentence each."""

    run: Run
    is_new: bool
    left_out: list[str]


def plain_name(name: str) -> str:
    """A run's name, composed (NFC) and without spaces around it. Raises Refused where it cannot be one."""
    name = unicodedata.normalize("NFC", name).strip(UNSEEN_AROUND)
    if not name or len(name) > LONGEST_NAME:
        raise Refused(f"A run has a name of 1 to {LONGEST_NAME} characters.")
    if "/" in name or "\\" in name or name in (".", ".."):
        raise Refused(f"A run's name is part of its address, so it has no slash, and is not {quoted(name)}.")
    if any(unicodedata.category(c) in UNSEEN or c in TURNED for c in name):
        raise Refused("A run's name has no control characters.")
    if name.casefold() in TAKEN:
        raise Refused(f"A run cannot be called {quoted(name)}, which is another address.")
    return name


@transaction.atomic
def open_run(
    campaign: Campaign,
    name: str,
    judge: str = "",
    contexts: int | None = None,
    total_steps: int | None = None,
    settings: dict[str, Any] | None = None,
    rules: dict[str, Any] | None = None,
    user=None,
) -> Opened:
    """A run, or the one of this name, where it is asked for as it was opened. judge: by default the comparator in use.
    contexts: how many, by default all (at most MOST_CONTEXTS). rules: fields of `Rules`. Raises Refused."""
    name = plain_name(name)
    Campaign.objects.select_for_update().get(pk=campaign.pk)  # of two that open it at once, one waits
    known = campaign.runs.select_related("judge__version", "campaign").filter(name=name).first()
    if known is not None:
        return _again(known, judge, contexts, total_steps, settings, rules or {})
    _check_free(campaign, name)
    asked = Rules(**(rules or {}))
    if settings and len(json.dumps(settings)) > LONGEST_SETTINGS:
        raise Refused(f"A run's settings have at most {LONGEST_SETTINGS:,} characters as JSON.")
    chosen = _judge(campaign, judge)
    run = Run.objects.create(
        campaign=campaign,
        name=name,
        judge=chosen,
        judge_digest=chosen.digest,
        criterion=_criterion(campaign, chosen),
        snapshot=latest_snapshot(campaign),
        warning=" ".join(doubts_of(chosen)),
        contexts=_drawn(campaign, contexts),
        total_steps=total_steps,
        settings=settings or {},
        rules=asdict(asked),
        created_by=user,
    )
    detail = {"run": name, "judge": chosen.name, "contexts": len(run.contexts)}
    AuditEvent.objects.create(campaign=campaign, user=user, action="run opened", detail=detail)
    return Opened(run, True, [])


def _again(run: Run, judge: str, contexts: int | None, total: int | None, settings: dict | None, rules: dict) -> Opened:
    if judge and judge != run.judge.name and judge_named(run.campaign, judge) != run.judge:
        raise Refused(f"Run {quoted(run.name)} is judged by {run.judge.name}, not {quoted(judge)}; give this one another name.")
    for field, value in rules.items():
        if run.rules[field] != value:
            raise Refused(
                f"Run {quoted(run.name)} was opened with {field} {run.rules[field]}, not {value}; give this one another name."
            )
    if contexts is not None and contexts != len(run.contexts):
        raise Refused(f"Run {quoted(run.name)} has {len(run.contexts)} contexts, not {contexts}; give this one another name.")
    if total is not None and total != run.total_steps:
        set_total(run, total)
    kept = settings is not None and settings != run.settings
    return Opened(run, False, ["The settings stay as they were sent first."] if kept else [])


def set_total(run: Run, total: int) -> None:
    """How long the training is to be now: also of those checkpoints that were chosen, so that the share done at each is of the
    whole training. Raises Refused where it is further on already."""
    newest = run.checkpoints.order_by("-step").values_list("step", flat=True).first()
    if newest is not None and total < newest:
        raise Refused(f"Run {quoted(run.name)} has reached step {newest:,}, so its total is not {total:,}.")
    run.total_steps = total
    run.save(update_fields=["total_steps"])
    if run.system_id:
        run.system.checkpoints.filter(iteration__isnull=False).update(total_iterations=total)


@transaction.atomic
def close(run: Run, user=None) -> Run:
    """It takes no more checkpoints; what it has stays, and is judged."""
    if Run.objects.filter(pk=run.pk, closed_at=None).update(closed_at=timezone.now()):
        AuditEvent.objects.create(campaign=run.campaign, user=user, action="run closed", detail={"run": run.name})
    run.refresh_from_db(fields=["closed_at"])
    return run


def _check_free(campaign: Campaign, name: str) -> None:
    names = list(campaign.runs.values_list("name", flat=True))
    if len(names) >= MOST_RUNS:
        raise Refused(f"Campaign {campaign.slug!r} has {MOST_RUNS:,} runs, the most that it can have.")
    if alike := spelled_alike(name, names):
        raise Refused(f"There is a run {quoted(alike)} already, whose name differs in case, spaces or dashes alone.")
    systems = [*campaign.systems.values_list("name", flat=True)]
    systems += FormerName.objects.filter(system__campaign=campaign).values_list("name", flat=True)
    if alike := spelled_alike(name, systems):
        raise Refused(
            f"There is a system {quoted(alike)} already, so what is chosen of the run would be its; choose another name."
        )


def _judge(campaign: Campaign, name: str) -> Judge:
    if name:
        judge = judge_named(campaign, name)
        if judge.kind == Judge.Kind.IMPORTED:
            raise Refused(f"The judgments of {quoted(name)} are imported, and a training writes texts that it has not seen.")
        return judge
    version = comparator_in_use(campaign)
    if version is None:
        raise Refused(f"Campaign {campaign.slug!r} has no comparator in use yet; train one, or name a judge.")
    return judge_of(campaign, version)


def _criterion(campaign: Campaign, judge: Judge) -> str:
    if judge.version is not None:
        return criterion_in(judge.version, campaign)
    snapshot = latest_snapshot(campaign)
    try:
        return basis(snapshot).criterion if snapshot else ""
    except Refused:  # pairs judged by criterion alone
        return ""


def warning_of(run: Run) -> str:
    """What must be said before anything that its judge says: what is known of the judge now, and then what was said when the
    run was opened or first judged and is not known now. Empty: nothing."""
    now, before = doubts_of(run.judge), run.warning
    for sentence in now:
        before = before.replace(sentence, "")
    before = " ".join(before.split())
    return " ".join([*now, *([f"Said before: {before}"] if before else [])])


def doubts_of(judge: Judge) -> list[str]:
    """Why what it says of a training here is not above every doubt."""
    version, campaign = judge.version, judge.campaign
    if version is None:
        return [f"{judge.name} is no comparator of this campaign: see in the table of judges how often it agrees with people."]
    said = [doubt] if (doubt := gate_doubt(version, campaign)) else []
    if not learned_from(version, campaign):
        said.append(f"Comparator {version.name} did not learn from people's judgments of this campaign.")
    if version.is_simulated:
        said.append(f"Comparator {version.name} learned from simulated judgments.")
    return [*said, *([version.warning] if version.warning else [])]


def _drawn(campaign: Campaign, wanted: int | None) -> list[int]:
    """Ids in the campaign's order. Of more than are wanted, those whose names' hashes are lowest: the same for every run."""
    there = list(campaign.contexts.order_by("pk").values_list("key", "pk"))
    if not there:
        raise Refused(f"Campaign {campaign.slug!r} has no contexts yet; import outputs first.")
    if wanted is not None and wanted > len(there):
        raise Refused(f"Campaign {campaign.slug!r} has {len(there):,} contexts, not {wanted:,}.")
    by_hash = sorted(there, key=lambda context: hashlib.sha256(context[0].encode("utf-8", "surrogatepass")).hexdigest())
    return sorted(pk for _, pk in by_hash[: min(wanted or MOST_CONTEXTS, MOST_CONTEXTS)])
