"""Figures about a campaign, in a fixed number of queries."""

from django.db.models import Count, F, IntegerField, OuterRef, Subquery
from django.db.models.functions import Coalesce

from annotation.annotating.assignment import Phase, Progress, progress
from annotation.models import Annotator, Assignment, Campaign, LikertScore, Output, PairwiseJudgment, Purpose


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
        "scores": LikertScore.objects.counted().filter(criterion__campaign=campaign).count(),
        "judgments": PairwiseJudgment.objects.counted().filter(annotator__campaign=campaign).count(),
        "snapshots": campaign.snapshots.count(),
    }


def counted(rows, group: str):
    """How many of `rows` share `group` with the outer row: a subquery, so that several do not multiply each other."""
    counts = rows.order_by().values(group).annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counts, output_field=IntegerField()), 0)


def annotators(campaign: Campaign):
    """The campaign's annotators with how much each has said, the busiest first."""
    scores = LikertScore.objects.counted().filter(annotator=OuterRef("pk"))
    judgments = PairwiseJudgment.objects.counted().filter(annotator=OuterRef("pk"))
    return campaign.annotators.annotate(
        score_count=counted(scores, "annotator"), judgment_count=counted(judgments, "annotator")
    ).order_by((F("score_count") + F("judgment_count")).desc(), "name")


def is_finished(annotator: Annotator, done: Progress | None = None) -> bool:
    """Is this person's work done? They judged something, and nothing is left for them: their quota is full, or no item
    is free. Who withdrew or did not qualify has not finished. The completion code is shown on this alone.

    done: their progress, where the caller has it.
    """
    if annotator.withdrawn_at or annotator.has_qualified is False:
        return False
    done = done or progress(annotator)
    return done.done > 0 and done.phase == Phase.FINISHED
