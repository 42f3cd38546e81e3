"""A language model over any server with OpenAI's chat completions: what a judge of pairs and a judge of scores share.

What a reply says is read in the form that its prompt asks for. A question of which the reply cannot be read, or that the server
will not answer, stays unjudged; it is counted with its reason, and is never a tie or a score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.errors import Refused
from core.wall_clock import in_words
from evaluator.judges.answers import PromptAnswer, Unreadable, read_answer
from evaluator.judges.endpoint import Endpoint, Price, UnreadableReply, Usage
from evaluator.judges.profile import Profile
from evaluator.judges.prompt import Prompt
from evaluator.judges.protocol import OnProgress
from evaluator.judges.queue import Queue
from evaluator.judges.replies import Replies, key_of
from evaluator.judges.texts import Text, as_referenced

LONGEST_REPLY = 300  # tokens: a letter and a short sentence
TOP_LOGPROBS = 5
HOPELESS = 5  # replies that cannot be read, and no other, end a run: the rest would cost money
IN_A_ROW = 20  # of them do so too, after others
UNJUDGED = 0.05  # of the pairs that were asked about: beyond this share nothing follows from the rest
CHARACTERS_PER_TOKEN = 4  # of English, by OpenAI's rule of thumb; for forecasts alone
SECONDS = 2.0  # that a reply takes, where nobody knows; for forecasts alone


@dataclass(frozen=True)
class CallForecast:
    """What is left to ask, about. Each call may be repeated where the server fails."""

    calls: int
    prompt_tokens: int
    completion_tokens: int  # at most
    cost: float  # at most, by the prices given
    seconds: float  # with as many at once as may be, by SECONDS a reply

    def __str__(self) -> str:
        return (
            f"{self.calls:,} calls, about {self.prompt_tokens:,} tokens to read and at most {self.completion_tokens:,} to"
            f" write: at most about {self.cost:.2f}, in about {in_words(self.seconds)} at {in_words(SECONDS)} a reply"
        )


@dataclass(frozen=True)
class ModelServer:
    """Who is asked, and how. constrained: whether response_format is tried; the prompt asks for the same JSON either way.
    extra: what each request carries besides. known: what the server takes, as `Profile.record` kept it; on_profile: told of it
    when it changes."""

    endpoint: Endpoint
    model: str
    price: Price = Price()
    constrained: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict)
    known: Mapping[str, Any] = field(default_factory=dict)
    on_profile: Callable[[dict[str, Any]], None] | None = None


@dataclass(frozen=True)
class Limits:
    """unjudged: the share of what is asked that may stay so; longest: tokens of a reply."""

    unjudged: float = UNJUDGED
    longest: int = LONGEST_REPLY


class LanguageModel:
    """replies: kept ones, which are not asked for again."""

    unit = "questions"

    def __init__(
        self, server: ModelServer, prompt: Prompt, replies: Replies | None = None, limits: Limits | None = None, seed: int = 0
    ):
        self.server, self.prompt, self.seed = server, prompt, seed
        self.endpoint, self.model = server.endpoint, server.model
        self.replies, self.limits = replies or Replies(None), limits or Limits()
        self.profile = Profile.of(server.known, self.limits.longest, server.extra)
        self._kept, self._answered = Usage(), set[str]()  # replies of earlier runs; keys of all replies that were read
        self._judged: set[Any] = set()  # of what was asked about
        self._why: dict[Any, str] = {}  # of what stays unjudged
        self._unreadable: dict[str, str] = {}  # of the last run: why, by key
        self._models: Counter[str] = Counter()  # that answered, as the server names them
        self._without_references: set[Text] = set()

    @property
    def settings(self) -> dict[str, Any]:
        """What its answers depend on; the key is not among it."""
        return {
            "model": self.model,
            "url": self.endpoint.url,
            **self.prompt.record,
            "temperature": 0,
            "seed": self.seed,
            "constrained": self.server.constrained,
            "extra": dict(self.server.extra),
        }

    @property
    def used(self) -> dict[str, Any]:
        """What its answers took: calls of this run; replies that were kept from earlier runs; tokens and cost of both."""
        usage, kept = self.endpoint.usage, self._kept
        read, written = usage.prompt_tokens + kept.prompt_tokens, usage.completion_tokens + kept.completion_tokens
        return {
            "calls": usage.calls,
            "kept": kept.calls,
            "prompt_tokens": read,
            "completion_tokens": written,
            "replies_without_usage": usage.uncounted + kept.uncounted,
            "cost": self.server.price.of(read, written),
            "server": self.profile.record(),
            "unjudged": len(self._why),
            "why_unjudged": dict(Counter(self._why.values()).most_common(5)),
            "other_models": {name: count for name, count in self._models.items() if name != self.model},
            **({"without_references": len(self._without_references)} if self.prompt.with_references else {}),
        }

    def check(self) -> None:
        """Raises Refused where more than allowed stays unjudged of what was asked about so far."""
        missing, asked = len(self._why), len(self._why) + len(self._judged)
        if missing > self.limits.unjudged * asked:
            why, count = Counter(self._why.values()).most_common(1)[0]
            raise Refused(
                f"{self.model} judged {asked - missing:,} of {asked:,} {self.unit}; {missing:,} stay unjudged, more than"
                f" {self.limits.unjudged:.0%}. The most frequent reason ({count:,}): {why} What was answered is kept."
            )

    def _forecast(self, asked: Iterable[tuple[str, dict[str, Any]]]) -> CallForecast:
        """What is kept already costs nothing."""
        requests = {key: request for key, request in asked if not self._is_known(key)}
        characters = sum(len(m["content"]) for request in requests.values() for m in request["messages"])
        read, written = -(-characters // CHARACTERS_PER_TOKEN), self.profile.longest * len(requests)
        at_once = self.endpoint.connections
        pace = max(SECONDS / at_once, 1 / self.endpoint.rate if self.endpoint.rate else 0.0)
        return CallForecast(len(requests), read, written, self.server.price.of(read, written), pace * len(requests))

    def _answers(
        self, requests: Iterable[tuple[str, dict[str, Any]]], on_progress: OnProgress | None
    ) -> dict[str, PromptAnswer]:
        """By key, of those that have one; why the others have none is in `_unreadable`. Raises Refused where the server fails,
        the budget is spent, or most replies cannot be read; every reply that can be is kept, so that the same again asks for
        the others only."""
        asked = dict(requests)
        answers: dict[str, PromptAnswer] = {key: answer for key in asked if (answer := self._kept_answer(key))}
        self._unreadable = {key: why for key in asked if key not in answers and (why := self.replies.why_unjudged(key))}
        open_ones = {key: request for key, request in asked.items() if key not in answers and key not in self._unreadable}
        self._ask(open_ones, answers, len(asked), on_progress)
        return answers

    def _said_of_progress(self, asked: int, whole: int) -> str:
        """How much of what is asked has an answer, and what this run spent so far."""
        usage, price = self.endpoint.usage, self.server.price
        unjudged = f", {len(self._unreadable):,} of them unjudged" if self._unreadable else ""
        cost = f", cost {price.of(usage.prompt_tokens, usage.completion_tokens):.2f}" if price != Price() else ""
        cost = ", cost not known" if usage.uncounted else cost
        return f"{self.model}: {asked:,} of {whole:,} questions asked{unjudged}; {usage.calls:,} calls in this run{cost}"

    def _ask(
        self,
        requests: Mapping[str, dict[str, Any]],
        answers: dict[str, PromptAnswer],
        whole: int,
        on_progress: OnProgress | None,
    ) -> None:
        begun, failed, in_a_row = len(answers), 0, 0

        def tell() -> None:
            if on_progress:
                asked = len(answers) + len(self._unreadable)
                on_progress(asked / whole, self._said_of_progress(asked, whole), None)

        def read(key: str, reply: dict[str, Any]) -> bool:
            nonlocal in_a_row
            try:
                answers[key] = read_answer(reply, self.prompt.form)
            except Unreadable as error:
                if error.cut and queue.profile.longer():
                    return False
                leave(key, reply, str(error), str(error))
            else:
                in_a_row = 0
                self.replies.keep(key, reply)
                self._answered.add(key)
                self._count_model(reply)
            tell()
            return True

        def leave(key: str, what: Any, why: str, for_ever: str) -> None:
            nonlocal failed, in_a_row
            failed, in_a_row = failed + 1, in_a_row + 1
            self._unreadable[key] = why
            self.replies.keep_unreadable(key, what, for_ever)

        def give_up(key: str, error: UnreadableReply) -> None:
            leave(key, error.body, str(error), "" if error.may_pass else str(error))
            tell()

        def hopeless() -> bool:
            return in_a_row >= (IN_A_ROW if len(answers) > begun else HOPELESS)

        queue = Queue(self.endpoint, self.profile, read, give_up, hopeless)
        try:
            queue.run(requests)
        finally:
            if queue.profile != self.profile:
                self.profile = queue.profile
                if self.server.on_profile:
                    self.server.on_profile(self.profile.record())
        if hopeless():
            raise Refused(
                f"{failed} replies of {self.model} could not be read; the last: {list(self._unreadable.values())[-1]}"
                " What could be read is kept."
            )

    def _keyed(self, *texts: Text) -> tuple[str, dict[str, Any]]:
        """(key, request) about one text, or about two in this order"""
        if self.prompt.with_references and not as_referenced(texts[0]).references:
            self._without_references.add(texts[0])
        request: dict[str, Any] = {
            "model": self.model,
            "messages": self.prompt.messages(*texts),
            "temperature": 0,
            "seed": self.seed,
            "max_tokens": self.limits.longest,
            "logprobs": True,
            "top_logprobs": TOP_LOGPROBS,
        }
        if self.server.constrained:
            request["response_format"] = self.prompt.form.schema
        counted = request | dict(self.server.extra) if self.server.extra else request
        return key_of(counted, self.endpoint.url), request

    def said(self, *texts: Text) -> PromptAnswer | None:
        """What is kept about one text, or about two in this order; nothing is asked."""
        reply = self.replies.get(self._keyed(*texts)[0])
        return None if reply is None else read_answer(reply, self.prompt.form)

    def _kept_answer(self, key: str) -> PromptAnswer | None:
        """From an earlier run, or from another worker's."""
        kept = self.replies.get(key)
        if kept is None:
            return None
        if key not in self._answered:
            self._answered.add(key)
            self._kept.calls += 1
            self._kept.add(kept)
            self._count_model(kept)
        return read_answer(kept, self.prompt.form)

    def _is_known(self, key: str) -> bool:
        return self.replies.get(key) is not None or bool(self.replies.why_unjudged(key))

    def _count_model(self, reply: Mapping[str, Any]) -> None:
        if isinstance(name := reply.get("model"), str):
            self._models[name[:200]] += 1
