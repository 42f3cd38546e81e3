"""Make a campaign, make another like it, open and close it, put it away, write its guidelines, let researchers in."""

from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify

from annotation.campaigns.images import copy_images
from annotation.campaigns.items import KnownAnswer, draw_items
from annotation.campaigns.known_answers import store_known
from annotation.campaigns.protocol import CriterionSpec, check_criteria, check_page_text, check_protocol, set_consent
from annotation.models import (
    AuditEvent,
    Campaign,
    Checkpoint,
    Context,
    Criterion,
    DatasheetAnswer,
    Membership,
    Output,
    Purpose,
    Reference,
    System,
    User,
)
from annotation.questions import conditions
from core.errors import Refused

NOT_COPIED = {"id", "slug", "title", "status", "is_simulated", "created_by", "created_at", "deleted_at", "board_is_public"}
BATCH = 500
# Of the datasheet (HEDS 3.0), what holds for a copy too: who is asked about it, and what its criteria are; and where the texts
# are copied, their systems and how they were chosen. Its paper, people, agreement and ethics are its own.
HOLD_IN_COPIES = ("1.3.", "4.1.", "4.2.", "4.3.1.", "4.3.7")
HOLD_OF_TEXTS = ("2.", "3.1.2")


@transaction.atomic
def create_campaign(*, slug, title="", criteria=(), consent="", user=None, **settings) -> Campaign:
    """A new campaign with its criteria. The user who made it becomes its researcher.

    settings: any of Campaign's protocol fields, by their names.
    """
    if not slug or slug != slugify(slug) or len(slug) > 80:
        raise Refused(f"{slug!r} is not a valid short name: use lower-case letters, digits and hyphens, at most 80.")
    if known := Campaign.objects.filter(slug=slug).first():
        deleted = " (deleted; an admin can restore it)" if known.deleted_at else ""
        raise Refused(f"There is already a campaign {slug!r}{deleted}.")
    campaign = Campaign(slug=slug, title=title or slug, created_by=user, **settings)
    check_protocol(campaign)
    check_criteria(criteria)
    conditions.check_pairs(campaign.pairwise_by_criterion, criteria)
    check_page_text(campaign.guidelines, "Guidelines")
    campaign.save()
    for position, spec in enumerate(criteria):
        Criterion.objects.create(campaign=campaign, position=position, **spec.fields())
    set_consent(campaign, consent)
    if user is not None:
        Membership.objects.create(campaign=campaign, user=user)
    AuditEvent.objects.create(campaign=campaign, user=user, action="campaign created")
    return campaign


@transaction.atomic
def duplicate_campaign(campaign: Campaign, *, slug, title="", with_texts=False, user=None) -> Campaign:
    """The same questions again, without any answer; with_texts: the same outputs and known answers too."""
    campaign = Campaign.objects.get(pk=campaign.pk)
    copied = [f.name for f in Campaign._meta.concrete_fields if f.name not in NOT_COPIED]
    criteria = [
        CriterionSpec(**{name: getattr(criterion, name) for name in CriterionSpec("").fields()})
        for criterion in campaign.criteria.all()
    ]
    consent = campaign.consent_texts.last()
    copy = create_campaign(
        slug=slug,
        title=title or campaign.title,
        criteria=criteria,
        consent=consent.text if consent else "",
        user=user,
        **{name: getattr(campaign, name) for name in copied},
    )
    AuditEvent.objects.create(campaign=copy, user=user, action="duplicated", detail={"campaign": campaign.slug})
    _copy_datasheet(campaign, copy, HOLD_IN_COPIES + (HOLD_OF_TEXTS if with_texts else ()))
    if with_texts:
        _copy_texts(campaign, copy)
        copy_images(campaign, copy)
        draw_items(copy)
    return copy


def _copy_datasheet(source: Campaign, target: Campaign, holding: tuple[str, ...]) -> None:
    """holding: how the numbers of its questions begin. What is left over of criteria that are gone stays behind."""
    old, new = (campaign.criteria.values_list("pk", flat=True) for campaign in (source, target))
    criteria = dict(zip(old, new, strict=True))
    rows = [row for row in source.datasheet_answers.exclude(criterion=None, about__gt="") if row.number.startswith(holding)]
    _copy(DatasheetAnswer, rows, {"campaign_id": lambda _: target.pk, "criterion_id": criteria.get})


