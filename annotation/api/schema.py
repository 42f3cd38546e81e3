"""The OpenAPI schema, and what it says besides what the views and serializers show by themselves."""

from functools import lru_cache

from django.http import HttpResponse
from django.utils.translation import get_language
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularAPIView
from rest_framework.renderers import BaseRenderer

KEPT = 16  # schemas of a process: one for each language and media type that somebody asked for

ERRORS = {
    "400": "The request does not have the shape that is asked for.",
    "401": "No token, or one that is not known.",
    "403": "Not allowed to this user.",
    "404": "Not there, or not for this user to see.",
    "405": "No such method here.",
    "406": "Only JSON is sent.",
    "409": "Something else is there already; nothing was changed.",
    "413": "The request is larger than this server takes.",
    "415": "The body's content type is not one of those listed.",
    "422": "Understood, but it can't be carried out as things stand; nothing was changed.",
    "429": "Too many requests; Retry-After says when to come back.",
    "500": "Something broke in the server.",
    "503": "The database can only be read now, or is busy; nothing was stored.",
    "507": "The server's disk is full; nothing was stored.",
}
SHAPE = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Error"}}}


ENTRY = {
    "field": {"type": "string", "nullable": True, "description": "Of the request or the file; null: the whole of it."},
    "line": {"type": "integer", "nullable": True, "description": "Of an imported file."},
    "message": {"type": "string"},
}
OF_FILES = {
    "row": {"type": "integer", "nullable": True, "description": "Of an imported JSON array."},
    "file": {"type": "string", "description": "Of an import: its name, or an archive's with the file in it."},
}
COMPONENT = {
    "type": "object",
    "description": "A problem document (RFC 9457).",
    "required": ["type", "title", "status", "detail", "request_id", "errors", "message"],
    "properties": {
        "type": {"type": "string", "description": "about:blank: the status says what kind of problem it is."},
        "title": {"type": "string", "description": "The status in words."},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "One sentence for a person."},
        "request_id": {"type": "string", "description": "As in the answer's X-Request-ID and in the server's log."},
        "errors": {"type": "array", "items": {"type": "object", "properties": ENTRY | OF_FILES, "required": list(ENTRY)}},
        "message": {"type": "string", "description": "The same as `detail`, for programs written before it."},
    },
}


def with_errors(result, generator, request, public):
    """A drf-spectacular hook: every operation may answer with an error in the one shape of annotation/api/errors.py."""
    result["components"]["schemas"]["Error"] = COMPONENT
    for path in result["paths"].values():
        for operation in path.values():
            for code, description in ERRORS.items():
                operation["responses"].setdefault(code, {"description": description, "content": SHAPE})
    return result


class SchemaView(SpectacularAPIView):
    """The same for everybody. Working it out takes seconds, so a process does it once."""

    def _get_schema_response(self, request):
        renderer, media_type = request.accepted_renderer, request.accepted_media_type
        content_type = f"{media_type}; charset={renderer.charset}" if renderer.charset else media_type
        headers = {"Content-Disposition": f'inline; filename="{self._get_filename(request, None)}"'}
        return HttpResponse(_written(type(renderer), media_type, get_language()), content_type=content_type, headers=headers)


def schema() -> dict:
    """As it is told in the language of this request; nobody may change it."""
    return _worked_out(get_language())


@lru_cache(KEPT)
def _worked_out(language: str | None) -> dict:
    return SchemaGenerator().get_schema(request=None, public=True)


@lru_cache(KEPT)
def _written(renderer: type[BaseRenderer], media_type: str, language: str | None) -> bytes:
    return renderer().render(_worked_out(language), media_type, {})
