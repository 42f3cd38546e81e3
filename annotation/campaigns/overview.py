"""Figures about a campaign, in a fixed number of queries."""

from django.db.models import Count, F, IntegerField, OuterRef, Subquery
from django.db.models.functions import Coalesce

from annotation.models import Assignment, Campaign, Output, Purpose, Submission
from annotation.questions import store
from core.rich_text import rich_count

LOOKED_AT = 200  # outputs
SUGGESTED = 0.05  # of them: one stray asterisk says nothing


def overview(campaign: Campaign) -> dict:
    """Counts by name; items_done are items that as many people answered as the overlap asks."""
    items = campaign.items.filter(purpose=Purpose.EVALUATION)
    full = items.filter(taken__gte=F("places"))
    return {
        "systems": campaign.systems.count(),
        "contexts": campaign.contexts.count(),
        "outputs": Output.objects.filter(context__campaign=campaign).count(),
        "items": items.count(),
        "items_done": full.exclude(assignments__status=Assignment.Status.OPEN).count(),
        "criteria": campaign.criteria.count(),
        "annotators": campaign.annotators.count(),
        "simulated_annotators": campaign.annotators.filter(is_simulated=True).count(),
        **store.counts(campaign),
        "snapshots": campaign.snapshots.count(),
    }


def rich_texts(campaign: Campaign) -> dict | None:
    """{"count", "of"} of the outputs looked at that seem to be Markdown, where the campaign shows its texts as they are,
    nobody has answered yet, and they are enough to ask for a change."""
    if campaign.text_format != Campaign.TextFormat.PLAIN or Submission.objects.filter(annotator__campaign=campaign).exists():
        return None
    outputs = Output.objects.filter(context__campaign=campaign, replaced_at=None).order_by("context_id", "pk")
    texts = list(outputs.values_list("text", flat=True)[:LOOKED_AT])
    count = rich_count(texts)
    return {"count": count, "of": len(texts)} if count and count >= SUGGESTED * len(texts) else None


def counted(rows, group: str):
    """The number of `rows` that share `group` with the outer row: a subquery, so that several counts do not multiply."""
    counts = rows.order_by().values(group).annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counts, output_field=IntegerField()), 0)


def annotators_with_counts(campaign: Campaign):
    """The campaign's annotators with how many answers each gave, the busiest first."""
    scores, judgments = (rows.filter(annotator=OuterRef("pk")) for rows in store.counted())
    return campaign.annotators.annotate(
        score_count=counted(scores, "annotator"), judgment_count=counted(judgments, "annotator")
    ).order_by((F("score_count") + F("judgment_count")).desc(), "name")