def _copy_texts(source: Campaign, target: Campaign) -> None:
    systems = _copy(System, source.systems.all(), {"campaign_id": lambda _: target.pk})
    contexts = _copy(Context, source.contexts.all(), {"campaign_id": lambda _: target.pk})
    checkpoints = _copy(Checkpoint, Checkpoint.objects.filter(system__campaign=source), {"system_id": systems.get})
    _copy(Reference, Reference.objects.filter(context__campaign=source), {"context_id": contexts.get})
    outputs = _copy(
        Output,
        Output.objects.filter(context__campaign=source, replaced_at=None),
        {"system_id": systems.get, "context_id": contexts.get, "checkpoint_id": checkpoints.get},
    )
    copies = Output.objects.in_bulk(outputs.values())
    known = source.items.exclude(purpose=Purpose.EVALUATION).filter(output__replaced_at=None, other__replaced_at=None)
    store_known(
        target,
        [
            (
                item.purpose,
                KnownAnswer(
                    copies[outputs[item.output_id]], item.expected or {}, copies.get(outputs.get(item.other_id or 0, 0))
                ),
            )
            for item in known.order_by("position")
        ],
    )


def _copy(model, rows, changes: dict) -> dict[int, int]:
    """Copies of the rows with each changed field put through its function; new ids by old ones."""
    old, new = [], []
    for row in rows:
        old.append(row.pk)
        row.pk = None
        row._state.adding = True
        for name, change in changes.items():
            setattr(row, name, change(getattr(row, name)))
        new.append(row)
    model.objects.bulk_create(new, batch_size=BATCH)
    return dict(zip(old, [row.pk for row in new]))


def set_status(campaign: Campaign, status: str, user=None) -> None:
    if status not in Campaign.Status.values:
        raise Refused(f"A campaign can be open, paused or closed, not {status!r}.")
    with transaction.atomic():
        Campaign.objects.filter(pk=campaign.pk).update(status=status)
        campaign.status = status
        AuditEvent.objects.create(campaign=campaign, user=user, action=f"campaign {status}")


@transaction.atomic
def delete_campaign(campaign: Campaign, user=None) -> None:
    """Out of everybody's sight; nothing in it is lost, and an admin brings it back."""
    if Campaign.objects.filter(pk=campaign.pk, deleted_at=None).update(deleted_at=timezone.now()):
        AuditEvent.objects.create(campaign=campaign, user=user, action="campaign deleted")


@transaction.atomic
def restore_campaign(campaign: Campaign, user=None) -> None:
    if Campaign.objects.filter(pk=campaign.pk).exclude(deleted_at=None).update(deleted_at=None):
        AuditEvent.objects.create(campaign=campaign, user=user, action="campaign restored")


def set_guidelines(campaign: Campaign, guidelines: str, user=None) -> None:
    check_page_text(guidelines, "Guidelines")
    with transaction.atomic():
        Campaign.objects.filter(pk=campaign.pk).update(guidelines=guidelines)
        campaign.guidelines = guidelines
        AuditEvent.objects.create(campaign=campaign, user=user, action="guidelines changed")


@transaction.atomic
def add_researcher(campaign: Campaign, username: str, user=None) -> Membership:
    """Let an existing account see the campaign's results and work with them."""
    added = User.objects.filter(username=username, is_active=True).first()
    if added is None or not added.has_usable_password():
        raise Refused(f"There is no account {username!r}. An admin can create one.")
    membership, new = Membership.objects.get_or_create(campaign=campaign, user=added)
    if new:
        AuditEvent.objects.create(campaign=campaign, user=user, action="researcher added", subject=added)
    return membership


@transaction.atomic
def remove_researcher(membership: Membership, user=None) -> None:
    """Take a researcher's rights in a campaign away. The last one stays: somebody must answer for it."""
    campaign = membership.campaign
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    if not campaign.memberships.exclude(pk=membership.pk).exists():
        raise Refused("A campaign needs at least one researcher. Add another one first.")
    membership.delete()
    AuditEvent.objects.create(campaign=campaign, user=user, action="researcher removed", subject=membership.user)
