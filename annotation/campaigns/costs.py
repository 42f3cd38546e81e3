"""What systems cost: one number for each, as somebody gives it, and one unit for all systems of a campaign."""

import math
from collections.abc import Iterable

from django.db import transaction

from annotation.models import Campaign, System
from core.errors import Refused, quoted


def unit_of(campaign: Campaign, but: System | None = None) -> str:
    """In which unit its systems' costs are; empty where none is known. but: a system that does not count."""
    known = campaign.systems.exclude(cost=None)
    return (known.exclude(pk=but.pk) if but else known).values_list("cost_unit", flat=True).first() or ""


@transaction.atomic
def give_cost(system: System, cost: float | None, unit: str = "") -> None:
    """None takes it off; without a unit, the campaign's. Raises Refused for another unit than the other systems have."""
    if cost is None and system.cost is None:
        return
    campaign = Campaign.objects.select_for_update().get(pk=system.campaign_id)
    unit = " ".join(unit.split())
    system.cost, system.cost_unit = cost, "" if cost is None else _checked(cost, unit, unit_of(campaign, but=system))
    system.save(update_fields=["cost", "cost_unit"])


def check_units(systems: Iterable[System]) -> None:
    """Raises Refused where an archive's systems have costs in several units, or in none."""
    units = sorted({system.cost_unit for system in systems if system.cost is not None})
    if len(units) > 1 or units == [""]:
        raise Refused(f"Costs of a campaign's systems are in one unit, and not in {', '.join(map(quoted, units))}.")


def _checked(cost: float, unit: str, others: str) -> str:
    """The unit."""
    if not math.isfinite(cost) or cost < 0:
        raise Refused("A cost is a number, and 0 at least.")
    if not (unit or others):
        raise Refused("A cost needs its unit, for example “US dollars per 1,000 outputs”.")
    if unit and others and unit != others:
        raise Refused(
            f"Other systems' costs are in {quoted(others)}; give this one in the same unit, or take theirs off first."
        )
    return unit or others
