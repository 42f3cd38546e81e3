"""How much there is in campaigns, for the pages that say so whenever they are opened: counted at once where there is little,
else as of a worker's last count."""

from collections import defaultdict
from collections.abc import Sequence

from django.db.models import Count, OuterRef, Sum

from annotation.assessment import calculations
from annotation.assessment.calculations import Followed, follow, follow_all
from annotation.campaigns.overview import counted, few_of
from annotation.models import Annotator, Campaign, Output, System, User
from annotation.questions import store

WHAT, TITLE = "overview", "Count outputs, items and answers"


def numbers(campaign: Campaign, user: User | None = None) -> Followed:
    """Counts by name: `few_of` and `many_of`. A large campaign's first count is made here."""
    followed = follow(campaign, WHAT, TITLE, user)
    return Followed({**few_of(campaign), **(followed.result or {})}, followed.as_of, followed.job)


def give_numbers(campaigns: Sequence[Campaign], user: User) -> None:
    """Give each of a page's campaigns the counts `output_count`, `score_count`, `judgment_count` and `annotator_count`, and
    `counted_as_of`: None where that is now. The queries are as many for one campaign as for a page of them, but where a large
    one is counted for the first time or anew."""
    kept = follow_all(campaigns, WHAT, TITLE, user)
    counts = _counted([campaign.pk for campaign in campaigns if campaign.pk not in kept])
    people = dict(Annotator.objects.filter(campaign__in=campaigns).order_by().values_list("campaign").annotate(Count("pk")))
    for campaign in campaigns:
        of_campaign = counts[campaign.pk]
        if campaign.pk in kept or max(of_campaign.values(), default=0) > calculations.AT_ONCE:
            followed = kept.get(campaign.pk) or follow(campaign, WHAT, TITLE, user)
            of_campaign, campaign.counted_as_of = followed.result or {}, followed.as_of  # type: ignore[attr-defined]
        campaign.annotator_count = people.get(campaign.pk, 0)  # type: ignore[attr-defined]
        for name in ("outputs", "scores", "judgments"):
            setattr(campaign, f"{name[:-1]}_count", of_campaign.get(name, 0))


def _counted(campaigns: Sequence[int]) -> dict[int, dict[str, int]]:
    """{campaign id: {name: count}}, by indexes of systems and annotators: a small campaign costs no more beside a large one."""
    scores, judgments = store.counted()
    of_system = {"outputs": counted(Output.objects.filter(system=OuterRef("pk")), "system")}
    of_person = {
        name: counted(rows.filter(annotator=OuterRef("pk")), "annotator")
        for name, rows in {"scores": scores, "judgments": judgments}.items()
    }
    counts: dict[int, dict[str, int]] = defaultdict(dict)
    for model, of_one in ((System, of_system), (Annotator, of_person)):
        sums = {name: Sum(count) for name, count in of_one.items()}
        rows = model.objects.filter(campaign__in=campaigns).order_by().values("campaign").annotate(**sums)
        for campaign, *found in rows.values_list("campaign", *of_one):
            counts[campaign] |= dict(zip(of_one, found, strict=True))
    return counts
