"""What language models may be asked in a campaign: prompts that come with the product, and the campaign's own, kept as rows."""

from dataclasses import dataclass
from typing import Any

from annotation.models import Campaign
from core.errors import Refused, quoted
from evaluator.judges.prompt import DEFAULT
from evaluator.judges.prompt_file import PromptFile, built_in_names
from evaluator.models import JudgePrompt

LONGEST_NAME = 100
MOST_PROMPTS = 200  # of a campaign
MOST_EXAMPLES = 50


@dataclass(frozen=True)
class Asked:
    """How a language model is asked: by which prompt, with how many examples, and whether with references."""

    file: PromptFile
    examples: int = 0
    references: bool = False


def asked(campaign: Campaign, prompt: str = "", text: str = "", examples: int = 0, references: bool = False) -> Asked:
    """prompt: a name, of those that come with the product or the campaign's newest of this name; with a text, the name under
    which it is new. Nothing is stored. Raises Refused."""
    name = prompt.strip() or DEFAULT
    if len(name) > LONGEST_NAME:
        raise Refused(f"A prompt has a name of 1 to {LONGEST_NAME} characters.")
    if text and name in built_in_names():
        raise Refused(f"There is a prompt {quoted(name)} that comes with the product; choose another name.")
    file = PromptFile.read(name, text) if text else named(campaign, name)
    if not 0 <= examples <= MOST_EXAMPLES:
        raise Refused(f"A prompt shows 0 to {MOST_EXAMPLES} examples.")
    for place, wanted in (("examples", examples), ("references", references)):
        if wanted and place not in file.places:
            raise Refused(f"Prompt {quoted(name)} has no place {{{place}}} for them.")
    return Asked(file, examples, references)


def named(campaign: Campaign, name: str, digest: str = "") -> PromptFile:
    """Of this name, and digest where one is given. Raises Refused for one that nobody knows."""
    if name in built_in_names() and digest in ("", PromptFile.built_in(name).sha256):
        return PromptFile.built_in(name)
    for row in campaign.judge_prompts.filter(name=name):
        file = PromptFile.read(name, row.text)
        if digest in ("", file.sha256):
            return file
    raise Refused(f"There is no prompt {quoted(name)} in campaign {campaign.slug!r}; there are: {', '.join(names(campaign))}.")


def names(campaign: Campaign) -> list[str]:
    """Those that come with the product, then the campaign's own."""
    own = campaign.judge_prompts.order_by("name").values_list("name", flat=True).distinct()
    return list(dict.fromkeys([*built_in_names(), *own]))


def settings_of(how: Asked) -> dict[str, Any]:
    """What a judge's settings hold of it; nothing where it is asked as it was always."""
    settings: dict[str, Any] = {}
    if how.file.name != DEFAULT:
        settings["prompt"] = {"name": how.file.name, "sha256": how.file.sha256}
    if how.examples:
        settings["examples"] = how.examples
    if how.references:
        settings["references"] = True
    return settings


def keep(campaign: Campaign, file: PromptFile) -> None:
    """Its text as a row, so that it can be read later. Raises Refused where a campaign has too many."""
    fields = {"name": file.name, "digest": file.sha256}
    if campaign.judge_prompts.filter(**fields).exists():
        return
    if campaign.judge_prompts.count() >= MOST_PROMPTS:
        raise Refused(f"Campaign {campaign.slug!r} has {MOST_PROMPTS} prompts, the most that it can have.")
    JudgePrompt.objects.get_or_create(campaign=campaign, **fields, defaults={"text": file.text})


def of_settings(campaign: Campaign, settings: dict[str, Any]) -> Asked:
    """What `settings_of` gave. A judge that is not stored carries its prompt's text."""
    known = settings.get("prompt")
    if known and "text" in known:
        file = PromptFile.read(known["name"], known["text"])
    else:
        file = named(campaign, known["name"], known["sha256"]) if known else PromptFile.built_in(DEFAULT)
    return Asked(file, settings.get("examples", 0), settings.get("references", False))
