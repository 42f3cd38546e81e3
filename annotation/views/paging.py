"""A page of a list, with the addresses of the pages beside it; and what somebody looks for in a list."""

from django.core.paginator import Paginator
from django.db.models import Q, QuerySet

PAGE = 50
LONGEST_SEARCH = 100  # characters
MOST_WORDS = 8


def searched(request, rows: QuerySet, *fields: str, name: str = "q") -> tuple[QuerySet, str]:
    """The rows that hold every word that the address asks for, each in any of the fields; and the words, to be shown."""
    asked = " ".join(request.GET.get(name, "")[:LONGEST_SEARCH].split()[:MOST_WORDS])
    for word in asked.split():
        rows = rows.filter(Q(*((f"{field}__icontains", word) for field in fields), _connector=Q.OR))
    return rows, asked


def paged(request, rows, size: int = PAGE, name: str = "page"):
    """Django's Page with `before` and `after`: addresses that keep the rest of the query, or None at the ends."""
    page = Paginator(rows, size).get_page(request.GET.get(name))

    def address(number: int) -> str:
        query = request.GET.copy()
        query[name] = number
        return f"?{query.urlencode()}"

    page.before = address(page.number - 1) if page.has_previous() else None  # type: ignore[attr-defined]
    page.after = address(page.number + 1) if page.has_next() else None  # type: ignore[attr-defined]
    return page
