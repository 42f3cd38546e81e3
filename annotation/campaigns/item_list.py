"""A campaign's items, and everything that was said about one."""

from django.db.models import Count, F, Q

from annotation.models import Campaign, Item, ItemReport

STATES = {
    "open": "not judged by enough people yet",
    "full": "judged by as many as planned",
    "flagged": "flagged or skipped",
    "gold": "with a known answer",
}


def items(campaign: Campaign, state: str = "", system: int | None = None, taken: int | None = None):
    """The items in their order, with how many open reports each has."""
    found = campaign.items.select_related("output__context", "output__system", "other__system")
    found = found.annotate(report_count=Count("reports", filter=Q(reports__resolved_at=None)))
    if state == "open":
        found = found.filter(taken__lt=F("places"))
    elif state == "full":
        found = found.filter(taken__gte=F("places"))
    elif state == "flagged":
        found = found.filter(report_count__gt=0)
    elif state == "gold":
        found = found.exclude(expected=None)
    if system is not None:
        found = found.filter(Q(output__system=system) | Q(other__system=system))
    if taken is not None:
        found = found.filter(taken=taken)
    return found.order_by("position", "pk")


def item(campaign: Campaign, pk: int) -> Item | None:
    texts = ("output__context", "output__system", "output__checkpoint", "other__system", "other__checkpoint")
    return campaign.items.select_related(*texts).filter(pk=pk).first()


def reports(campaign: Campaign):
    """What people said about items, what nobody has looked at first."""
    found = ItemReport.objects.filter(item__campaign=campaign)
    found = found.select_related("item__output__context", "item__output__system", "item__other__system", "annotator")
    return found.order_by(F("resolved_at").asc(nulls_first=True), "-created_at")
