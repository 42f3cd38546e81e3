"""A prompt as a file: Markdown with named places, which are filled for each question.

    ---
    asks: score
    scale: 1 to 10
    ---
    # System
    You score answers.
    # Question
    How good is the answer{criterion}? Reply with a JSON object whose "score" is {scale}.

    {texts}

`asks` is "pair" (A, B or C for neither), "five points" (1 to 5, from A to B) or "score". `scale` is for scores alone, and
stands for the question's own. A paragraph of which nothing is left, once its places are filled, is left out.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from core.errors import Refused, quoted

PLACES = {
    "guidelines": "what the annotators were told",
    "criterion": 'the words " with regard to" and the criterion\'s name',
    "meaning": "what the criterion and the points of its scale mean",
    "scale": "the points of a score, in words",
    "examples": "what people answered, in other contexts",
    "references": "what people wrote as answers to this context",
    "texts": "the context and the answers to be judged, as JSON",
}
ASKS = ("pair", "five points", "score")
FOLDER = Path(__file__).parent / "prompts"
LONGEST = 50_000  # characters of a prompt
MOST_POINTS = 101  # of a scale: 0 to 100
PLACE = re.compile(r"\{([A-Za-z_ -]+)\}")  # the braces of JSON have a quotation mark inside
SETTING = re.compile(r"[\w ]+")  # its name
Complaint = Callable[[str], Refused]
SCALE = re.compile(r"(-?\d{1,6})\s+to\s+(-?\d{1,6})")


@dataclass(frozen=True)
class PromptFile:
    """scale: (low, high) of its own, None for the question's."""

    name: str
    text: str
    asks: str
    system: str
    question: str
    scale: tuple[int, int] | None = None

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @cached_property
    def places(self) -> frozenset[str]:
        return frozenset(PLACE.findall(self.system + self.question))

    def filled(self, values: Mapping[str, str]) -> tuple[str, str]:
        """(system, question) with what stands in each place; a paragraph that is empty then is left out."""
        return _filled(self.system, values), _filled(self.question, values)

    @classmethod
    def read(cls, name: str, text: str) -> PromptFile:
        """Raises Refused, with the name and the place, for a file that is no prompt."""

        def wrong(said: str) -> Refused:
            return Refused(f"Prompt {quoted(name)}: {said}")

        if len(text) > LONGEST or "\0" in text:
            raise wrong(f"it has at most {LONGEST:,} characters, and no NUL among them.")
        text = text.replace("\r\n", "\n").removeprefix("\ufeff")
        settings, body = _head(text)
        if settings is None:
            raise wrong('it begins with a line "---", its settings (asks: pair, five points or score), and a line "---".')
        if unknown := settings.keys() - {"asks", "scale"}:
            raise wrong(f"there is no setting {quoted(min(unknown))}; there are asks and scale.")
        asks = settings.get("asks", "")
        if asks not in ASKS:
            raise wrong(f"asks is {quoted(asks)}; it is one of: {', '.join(ASKS)}.")
        parts = _parts(body)
        if parts is None:
            raise wrong('its text stands under "# Question", and under "# System" before that if there is one.')
        made = cls(name, text, asks, parts[0], parts[1], _scale(settings, asks, wrong))
        _check_places(made, wrong)
        return made

    @classmethod
    def built_in(cls, name: str) -> PromptFile:
        return cls.read(name, (FOLDER / f"{name}.md").read_text(encoding="utf-8"))


def built_in_names() -> list[str]:
    return sorted(file.stem for file in FOLDER.glob("*.md"))


def _head(text: str) -> tuple[dict[str, str] | None, str]:
    """(settings, the rest); None where there are none"""
    found = re.match(r"---[ ]*\n(.*?)\n---[ ]*\n", text, re.DOTALL)
    if found is None:
        return None, text
    settings = {}
    for line in filter(str.strip, found.group(1).split("\n")):
        name, colon, value = line.partition(":")
        if not colon or not SETTING.fullmatch(name.strip()):
            return None, text
        settings[name.strip().lower()] = value.strip()
    return settings, text[found.end() :]


def _parts(body: str) -> tuple[str, str] | None:
    """(system, question); None where there are others, or no question"""
    before, *parts = re.split(r"^#[ ]+(System|Question)[ ]*$", body, flags=re.MULTILINE)
    names = parts[::2]
    if before.strip() or names not in (["System", "Question"], ["Question"]) or not parts[-1].strip():
        return None
    return (parts[1].strip() if len(names) == 2 else ""), parts[-1].strip()


def _scale(settings: Mapping[str, str], asks: str, wrong: Complaint) -> tuple[int, int] | None:
    given = settings.get("scale")
    if given is None:
        return None
    if asks != "score":
        raise wrong(f"scale is for a prompt that asks for a score, and this one asks for {quoted(asks)}.")
    found = SCALE.fullmatch(given)
    low, high = (int(end) for end in found.groups()) if found else (0, 0)
    if not low < high < low + MOST_POINTS:
        raise wrong(f'scale is {quoted(given)}; it goes from a whole number to a higher one, as "1 to 10", with 101 at most.')
    return low, high


def _check_places(file: PromptFile, wrong: Complaint) -> None:
    if unknown := sorted(file.places - PLACES.keys()):
        raise wrong(f"there is no place {{{unknown[0]}}}; there are: {', '.join(f'{{{name}}}' for name in PLACES)}.")
    if "{texts}" in file.system or file.question.count("{texts}") != 1:
        raise wrong("the place {texts} stands once in the question: what is judged is filled in there.")
    if file.asks == "score" and "scale" not in file.places:
        raise wrong("the place {scale} is missing: a score has a scale.")
    if file.asks != "score" and "scale" in file.places:
        raise wrong("the place {scale} is for a prompt that asks for a score.")
    if file.asks == "five points" and "examples" in file.places:
        raise wrong("the place {examples} is for a pair or a score: people answer no pair in five points.")


def _filled(text: str, values: Mapping[str, str]) -> str:
    paragraphs = [PLACE.sub(lambda found: values[found.group(1)], paragraph) for paragraph in text.split("\n\n")]
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph.strip())
