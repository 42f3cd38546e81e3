"""A chat-completions server that answers in the ways of many servers and models, also the rude ones.

Its true preference: of the texts A and B in the last JSON object of the prompt, the one which contains "good" is better, else
it is a tie. How it says so is a mode: a function of MODES, with what a client must make of it. Run this file to ask each once.
"""

import gzip
import json
import math
import re
import socket
import struct
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]
Mode = str | Callable[[int, Body], str]

EXPECTATIONS = {
    "right": "the answer is read at once, and is the true preference (or what SAYS has)",
    "unjudged": "the pair is counted as unjudged, with a reason; the run goes on",
    "retry": "the same request is sent again, and then read",
    "adapt": "the request is changed and sent again, then read; later requests are sent in the changed way",
    "stop": "the run ends with a sentence, and what was judged is kept",
}


@dataclass
class Ask:
    """One request as a mode sees it."""

    number: int  # from 0, of this server
    body: Body
    pair: Body | None  # the JSON object at the prompt's end
    truth: str  # A, B or tie
    times: int  # how often this pair was asked in this mode, with this time
    order: int  # which pair of this mode it is, from 0, by first sight
    server: "RudeServer"

    @property
    def wrong(self) -> str:
        """An answer which is not the true preference."""
        return "B" if self.truth == "A" else "A"

    def answer(self, choice: str | None = None) -> str:
        """The answer as JSON, in the way that the judge's prompt asks for."""
        return json.dumps(self.server.spell(choice or self.truth, self.body))


