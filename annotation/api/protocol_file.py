"""A campaign's protocol in a file: the JSON that the API takes."""

import json
from pathlib import Path
from typing import Any

from annotation.api.serializers import CriterionSerializer, NewCampaignSerializer
from annotation.campaigns.templates import settings_of, template_named
from core.errors import Refused


def protocol_from(path: str) -> dict[str, Any]:
    """What `create_campaign` takes but for the short name. Raises Refused, naming the file and each field that is wrong."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise Refused(f"{path} can't be opened ({error.strerror}).") from error
    except ValueError as error:
        raise Refused(f"{path} is not JSON: {error}.") from error
    if not isinstance(content, dict):
        raise Refused(f"{path}: expected a JSON object with the fields of a campaign.")
    return campaign_of(content, path)


def campaign_of(content: dict[str, Any], path: str) -> dict[str, Any]:
    fields = NewCampaignSerializer(data={"slug": "unnamed", "title": content.get("title") or "unnamed"} | content)
    if not fields.is_valid():
        raise Refused(f"{path}: {'; '.join(_wrong(fields.errors))}")
    asked = {name: value for name, value in fields.validated_data.items() if name in content and name != "slug"}
    template = asked.pop("template", None)
    if "criteria" in asked:
        asked["criteria"] = [CriterionSerializer.spec(row) for row in asked["criteria"]]
    return (settings_of(template_named(template)) if template else {}) | asked


def _wrong(errors: Any, place: str = "") -> list[str]:
    """Each error with the field it is about: "criteria 2, best: ..."."""
    if isinstance(errors, dict):
        within = {name: f" {name + 1}" if isinstance(name, int) else f", {name}" if place else name for name in errors}
        return [line for name, inner in errors.items() for line in _wrong(inner, place + within[name])]
    if any(isinstance(error, dict) for error in errors):
        return _wrong({i: error for i, error in enumerate(errors) if error}, place)
    return [f"{place}: {' '.join(map(str, errors))}"]
