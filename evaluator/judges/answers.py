"""How a language model's answer is read out of whatever its server sent.

Models think aloud, wrap JSON in fences, call a tool that nobody offered, or write a bare letter. What says one answer of the
form that was asked for, and no other, is an answer; whatever contradicts itself, was refused or was cut off is none, and is
never guessed.
"""

import json
import math
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from evaluator.judges.answer_form import PAIR, AnswerForm

OPEN_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>|\[THINK\]", re.IGNORECASE)
CLOSED_THOUGHT = re.compile(r"</(think|thinking|thought|reasoning)>|\[/THINK\]", re.IGNORECASE)
ROUNDING = 1e-3  # by which a log-probability may exceed 0
MOST_OBJECTS = 50  # JSON objects looked at in one reply


class Unreadable(ValueError):
    """A reply that is no answer; the message is one plain sentence saying why. cut: it ended at the longest length, so that a
    longer one may be one."""

    def __init__(self, message: str, cut: bool = False):
        super().__init__(message)
        self.cut = cut


@dataclass(frozen=True)
class PromptAnswer:
    """label: the answer as its form writes it. probabilities: of the labels that the server tells of, which sum to 1; None
    where it tells of none."""

    label: str
    reason: str
    probabilities: dict[str, float] | None


def read_answer(reply: Any, form: AnswerForm = PAIR) -> PromptAnswer:
    """The answer in a chat completion. Raises Unreadable."""
    try:
        choice = reply["choices"][0]
        message = choice["message"]
        cut = choice.get("finish_reason") == "length"
    except (KeyError, IndexError, TypeError, AttributeError):
        raise Unreadable(f"The reply has no choices with a message{_complaint(reply)}.") from None
    said = _said(message, choice)
    content = _without_thoughts(said)
    label, reason = _label(content, cut, form)
    return PromptAnswer(label, reason, _probabilities(choice, label, form))