@dataclass
class Answer:
    """What goes back: a status, a body, and how it is sent."""

    status: int = 200
    body: Any = None  # bytes as they are, text in UTF-8, else JSON
    headers: dict[str, str] = field(default_factory=dict)
    how: str = "whole"  # whole, cut, drop, reset, drip, close

    def payload(self) -> bytes:
        """The body's bytes."""
        if isinstance(self.body, bytes):
            return self.body
        return (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()


MODES: dict[str, tuple[Callable[[Ask], Answer], str, str]] = {}  # name: what answers, what a client must do, the sentence
ALSO_HONEST: dict[str, set[str]] = {}  # what else is no fault; a wrong answer always is one
SAYS: dict[str, str] = {}  # modes which do not say the true preference, and what they say


def mode(expectation: str, also: str = "", says: str = "") -> Callable[[Callable[[Ask], Answer]], Callable[[Ask], Answer]]:
    """Enters a function into MODES under its name, with the first line of its docstring as the sentence."""

    def enter(function: Callable[[Ask], Answer]) -> Callable[[Ask], Answer]:
        name = function.__name__
        assert expectation in EXPECTATIONS and name not in MODES
        MODES[name] = (function, expectation, (function.__doc__ or "").strip().splitlines()[0])
        if also:
            ALSO_HONEST[name] = set(also.split())
        if says:
            SAYS[name] = says
        return function

    return enter


def allowed(name: str) -> set[str]:
    """All that a client may make of a mode."""
    return {MODES[name][1]} | ALSO_HONEST.get(name, set())


def names(*expectations: str) -> list[str]:
    """Modes of these expectations, in the table's order."""
    return [name for name, (_, expectation, _) in MODES.items() if expectation in expectations]


# Parts of answers


def log_probabilities(text: str, likelier: str) -> Body:
    """Log-probabilities of the text's tokens, .9 for each and for the answer."""
    tokens = re.findall(r"\w+|\W", text)
    content = []
    for token in tokens:
        others = [other for other in ("A", "tie", "B") if other != likelier] if token == likelier else ["x", "y"]
        top = [{"token": token, "logprob": math.log(0.9), "bytes": list(token.encode())}]
        top += [{"token": other, "logprob": math.log(0.05), "bytes": list(other.encode())} for other in others]
        content.append({**top[0], "top_logprobs": top})
    return {"content": content, "refusal": None}


USAGE = {"prompt_tokens": 120, "completion_tokens": 12, "total_tokens": 132}
UNSET = object()


def completion(ask: Ask, content: Any, *, message: Body | None = None, finish: str | None = "stop", **top: Any) -> Body:
    """A completion's JSON with this content; `message`, `logprobs` and fields at the top replace what is usual."""
    said = {"role": "assistant", "content": content, **(message or {})}
    choice: Body = {"index": 0, "message": said, "finish_reason": finish}
    probabilities = top.pop("logprobs", UNSET)
    if probabilities is not UNSET:
        choice["logprobs"] = probabilities
    elif ask.body.get("logprobs") and isinstance(content, str):
        choice["logprobs"] = log_probabilities(content, ask.truth)
    usual = {"id": f"chatcmpl-{ask.number}", "object": "chat.completion", "created": int(time.time())}
    whole = {**usual, "model": ask.body.get("model", "?"), "choices": [choice], "usage": dict(USAGE), **top}
    return {key: value for key, value in whole.items() if value is not UNSET}


def says(ask: Ask, content: Any, **how: Any) -> Answer:
    """Status 200 with this content."""
    return Answer(body=completion(ask, content, **how))


def right(ask: Ask) -> Answer:
    """The answer as asked for."""
    return says(ask, ask.answer())


def error(
    status: int,
    message: Any,
    kind: str | None = "invalid_request_error",
    param: str | None = None,
    code: Any = None,
    **more: Any,
) -> Answer:
    """An error in OpenAI's shape."""
    return Answer(status, {"error": {"message": message, "type": kind, "param": param, "code": code, **more}})


# Right answers, each in another dress


@mode("right")
def plain(ask: Ask) -> Answer:
    """JSON alone, with log-probabilities if asked: read."""
    return right(ask)


@mode("right")
def fenced(ask: Ask) -> Answer:
    """JSON in ```json fences: read."""
    return says(ask, f"```json\n{ask.answer()}\n```")


@mode("right")
def fenced_without_language(ask: Ask) -> Answer:
    """JSON in bare fences, with an empty line around: read."""
    return says(ask, f"\n\n```\n{ask.answer()}\n```\n\n")


@mode("right")
def prose_around(ask: Ask) -> Answer:
    """Prose before and after the JSON, the prose with braces and the letter A: the JSON is read."""
    return says(ask, f"A look at both {{texts}} leads me to this:\n\n{ask.answer()}\n\nAsk me if you need a {{longer}} reason.")


@mode("right")
def format_repeated(ask: Ask) -> Answer:
    """The asked format is repeated before the answer: the placeholder is not the answer."""
    return says(ask, f'You want {{"answer": "A" | "tie" | "B"}}, so here it is:\n{ask.answer()}')


@mode("right")
def pair_repeated(ask: Ask) -> Answer:
    """The prompt's JSON object is repeated before the answer: its keys A and B are not the answer."""
    return says(ask, f"{json.dumps(ask.pair)}\n{ask.answer()}")


@mode("right")
def thinking(ask: Ask) -> Answer:
    """<think> with a wrong JSON answer inside, then the answer: thinking is kept apart, the answer is read."""
    return says(ask, f"<think>\nAt first sight {ask.answer(ask.wrong)}, but no.\n</think>\n\n{ask.answer()}")


@mode("right")
def thinking_without_opening(ask: Ask) -> Answer:
    """Only </think> (the opening tag was in the template), a wrong JSON answer before it: what follows is read."""
    return says(ask, f"At first sight {ask.answer(ask.wrong)}, but no.\n</think>\n\n{ask.answer()}")


@mode("right", also="unjudged")
def thinking_in_brackets(ask: Ask) -> Answer:
    """[THINK]…[/THINK] with a wrong answer inside, then the answer: read, never the one inside."""
    return says(ask, f"[THINK]Perhaps {ask.answer(ask.wrong)}? No.[/THINK]{ask.answer()}")


@mode("right", also="unjudged")
def thinking_in_channels(ask: Ask) -> Answer:
    """Channels of a template that nobody took apart, a wrong answer in the first: the final one is read."""
    return says(
        ask,
        f"<|channel|>analysis<|message|>Perhaps {ask.answer(ask.wrong)}<|end|><|start|>assistant"
        f"<|channel|>final<|message|>{ask.answer()}",
    )


@mode("right")
def reasoning_content(ask: Ask) -> Answer:
    """A wrong answer in `reasoning_content`, the answer in content: content is read, reasoning is kept."""
    return says(ask, ask.answer(), message={"reasoning_content": f"Perhaps {ask.answer(ask.wrong)}? No."})


@mode("right")
def reasoning_field(ask: Ask) -> Answer:
    """The same in a field `reasoning`, content with empty lines: content is read."""
    return says(ask, f"\n\n{ask.answer()}", message={"reasoning": f"Perhaps {ask.answer(ask.wrong)}? No."})


@mode("right")
def content_parts(ask: Ask) -> Answer:
    """Content is a list of parts: their texts are joined."""
    return says(ask, [{"type": "text", "text": ask.answer()[:9]}, {"type": "text", "text": ask.answer()[9:]}])


@mode("right")
def content_parts_thinking(ask: Ask) -> Answer:
    """A part of kind `thinking` with a wrong answer, then a text: the text is read."""
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": ask.answer(ask.wrong)}]}
    return says(ask, [thought, {"type": "text", "text": ask.answer()}])


@mode("right")
def tool_call(ask: Ask) -> Answer:
    """Content null, the answer in a tool call's arguments: read."""
    call = {"id": "call_1", "type": "function", "function": {"name": "answer", "arguments": ask.answer()}}
    return says(ask, None, message={"tool_calls": [call]}, finish="tool_calls")


@mode("right")
def tool_call_object(ask: Ask) -> Answer:
    """Arguments of a tool call are an object, not a text, and content is empty: read."""
    call = {"function": {"name": "answer", "arguments": json.loads(ask.answer())}}
    return says(ask, "", message={"tool_calls": [call]})


@mode("right")
def answer_letter(ask: Ask) -> Answer:
    """The bare letter (or the word tie): read."""
    return says(ask, ask.truth)


@mode("right")
def answer_words(ask: Ask) -> Answer:
    """The words "Answer B": read."""
    return says(ask, "Tie" if ask.truth == "tie" else f"Answer {ask.truth}")


@mode("right")
def answer_bold(ask: Ask) -> Answer:
    """The letter in bold, "**B**": read."""
    return says(ask, f"**{ask.truth}**")


@mode("right")
def answer_lower(ask: Ask) -> Answer:
    """Lower case "b" with a full stop: read."""
    return says(ask, f"{ask.truth.lower()}.")


@mode("right", also="unjudged")
def mt_bench(ask: Ask) -> Answer:
    """After prose "[[A]]", "[[B]]", or "[[C]]" for a tie, as in MT-bench: read."""
    return says(ask, f"A closer look at both. My final verdict is: [[{'C' if ask.truth == 'tie' else ask.truth}]]")


@mode("right", also="unjudged", says="tie")
def mt_bench_tie(ask: Ask) -> Answer:
    """Always "[[C]]": a tie, never A or B."""
    return says(ask, "Both are alike. [[C]]")


@mode("right", also="unjudged", says="tie")
def neither(ask: Ask) -> Answer:
    """Always the word "Neither": a tie, never A or B."""
    return says(ask, "Neither")


@mode("right")
def json_words(ask: Ask) -> Answer:
    """JSON with "answer": "Answer A": read."""
    return says(ask, json.dumps({"reason": "So it is.", "answer": "Tie" if ask.truth == "tie" else f"Answer {ask.truth}"}))


@mode("right")
def json_lower(ask: Ask) -> Answer:
    """JSON with "Answer": "b", key and letter in the other case: read."""
    return says(ask, json.dumps({"Reason": "So it is.", "Answer": ask.truth.lower()}))


@mode("right", also="unjudged")
def json_trailing_comma(ask: Ask) -> Answer:
    """Keys that nobody asked for, and a trailing comma: read."""
    return says(ask, f'{{"confidence": 0.8, "notes": ["A is long",], "answer": "{ask.truth}", "reason": "So it is.",}}')


@mode("right", also="unjudged")
def json_curly_quotes(ask: Ask) -> Answer:
    """JSON in another language's quotes: read."""
    return says(ask, f"{{“answer”: “{ask.truth}”, “reason”: “So it is.”}}")


@mode("right", also="unjudged")
def json_single_quotes(ask: Ask) -> Answer:
    """JSON as Python prints it: read."""
    return says(ask, str({"reason": "It's so.", "answer": ask.truth, "sure": True, "notes": None}))


@mode("right", also="unjudged")
def json_twice_encoded(ask: Ask) -> Answer:
    """JSON text which holds JSON: read."""
    return says(ask, json.dumps(ask.answer()))


@mode("right", also="unjudged")
def json_in_list(ask: Ask) -> Answer:
    """The object is in a list: read."""
    return says(ask, f"[{ask.answer()}]")


@mode("right")
def json_twice_equal(ask: Ask) -> Answer:
    """Two objects which agree: read."""
    return says(ask, f"{ask.answer()}\n\n{ask.answer()}")


@mode("right", also="unjudged")
def json_cut_after_answer(ask: Ask) -> Answer:
    """The answer is there, the reason after it was cut by length: read, or counted as cut."""
    return says(ask, f'{{"answer": "{ask.truth}", "reason": "The texts are', finish="length")


@mode("right")
def strange_characters(ask: Ask) -> Answer:
    """NUL and half of a surrogate pair in the reason: read, and stored without a fault in any database."""
    return says(ask, f'{{"reason": "so \\u0000 it \\ud800 is \U0001f600", "answer": "{ask.truth}"}}')


@mode("right", also="unjudged")
def huge(ask: Ask) -> Answer:
    """An answer of 2 MB: read in a second, not shown whole."""
    return says(ask, json.dumps({"reason": "so " * 700_000, "answer": ask.truth}), logprobs=None)


@mode("right", also="unjudged")
def braces(ask: Ask) -> Answer:
    """50,000 opening braces before the JSON: read or unjudged within a second."""
    return says(ask, "{" * 50_000 + ask.answer(), logprobs=None)


@mode("right")
def zipped(ask: Ask) -> Answer:
    """The body is compressed with gzip: read."""
    return Answer(body=gzip.compress(json.dumps(completion(ask, ask.answer())).encode()), headers={"Content-Encoding": "gzip"})


@mode("right", also="unjudged")
def streamed(ask: Ask) -> Answer:
    """Server-sent events although nobody asked for a stream: joined, or counted as unjudged."""
    pieces = re.findall(r".{1,7}", ask.answer())
    usual = {"id": "1", "object": "chat.completion.chunk", "model": ask.body.get("model")}
    deltas = [{**usual, "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]} for piece in pieces]
    deltas.append({**usual, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    lines = "".join(f"data: {json.dumps(delta)}\n\n" for delta in deltas) + "data: [DONE]\n\n"
    return Answer(body=lines, headers={"Content-Type": "text/event-stream"})


@mode("right")
def closed_after(ask: Ask) -> Answer:
    """The kept connection is closed after the answer without a word: read, and the next request opens a new one."""
    return Answer(body=completion(ask, ask.answer()), how="close")


@mode("right")
def plain_text_type(ask: Ask) -> Answer:
    """JSON of the right shape with Content-Type text/plain: read."""
    return Answer(body=completion(ask, ask.answer()), headers={"Content-Type": "text/plain"})


@mode("right", says="A")
def first_biased(ask: Ask) -> Answer:
    """Always A: read as said; both orders together are a tie, and the share of the first place is shown."""
    return says(ask, ask.answer("A"), logprobs=log_probabilities(ask.answer("A"), "A"))


# Log-probabilities, names and usage that cannot be trusted


@mode("right")
def log_probabilities_nan(ask: Ask) -> Answer:
    """Log-probabilities NaN (no JSON, but sent): they are ignored, the text is read."""
    return says(ask, ask.answer(), logprobs=spoilt(ask, math.nan))


@mode("right")
def log_probabilities_infinite(ask: Ask) -> Answer:
    """Log-probabilities -Infinity for all: they are ignored, the text is read."""
    return says(ask, ask.answer(), logprobs=spoilt(ask, -math.inf))


@mode("right")
def log_probabilities_positive(ask: Ask) -> Answer:
    """Log-probabilities of 3 (a probability of 20): they are ignored, the text is read."""
    return says(ask, ask.answer(), logprobs=spoilt(ask, 3.0))


@mode("right")
def log_probabilities_text(ask: Ask) -> Answer:
    """Log-probabilities as texts: they are ignored, the text is read."""
    return says(ask, ask.answer(), logprobs=spoilt(ask, "-0.1"))


@mode("right")
def log_probabilities_null(ask: Ask) -> Answer:
    """Log-probabilities asked for, null given: the text is read."""
    return says(ask, ask.answer(), logprobs=None)


@mode("right")
def log_probabilities_empty(ask: Ask) -> Answer:
    """`content` of the log-probabilities null, as for a tool call: the text is read."""
    return says(ask, ask.answer(), logprobs={"content": None})


@mode("right")
def log_probabilities_elsewhere(ask: Ask) -> Answer:
    """Tokens of another text, sure of the wrong answer, which do not join to content: ignored, the text is read."""
    return says(ask, ask.answer(), logprobs=log_probabilities(ask.answer(ask.wrong), ask.wrong))


@mode("right")
def log_probabilities_old(ask: Ask) -> Answer:
    """The older shape (tokens, token_logprobs): ignored or understood, the text is read."""
    tokens = re.findall(r"\w+|\W", ask.answer())
    old = {"tokens": tokens, "token_logprobs": [-0.1] * len(tokens), "top_logprobs": None, "text_offset": []}
    return says(ask, ask.answer(), logprobs=old)


def spoilt(ask: Ask, value: Any) -> Body:
    """Log-probabilities of the right answer's tokens, each of this value."""
    whole = log_probabilities(ask.answer(), ask.truth)
    for token in whole["content"]:
        for one in [token, *token["top_logprobs"]]:
            one["logprob"] = value
    return whole


@mode("right")
def other_model(ask: Ask) -> Answer:
    """Another model answers than was asked: read, and noticed in the record and in words."""
    return says(ask, ask.answer(), model="some-cheaper-model")


@mode("right")
def no_model(ask: Ask) -> Answer:
    """The reply names no model: read."""
    return says(ask, ask.answer(), model=None)


@mode("right")
def no_usage(ask: Ask) -> Answer:
    """No usage: read; the price is unknown, not 0."""
    return says(ask, ask.answer(), usage=UNSET)


@mode("right")
def usage_null(ask: Ask) -> Answer:
    """Usage null: read; the price is unknown, not 0."""
    return says(ask, ask.answer(), usage=None)


@mode("right")
def usage_text(ask: Ask) -> Answer:
    """Usage in texts: read; the price is unknown or worked out, never a fault."""
    return says(ask, ask.answer(), usage={"prompt_tokens": "120", "completion_tokens": "many"})


@mode("right")
def usage_negative(ask: Ask) -> Answer:
    """Negative, infinite and absurd usage: read; it never lowers the price or frees the budget."""
    return says(ask, ask.answer(), usage={"prompt_tokens": -5000, "completion_tokens": math.inf, "total_tokens": 10**400})


# What cannot be judged


@mode("unjudged")
def thinking_cut(ask: Ask) -> Answer:
    """Thinking never closed and cut by length, a wrong JSON answer inside: unjudged (cut), never the answer inside."""
    return says(ask, f"<think>\nAt first sight {ask.answer(ask.wrong)}, but then again the", finish="length")


@mode("unjudged")
def reasoning_alone(ask: Ask) -> Answer:
    """All in `reasoning_content`, content null, cut by length: unjudged (cut), never the wrong answer inside."""
    return says(ask, None, message={"reasoning_content": f"Perhaps {ask.answer(ask.wrong)}, but"}, finish="length")


@mode("unjudged")
def refusal_field(ask: Ask) -> Answer:
    """Content null, a text in `refusal`: unjudged (refused)."""
    return says(ask, None, message={"refusal": "I can't help with that."})


@mode("unjudged")
def refusal_words(ask: Ask) -> Answer:
    """A refusal in prose, which begins with the letter A: unjudged."""
    return says(ask, "As a language model I cannot compare Answer A and Answer B. I'm sorry.")


@mode("unjudged")
def filtered_empty(ask: Ask) -> Answer:
    """finish_reason content_filter, content empty: unjudged (filtered)."""
    return says(ask, "", finish="content_filter")


@mode("unjudged")
def filtered_error(ask: Ask) -> Answer:
    """HTTP 400 with code content_filter, as Azure: unjudged (filtered), the request is not changed."""
    inner = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {"hate": {"filtered": True, "severity": "high"}}}
    said = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
    return error(400, said, kind=None, param="prompt", code="content_filter", innererror=inner)


@mode("unjudged")
def too_long(ask: Ask) -> Answer:
    """HTTP 400 context_length_exceeded, its words speak of tokens: unjudged (too long), no parameter is dropped."""
    said = (
        "This model's maximum context length is 8192 tokens. However, you requested 9192 tokens (8892 in the messages, "
        "300 in the completion). Please reduce the length of the messages or completion."
    )
    return error(400, said, param="messages", code="context_length_exceeded")


@mode("unjudged")
def too_long_flat(ask: Ask) -> Answer:
    """HTTP 400 too long in the flat shape of older vLLM, its code a number: unjudged (too long)."""
    said = "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens."
    return Answer(400, {"object": "error", "message": said, "type": "BadRequestError", "param": None, "code": 400})


@mode("unjudged")
def too_long_llama(ask: Ask) -> Answer:
    """HTTP 400 exceed_context_size_error, as llama.cpp: unjudged (too long)."""
    said = "the request exceeds the available context size, try increasing it"
    return error(400, said, kind="exceed_context_size_error", code=400, n_prompt_tokens=5000, n_ctx=4096)


@mode("unjudged")
def too_large(ask: Ask) -> Answer:
    """HTTP 413 with HTML: unjudged (too long)."""
    return html(413, "Request Entity Too Large")


@mode("unjudged", also="stop")
def error_always(ask: Ask) -> Answer:
    """HTTP 500 each time: unjudged after a few tries; if all fail, the run may end with a sentence."""
    return error(500, "The server had an error while processing your request.", kind="server_error")


@mode("unjudged", also="stop")
def error_inside(ask: Ask) -> Answer:
    """HTTP 200 with an error object and no choices: unjudged with the error's words."""
    return Answer(body={"error": {"message": "Provider returned error", "code": 502, "metadata": {"raw": "?"}}, "id": None})


@mode("unjudged", also="stop")
def html_page(ask: Ask) -> Answer:
    """HTTP 200 with a log-in page: unjudged, nothing of the page is taken as an answer."""
    return html(200, "A good place to log in: B")


def html(status: int, words: str) -> Answer:
    """A page of a proxy."""
    page = f"<html><head><title>{words}</title></head><body><h1>{words}</h1></body></html>"
    return Answer(status, page, {"Content-Type": "text/html"})


@mode("unjudged", also="stop")
def empty(ask: Ask) -> Answer:
    """HTTP 200 with an empty body: unjudged."""
    return Answer(body=b"")


@mode("unjudged", also="stop")
def no_content_204(ask: Ask) -> Answer:
    """HTTP 204: unjudged, the connection stays usable."""
    return Answer(204, b"")


@mode("unjudged", also="stop")
def broken_json(ask: Ask) -> Answer:
    """HTTP 200, the body breaks off in the middle of the JSON (its length is as announced): unjudged."""
    return Answer(body=json.dumps(completion(ask, ask.answer())).encode()[:-40])


@mode("unjudged", also="right stop")
def broken_utf8(ask: Ask) -> Answer:
    """A byte which is no UTF-8 (no JSONDecodeError but a UnicodeDecodeError): unjudged or read, no traceback."""
    return Answer(body=json.dumps(completion(ask, ask.answer())).encode().replace(b"chatcmpl", b"chat\xffcmpl"))


@mode("unjudged", also="stop")
def json_not_object(ask: Ask) -> Answer:
    """HTTP 200 with a JSON list: unjudged."""
    return Answer(body=["A", "B"])


@mode("unjudged", also="stop")
def no_choices(ask: Ask) -> Answer:
    """An empty list of choices: unjudged."""
    return says(ask, "", choices=[])


@mode("unjudged", also="stop")
def choices_null(ask: Ask) -> Answer:
    """Choices null: unjudged."""
    return says(ask, "", choices=None)


@mode("unjudged", also="stop")
def message_null(ask: Ask) -> Answer:
    """A choice whose message is null: unjudged."""
    return says(ask, "", choices=[{"index": 0, "message": None, "finish_reason": "error"}])


@mode("unjudged", also="stop")
def content_number(ask: Ask) -> Answer:
    """Content is a number: unjudged."""
    return says(ask, 7)


@mode("unjudged", also="stop")
def content_null(ask: Ask) -> Answer:
    """Content null and nothing else: unjudged (empty)."""
    return says(ask, None)


@mode("unjudged")
def blanks(ask: Ask) -> Answer:
    """Nothing but blanks until the length is reached: unjudged (cut)."""
    return says(ask, " \n" * 2000, finish="length", logprobs=None)


@mode("unjudged")
def cut_before_answer(ask: Ask) -> Answer:
    """JSON cut by length before the answer, in a reason which names A and B: unjudged (cut)."""
    return says(ask, '{"reason": "Answer A is longer than answer B, and', finish="length")


@mode("unjudged")
def two_answers(ask: Ask) -> Answer:
    """Two JSON objects which disagree: unjudged, neither is chosen."""
    return says(ask, f"{ask.answer('A')}\n{ask.answer('B')}")


@mode("unjudged")
def letter_outside(ask: Ask) -> Answer:
    """JSON with "answer": "C": unjudged."""
    return says(ask, json.dumps({"reason": "So it is.", "answer": "C"}))


@mode("unjudged")
def answer_list(ask: Ask) -> Answer:
    """JSON with "answer": ["A", "B"]: unjudged."""
    return says(ask, json.dumps({"reason": "So it is.", "answer": ["A", "B"]}))


@mode("unjudged")
def answer_null(ask: Ask) -> Answer:
    """JSON with "answer": null, a reason that names B: unjudged, no tie."""
    return says(ask, json.dumps({"reason": "I cannot say whether B is better.", "answer": None}))


@mode("unjudged", also="right")
def prose_alone(ask: Ask) -> Answer:
    """One sentence which begins with the article A and ends with the answer: unjudged, or the answer, never the article."""
    return says(ask, "A close call; both are equal." if ask.truth == "tie" else f"A close call, but {ask.truth} is better.")


@mode("unjudged")
def prose_both(ask: Ask) -> Answer:
    """Prose which names both and decides nothing: unjudged."""
    return says(ask, "Answer A has its merits, and so has Answer B. It depends on what you need.")


@mode("unjudged")
def deep(ask: Ask) -> Answer:
    """100,000 opening brackets (a RecursionError in Python's json): unjudged, no traceback."""
    return says(ask, "[" * 100_000, logprobs=None)


@mode("unjudged")
def alpha_refused(ask: Ask) -> Answer:
    """Texts with the word "alpha" are refused, others judged: unjudged for one system, and the judge's coverage says so."""
    texts = json.dumps({key: value for key, value in (ask.pair or {}).items() if key != "context"}).lower()
    return refusal_words(ask) if "alpha" in texts else right(ask)


@mode("unjudged")
def one_in_thirty(ask: Ask) -> Answer:
    """The first pair and each 30th after it are refused, however often asked: unjudged, the other 29 stand."""
    return refusal_field(ask) if ask.order % 30 == 0 else right(ask)


@mode("unjudged", also="stop")
def slow(ask: Ask) -> Answer:
    """Nothing for longer than the time-out: unjudged (time), the connection is given up."""
    ask.server.wait(ask.server.slow_seconds)
    return right(ask)


@mode("unjudged", also="right stop")
def drip(ask: Ask) -> Answer:
    """A blank each .1 s, the answer after the time-out: a time-out for each read never comes, one for the whole does."""
    return Answer(body=completion(ask, ask.answer()), how="drip")


@mode("unjudged", also="stop")
def dropped(ask: Ask) -> Answer:
    """The connection is closed before an answer, each time: unjudged after a few tries."""
    return Answer(how="drop")


# What passes when asked again


def at_first(ask: Ask, answer: Callable[[Ask], Answer]) -> Answer:
    """This answer when the pair comes first, the right one when it comes again."""
    return answer(ask) if ask.times == 1 else right(ask)


@mode("retry")
def dropped_once(ask: Ask) -> Answer:
    """The connection is closed after the first request, then all is well: asked again."""
    return at_first(ask, dropped)


@mode("retry")
def reset_once(ask: Ask) -> Answer:
    """The connection is reset (RST) after the first request: asked again."""
    return at_first(ask, lambda ask: Answer(how="reset"))


@mode("retry")
def cut_once(ask: Ask) -> Answer:
    """A chunked body is cut in the middle the first time: asked again."""
    return at_first(ask, lambda ask: Answer(body=completion(ask, ask.answer()), how="cut"))


@mode("retry")
def slow_once(ask: Ask) -> Answer:
    """Longer than the time-out the first time: asked again."""
    return at_first(ask, slow)


@mode("retry")
def error_once(ask: Ask) -> Answer:
    """HTTP 500 the first time: asked again."""
    return at_first(ask, error_always)


@mode("retry")
def gateway_once(ask: Ask) -> Answer:
    """HTTP 502 with HTML the first time: asked again."""
    return at_first(ask, lambda ask: html(502, "Bad Gateway"))


@mode("retry")
def unavailable_once(ask: Ask) -> Answer:
    """HTTP 503 the first time, as while a model loads: asked again."""
    return at_first(ask, lambda ask: error(503, "Loading model", kind="unavailable_error", code=503))


@mode("retry")
def overloaded_once(ask: Ask) -> Answer:
    """HTTP 529, a status that few lists have, the first time: asked again."""
    said = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    return at_first(ask, lambda ask: Answer(529, said))


@mode("retry")
def busy_inside_once(ask: Ask) -> Answer:
    """HTTP 200 with an error object of code 429 the first time: asked again."""
    said = {"error": {"message": "Provider returned error: rate limit exceeded", "code": 429}}
    return at_first(ask, lambda ask: Answer(body=said))


@mode("retry")
def busy_in_list_once(ask: Ask) -> Answer:
    """HTTP 429 whose error is in a list, as Google's: asked again, no traceback."""
    said = [{"error": {"code": 429, "message": "Resource has been exhausted.", "status": "RESOURCE_EXHAUSTED"}}]
    return at_first(ask, lambda ask: Answer(429, said))


def limited(ask: Ask, retry_after: str | None, seconds: float = 0.0) -> Answer:
    """429 the first time; asked again before the seconds are over, again 429, and noted in `too_early`."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    said = error(429, "Rate limit reached for requests. Please try again.", kind="requests", code="rate_limit_exceeded")
    if ask.server.too_soon(ask, seconds):
        said.headers = headers
        return said
    return right(ask)


@mode("retry")
def limited_seconds(ask: Ask) -> Answer:
    """429 with Retry-After: 1: asked again, not before the second is over (`too_early` tells)."""
    return limited(ask, "1", 1.0)


@mode("retry")
def limited_date(ask: Ask) -> Answer:
    """429 with Retry-After as an HTTP date, one to two seconds away: asked again, not before (`too_early` tells)."""
    until = math.ceil(time.time()) + 1
    return limited(ask, formatdate(until, usegmt=True), until - time.time())


@mode("retry")
def limited_silently(ask: Ask) -> Answer:
    """429 without Retry-After: asked again after a while of the client's own."""
    return limited(ask, None)


@mode("retry")
def limited_nonsense(ask: Ask) -> Answer:
    """429 with Retry-After: -1e999: asked again, no negative or infinite sleep."""
    return limited(ask, "-1e999")


@mode("retry")
def limited_past(ask: Ask) -> Answer:
    """429 with Retry-After as a date in the past, as with a wrong clock: asked again."""
    return limited(ask, formatdate(time.time() - 86400, usegmt=True))


# What ends the run


@mode("stop", also="unjudged")
def limited_for_a_day(ask: Ask) -> Answer:
    """429 with Retry-After: 86400: a sentence, no silent sleep of a day."""
    return Answer(429, {"error": {"message": "Daily limit reached.", "code": 429}}, {"Retry-After": "86400"})


@mode("stop")
def quota(ask: Ask) -> Answer:
    """429 insufficient_quota: no waiting helps, the run ends with the server's words."""
    said = "You exceeded your current quota, please check your plan and billing details."
    return error(429, said, kind="insufficient_quota", code="insufficient_quota")


@mode("stop")
def payment(ask: Ask) -> Answer:
    """HTTP 402: no money left, the run ends with the server's words."""
    return error(402, "Insufficient credits", code=402)


@mode("stop")
def unauthorized(ask: Ask) -> Answer:
    """HTTP 401 with part of the key in the words: the run ends at once; the key is not repeated in any message or record."""
    key = ask.server.requests[ask.number]["headers"].get("authorization", "none").removeprefix("Bearer ")
    return error(401, f"Incorrect API key provided: {key}.", code="invalid_api_key")


@mode("stop")
def forbidden(ask: Ask) -> Answer:
    """HTTP 403 without a parameter's name: the run ends with the server's words."""
    return error(403, "Country, region, or territory not supported", code="unsupported_country_region_territory")


@mode("stop")
def no_such_model(ask: Ask) -> Answer:
    """HTTP 404 model_not_found: the run ends with the model's name."""
    return error(404, f"The model `{ask.body.get('model')}` does not exist.", param="model", code="model_not_found")


@mode("stop")
def no_such_model_text(ask: Ask) -> Answer:
    """HTTP 404 whose error is a text, not an object: the run ends with its words, no traceback."""
    return Answer(404, {"error": f"model '{ask.body.get('model')}' not found, try pulling it first"})


@mode("stop")
def no_such_address(ask: Ask) -> Answer:
    """HTTP 404 with HTML, as for a wrong base URL: the run ends with the address."""
    return html(404, "Not Found")


@mode("stop", also="unjudged")
def redirected(ask: Ask) -> Answer:
    """307 to another host: not followed, above all not with the key (`elsewhere` tells)."""
    return Answer(307, b"", {"Location": ask.server.other_url()})


@mode("stop", also="unjudged")
def never_content(ask: Ask) -> Answer:
    """HTTP 400 that blames temperature, whether it was sent or not: no endless loop, the run ends with the words."""
    return error(400, "Unsupported parameter: 'temperature'.", param="temperature", code="unsupported_parameter")


# What needs another request

Need = Callable[[Ask], Answer | None]


def no_max_tokens(ask: Ask) -> Answer | None:
    """OpenAI's reasoning models."""
    if "max_tokens" not in ask.body:
        return None
    said = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    return error(400, said, param="max_tokens", code="unsupported_parameter")


def no_temperature(ask: Ask) -> Answer | None:
    """OpenAI's reasoning models."""
    if ask.body.get("temperature", 1) == 1:
        return None
    said = f"Unsupported value: 'temperature' does not support {ask.body['temperature']} with this model. "
    return error(400, said + "Only the default (1) value is supported.", param="temperature", code="unsupported_value")


def no_log_probabilities(ask: Ask) -> Answer | None:
    """Without `param` and `code`."""
    sent = ask.body.get("logprobs") or "top_logprobs" in ask.body
    return error(400, "logprobs are not supported with this model") if sent else None


def no_response_format(ask: Ask) -> Answer | None:
    """OpenAI's older models."""
    kind = (ask.body.get("response_format") or {}).get("type", "text")
    said = f"Invalid parameter: 'response_format' of type '{kind}' is not supported with this model."
    return error(400, said, param="response_format") if kind != "text" else None


def no_seed(ask: Ask) -> Answer | None:
    """Pydantic's words in Mistral's shape."""
    if "seed" not in ask.body:
        return None
    return Answer(422, {**MISTRAL, "message": {"detail": [extra("seed", ask.body["seed"])]}})


def few_log_probabilities(ask: Ask) -> Answer | None:
    """At most five, as in older vLLM."""
    if ask.body.get("top_logprobs", 0) <= 5:
        return None
    return error(400, f"Requested sample logprobs of {ask.body['top_logprobs']}, which is greater than max allowed: 5")


def extra(name: str, value: Any) -> Body:
    """Pydantic's error about a field that it does not know."""
    return {"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted", "input": value}


MISTRAL: Body = {"object": "error", "type": "invalid_request_error", "param": None, "code": None}


def unless(ask: Ask, *needs: Need) -> Answer:
    """The first need that the request does not meet, else the right answer."""
    return next((answer for need in needs if (answer := need(ask))), None) or right(ask)


@mode("adapt")
def wants_completion_tokens(ask: Ask) -> Answer:
    """max_tokens is unsupported: asked again with max_completion_tokens."""
    return unless(ask, no_max_tokens)


@mode("adapt")
def wants_max_tokens(ask: Ask) -> Answer:
    """The other way round: max_completion_tokens is an extra input, its limit must be given as max_tokens."""
    if "max_completion_tokens" in ask.body:
        detail = [extra("max_completion_tokens", ask.body["max_completion_tokens"])]
        return Answer(422, {**MISTRAL, "message": {"detail": detail}})
    return right(ask)


@mode("adapt")
def wants_default_temperature(ask: Ask) -> Answer:
    """Only temperature 1 is supported: asked again without it."""
    return unless(ask, no_temperature)


@mode("adapt")
def wants_no_log_probabilities(ask: Ask) -> Answer:
    """Words "logprobs are not supported", `param` null: asked again without logprobs and top_logprobs."""
    return unless(ask, no_log_probabilities)


@mode("adapt")
def forbids_log_probabilities(ask: Ask) -> Answer:
    """HTTP 403 "You are not allowed to request logprobs from this model": asked again without, it is no wrong key."""
    return error(403, "You are not allowed to request logprobs from this model") if ask.body.get("logprobs") else right(ask)


@mode("adapt")
def breaks_on_log_probabilities(ask: Ask) -> Answer:
    """HTTP 500 whenever logprobs are sent, with the word in the message: asked again without."""
    said = "[address=0.0.0.0:41803] logprobs is not supported for models created with logits_all=False"
    return Answer(500, {"detail": said}) if ask.body.get("logprobs") else right(ask)


@mode("adapt")
def wants_few_log_probabilities(ask: Ask) -> Answer:
    """top_logprobs above 5 are too many: asked again with 5 or without."""
    return unless(ask, few_log_probabilities)


@mode("adapt")
def wants_no_response_format(ask: Ask) -> Answer:
    """response_format is not supported: asked again without, in free text."""
    return unless(ask, no_response_format)


@mode("adapt")
def wants_no_schema(ask: Ask) -> Answer:
    """Words "This response_format type is unavailable now" for json_schema, json_object is fine: asked again."""
    schema = (ask.body.get("response_format") or {}).get("type") == "json_schema"
    said = "This response_format type is unavailable now"
    return error(400, said, code="invalid_request_error") if schema else right(ask)


@mode("adapt")
def wants_schema(ask: Ask) -> Answer:
    """json_object is refused with an error which is a text, json_schema and text are fine (LM Studio): asked again."""
    if (ask.body.get("response_format") or {}).get("type") == "json_object":
        return Answer(400, {"error": "'response_format.type' must be 'json_schema' or 'text'"})
    return right(ask)


@mode("adapt")
def fails_its_own_json(ask: Ask) -> Answer:
    """400 json_validate_failed while response_format is sent, a wrong answer in failed_generation: asked in free text."""
    if not ask.body.get("response_format"):
        return right(ask)
    said = "Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details."
    return error(400, said, code="json_validate_failed", failed_generation=ask.answer(ask.wrong) + "}")


@mode("adapt")
def wants_no_seed(ask: Ask) -> Answer:
    """422 extra_forbidden for seed, as Mistral: asked again without."""
    return unless(ask, no_seed)


@mode("adapt")
def wants_nothing_extra(ask: Ask) -> Answer:
    """422 with a text of JSON inside the message that names all extra fields at once: asked again without them."""
    known = {"model", "messages", "max_tokens", "temperature", "stream", "top_p"}
    detail = [extra(name, value) for name, value in ask.body.items() if name not in known]
    return Answer(422, {**MISTRAL, "message": json.dumps({"detail": detail}), "code": "1000"}) if detail else right(ask)


@mode("adapt")
def wants_nothing_extra_fastapi(ask: Ask) -> Answer:
    """422 with `detail` at the top, one extra field at a time: asked again, each time without one more."""
    known = {"model", "messages", "max_tokens", "temperature"}
    detail = [extra(name, value) for name, value in ask.body.items() if name not in known]
    return Answer(422, {"detail": detail[:1]}) if detail else right(ask)


@mode("adapt", also="stop")
def wants_less_without_a_name(ask: Ask) -> Answer:
    """400 "Bad request" whenever seed, logprobs or response_format is sent: asked again with the least, or a sentence."""
    sent = {"seed", "logprobs", "top_logprobs", "response_format"} & ask.body.keys()
    return Answer(400, "Bad request", {"Content-Type": "text/plain"}) if sent else right(ask)


@mode("adapt")
def wants_no_system(ask: Ask) -> Answer:
    """Words "System role not supported" (some open models): asked again with all in the user's message."""
    if any(message.get("role") in ("system", "developer") for message in ask.body.get("messages", [])):
        return error(400, "System role not supported", kind="BadRequestError", code=400)
    return right(ask)


@mode("adapt", also="unjudged")
def wants_room(ask: Ask) -> Answer:
    """Thinking eats any limit under 2,000 tokens and leaves content empty: asked again with more, or unjudged (cut)."""
    limit = ask.body.get("max_completion_tokens") or ask.body.get("max_tokens") or 10**6
    if limit >= 2000:
        return says(ask, ask.answer(), usage={"prompt_tokens": 120, "completion_tokens": 1900, "total_tokens": 2020})
    usage = {"prompt_tokens": 120, "completion_tokens": limit, "completion_tokens_details": {"reasoning_tokens": limit}}
    return says(ask, "", finish="length", usage=usage, logprobs=None)


@mode("adapt")
def wants_everything(ask: Ask) -> Answer:
    """All of these changes, one error after the other: asked until it is right, and later pairs at once in that way."""
    needs = no_max_tokens, no_temperature, few_log_probabilities, no_log_probabilities, no_response_format, no_seed
    return unless(ask, *needs)


@mode("adapt")
def two_backends(ask: Ask) -> Answer:
    """Behind one address every second request meets a server which wants no seed and no temperature: adapted in mid-run."""
    return unless(ask, no_temperature, no_seed) if ask.number % 2 else right(ask)


# The server


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is not worth a traceback."""


class RudeServer:
    """Answers POST /v1/chat/completions in a mode, or in the one that `mode(request_number, body)` names.

    `delay`: seconds before each answer. `rate`: requests a second; those beyond get 429 with Retry-After. `die_after`: so many
    requests are answered, then the listening socket is closed and connections are dropped. `slow_seconds`: how long the slow
    modes take. `spell(choice, body)`: the answer as the prompt wants it, for prompts which want other keys (`pair_of(body)` has
    what is asked about).
    """

    def __init__(
        self,
        mode: Mode = "plain",
        *,
        delay: float = 0.0,
        rate: float | None = None,
        die_after: int | None = None,
        slow_seconds: float = 30.0,
        spell: Callable[[str, Body], Any] = lambda choice, body: {"reason": "So it is.", "answer": choice},
    ) -> None:
        self.mode, self.delay, self.rate, self.die_after, self.slow_seconds, self.spell = (
            mode, delay, rate, die_after, slow_seconds, spell
        )  # fmt: skip
        self.requests: list[Body] = []  # number, mode, body, headers (lower case), in, out (time.monotonic), status, path
        self.elsewhere: list[Body] = []  # what the host of the redirection received
        self.too_early: list[int] = []  # requests which came before Retry-After was over
        self.limited: list[int] = []  # requests beyond the rate
        self.faults: list[str] = []  # errors of this file's own; a test that uses it asks for none
        self.at_once = 0  # the highest number of requests being answered at one time
        self._now = 0
        self._lock, self._mode_lock, self._closing = threading.RLock(), threading.Lock(), threading.Event()
        self._asked: Counter[tuple[str, str]] = Counter()
        self._orders: dict[tuple[str, str], int] = {}
        self._orders_of: Counter[str] = Counter()
        self._until: dict[tuple[str, str], float] = {}
        self._recent: deque[float] = deque()
        self._listeners: list[_Listener] = []
        self._other: str | None = None
        self._port = self._listen(self._handler())

    def __enter__(self) -> "RudeServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        """The base URL, up to /v1."""
        return f"http://127.0.0.1:{self._port}/v1"

    def close(self) -> None:
        """Closes the sockets and wakes answers that wait."""
        self._closing.set()
        with self._lock:
            listeners, self._listeners = self._listeners, []
        for listener in listeners:
            listener.shutdown()
            listener.server_close()

    def wait(self, seconds: float) -> None:
        """Sleeps, but not longer than the server lives."""
        self._closing.wait(seconds)

    def asked(self) -> Counter[str]:
        """How often each pair was asked, by its JSON: to see that each was asked exactly once."""
        with self._lock:
            return Counter(key_of(row["body"]) for row in self.requests)

    def answered(self) -> Counter[str]:
        """How often each pair was answered with status 200."""
        with self._lock:
            return Counter(key_of(row["body"]) for row in self.requests if row["status"] == 200)

    def too_soon(self, ask: Ask, seconds: float) -> bool:
        """Whether this pair is to be refused: when it comes first, and while its seconds are not over."""
        key, now = (self.requests[ask.number]["mode"], key_of(ask.body)), time.monotonic()
        with self._lock:
            if key not in self._until:
                self._until[key] = now + seconds
                return True
            if now < self._until[key] - 0.02:
                self.too_early.append(ask.number)
                return True
            return False

    def other_url(self) -> str:
        """An address on another host (port and name) which notes what it receives in `elsewhere`."""
        with self._lock:
            if self._other is None:
                self._other = f"http://localhost:{self._listen(self._handler(elsewhere=True))}/v1/chat/completions"
            return self._other

    def _listen(self, handler: type[BaseHTTPRequestHandler]) -> int:
        listener = _Listener(("127.0.0.1", 0), handler)
        self._listeners.append(listener)
        threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return int(listener.server_address[1])

    def _handler(self, elsewhere: bool = False) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                """The list of models, which some clients ask for first."""
                found = self.path.rstrip("/") == "/v1/models"
                said = {"object": "list", "data": [{"id": "rude", "object": "model"}]}
                send(self, Answer(200, said) if found else html(404, "Not Found"), server)

            def do_POST(self) -> None:
                """A completion."""
                raw = read(self)
                headers = {name.lower(): value for name, value in self.headers.items()}
                if elsewhere:
                    server.elsewhere.append({"body": raw, "headers": headers})
                    send(self, Answer(200, {"choices": [{"message": {"content": '{"answer": "A"}'}}]}), server)
                else:
                    server._answer(self, raw, headers)

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing is printed."""

        return Handler

    def _answer(self, handler: BaseHTTPRequestHandler, raw: bytes, headers: dict[str, str]) -> None:
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        with self._lock:
            number, arrived = len(self.requests), time.monotonic()
            row: Body = {"number": number, "mode": None, "body": body if isinstance(body, dict) else {}, "headers": headers}
            row |= {"in": arrived, "out": None, "status": None, "path": handler.path}
            self.requests.append(row)
            self._now += 1
            self.at_once = max(self.at_once, self._now)
            dead = self.die_after is not None and number >= self.die_after
            wait = self._over_rate(arrived)
            if wait:
                self.limited.append(number)
        try:
            if dead:
                answer = Answer(how="drop")
            elif not isinstance(body, dict):
                answer = error(400, "We could not parse the JSON body of your request.")
            elif handler.path.rstrip("/") != "/v1/chat/completions":
                answer = html(404, "Not Found")
            elif wait:
                answer = error(429, "Rate limit reached for requests.", kind="requests", code="rate_limit_exceeded")
                answer.headers = {"Retry-After": str(math.ceil(wait))}
            else:
                self.wait(self.delay)
                answer = self._in_mode(row)
        except Exception as fault:
            self.faults.append(f"{row['mode']}: {fault!r}")
            answer = Answer(599, "the rude server itself failed")
        else:
            row["status"] = answer.status if answer.how in ("whole", "drip", "close") else None
        finally:
            with self._lock:  # before the last byte: who has the answer and asks again is not counted twice
                self._now -= 1
                row["out"] = time.monotonic()
        send(handler, answer, self)
        if self.die_after is not None and number + 1 >= self.die_after:
            threading.Thread(target=self._die, daemon=True).start()

    def _die(self) -> None:
        with self._lock:
            listeners, self._listeners = self._listeners, []
        for listener in listeners:
            listener.shutdown()
            listener.server_close()

    def _in_mode(self, row: Body) -> Answer:
        body, number = row["body"], row["number"]
        with self._mode_lock:
            name = self.mode(number, body) if callable(self.mode) else self.mode
        row["mode"] = name
        pair = pair_of(body)
        with self._lock:
            key = name, key_of(body)
            self._asked[key] += 1
            if key not in self._orders:
                self._orders[key] = self._orders_of[name]
                self._orders_of[name] += 1
            ask = Ask(number, body, pair, truth_of(pair), self._asked[key], self._orders[key], self)
        return MODES[name][0](ask)

    def _over_rate(self, now: float) -> float:
        """Seconds until one more request is allowed; 0 if it is allowed now, and then it counts."""
        if self.rate is None:
            return 0.0
        window = max(1.0, 1 / self.rate)
        while self._recent and self._recent[0] <= now - window:
            self._recent.popleft()
        if len(self._recent) >= math.floor(self.rate * window + 1e-9):
            return self._recent[0] + window - now
        self._recent.append(now)
        return 0.0


def read(handler: BaseHTTPRequestHandler) -> bytes:
    """The request's body, by length or in chunks."""
    if "chunked" not in handler.headers.get("Transfer-Encoding", ""):
        return handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
    pieces = []
    while size := int(handler.rfile.readline().split(b";")[0], 16):
        pieces.append(handler.rfile.read(size))
        handler.rfile.readline()
    handler.rfile.readline()
    return b"".join(pieces)


def send(handler: BaseHTTPRequestHandler, answer: Answer, server: RudeServer) -> None:
    """Sends an answer in its way; headers and body in one piece."""
    if answer.how in ("drop", "reset"):
        if answer.how == "reset":
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            handler.rfile.close()
            handler.connection.close()
        else:
            hang_up(handler)
        handler.close_connection = True
        return
    payload = answer.payload()
    if handler.command == "HEAD" or answer.status == 204:
        payload = b""
    chunked = answer.how in ("cut", "drip")
    reason = handler.responses.get(answer.status, ("Rude",))[0]
    lines = [f"HTTP/1.1 {int(answer.status)} {reason}"]
    headers = {"Content-Type": "application/json", **answer.headers}
    if chunked:
        headers["Transfer-Encoding"] = "chunked"
    elif answer.status != 204:
        headers["Content-Length"] = str(len(payload))
    head = "\r\n".join([*lines, *(f"{name}: {value}" for name, value in headers.items())]).encode() + b"\r\n\r\n"
    try:
        if answer.how == "cut":
            handler.wfile.write(head + chunk(payload[: len(payload) // 2]))
        elif answer.how == "drip":
            handler.wfile.write(head)
            end = time.monotonic() + server.slow_seconds
            while time.monotonic() < end and not server._closing.is_set():
                handler.wfile.write(chunk(b" "))
                server.wait(0.1)
            handler.wfile.write(chunk(payload) + b"0\r\n\r\n")
        else:
            handler.wfile.write(head + payload)
    except OSError:  # the client did not wait
        handler.close_connection = True
        return
    if answer.how in ("cut", "close"):
        hang_up(handler)
        handler.close_connection = True


def chunk(data: bytes) -> bytes:
    """A piece of a chunked body."""
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    """Ends the connection at once, whatever was promised."""
    try:
        handler.connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


# The prompt


def texts_of(body: Body) -> Iterable[str]:
    """The messages' texts, the last first; the texts of parts are joined."""
    for message in reversed(body.get("messages") or []):
        content = message.get("content")
        if isinstance(content, list):
            content = "".join(part.get("text", "") for part in content if isinstance(part, dict))
        if isinstance(content, str):
            yield content


def pair_of(body: Body) -> Body | None:
    """The last JSON object with A and B of the last message which has one; where none has them, the last object at all."""
    decoder, found = json.JSONDecoder(), []
    for text in texts_of(body):
        here, at = [], text.find("{")
        while at >= 0:
            try:
                value, end = decoder.raw_decode(text, at)
                here.append(value)
            except (ValueError, RecursionError):
                end = at + 1
            at = text.find("{", end)
        found += reversed(here)
    return next((value for value in found if "A" in value and "B" in value), found[0] if found else None)


def key_of(body: Body) -> str:
    """What is asked about, whatever the parameters are: the pair's JSON, or the messages where there is none."""
    pair = pair_of(body)
    return json.dumps(body.get("messages") if pair is None else pair, sort_keys=True)


def truth_of(pair: Body | None) -> str:
    """A or B, whichever alone contains "good", else tie."""
    a, b = ("good" in json.dumps((pair or {}).get(side, ""), ensure_ascii=False) for side in "AB")
    return "tie" if a == b else "A" if a else "B"


def question(a: str, b: str, **parameters: Any) -> Body:
    """A request as a judge sends it, with all that a server can dislike."""
    pair = json.dumps({"context": "How are you?", "A": a, "B": b})
    messages = [{"role": "system", "content": "You judge."}, {"role": "user", "content": f"Which is better?\n\n{pair}"}]
    usual = {"model": "rude", "messages": messages, "max_tokens": 300, "temperature": 0, "seed": 1, "logprobs": True}
    return {**usual, "top_logprobs": 20, "response_format": {"type": "json_object"}, **parameters}


if __name__ == "__main__":
    import httpx

    def show() -> None:
        """Asks each mode once, and prints what came."""
        with RudeServer(lambda number, body: body["mode"], slow_seconds=2.0) as server, httpx.Client(timeout=1.0) as client:
            address = f"{server.url}/chat/completions"
            for name, (_, expectation, _) in MODES.items():
                try:
                    reply = client.post(address, json=question("It is bad.", "It is good.", mode=name))
                    came = f"{reply.status_code} {content(reply)[:60]!r}"
                except httpx.HTTPError as fault:
                    came = f"{type(fault).__name__}: {fault}"[:64]
                print(f"{name:30} {expectation:9} {came}")
            print(f"{len(MODES)} modes, {len(server.requests)} requests, faults of the server's own: {server.faults}")

    def content(reply: httpx.Response) -> str:
        """The first choice's content, or the body."""
        try:
            return str(reply.json()["choices"][0]["message"]["content"])
        except Exception:  # whatever a rude server sends
            return reply.text

    show()
