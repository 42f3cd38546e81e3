"""A campaign's items and the reports about them."""

from django.db.models import F, OuterRef

from annotation.campaigns.items import load_further
from annotation.campaigns.overview import counted
from annotation.models import Campaign, Item, ItemReport

STATES = {
    "open": "needs more judgments",
    "full": "has all judgments",
    "flagged": "flagged, skipped or asked about",
    "gold": "with a known answer",
}


def items_with_report_counts(campaign: Campaign, state: str = "", system: int | None = None, taken: int | None = None):
    """The items in their order, with how many open reports each has."""
    rows = campaign.items.select_related("output__context", "output__system", "other__system")
    rows = rows.annotate(report_count=counted(ItemReport.objects.filter(item=OuterRef("pk"), resolved_at=None), "item"))
    if state == "open":
        rows = rows.filter(taken__lt=F("places"))
    elif state == "full":
        rows = rows.filter(taken__gte=F("places"))
    elif state == "flagged":
        rows = rows.filter(report_count__gt=0)
    elif state == "gold":
        rows = rows.exclude(expected=None)
    if system is not None:
        rows = rows.filter(Item.of_system(system))
    if taken is not None:
        rows = rows.filter(taken=taken)
    return rows.order_by("position", "pk")


def item_with_texts(campaign: Campaign, pk: int) -> Item | None:
    """One item with its outputs, context and systems loaded; None where the campaign has no such item."""
    texts = ("output__context", "output__system", "output__checkpoint", "other__system", "other__checkpoint")
    items = load_further(campaign.items.select_related(*texts).filter(pk=pk))
    return items[0] if items else None


def reports(campaign: Campaign):
    """Reports about items, unresolved ones first."""
    rows = ItemReport.objects.filter(item__campaign=campaign)
    rows = rows.select_related("item__output__context", "item__output__system", "item__other__system", "annotator")
    return rows.order_by(F("resolved_at").asc(nulls_first=True), "-created_at")
