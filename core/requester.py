"""The request that is being answered, for what is written down about it far from any view."""

from contextvars import ContextVar
from typing import Any

from django.http import HttpRequest

current: ContextVar[HttpRequest | None] = ContextVar("request", default=None)


def user() -> Any:
    """The signed-in account that sent the request, in a browser or by its token; None for anybody else, and for commands."""
    found = getattr(current.get(), "user", None)
    return found if found is not None and found.is_authenticated else None
