"""Systems come, are renamed, write anew, and go. Nothing that was judged or played is lost by it."""

from django.db import transaction
from django.utils import timezone

from annotation.assessment.decisions import mark_replaced
from annotation.campaigns.costs import give_cost
from annotation.campaigns.items import close_gone, draw_items
from annotation.data.importer import Imported, import_outputs
from annotation.data.spellings import spelled_alike
from annotation.models import AuditEvent, Campaign, Checkpoint, FormerName, Output, System
from core.errors import Refused
from leaderboard.boards import queries
from leaderboard.models import Tournament
from leaderboard.tournaments.start import start_tournament


@transaction.atomic
def register(
    campaign: Campaign,
    name: str,
    source,
    file: str,
    description: str = "",
    link: str = "",
    is_human: bool = False,
    cost: float | None = None,
    cost_unit: str = "",
    user=None,
) -> System:
    """A new system with its outputs; it enters the comparator's board at once. Raises Refused (also for bad rows)."""
    must_be_free(campaign, name)
    system = System.objects.create(campaign=campaign, name=name, description=description, link=link, is_human=is_human)
    give_cost(system, cost, cost_unit)
    _import(system, source, file, user)
    _audit(system, "system registered", user)
    rate_again(campaign, user)
    return system


@transaction.atomic
def describe(system: System, name: str, description: str, link: str, user=None) -> System:
    """Rename a system, or say something else about it. Snapshots go on calling it what they called it."""
    if name != system.name:
        must_be_free(system.campaign, name, but=system)
        FormerName.objects.create(system=system, name=system.name)
        _audit(system, "system renamed", user, to=name)
    system.name, system.description, system.link = name, description, link
    system.save(update_fields=["name", "description", "link"])
    return system


@transaction.atomic
def replace_outputs(system: System, source, file: str, user=None) -> Imported:
    """New outputs play from now on. The old ones stay, with all that was said about them, as an earlier version."""
    now = timezone.now()
    Output.objects.filter(system=system, replaced_at=None).update(replaced_at=now)
    imported = _import(system, source, file, user, version=f"version {versions(system) + 1}")
    close_gone(system.campaign)
    mark_replaced(system.campaign, system.name, {system.name, *system.former_names.values_list("name", flat=True)})
    _audit(system, "outputs replaced", user)
    rate_again(system.campaign, user)
    return imported


@transaction.atomic
def let_play(checkpoint: Checkpoint, user=None) -> None:
    """This checkpoint of its system is judged by people and plays from now on; what was said about the others stays with
    them."""
    checkpoint.chosen_at = timezone.now()
    checkpoint.save(update_fields=["chosen_at"])
    system = checkpoint.system
    draw_items(system.campaign)
    _audit(system, "checkpoint chosen", user, checkpoint=checkpoint.name)
    rate_again(system.campaign, user)


@transaction.atomic
def set_retired(system: System, retired: bool, user=None) -> None:
    """A retired system is neither judged nor played; the boards that it was on keep it."""
    if retired == (system.retired_at is not None):
        return
    system.retired_at = timezone.now() if retired else None
    system.save(update_fields=["retired_at"])
    if retired:
        close_gone(system.campaign)
    else:
        draw_items(system.campaign)
    _audit(system, "system retired" if retired else "system back", user)
    rate_again(system.campaign, user)


def versions(system: System) -> int:
    """How many sets of outputs it has had: those that were replaced together count as one."""
    replaced = Output.objects.filter(system=system, replaced_at__isnull=False)
    return replaced.values("replaced_at").distinct().count()


def rate_again(campaign: Campaign, user=None) -> Tournament | None:
    """A board on which only what is new plays: the newest of a comparator, taken on. None where there is none yet."""
    board = queries.latest(campaign, Tournament.Basis.JUDGE)
    if board is None:
        return None
    try:
        return start_tournament(
            campaign, board.basis, board.judge, board.criterion, board.seed, user=user, rules=board.rules(), extends=board
        )
    except Refused:  # fewer than two systems are left
        return None


def _import(system: System, source, file: str, user, version: str = "") -> Imported:
    imported = import_outputs(system.campaign, source, file, user=user, system=system.name, version=version)
    if not imported.new.get("outputs"):
        raise Refused(f"{file} holds no output; a system needs at least one.")
    return imported


def must_be_free(campaign: Campaign, name: str, but: System | None = None) -> None:
    others = campaign.systems.exclude(pk=but.pk) if but else campaign.systems.all()
    if alike := spelled_alike(name, others.values_list("name", flat=True)):
        differs = "" if alike == name else ", whose name differs in case, spaces or dashes alone"
        raise Refused(f"There is a system {alike!r} already{differs}; choose another name, or replace its outputs.")
    if alike := spelled_alike(name, FormerName.objects.filter(system__in=others).values_list("name", flat=True)):
        raise Refused(f"{alike!r} is a former name of another system; choose another name.")


def _audit(system: System, action: str, user, **detail) -> None:
    AuditEvent.objects.create(campaign=system.campaign, user=user, action=action, detail={"system": system.name, **detail})
