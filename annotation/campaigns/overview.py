"""Figures about a campaign, in a fixed number of queries."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Count, F, IntegerField, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.models import Annotator, Assignment, Campaign, Output, Purpose, Submission
from annotation.questions import store
from core.rich_text import rich_count

LOOKED_AT = 200  # outputs
SUGGESTED = 0.05  # of them: one stray asterisk says nothing


def few_of(campaign: Campaign) -> dict[str, int]:
    """Counts by name of what there is never much of."""
    return {
        "systems": campaign.systems.count(),
        "criteria": campaign.criteria.count(),
        "annotators": campaign.annotators.count(),
        "simulated_annotators": campaign.annotators.filter(is_simulated=True).count(),
        "snapshots": campaign.snapshots.count(),
    }


def many_of(campaign: Campaign) -> dict[str, int]:
    """Counts by name of what there may be a million of; items_done: those that as many people answered as the overlap asks."""
    items, answers = campaign.items.filter(purpose=Purpose.EVALUATION), store.counts(campaign)
    full = items.filter(taken__gte=F("places"))
    return {
        "contexts": campaign.contexts.count(),
        "outputs": Output.objects.filter(context__campaign=campaign).count(),
        "items": items.count(),
        "items_done": full.exclude(assignments__status=Assignment.Status.OPEN).count(),
        **answers,
        "rankings": store.rankings(campaign) if answers["judgments"] else 0,
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


class ByAnswers(Sequence):
    """A campaign's annotators, the busiest first, each with `score_count` and `judgment_count`. They are read when a part of
    them is asked for. counts: {annotator id: [scores, judgments]}, as `store.counts_by_person` gives it; ids may be texts."""

    def __init__(self, annotators: QuerySet[Annotator], counts: Mapping[Any, Sequence[int]]):
        self.annotators = annotators
        self.counts = {int(pk): tuple(of_person) for pk, of_person in counts.items()}
        by_name = annotators.order_by("name", "pk").values_list("pk", flat=True)
        self.pks = sorted(by_name, key=lambda pk: -sum(self.counts.get(pk, (0, 0))))

    def __len__(self):
        return len(self.pks)

    def __getitem__(self, place):
        if not isinstance(place, slice):
            return self[place : place + 1 or None][0]
        chosen = self.pks[place]
        rows = self.annotators.order_by().in_bulk(chosen)
        shown = [rows[pk] for pk in chosen if pk in rows]
        for annotator in shown:
            annotator.score_count, annotator.judgment_count = self.counts.get(annotator.pk, (0, 0))  # type: ignore[attr-defined]
        return shown