def _complaint(reply: Any) -> str:
    """What a server says of an error with status 200."""
    error = reply.get("error") if isinstance(reply, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    return f", but an error: {' '.join(message.split())[:100]!r}" if isinstance(message, str) and message else ""


def _said(message: Any, choice: dict[str, Any]) -> str:
    """The text of a message: its content, the texts of its parts, or what it wanted to call a tool with."""
    if not isinstance(message, dict):
        raise Unreadable("The reply's message is no text.")
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") in ("text", "output_text")]
        content = "\n".join(part for part in parts if isinstance(part, str))
    if choice.get("finish_reason") == "content_filter":
        raise Unreadable("The server's filter withheld the answer.")
    if isinstance(refusal := message.get("refusal"), str) and refusal.strip():
        raise Unreadable(f"The model refused: {refusal.strip()[:100]!r}.")
    if not (isinstance(content, str) and content.strip()):
        content = _tool_arguments(message) or content
    if isinstance(content, str) and content.strip():
        return content
    cut = choice.get("finish_reason") == "length"
    if isinstance(message.get("reasoning_content") or message.get("reasoning"), str):
        raise Unreadable("The model thought and gave no answer.", cut or content == "")
    raise Unreadable("The reply's message is empty." if content == "" else "The reply's message is no text.", cut)


def _tool_arguments(message: dict[str, Any]) -> str | None:
    try:
        arguments = message["tool_calls"][0]["function"]["arguments"]
    except (KeyError, IndexError, TypeError):
        return None
    return json.dumps(arguments) if isinstance(arguments, dict) else arguments if isinstance(arguments, str) else None


def _without_thoughts(content: str) -> str:
    """What stands after the thinking, which may weigh both sides and may have been opened by the server. gpt-oss's raw channels
    too."""
    if "<|message|>" in content:
        content = content.rsplit("<|message|>", 1)[1].split("<|", 1)[0]
    ends = [found.end() for found in CLOSED_THOUGHT.finditer(content)]
    content = content[ends[-1] :] if ends else content
    if OPEN_THOUGHT.search(content):
        raise Unreadable("The model was still thinking when its reply ended.", cut=True)
    return content.strip()


def _label(content: str, cut: bool, form: AnswerForm) -> tuple[str, str]:
    """(label, reason) Raises Unreadable."""
    objects, around = _objects(content)
    if any(form.field in said for said in objects):  # words within its reason are none of its answers
        found = [one for said in objects if (one := _of_object(said, form))]
        found += [(label, "") for label in _by_field(around, form)] if found else []
    else:
        found = [(label, "") for label in _in_words(content, cut, form)]
    labels = {label for label, _ in found}
    if len(labels) == 1:
        return found[0]
    if labels:
        raise Unreadable(f"The reply gives more than one answer: {content[:100]!r}.")
    how = f"is {form.none_of}" if content.startswith("{") and not cut else "is no JSON object"
    raise Unreadable(f"The answer {how}: {content[:100]!r}.{' It was cut off at the longest length.' if cut else ''}", cut)


def _objects(content: str) -> tuple[list[dict[str, Any]], str]:
    """Every JSON object in the text, with names in small letters, and the text around them; also where the text is JSON of a
    text. A name with two values has a list of them, which is no answer."""
    decoder, at = json.JSONDecoder(object_pairs_hook=_folded), 0
    if content.startswith('"'):
        try:
            inner = json.loads(content)
        except (ValueError, RecursionError):
            inner = content
        content = inner if isinstance(inner, str) else content
    found, around, start = [], [], 0
    for _ in range(MOST_OBJECTS):
        at = content.find("{", at)
        if at < 0:
            break
        try:
            said, end = decoder.raw_decode(content, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        around.append(content[start:at])
        at = start = end
        if isinstance(said, dict):
            found.append(said)
    return found, "\n".join([*around, content[start:]])


def _folded(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for name, value in pairs:
        name = name.strip().lower()
        said[name] = [said[name], value] if name in said and said[name] != value else value
    return said


def _of_object(said: dict[str, Any], form: AnswerForm) -> tuple[str, str] | None:
    if form.field in said and (label := form.label(said[form.field])):
        reason = said.get("reason")
        return label, reason if isinstance(reason, str) else ""
    return None


@cache
def _patterns(field: str, value: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """(a JSON field, whatever stands for its quotes, and not the article in "the answer: a good one"; an answer in double
    brackets, as MT-bench asks for it)"""
    before = rf"""["'“”„«]?{field}["'“”»]?\s*[:=][\s"'“”„«*]*"""
    after = r"""(?!["']?\s*\|)(?=\s*(?:["'“”»*\])},.;]|$))"""  # of "A" | "B" none is chosen
    by_field = re.compile(before + value + after, re.IGNORECASE | re.MULTILINE)
    return by_field, re.compile(rf"\[\[\s*{value}\s*\]\]")


def _by_field(text: str, form: AnswerForm) -> list[str]:
    return [label for value in _patterns(form.field, form.value)[0].findall(text) if (label := form.label(value))]


def _in_words(content: str, cut: bool, form: AnswerForm) -> list[str]:
    """Answers of a text without a JSON object that can be read: by field, in MT-bench's brackets, else where the whole text or
    its last line is an answer. A line that is one contradicts others; a bare number among other lines is no answer."""
    found = _by_field(content, form)
    if not found:
        brackets = _patterns(form.field, form.value)[1].findall(content)
        found = [label for value in brackets if (label := form.label(value))]
    lines = [] if cut else [line for line in content.splitlines() if line.strip(" `")]
    alone = [form.label(line) for line in lines]
    if found:
        return found + ([] if form.stands_alone else [label for label in alone if label])
    if not lines or form.label(content):
        return [label] if lines and (label := form.label(content)) else []
    named = [label for line, label in zip(lines, alone, strict=True) if label and (form.stands_alone or not _is_bare(line))]
    return [label for label in alone if label] if named and alone[-1] == named[-1] else []


def _is_bare(line: str) -> bool:
    """A number and no word that says what it is."""
    return not any(letter.isalpha() for letter in line)


def _probabilities(choice: dict[str, Any], label: str, form: AnswerForm) -> dict[str, float] | None:
    """By the log-probabilities of what might have stood in the answer's place, of which the likeliest five or so are known;
    None where the server tells none."""
    if label not in form.labels:
        return None
    try:
        tokens = [(token["token"], token["top_logprobs"]) for token in choice["logprobs"]["content"]]
        written, content = "".join(text for text, _ in tokens), choice["message"]["content"]
        places = list(re.finditer(rf'"{form.field}"\s*:\s*"?(?={re.escape(label)}(?![\w.]))', written))
        if not places or not isinstance(content, str) or content.strip() not in written:
            return None
        start = 0
        for text, others in tokens:
            if start + len(text) > places[-1].end():
                before = text[: places[-1].end() - start]
                return _shares(before, [(o["token"], o["logprob"]) for o in others], form)
            start += len(text)
    except (KeyError, TypeError, ValueError):
        return None
    return None


def _shares(before: str, others: list[tuple[str, float]], form: AnswerForm) -> dict[str, float] | None:
    """others: (token, log-probability) in one place; before: what of the token stands before the answer. None where these are
    no log-probabilities, or where answers of several characters may be spelt by several tokens, so that one is the beginning
    of another."""
    p = dict.fromkeys(form.labels, 0.0)
    for token, logprob in others:
        if not isinstance(logprob, int | float) or math.isnan(logprob) or logprob > ROUNDING:
            return None
        if token.startswith(before) and (found := form.starts(token[len(before) :])):
            p[found] += math.exp(logprob)
    total = sum(p.values())
    long = [label for label in form.labels if len(label) > 1]
    if total <= 0 or long and not any(p[label] for label in long):
        return None
    return {label: share / total for label, share in p.items()}
