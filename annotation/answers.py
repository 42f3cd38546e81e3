"""Which answers a researcher looks at: the filters that the live page and the list of answers share."""

from dataclasses import dataclass, fields

from django.db.models import Q
from django.db.models.functions import Coalesce

from annotation.models import Campaign, Item, Submission
from annotation.questions import store

TIME = Coalesce("active_seconds", "seconds")  # idle time excluded where the page could measure it


@dataclass(frozen=True)
class Filters:
    """Ids and values to narrow by; None: not narrowed. seconds: from low (in) to high (out), without idle time."""

    criterion: int | None = None
    system: int | None = None
    annotator: int | None = None
    item: int | None = None
    value: float | None = None
    choice: str | None = None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, query) -> "Filters":
        """From a request's query. A value that is not a number is ignored."""
        kinds = {"value": float, "low": float, "high": float, "choice": str}
        return cls(**{f.name: _read(query.get(f.name), kinds.get(f.name, int)) for f in fields(cls)})

    def without_items(self) -> dict:
        """What narrows a whole page of figures."""
        return {name: getattr(self, name) for name in ("criterion", "system", "annotator") if getattr(self, name) is not None}


def _read(text: str | None, kind):
    try:
        value = kind(text) if text else None
        return value if value is None or kind is str or abs(value) < 2**31 else None
    except ValueError:
        return None


def scores(campaign: Campaign, f: Filters):
    rows = _narrowed(store.about_outputs(campaign).given(), f)
    if f.system is not None:
        rows = rows.filter(output__system=f.system)
    if f.item is not None:
        rows = rows.filter(output__items=f.item, output__items__other=None)
    return rows if f.value is None else rows.filter(value=f.value)


def judgments(campaign: Campaign, f: Filters):
    rows = _narrowed(store.about_pairs(campaign).given(), f)
    if f.system is not None:
        rows = rows.filter(Q(output_a__system=f.system) | Q(output_b__system=f.system))
    if f.item is not None:
        rows = rows.filter(_of_item(campaign, f.item))
    return rows if f.choice is None else rows.filter(choice=f.choice)


def _of_item(campaign: Campaign, pk: int) -> Q:
    """The pair that the item shows; of several outputs, all their pairs."""
    item = campaign.items.filter(pk=pk, other__isnull=False).first()
    if item is None:
        return Q(pk__in=[])
    several = [item.output_id, item.other_id, *item.further]
    return Q(output_a__in=several, output_b__in=several)


def about(item: Item):
    """Everything that was answered about an item, by question."""
    f = Filters(item=item.pk)
    return judgments(item.campaign, f) if item.is_pair else scores(item.campaign, f)


def _narrowed(rows, f: Filters):
    for name in ("criterion", "annotator"):
        if getattr(f, name) is not None:
            rows = rows.filter(**{name: getattr(f, name)})
    if f.low is not None or f.high is not None:
        rows = rows.annotate(took=Coalesce("submission__active_seconds", "submission__seconds"))
        rows = rows.filter(took__gte=f.low or 0)
    return rows if f.high is None else rows.filter(took__lt=f.high)


def submissions(campaign: Campaign, f: Filters):
    """Answers as they were sent, live and counted ones, with how long they took."""
    rows = Submission.objects.filter(
        annotator__campaign=campaign, annotator__withdrawn_at=None, retracted_at=None, is_surplus=False
    )
    if f.annotator is not None:
        rows = rows.filter(annotator=f.annotator)
    if f.system is not None:
        rows = rows.filter(Item.of_system(f.system, "assignment__item__"))
    return rows.annotate(took=TIME)
