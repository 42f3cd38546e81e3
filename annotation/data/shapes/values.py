"""Values as tools write them: points of a scale with words beside them, messages of a chat, texts that are lists."""

import json
import re
from collections.abc import Sequence
from typing import Any

from core.column_shapes import printed_list
from core.rows import BadField, NotAnswered, finite, kind_of

# Families of language models, also as MT-bench's published split calls its judge.
LANGUAGE_MODEL = re.compile(r"(?<![a-z])(gpt-?\d|chatgpt|claude|gemini|llama|mi[sx]tral|qwen|deepseek|grok)", re.IGNORECASE)
HUMAN, ASSISTANT = "\n\nHuman:", "\n\nAssistant:"  # of Anthropic's transcripts
LEADING = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)(?:\s*[-–—:.)=,]|\s)\D*$")  # no second number: "2 or 3" is no point
TRAILING = re.compile(r"\D*\(\s*([+-]?\d+(?:\.\d+)?)\s*\)\s*$")


def number(value: Any) -> float | int | None:
    """A finite number, whole where it is; None for anything else."""
    if (found := finite(value)) is None:
        return None
    return int(found) if found == int(found) else found


def point(value: Any) -> float | int | str | None:
    """A point of a scale: 4, "4", "scale_4", "4 - good", "good (4)", ["4"]. Words without a number stay words, which are
    listed by name; None where nothing was answered, or more than one thing."""
    if isinstance(value, list):
        return point(value[0]) if len(value) == 1 else None
    if not isinstance(value, str):
        return number(value)
    text = value.strip().removeprefix("scale_")
    if (plain := number(text)) is not None:
        return plain
    for pattern in (LEADING, TRAILING):
        if found := pattern.match(text):
            return number(found[1])
    return text or None


def texts(value: Any, name: str, may_lack: bool = False) -> list[str]:
    """A text, a list of texts, or either of these written as JSON or as Python prints it. may_lack: a list with nothing in the
    place of a text is no error, but holds no answer. Raises BadField, NotAnswered."""
    if isinstance(value, str):
        parsed = _parsed(value)
        value = parsed if isinstance(parsed, list) else [value]
    if not isinstance(value, list) or not all(isinstance(part, str) or (may_lack and part is None) for part in value):
        found = "one of something else" if isinstance(value, list) else kind_of(value)
        raise BadField(name, f"expected a text or a list of texts, found {found}")
    if None in value:
        raise NotAnswered(f"has a turn without a text in {name}")
    return value


def _parsed(text: str) -> Any:
    if not text.lstrip().startswith("["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return printed_list(text)


def messages(value: Any, name: str) -> list[dict[str, Any]]:
    """A chat as a list of {role, content}, also where it is written as JSON in a text. Raises BadField."""
    if isinstance(value, str):
        value = _parsed(value)
    if not isinstance(value, list) or not all(isinstance(turn, dict) for turn in value):
        raise BadField(name, f"expected a list of messages, found {kind_of(value)}")
    for turn in value:
        if not isinstance(turn.get("role"), str):
            raise BadField(name, 'expected messages with the texts "role" and "content"')
    return value


def transcript(text: str) -> list[dict[str, str]]:
    """The messages of a dialogue that is written as one text, as Anthropic's hh-rlhf has it; none of any other text."""
    if not text.startswith(HUMAN):
        return []
    parts = re.split(f"({HUMAN}|{ASSISTANT})", text)[1:]
    roles = {HUMAN: "user", ASSISTANT: "assistant"}
    return [{"role": roles[mark], "content": said.strip()} for mark, said in zip(parts[::2], parts[1::2])]


def content(message: dict[str, Any], name: str) -> str:
    """The text of a message; its content may be a list of parts, {"type": "text", "text"}, or {"answer": text} as in
    Arena-Hard. Raises NotAnswered."""
    said = message.get("content")
    if isinstance(said, dict):
        said = said.get("answer")
    if isinstance(said, list):
        parts = [part.get("text") if isinstance(part, dict) and part.get("type", "text") == "text" else None for part in said]
        if parts and all(isinstance(part, str) for part in parts):
            said = "\n".join(part for part in parts if part is not None)
    if not isinstance(said, str):
        raise NotAnswered("has a message without text; pictures and tool calls are not read")
    return said


def answered(chat: Sequence[dict[str, Any]], name: str) -> tuple[list[dict[str, str]], str]:
    """(the turns before the last answer, that answer) of a chat that ends with the assistant's. Raises BadField."""
    plain = [{"role": turn["role"], "content": content(turn, name)} for turn in chat]
    if len(plain) < 2 or plain[-1]["role"] not in ("assistant", "model", "bot"):
        raise BadField(name, "does not end with an answer of the assistant")
    return plain[:-1], plain[-1]["content"]
