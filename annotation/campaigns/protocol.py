"""What a campaign asks, and how: checked when it is made, and when it is changed later."""

from dataclasses import asdict, dataclass, field
from typing import Any

from django.db import transaction

from annotation.campaigns.items import draw_items
from annotation.models import AuditEvent, Campaign, ConsentText, Criterion, ItemReport, Purpose, Submission
from annotation.questions import conditions, registry, store
from annotation.questions.ranked import method
from core.errors import Refused, quoted
from core.rich_text import MOST, MOST_BRACKETS, is_heavy

PERCENTS = ("overlap_percent", "gold_percent", "repeat_percent", "pass_mark", "check_mark")
DRAWN_BY = (
    "likert",
    "pairwise",
    "outputs_at_once",
    "pair_design",
    "pairs",
    "overlap",
    "overlap_percent",
    "in_file_order",
    "seed",
)
FIXED_BY_ANSWERS = (
    "pairwise_by_criterion",
    "pair_points",
    "pair_both_bad",
    "outputs_at_once",
    "best_worst",
    "pair_design",
    "pairs",
    "overlap_percent",
    "in_file_order",
    "seed",
)


@dataclass(frozen=True)
class CriterionSpec:
    """A criterion as a researcher writes it. anchors: what a point means, by the point as text; kind: a name in the registry of
    questions; best: which end of its scale is best; asked_if: its condition (`questions.conditions`), or {}; pk: the one it
    changes."""

    name: str
    low: int = 1
    high: int = 5
    low_label: str = ""
    high_label: str = ""
    description: str = ""
    anchors: dict = field(default_factory=dict)
    kind: str = "scale"
    best: str = "high"
    cannot_say: bool = False
    optional: bool = False
    settings: dict = field(default_factory=dict)
    asked_if: dict = field(default_factory=dict)
    pk: int | None = None

    def fields(self) -> dict:
        return {name: value for name, value in asdict(self).items() if name != "pk"}


def check_protocol(campaign: Campaign) -> None:
    if not campaign.likert and not campaign.pairwise:
        raise Refused("Choose scores, judgments of pairs, or both.")
    if campaign.pair_points not in Campaign.PairPoints.values:
        raise Refused(f"Pairs are judged on 3, 5 or 7 points, not {campaign.pair_points}.")
    if not 2 <= campaign.outputs_at_once <= method.MOST:
        raise Refused(f"Outputs are compared 2 to {method.MOST} at a time, not {campaign.outputs_at_once}.")
    if campaign.best_worst and campaign.outputs_at_once < 3:
        raise Refused("The best and the worst are asked of three outputs or more at a time.")
    if campaign.outputs_at_once > 2 and not campaign.pairwise:
        raise Refused("To compare several outputs at a time, choose judgments of pairs: a ranking is kept as those.")
    if campaign.outputs_at_once > 2 and (campaign.pair_points > 3 or campaign.pair_both_bad):
        raise Refused("A ranking has places, neither points nor “both are bad”: choose A, tie or B, or two outputs at a time.")
    if not 1 <= campaign.overlap <= 1000:
        raise Refused("The overlap (people per item) must be from 1 to 1000.")
    for name in PERCENTS:
        if not 0 <= (getattr(campaign, name) or 0) <= 100:
            raise Refused(f"{_label(name)}: a percentage from 0 to 100 was expected.")
    if campaign.quota is not None and campaign.quota < 1:
        raise Refused("The quota (items per person) must be 1 or more, or empty for no limit.")
    if campaign.pairwise and campaign.pair_design == Campaign.PairDesign.NUMBER and not campaign.pairs:
        raise Refused("Enter the number of pairs to draw.")


def check_criteria(specs) -> None:
    names = [spec.name for spec in specs]
    if len(set(names)) < len(names):
        raise Refused("Two criteria have the same name.")
    for spec in specs:
        if not spec.name.strip() or len(spec.name) > 100:
            raise Refused("A criterion needs a name of at most 100 characters.")
        if spec.best not in Criterion.Best.values:
            raise Refused(f"{spec.name}: best is high or low, not {spec.best!r}.")
        kind = registry.kind_named(spec.kind)
        if kind.sides != 1:
            raise Refused(f"{spec.name}: criteria are asked about single outputs; pairs are chosen for the whole campaign.")
        if strange := sorted(set(spec.settings) - set(kind.settings)):
            raise Refused(f"{spec.name}: a question of kind {kind.name} has no setting {quoted(strange[0])}.")
        kind.check(spec)
    conditions.check(specs)
    conditions.check_turns(specs)


def answers_in(campaign: Campaign) -> dict[str, bool]:
    """Whether there are any answers so far, undone and imported ones included. A change must not remove what they answer."""
    return {
        **store.is_stored(campaign),
        "submissions": Submission.objects.filter(annotator__campaign=campaign).exists(),
        "reports": ItemReport.objects.filter(item__campaign=campaign).exists(),
    }


def fixed_settings(campaign: Campaign, answers: dict[str, bool]) -> set[str]:
    """The settings that answers hold in place."""
    fixed = set(FIXED_BY_ANSWERS) if any(answers.values()) else set()
    if campaign.likert and answers["scores"]:
        fixed.add("likert")
    if campaign.pairwise and answers["judgments"]:
        fixed.add("pairwise")
    if answers["submissions"]:  # nobody knows how the texts of imported answers were shown
        fixed.add("text_format")
    return fixed


