"""Figures about a campaign, in a fixed number of queries."""

from django.db.models import Count, F, Q

from annotation.models import Assignment, Campaign, LikertScore, Output, PairwiseJudgment, Purpose


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


def annotators(campaign: Campaign):
    """The campaign's annotators with how much each has said."""
    live_scores = Q(scores__retracted_at=None, scores__isnull=False, scores__purpose=Purpose.EVALUATION)
    live_judgments = Q(
        judgments__retracted_at=None, judgments__isnull=False, judgments__purpose=Purpose.EVALUATION
    )
    return campaign.annotators.annotate(
        score_count=Count("scores", filter=live_scores, distinct=True),
        judgment_count=Count("judgments", filter=live_judgments, distinct=True),
    ).order_by(F("score_count").desc(), "name")
