"""A version's card as one record, which the page shows and the API gives: what of it this user may see, and in which words.
Reads only; never needs torch."""

import shlex
from typing import Any

from annotation.access import campaigns_researched_by
from annotation.models import Campaign
from evaluator.comparator.settings import options_of
from evaluator.models import ComparatorVersion
from evaluator.versions import registry, selectors
from evaluator.versions.limits import limits, parted_groups

HIDDEN = "a campaign that is not yours"
GROUPS_OF_FILES = (
    "It learned from groups of contexts: where a file does not name them (field group), a new context of such a group is judged"
    " by members that learned from it."
)
UNKNOWN = "The calibration of its probabilities in this campaign is not known."


def card(version: ComparatorVersion, campaign: Campaign, user) -> dict:
    """Everything that is known of the version."""
    gate = version.gates.get(campaign.slug, [])
    return {
        "name": version.name,
        "campaign": campaign.slug,
        "stage": registry.stages(campaign, [version])[version.pk],
        "created_at": version.created_at,
        "uploaded": version.run_id is None,
        "simulated": version.is_simulated,
        "warning": version.warning,
        "limits": " ".join(filter(None, [parted_groups(version), limits(figures(version, user))])),
        "criterion": version.criterion,
        "campaigns": _called(version, user),
        "snapshots": version.snapshots,
        "settings": settings(version, user),
        "seed": version.seed,
        "code": version.code,
        "gate": gate,
        "gate_doubt": registry.gate_doubt(version, campaign),
        "confidence": confidence(version, campaign),
        "attacks_here": version.measured_here.get(campaign.slug, {}).get("attacks", []),
        "curve": version.run.curve if version.run else [],
        "metrics": figures(version, user),
        "again": again(version, user),
    }


def _called(version: ComparatorVersion, user) -> list[str]:
    """The titles of the campaigns that it is for."""
    slugs = list(version.campaigns.values_list("slug", flat=True))
    titles = _titles(user, slugs)
    return [titles.get(slug, HIDDEN) for slug in slugs]


def settings(version: ComparatorVersion, user) -> dict:
    """The version's settings, as `figures` gives its metrics."""
    called, settings = names(version, user), dict(version.settings)
    if called:
        settings["sources"] = {called[slug]: read for slug, read in settings["sources"].items()}
    if called and "beside" in settings:
        settings["beside"] = [called[slug] for slug in settings["beside"]]
    return settings


def again(version: ComparatorVersion, user) -> str:
    """The command that trains it again; empty for one that was uploaded. Where each campaign's own default decided about the
    criterion, none is named."""
    if version.run_id is None:
        return ""
    recipe, called = version.settings, names(version, user)
    learnt, lent = recipe.get("sources", {}), recipe.get("beside", [])
    own = sorted(set(learnt) - set(lent), key=lambda slug: (learnt[slug][0] != version.criterion, slug))  # the first names it
    criteria = {criterion for criterion, _ in learnt.values()}
    words = ["python", "manage.py", "train_comparator", *(called[slug] for slug in own)]
    words += ["--criterion", *criteria] if len(criteria) == 1 and selectors.learned_from_people(version) else []
    for name in recipe.get("others", []):
        words += ["--criterion" if len(criteria) == 1 else "--also", name]
    for slug in lent:
        words += ["--beside", called[slug]]
    words += options_of(recipe)
    base = recipe.get("base", "")
    words += ["--base", base or selectors.NO_BASE] if base or selectors.base_for(recipe, None) else []
    return shlex.join([*words, "--seed", str(version.seed)])


def names(version: ComparatorVersion, user) -> dict[str, str]:
    """{slug: what the user may read for it} of the campaigns that it learned from here."""
    slugs = sorted(version.settings.get("sources", {}))
    titles = _titles(user, slugs)
    hidden = [slug for slug in slugs if slug not in titles]
    number = lambda slug: f" ({hidden.index(slug) + 1})" if len(hidden) > 1 else ""
    return {slug: slug if slug in titles else HIDDEN + number(slug) for slug in slugs}


