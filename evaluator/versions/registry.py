"""Which comparator is in use in a campaign: candidates, promotion through the gate, rollback, retirement."""

from django.db import transaction
from django.utils import timezone

from annotation.access import campaigns_researched_by
from annotation.models import AuditEvent, Campaign
from core.errors import Refused
from evaluator.models import ComparatorVersion, Promotion
from evaluator.signals import promoted
from evaluator.versions.limits import parted_groups
from evaluator.versions.selectors import learned_from, version_named

FIRST, PASSED = "The first of this campaign.", "Passed the gate."


def comparator_in_use(campaign: Campaign) -> ComparatorVersion | None:
    """The version promoted last that is not retired; None where there is none."""
    latest = campaign.promotions.filter(version__retired_at=None).select_related("version__run").first()
    return latest.version if latest else None


def serving_or_named(name: str) -> ComparatorVersion:
    """The version in use in the campaign of this name, else the version of this name."""
    campaign = Campaign.objects.filter(slug=name, deleted_at=None).first()
    return (campaign and comparator_in_use(campaign)) or version_named(name)


def stages(campaign: Campaign, versions) -> dict[int, str]:
    """{version id: candidate | in_use | retired} of versions of the campaign, in one query."""
    current = comparator_in_use(campaign)
    return {v.pk: "retired" if v.retired_at else "in_use" if current and v.pk == current.pk else "candidate" for v in versions}


def consider(version: ComparatorVersion) -> None:
    """After its training: the version is in use where none ever was, and where its gate passed. One that learned from nobody's
    judgments of a campaign is never put in use by itself."""
    for campaign in version.campaigns.all():
        if not learned_from(version, campaign):
            continue
        gate, first = version.gates.get(campaign.slug, []), not campaign.promotions.exists()
        if first or (comparator_in_use(campaign) != version and passed(gate)):
            _enter(campaign, version, gate, FIRST if first else PASSED, None)


def passed(gate: list[dict]) -> bool:
    return bool(gate) and all(asked["passed"] for asked in gate)


def gate_doubt(version: ComparatorVersion, campaign: Campaign) -> str:
    """Why its judgments alone are not to be relied upon in the campaign; empty where it passed its gate there, and no figure of
    that may be too high."""
    return " ".join(filter(None, [_not_passed(version, campaign), parted_groups(version)]))


def _not_passed(version: ComparatorVersion, campaign: Campaign) -> str:
    gate = version.gates.get(campaign.slug, [])
    if not gate:
        return f"Comparator {version.name} was never asked whether it may serve here."
    failed = " ".join(asked["answer"] for asked in gate if not asked["passed"])
    return f"Comparator {version.name} did not pass the gate: {failed}" if failed else ""


def warnings_of(version: ComparatorVersion) -> list[str]:
    """What must be said with its judgments of texts of no campaign: what it learned from was not accepted, the gates of its
    campaigns that it did not pass, and figures that may be too high."""
    doubts = {campaign.slug: _not_passed(version, campaign) for campaign in version.campaigns.order_by("slug")}
    said = [f"In {slug}: {doubt}" for slug, doubt in doubts.items() if doubt]
    return [*filter(None, [version.warning]), *said, *filter(None, [parted_groups(version)])]


def told(version: ComparatorVersion) -> list[str]:
    """Of a training that is done: where its version is in use, and what must be said with its judgments."""
    used = [campaign.slug for campaign in version.campaigns.order_by("slug") if comparator_in_use(campaign) == version]
    where = f"in use in {', '.join(used)}" if used else "in use nowhere yet"
    simulated = ["It learned from simulated judgments."] if version.is_simulated else []
    return [f"Comparator {version.name} is {where}.", *simulated, *warnings_of(version)]


@transaction.atomic
def promote(campaign: Campaign, version: ComparatorVersion, user=None, reason: str = "") -> Promotion:
    """Put the version in use in the campaign. Where its gate did not pass, a reason is asked for and kept.

    A version that was in use before comes back without being asked again: that is a rollback.
    """
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    if not campaign.comparators.filter(pk=version.pk).exists():
        raise Refused(f"Comparator {version.name} has not learned from this campaign.")
    if version.retired_at:
        raise Refused(f"Comparator {version.name} is retired. Promote another one.")
    if comparator_in_use(campaign) == version:
        raise Refused(f"Comparator {version.name} is already in use.")
    gate = version.gates.get(campaign.slug, [])
    used_before = campaign.promotions.filter(version=version).exists()
    if not used_before and not reason.strip() and not passed(gate):
        failed = " ".join(asked["answer"] for asked in gate if not asked["passed"]) or "It was not checked yet."
        raise Refused(f"This comparator did not pass the gate. {failed} Give a reason to promote it anyway.")
    made = _enter(campaign, version, gate, reason.strip(), user)
    transaction.on_commit(lambda: promoted.send(ComparatorVersion, version=version, campaign=campaign))
    return made


@transaction.atomic
def retire(campaign: Campaign, version: ComparatorVersion, user=None) -> None:
    """Take a version out of use for good, in all its campaigns, so the user has to research them all; its files,
    judgments and boards stay."""
    if not campaign.comparators.filter(pk=version.pk).exists():
        raise Refused(f"Comparator {version.name} has not learned from this campaign.")
    there = version.campaigns.filter(deleted_at=None)
    if user is not None and there.exclude(pk__in=campaigns_researched_by(user).values("pk")).exists():
        raise Refused(
            f"Comparator {version.name} is also used in a campaign that is not yours. Promote another one here, or ask an"
            " admin to retire it."
        )
    if not ComparatorVersion.objects.filter(pk=version.pk, retired_at=None).update(retired_at=timezone.now()):
        raise Refused(f"Comparator {version.name} is retired already.")
    AuditEvent.objects.create(campaign=campaign, user=user, action="comparator retired", detail={"comparator": version.name})


def _enter(campaign, version, gate, reason, user) -> Promotion:
    detail = {"comparator": version.name, "reason": reason}
    AuditEvent.objects.create(campaign=campaign, user=user, action="comparator promoted", detail=detail)
    return Promotion.objects.create(campaign=campaign, version=version, gate=gate, reason=reason, user=user)
