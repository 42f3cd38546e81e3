"""Every error of the REST API in one shape, a problem document (RFC 9457, application/problem+json).

    {"type": "about:blank", "title": "Bad Request", "status": 400, "detail": "The overlap is ...", "request_id": "...",
     "errors": [{"field": "overlap", "line": null, "message": "The overlap is ..."}], "message": "The overlap is ..."}

`type` is about:blank: problems differ by their status, whose phrase is `title`. `message` is `detail` by its earlier name.
400: the request does not have the shape the schema asks for; 422: it has, but can't be carried out as things stand (for an
import: one entry for each wrong row). Nothing was changed in either case.
"""

from http import HTTPStatus

from django.contrib.auth.decorators import login_not_required
from django.http import JsonResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework.response import Response
from rest_framework.views import exception_handler

from core.errors import ImportRefused, Refused, shortened
from core.request_id import current

MEDIA_TYPE = "application/problem+json"
LONGEST_MESSAGE = 300  # characters


def answer(exception, context) -> Response | None:
    """DRF's exception handler."""
    if isinstance(exception, Refused):
        return Response(_refused(exception), status=HTTPStatus.UNPROCESSABLE_ENTITY, content_type=MEDIA_TYPE)
    response = exception_handler(exception, context)
    if response is not None:
        entries = list(_entries(response.data))
        response.data = _problem(response.status_code, entries[0]["message"] if entries else "Refused.", entries)
        response.content_type = MEDIA_TYPE
    return response


@csrf_exempt
@login_not_required
def missing(request, rest="") -> JsonResponse:
    """Addresses under /api/ that lead nowhere."""
    return problem(404, "There is nothing at this address; see /api/.")


def problem(status: int, sentence: str) -> JsonResponse:
    """An error that one sentence says and that belongs to no field, where no view of the API answers."""
    return JsonResponse(_problem(status, sentence, [_entry(None, sentence)]), status=status, content_type=MEDIA_TYPE)


def _problem(status: int, sentence: str, entries: list[dict]) -> dict:
    return {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": sentence,
        "request_id": current.get(),
        "errors": entries,
        "message": sentence,
    }


def _refused(refused: Refused) -> dict:
    sentence, entries = str(refused), [_entry(None, str(refused))]
    if isinstance(refused, ImportRefused):
        about = [{"row": error.row, "file": error.file} for error in refused.errors]
        entries = [_entry(e.field or None, e.message, e.line) | more for e, more in zip(refused.errors, about)]
    return _problem(HTTPStatus.UNPROCESSABLE_ENTITY, sentence, entries)


def _entry(field: str | None, message: str, line: int | None = None) -> dict:
    return {"field": field, "line": line, "message": message}


def _entries(data, field: str | None = None):
    """DRF's nested lists and dicts of messages, flat: criteria.0.low. A message may repeat what was sent, however long."""
    if isinstance(data, dict):
        for name, inner in data.items():
            own = field if name in ("detail", "non_field_errors") else f"{field}.{name}" if field else str(name)
            yield from _entries(inner, own)
    elif isinstance(data, list):
        for number, inner in enumerate(data):
            yield from _entries(inner, f"{field}.{number}" if isinstance(inner, (dict, list)) else field)
    elif data:
        yield _entry(field and shortened(field), shortened(str(data), LONGEST_MESSAGE))