def figures(version: ComparatorVersion, user) -> dict:
    """The version's metrics; of campaigns that the user does not research, the figures without the name."""
    m = version.metrics
    if version.run_id is None:  # its names are those of another installation, as the file gave them
        return m
    called = names(version, user)
    rows, left_out = m.get("transfer", []), m.get("not_measured", [])
    titles = _titles(user, [row["campaign"] for row in [*rows, *left_out]])
    own: dict[str, Any] = {}
    if "correlations" in m:
        own["correlations"] = [row | {"campaign": called.get(row["campaign"], HIDDEN)} for row in m["correlations"]]
    if "ceilings" in m:
        own["ceilings"] = {called.get(slug, HIDDEN): kinds for slug, kinds in m["ceilings"].items()}
    return (
        m
        | own
        | {
            "transfer": [_named(row, titles) for row in rows],
            "not_measured": [_named(row, titles) for row in left_out if row["campaign"] in titles],
        }
    )


def confidence(version: ComparatorVersion, campaign: Campaign) -> dict:
    """How far the version's stated probabilities are from what people say in this campaign: {kind, said}, and where that is
    known error, low, high and pairs. kind: own (held out; said with `parted_groups`), here (not learned from; fitted anew and
    held out, beside it as_it_came and the refit), unknown."""
    if selectors.learned_from(version, campaign):
        found = version.metrics.get("calibration")
        found = {"kind": "own", **found} if found else {"kind": "unknown"}
    else:
        found = dict(version.measured_here.get(campaign.slug, {}).get("confidence", {"kind": "unknown"}))
        if anew := selectors.refit(version, campaign):
            found["refit"] = anew
    doubt = parted_groups(version) if found["kind"] == "own" else ""
    return found | {"said": " ".join(filter(None, [_said(found), doubt]))}


def confidence_on_files(version: ComparatorVersion) -> str:
    """The same for texts of which nobody knows where they come from."""
    m, found = version.metrics, version.metrics.get("calibration")
    unknown = "Its calibration on other texts is not known."
    if m.get("units", m.get("contexts")) != m.get("contexts"):
        unknown += f" {GROUPS_OF_FILES}"
    if found is None:
        return unknown
    return f"On held-out contexts of its training campaigns, its expected calibration error is {_off(found)}. {unknown}"


def _said(found: dict) -> str:
    learnt = f"It learned from {found['left_out']:,} contexts of this campaign. " if "left_out" in found else ""
    if found["kind"] == "unknown":
        return learnt + UNKNOWN + _needed(found)
    off = f"its expected calibration error is {_off(found)}"
    if found["kind"] == "own":
        return f"On held-out contexts of this campaign, {off}, over {found['pairs']:,} pairs that people judged."
    where = f"{learnt}On the others" if learnt else "It did not learn from this campaign. Here"
    return (
        f"{where}, its expected calibration error is {_off(found['as_it_came'])} without adjustment, over"
        f" {found['pairs']:,} pairs that people judged. New boards of this campaign multiply its utility differences"
        f" by {found['refit']['scale']:.2f} and adjust its ties, as fitted on these pairs. On contexts left out of this fit,"
        f" {off}."
    )


def _off(calibration: dict) -> str:
    return f"{calibration['error']:.3f} ({calibration['low']:.3f} to {calibration['high']:.3f})"


def _needed(found: dict) -> str:
    """How many more judgments tell."""
    if "needed" not in found:
        return ""
    if not found["needed"]:
        return " All pairs that people judged belong to one context; at least two are needed to measure it."
    pairs = "pair" if found["needed"] == 1 else "pairs"
    return f" To measure it, people must judge {found['needed']:,} more {pairs}, and these judgments must be accepted."


def _titles(user, slugs: list[str]) -> dict[str, str]:
    """{slug: title} of those that the user researches."""
    return dict(campaigns_researched_by(user).filter(slug__in=slugs).values_list("slug", "title")) if slugs else {}


def _named(row: dict, titles: dict[str, str]) -> dict:
    slug = row["campaign"]
    return row | {"campaign": slug if slug in titles else None, "title": titles.get(slug, HIDDEN)}
