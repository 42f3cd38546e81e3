"""The index of public boards, on the first page and on a page of its own."""

from django import template

from annotation.views.paging import paged, searched
from leaderboard.boards import public_boards as boards

register = template.Library()
SHOWN = 12


@register.inclusion_tag("leaderboard/public_boards.html", takes_context=True)
def public_boards(context):
    found, asked = searched(context["request"], boards.campaigns(), "title", "slug")
    page = paged(context["request"], found, SHOWN)
    return {"page": page, "asked": asked, "boards": boards.summaries(page)}
