"""The Human Evaluation Datasheet 3.0 (Belz and Thomson 2024, arXiv 2412.07940), filled in as far as the campaign and its
researchers say: the JSON that the form at https://nlp-heds.github.io uploads. An element of the form is its id with {data:
{criterion: value}}."""

import json
from collections.abc import Iterator
from typing import Any

from annotation.assessment.datasheet.languages import LISTED
from annotation.assessment.datasheet.questions import BY_NUMBER, CRITERIA
from annotation.assessment.datasheet.sheet import SheetAnswer, datasheet
from annotation.models import Campaign, Criterion, Snapshot

TO_BE_WRITTEN = "To be written."
LANGUAGES = {BY_NUMBER["2.4"], BY_NUMBER["2.5"]}
OTHER_LANGUAGE, NO_LANGUAGE = (
    "184. Other (please describe)",
    "185. N/A (please explain)",
)  # the form's last option, and its first


def form(campaign: Campaign, snapshot: Snapshot) -> dict[str, Any]:
    """{element of the form: its content}; a text that nobody has written is said to be written."""
    sheet = datasheet(campaign, snapshot)
    names = _names([one.criterion for one in sheet if one.question.number == "4.1.1"])
    control = {name: place == 0 for place, name in enumerate(names.values())}
    found: dict[str, Any] = {CRITERIA: {"data": {}, "control": control, "text": {}}}
    for one in sheet:
        key = names[one.criterion.pk if one.criterion else None] if one.question.by_criterion else ""
        for element, value, shown in _elements(one, snapshot.is_simulated):
            number = None if element.endswith("-other_text") else one.question.number
            content = found.setdefault(element, {"data": {}, "control": {}, "number": number} | ({"text": {}} if shown else {}))
            content["data"][key] = value
            if shown:
                content["text"][key] = shown
    return found


def _names(criteria: list[Criterion | None]) -> dict[int | None, str]:
    """Criteria as the form's keys, by their ids; pairs on the whole have no name."""
    names: dict[int | None, str] = {criterion.pk: criterion.name for criterion in criteria if criterion}
    pairs = "Pairs" if "Pairs" not in names.values() else "Pairs on the whole"
    return names | ({None: pairs} if None in criteria else {})


def _elements(one: SheetAnswer, is_simulated: bool) -> Iterator[tuple[str, str | bool, str]]:
    """(the element, what it holds, the words of an option that is chosen)"""
    question, text = one.question, one.text
    for place in one.chosen:
        yield f"{question.element}-{place}", True, question.options[place - 1]
    if question in LANGUAGES:
        yield from _languages(one)
    if question.options or question in LANGUAGES:
        if text:
            yield f"{question.element}-other_text", text, ""
    else:
        simulated = "SIMULATED: programs gave some or all of these answers. "
        yield question.element, (simulated if is_simulated and question.number == "3.2.1" else "") + (text or TO_BE_WRITTEN), ""


def _languages(one: SheetAnswer) -> Iterator[tuple[str, str | bool, str]]:
    """The form's list begins with what is not a language and ends with what is another one."""
    numbers, others, none = one.languages
    for number in numbers:
        yield f"{one.question.element}-{number + 1}", True, f"{number}. {LISTED[number - 1]}"
    if none:
        yield f"{one.question.element}-1", True, NO_LANGUAGE
    elif others:
        yield f"{one.question.element}-{len(LISTED) + 2}", True, OTHER_LANGUAGE


def files(campaign: Campaign, snapshot: Snapshot) -> dict[str, bytes]:
    return {"heds.json": (json.dumps(form(campaign, snapshot), ensure_ascii=False, indent=4) + "\n").encode()}
