"""The API's reference as a plain page, from the same OpenAPI schema that programs read: no script, nothing from elsewhere."""

from functools import cache

from django.contrib.auth.decorators import login_not_required
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.api import schema as openapi

METHODS = ("get", "post", "put", "patch", "delete")


@require_safe
@login_not_required
def reference(request):
    return render(request, "annotation/api.html", {"groups": _groups(), "throttles": _throttles()})


@cache
def _groups() -> list[tuple[str, list[dict]]]:
    """(first part of the path, its operations) in the order of the schema."""
    schema = openapi.schema()
    groups: dict[str, list[dict]] = {}
    for path, operations in schema["paths"].items():
        for method in METHODS:
            if method in operations:
                entry = _operation(path, method, operations[method], schema)
                groups.setdefault(path.split("/")[2], []).append(entry)
    return list(groups.items())


def _operation(path: str, method: str, operation: dict, schema: dict) -> dict:
    bodies = operation.get("requestBody", {}).get("content", {})
    good: tuple[str, dict] = next(((code, r) for code, r in operation["responses"].items() if code.startswith("2")), ("", {}))
    answers = good[1].get("content", {})
    return {
        "id": operation["operationId"],
        "path": path,
        "method": method.upper(),
        "about": operation.get("description", ""),
        "query": [p for p in operation.get("parameters", []) if p["in"] == "query"],
        "sent_as": next(iter(bodies), ""),
        "sent": _fields(bodies, schema),
        "status": good[0],
        "answered_as": ", ".join(answers),
        "answered": _fields(answers, schema),
    }


def _fields(content: dict, schema: dict) -> list[dict]:
    """The top level of a body's fields, with the kind of each in words."""
    sent: dict = next(iter(content.values()), {})
    body = _resolved(sent.get("schema", {}), schema)
    required = body.get("required", [])
    return [
        {"name": name, "kind": _kind(field, schema), "about": field.get("description", ""), "required": name in required}
        for name, field in body.get("properties", {}).items()
    ]


def _resolved(part: dict, schema: dict) -> dict:
    while "$ref" in part:
        part = schema["components"]["schemas"][part["$ref"].rsplit("/", 1)[1]]
    return part


def _kind(field: dict, schema: dict) -> str:
    if "allOf" in field or "oneOf" in field:
        return " or ".join(_kind(part, schema) for part in field.get("allOf") or field["oneOf"])
    field = _resolved(field, schema)
    if "enum" in field:
        return ", ".join(str(value) for value in field["enum"] if value not in (None, ""))
    if field.get("type") == "array":
        inner = _resolved(field["items"], schema)
        return "list of " + (", ".join(inner["properties"]) if "properties" in inner else _kind(inner, schema))
    if field.get("properties"):
        return "object: " + ", ".join(field["properties"])
    return field.get("format") or field.get("type", "any")


def _throttles() -> dict[str, str]:
    from rest_framework.settings import api_settings

    return api_settings.DEFAULT_THROTTLE_RATES
