"""How a language model's answer is read out of whatever its server sent.

Models think aloud, wrap JSON in fences, call a tool that nobody offered, or write a bare letter. What says one of the three
letters and no other is an answer; whatever contradicts itself, was refused or was cut off is none, and is never guessed.
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from evaluator.judges.prompt import LETTERS

OPEN_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>|\[THINK\]", re.IGNORECASE)
CLOSED_THOUGHT = re.compile(r"</(think|thinking|thought|reasoning)>|\[/THINK\]", re.IGNORECASE)
FIELD = re.compile(  # a JSON field, whatever stands for its quotes; not the article in "the answer: a good one"
    r"""["'“”„«]?answer["'“”»]?\s*[:=]\s*["'“”„«*]*\s*(?:answer\s+)?([A-Za-z]+)(?=\s*(?:["'“”»*\])},.;]|$))""",
    re.IGNORECASE | re.MULTILINE,
)
BRACKETS = re.compile(r"\[\[\s*([A-Ca-c])\s*\]\]")  # as MT-bench asks for it
BARE = re.compile(
    r"(?:the\s+)?(?:better\s+)?(?:(?:answer|choice|verdict)\s*(?:is)?\s*:?\s*)?(?:answer\s+)?([A-Ca-c]|tie|neither|both)",
    re.IGNORECASE,
)
WORDS = {"TIE": "C", "NEITHER": "C", "BOTH": "C", "EQUAL": "C"}
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
    """To one order of a pair: first and second as they were shown."""

    choice: str  # "A" (the first is better) | "tie" | "B"
    reason: str
    probabilities: tuple[float, float, float] | None  # of first, tie, second; None where the server gives none


def read_answer(reply: Any) -> PromptAnswer:
    """The answer in a chat completion. Raises Unreadable."""
    try:
        choice = reply["choices"][0]
        message = choice["message"]
        cut = choice.get("finish_reason") == "length"
    except (KeyError, IndexError, TypeError, AttributeError):
        raise Unreadable(f"The reply has no choices with a message{_complaint(reply)}.") from None
    said = _said(message, choice)
    content = _without_thoughts(said)
    letter, reason = _letter(content, cut)
    return PromptAnswer(LETTERS[letter], reason, _probabilities(choice, letter))


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


def _letter(content: str, cut: bool) -> tuple[str, str]:
    """(letter, reason) Raises Unreadable."""
    found = [(letter, reason) for said in _objects(content) for letter, reason in _of_object(said)]
    if not found:
        found = [(letter, "") for letter in _in_words(content, cut)]
    letters = {letter for letter, _ in found}
    if len(letters) == 1:
        return found[0]
    if letters:
        raise Unreadable(f"The reply gives more than one answer: {content[:100]!r}.")
    how = "is none of A, B and C" if content.startswith("{") and not cut else "is no JSON object"
    raise Unreadable(f"The answer {how}: {content[:100]!r}.{' It was cut off at the longest length.' if cut else ''}", cut)


def _objects(content: str) -> Iterator[dict[str, Any]]:
    """Every JSON object in the text, whatever stands around it, also where the text is JSON of a text."""
    decoder, at = json.JSONDecoder(), 0
    if content.startswith('"'):
        try:
            inner = json.loads(content)
        except (ValueError, RecursionError):
            inner = content
        content = inner if isinstance(inner, str) else content
    for _ in range(MOST_OBJECTS):
        at = content.find("{", at)
        if at < 0:
            return
        try:
            said, end = decoder.raw_decode(content, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        at = end
        if isinstance(said, dict):
            yield said


def _of_object(said: dict[str, Any]) -> Iterator[tuple[str, str]]:
    named = {str(name).strip().lower(): value for name, value in said.items()}
    if "answer" in named and (letter := _as_letter(named["answer"])):
        reason = named.get("reason")
        yield letter, reason if isinstance(reason, str) else ""


def _as_letter(value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    bare = BARE.fullmatch(value.strip().strip("*_`\"'.[]() "))
    return _known(bare.group(1)) if bare else None


def _known(word: str) -> str | None:
    word = word.upper()
    return word if word in LETTERS else WORDS.get(word)


def _in_words(content: str, cut: bool) -> list[str]:
    """Letters of a text without a JSON object that can be read: by field, in MT-bench's brackets, else where the whole text or
    its last line is an answer."""
    by_field = [_known(word) for word in FIELD.findall(content)]
    found = by_field or [_known(word) for word in BRACKETS.findall(content)]
    if not found and not cut:
        lines = [line for line in content.splitlines() if line.strip(" `")]
        found = [_as_letter(content) or (_as_letter(lines[-1]) if lines else None)]
    return [letter for letter in found if letter]


def _probabilities(choice: dict[str, Any], letter: str) -> tuple[float, float, float] | None:
    """P(first), P(tie), P(second) by the log-probabilities of the letters that might have stood in the answer's place, of
    which the likeliest five or so are known; None where the server tells none."""
    try:
        tokens = [(token["token"], token["top_logprobs"]) for token in choice["logprobs"]["content"]]
        written, content = "".join(text for text, _ in tokens), choice["message"]["content"]
        places = list(re.finditer(rf'"answer"\s*:\s*"(?={letter}")', written))
        if not places or not isinstance(content, str) or content.strip() not in written:
            return None
        start = 0
        for text, others in tokens:
            if start + len(text) > places[-1].end():
                return _shares(text[: places[-1].end() - start], [(o["token"], o["logprob"]) for o in others])
            start += len(text)
    except (KeyError, TypeError, ValueError):
        return None
    return None


def _shares(before: str, others: list[tuple[str, float]]) -> tuple[float, float, float] | None:
    """others: (token, log-probability) in one place; before: what of the token stands before the letter. None where these are
    no log-probabilities."""
    p = dict.fromkeys(LETTERS, 0.0)
    for token, logprob in others:
        if not isinstance(logprob, int | float) or math.isnan(logprob) or logprob > ROUNDING:
            return None
        if token.startswith(before) and (found := token[len(before) : len(before) + 1]) in p:
            p[found] += math.exp(logprob)
    total = sum(p.values())
    return (p["A"] / total, p["C"] / total, p["B"] / total) if total > 0 else None