@transaction.atomic
def change_campaign(campaign: Campaign, user=None, criteria=None, consent=None, **settings) -> list[str]:
    """Change a campaign's settings, criteria and consent text; returns the names of what changed.

    criteria: the whole list as it shall be (None: as it is). Raises Refused for what answers hold in place. Where
    nobody has answered yet, the items are drawn anew; otherwise only what is missing is added.
    """
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    answers = answers_in(campaign)
    changed: dict[str, Any] = {
        name: [getattr(campaign, name), new] for name, new in settings.items() if getattr(campaign, name) != new
    }
    for name in sorted(fixed_settings(campaign, answers) & set(changed)):
        raise Refused(
            f"{_label(name)}: people have already answered, so this can't change. Make a copy of the campaign instead."
        )
    if "overlap" in changed and any(answers.values()) and settings["overlap"] < campaign.overlap:
        raise Refused("People have answered, so the number of people per item can be raised but not lowered.")
    if "overlap" in changed and any(answers.values()) and campaign.overlap == 1 and campaign.overlap_percent < 100:
        raise Refused(
            "The shared items were not drawn while one person judged each item. Make a copy of the campaign for that."
        )
    check_page_text(settings.get("guidelines", ""), "Guidelines")
    for name, new in settings.items():
        setattr(campaign, name, new)
    check_protocol(campaign)
    if changed:
        campaign.save(update_fields=list(changed))
    if criteria is not None and _change_criteria(campaign, criteria, answers):
        changed["criteria"] = True
    conditions.check_pairs(campaign.pairwise_by_criterion, campaign.criteria.all())
    if consent is not None and set_consent(campaign, consent):
        changed["consent"] = True
    if changed:
        detail = {"changed": changed}
        AuditEvent.objects.create(campaign=campaign, user=user, action="campaign changed", detail=detail)
    if set(changed) & set(DRAWN_BY):
        _redraw(campaign, changed, answers)
    return sorted(changed)


def _label(name: str) -> str:
    return str(Campaign._meta.get_field(name).verbose_name).capitalize()


def _change_criteria(campaign: Campaign, specs, answers) -> bool:
    check_criteria(specs)
    present = {criterion.pk: criterion for criterion in campaign.criteria.all()}
    scored = store.used_criteria(campaign)
    kept = {spec.pk for spec in specs if spec.pk in present}
    for pk, criterion in present.items():
        if pk not in kept and pk in scored:
            raise Refused(f"{criterion.name}: people have answered on it, so it can't be removed.")
    changed = bool(campaign.criteria.exclude(pk__in=kept).delete()[0])
    for position, spec in enumerate(specs):
        criterion = present.get(spec.pk) or Criterion(campaign=campaign)
        if criterion.pk is None and answers["submissions"]:
            raise Refused(f"{spec.name}: people have already answered without it. Make a copy of the campaign to add criteria.")
        if any(answers.values()) and criterion.pk and criterion.asked_if != spec.asked_if:
            raise Refused(f"{criterion.name}: people have answered, so when it is asked can't change.")
        if criterion.pk in scored and _meaning(criterion) != _meaning(spec):
            raise Refused(
                f"{criterion.name}: people have answered on it, so its name, its kind, its scale and which end is best can't"
                " change. Make a copy of the campaign instead."
            )
        new = spec.fields() | {"position": position}
        if criterion.pk is None or any(getattr(criterion, name) != value for name, value in new.items()):
            for name, value in new.items():
                setattr(criterion, name, value)
            criterion.save()
            changed = True
    return changed


def _meaning(criterion) -> tuple:
    return registry.kind_named(criterion.kind).fixed_by_answers(criterion)


def check_page_text(text: str, what: str) -> None:
    """Of guidelines or a consent text. Raises Refused where annotators' pages could not show it at once."""
    if is_heavy(text):
        raise Refused(
            f"{what}: {len(text):,} characters; at most {MOST:,} are shown, with {MOST_BRACKETS:,} brackets [ in them."
        )


def set_consent(campaign: Campaign, text: str) -> bool:
    """A new version of what annotators agree to, where the text differs from the latest."""
    check_page_text(text, "Consent")
    latest = campaign.consent_texts.last()
    if (latest.text if latest else "") == text.strip():
        return False
    ConsentText.objects.create(campaign=campaign, version=latest.version + 1 if latest else 1, text=text.strip())
    return True


def _redraw(campaign: Campaign, changed, answers) -> None:
    judged = campaign.items.filter(purpose=Purpose.EVALUATION)
    if not any(answers.values()):
        judged.delete()
    else:
        if not campaign.likert:
            judged.filter(other=None).delete()
        if not campaign.pairwise:
            judged.exclude(other=None).delete()
        if "overlap" in changed:
            was, now = changed["overlap"]
            judged.filter(places=was).update(places=now)
    campaign.annotators.update(tally={})  # counted again from what is there now (annotation/annotating/history.py)
    draw_items(campaign)
