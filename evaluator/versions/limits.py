"""The first lines of a card: what a comparator's figures do not know, and what its own figures say that it does not know."""

from collections.abc import Collection
from typing import Any

from annotation.models import Campaign
from evaluator.metaevaluation.robustness import FEWEST_CASES, SMALLEST_SHARE
from evaluator.models import ComparatorVersion

PARTED = "were computed on folds that did not keep groups of contexts together and may be too high"


def parted_groups(version: ComparatorVersion) -> str:
    """Why its held-out figures may be too high, one sentence: they are of before folds kept groups whole (`units` came then),
    and its contexts have groups, or nobody knows. Empty where that cannot be, or nothing was measured."""
    if version.metrics.get("units") or not version.metrics.get("contexts"):
        return ""
    learnt = version.metrics.get("learnt_from") or {}
    measured = set(version.settings.get("sources", {})) - set(version.settings.get("beside", []))
    known = True if version.run_id and learnt.get("dialogues") else may_have_groups(measured)
    if known is False:
        return ""
    figures = f"The held-out figures of comparator {version.name}"
    return f"{figures} {PARTED}{'' if known else ', if its contexts had groups'}; train it again."


def may_have_groups(slugs: Collection[str]) -> bool | None:
    """Has one of these campaigns groups or conversations? None where it is not known, since it is gone or elsewhere."""
    here = list(Campaign.objects.filter(slug__in=slugs, deleted_at=None))
    if any(campaign.has_groups for campaign in here):
        return True
    return False if here and len(here) == len(slugs) else None


def limits(metrics: dict[str, Any]) -> str:
    """In sentences, of a version's metrics; "" where they say of nothing that it is not known."""
    attacks, said = metrics.get("attacks") or [], []
    right, longer = (metrics.get(name) for name in ("heldout_pairwise_accuracy", "longer_is_better_accuracy"))
    low, high = metrics.get("heldout_pairwise_interval") or (None, None)
    if right is not None and longer is not None and low is not None and low <= longer:
        agreed = f"{right:.0%} ({low:.0%} to {high:.0%})"
        said.append(
            f"It is not known to be better than “longer is better”: it agrees with {agreed} of people's clear preferences,"
            f" that rule with {longer:.0%}."
        )
    worst: dict[str, float] = {}
    few = {row["attack"]: row["n"] for row in attacks if row["n"] < FEWEST_CASES}
    for row in attacks:
        if row["attack"] not in few:
            worst[row["attack"]] = min(row["share"], worst.get(row["attack"], 1.0))
    if fooled := sorted((share, name) for name, share in worst.items() if share < SMALLEST_SHARE):
        told = ", ".join(f"{name} ({share:.0%})" for share, name in fooled)
        said.append(f"It does not tell a good output from these in {SMALLEST_SHARE:.0%} of cases: {told}.")
    if few:
        told = ", ".join(f"{name} ({n})" for name, n in few.items())
        said.append(f"Of these attacks there were under {FEWEST_CASES} cases, too few to say: {told}.")
    for row in [*(metrics.get("correlations") or []), *(metrics.get("transfer") or [])]:
        beside = row.get("above_cosine")
        if beside and beside["low"] <= 0:
            word = "below" if beside["high"] < 0 else "not known to be above"
            where = row.get("campaign") or row.get("title") or "another campaign"
            said.append(f"On {where}, it is {word} the untrained cosine with {beside['cosine']}.")
    return " ".join(said)
