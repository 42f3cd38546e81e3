"""A page of a list, with the addresses of the pages beside it."""

from django.core.paginator import Paginator

PAGE = 50


def paged(request, rows, size: int = PAGE, name: str = "page"):
    """Django's Page with `before` and `after`: addresses that keep the rest of the query, or None at the ends."""
    page = Paginator(rows, size).get_page(request.GET.get(name))

    def address(number: int) -> str:
        query = request.GET.copy()
        query[name] = number
        return f"?{query.urlencode()}"

    page.before = address(page.number - 1) if page.has_previous() else None
    page.after = address(page.number + 1) if page.has_next() else None
    return page
