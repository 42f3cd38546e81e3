"""Every error of the REST API in one shape: a sentence, and where it belongs.

    {"message": "The overlap is ...", "errors": [{"field": "overlap", "line": null, "message": "The overlap is ..."}]}

400: the request does not have the shape the schema asks for; 422: it has, but can't be carried out as things stand (for an
import: one entry for each wrong row). Nothing was changed in either case.
"""

from django.contrib.auth.decorators import login_not_required
from django.http import JsonResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework import status
from rest_framework.response import Response
from rest_framework.views import exception_handler

from core.errors import ImportRefused, Refused


def answer(exception, context) -> Response | None:
    """DRF's exception handler."""
    if isinstance(exception, Refused):
        return Response(_refused(exception), status=status.HTTP_422_UNPROCESSABLE_ENTITY)
    response = exception_handler(exception, context)
    if response is not None:
        entries = list(_entries(response.data))
        response.data = {"message": entries[0]["message"] if entries else "Refused.", "errors": entries}
    return response


@csrf_exempt
@login_not_required
def missing(request, rest="") -> JsonResponse:
    """Addresses under /api/ that lead nowhere."""
    message = "There is nothing at this address; see /api/."
    return JsonResponse(as_body(message), status=404)


def as_body(sentence: str) -> dict:
    """The body of an error that one sentence says and that belongs to no field."""
    return {"message": sentence, "errors": [_entry(None, sentence)]}


def _refused(refused: Refused) -> dict:
    if isinstance(refused, ImportRefused):
        about = [{"row": error.row, "file": error.file} for error in refused.errors]
        entries = [_entry(e.field or None, e.message, e.line) | more for e, more in zip(refused.errors, about)]
        return {"message": str(refused), "errors": entries}
    return as_body(str(refused))


def _entry(field: str | None, message: str, line: int | None = None) -> dict:
    return {"field": field, "line": line, "message": message}


def _entries(data, field: str | None = None):
    """DRF's nested lists and dicts of messages, flat: criteria.0.low."""
    if isinstance(data, dict):
        for name, inner in data.items():
            own = field if name in ("detail", "non_field_errors") else f"{field}.{name}" if field else str(name)
            yield from _entries(inner, own)
    elif isinstance(data, list):
        for number, inner in enumerate(data):
            yield from _entries(inner, f"{field}.{number}" if isinstance(inner, (dict, list)) else field)
    elif data:
        yield _entry(field, str(data))
