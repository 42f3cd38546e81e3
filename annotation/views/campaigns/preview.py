"""An item as an annotator sees it, for researchers. Nothing is handed out or stored, and no system is named."""

from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.access import campaign_for_researcher
from annotation.annotating.item_page import item_context, page_of
from annotation.models import Assignment
from annotation.questions.ranked.kind import order_of


@login_required
def preview(request, slug):
    """?n= which item, in the order in which they are handed out; sending the form leads to the next one."""
    campaign = campaign_for_researcher(request.user, slug)
    items = campaign.items.select_related("output__context", "other").order_by("position", "pk")
    count = items.count()
    position = request.GET.get("n", "")
    n = min(max(int(position) if position.isdecimal() and len(position) < 9 else 1, 1), max(count, 1))
    if request.method == "POST":
        return redirect(f"{reverse('preview', args=[slug])}?n={n % count + 1 if count else 1}")
    if not count:
        return render(request, "annotation/preview_empty.html", {"campaign": campaign})
    item = items[n - 1]
    order = order_of(campaign.seed, item.position, item.size, 0, item.starts_swapped)
    first = Assignment(item=item, swapped=item.is_pair and item.starts_swapped, order=order)
    context = item_context(campaign, item, first.shown)
    context |= {
        "is_preview": True,
        "number": n,
        "count": count,
        "action": request.get_full_path(),
        "consent": campaign.consent_texts.last(),
    }
    return render(request, page_of(item), context)
