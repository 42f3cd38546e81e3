"""A language model as a pairwise judge, over any server with OpenAI's chat completions.

Language models lean to one side (Wang et al. 2024, "Large Language Models are not Fair Evaluators"), so each pair is asked
about in both orders, and two answers that disagree are a tie. A pair of which a reply cannot be read, or that the server will
not answer, stays unjudged; it is counted with its reason and is never a tie.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from core.errors import Refused
from evaluator.judges.answers import PromptAnswer, Unreadable, read_answer
from evaluator.judges.endpoint import Endpoint, Price, UnreadableReply, Usage
from evaluator.judges.profile import Profile
from evaluator.judges.prompt import REPLY, VERSION, Prompt
from evaluator.judges.protocol import Numbers, OnProgress, Preferences
from evaluator.judges.queue import Queue
from evaluator.judges.replies import Replies, key_of
from evaluator.judges.texts import Text

LONGEST_REPLY = 300  # tokens: a letter and a short sentence
TOP_LOGPROBS = 5
HOPELESS = 5  # replies that cannot be read, and no other, end a run: the rest would cost money
IN_A_ROW = 20  # of them do so too, after others
UNJUDGED = 0.05  # of the pairs that were asked about: beyond this share nothing follows from the rest
CHARACTERS_PER_TOKEN = 4  # of English, by OpenAI's rule of thumb; for forecasts alone
SECONDS = 2.0  # that a reply takes, where nobody knows; for forecasts alone
ORDER = ("A", "tie", "B")


@dataclass(frozen=True)
class CallForecast:
    """What is left to ask, about. Each call may be repeated where the server fails."""

    calls: int
    prompt_tokens: int
    completion_tokens: int  # at most
    cost: float  # at most, by the prices given
    seconds: float  # with as many at once as may be, by SECONDS a reply

    def __str__(self) -> str:
        minutes = self.seconds / 60
        return (
            f"{self.calls:,} calls, about {self.prompt_tokens:,} tokens to read and at most {self.completion_tokens:,} to"
            f" write: at most about {self.cost:.2f}, in about {minutes:,.0f} minutes at {SECONDS:g} seconds a reply"
        )


class LanguageModelJudge:
    """Follows `protocol.PairwiseJudge`. `constrained`: whether response_format is tried; the prompt asks for the same JSON
    either way. Two outputs with the same text are a tie without being asked about. unjudged: the share of pairs that may stay
    so. longest: tokens of a reply. extra: what each request carries besides. known: what the server takes, as `Profile.record`
    kept it; on_profile: told of it when it changes."""

    kind: Literal["pairwise"] = "pairwise"
    each_pair_costs = True  # so a tournament asks for the pairs that play alone (`judge.AskedVerdicts`)

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        prompt: Prompt,
        replies: Replies | None = None,
        price: Price | None = None,
        seed: int = 0,
        constrained: bool = True,
        unjudged: float = UNJUDGED,
        longest: int = LONGEST_REPLY,
        extra: Mapping[str, Any] | None = None,
        known: Mapping[str, Any] | None = None,
        on_profile: Callable[[dict[str, Any]], None] | None = None,
    ):
        self.endpoint, self.model, self.prompt, self.seed = endpoint, model, prompt, seed
        self.replies, self.price, self.constrained = replies or Replies(None), price or Price(), constrained
        self.unjudged, self.longest, self.extra = unjudged, longest, dict(extra or {})
        self.profile, self._on_profile = Profile.of(known or {}, longest, self.extra), on_profile
        self._kept, self._answered = Usage(), set[str]()  # replies of earlier runs; keys of all replies that were read
        self._flipped: dict[frozenset[str], bool] = {}  # by the keys of both orders
        self._why: dict[frozenset[str], str] = {}  # of the pairs that stay unjudged
        self._unreadable: dict[str, str] = {}  # of the last run: why, by key
        self._models: Counter[str] = Counter()  # that answered, as the server names them

    @property
    def settings(self) -> dict[str, Any]:
        """What its answers depend on; the key is not among it."""
        return {
            "model": self.model,
            "url": self.endpoint.url,
            "asked": self.prompt.shown,
            "prompt": self.prompt.sha256,
            "prompt_version": VERSION,
            "temperature": 0,
            "seed": self.seed,
            "constrained": self.constrained,
            "orders": "both; a disagreement is a tie",
            "extra": self.extra,
        }

    @property
    def used(self) -> dict[str, Any]:
        """What its answers took: calls of this run; replies that were kept from earlier runs; tokens and cost of both; and of
        the pairs that it was asked about, how many answers flipped when the sides changed."""
        usage, kept = self.endpoint.usage, self._kept
        read, written = usage.prompt_tokens + kept.prompt_tokens, usage.completion_tokens + kept.completion_tokens
        return {
            "calls": usage.calls,
            "kept": kept.calls,
            "prompt_tokens": read,
            "completion_tokens": written,
            "replies_without_usage": usage.uncounted + kept.uncounted,
            "cost": self.price.of(read, written),
            "pairs": len(self._flipped),
            "flips": sum(self._flipped.values()),
            "server": self.profile.record(),
            "unjudged": len(self._why),
            "why_unjudged": dict(Counter(self._why.values()).most_common(5)),
            "other_models": {name: count for name, count in self._models.items() if name != self.model},
        }

    def check(self) -> None:
        """Raises Refused where more pairs than allowed stay unjudged of those that were asked about so far."""
        missing, asked = len(self._why), len(self._why) + len(self._flipped)
        if missing > self.unjudged * asked:
            why, count = Counter(self._why.values()).most_common(1)[0]
            raise Refused(
                f"{self.model} judged {asked - missing:,} of {asked:,} pairs; {missing:,} stay unjudged, more than"
                f" {self.unjudged:.0%}. The most frequent reason ({count:,}): {why} What was answered is kept."
            )

    def forecast(self, texts_a: Sequence[Text], texts_b: Sequence[Text]) -> CallForecast:
        """Of `compare` for the same texts: what is kept already costs nothing."""
        requests = dict(self._requests(texts_a, texts_b))
        requests = {key: request for key, request in requests.items() if not self._is_known(key)}
        characters = sum(len(m["content"]) for request in requests.values() for m in request["messages"])
        read, written = -(-characters // CHARACTERS_PER_TOKEN), self.profile.longest * len(requests)
        at_once = self.endpoint.connections
        pace = max(SECONDS / at_once, 1 / self.endpoint.rate if self.endpoint.rate else 0.0)
        return CallForecast(len(requests), read, written, self.price.of(read, written), pace * len(requests))

    def compare(
        self, texts_a: Sequence[Text], texts_b: Sequence[Text], *, on_progress: OnProgress | None = None
    ) -> Preferences:
        """Of a pair that stays unjudged the probabilities are NaN and the choice is "". Raises Refused where the server fails,
        the budget is spent, or most replies cannot be read; every reply that can be is kept, so that the same again asks for
        the others only."""
        asked = dict(self._requests(texts_a, texts_b))
        answers: dict[str, PromptAnswer] = {key: answer for key in asked if (answer := self._kept_answer(key))}
        self._unreadable = {key: why for key in asked if key not in answers and (why := self.replies.why_unjudged(key))}
        open_ones = {key: request for key, request in asked.items() if key not in answers and key not in self._unreadable}
        self._ask(open_ones, answers, len(asked), on_progress)
        return _joined([self._both_orders(a, b, answers) for a, b in zip(texts_a, texts_b, strict=True)])

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
                on_progress((len(answers) + len(self._unreadable)) / whole, f"{self.model} judges", None)

        def read(key: str, reply: dict[str, Any]) -> bool:
            nonlocal in_a_row
            try:
                answers[key] = read_answer(reply)
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
                if self._on_profile:
                    self._on_profile(self.profile.record())
        if hopeless():
            raise Refused(
                f"{failed} replies of {self.model} could not be read; the last: {list(self._unreadable.values())[-1]}"
                " What could be read is kept."
            )

    def reasons(self, a: Text, b: Text) -> list[str]:
        """Of what is kept about two texts: the reason given for A before B, and for B before A."""
        kept = [self.replies.get(self._keyed(first, second)[0]) for first, second in ((a, b), (b, a))]
        return [read_answer(reply).reason for reply in kept if reply is not None]

    def _both_orders(self, a: Text, b: Text, answers: dict[str, PromptAnswer]) -> tuple[Numbers, str]:
        """((3,) mean of both orders, the choice); NaN and "" where an order has no answer"""
        if a.output == b.output:
            return np.array([0.0, 1.0, 0.0]), "tie"
        keys = self._keyed(a, b)[0], self._keyed(b, a)[0]
        pair = frozenset(keys)
        if missing := [key for key in keys if key not in answers]:
            self._why[pair] = self._unreadable.get(missing[0], "It was not asked.")
            return np.full(3, np.nan), ""
        self._why.pop(pair, None)
        forth, back = (answers[key] for key in keys)
        turned = {"A": "B", "tie": "tie", "B": "A"}[back.choice]
        self._flipped[pair] = forth.choice != turned
        return (_said(forth) + _said(back)[::-1]) / 2, forth.choice if forth.choice == turned else "tie"

    def _requests(self, texts_a: Sequence[Text], texts_b: Sequence[Text]) -> Iterable[tuple[str, dict[str, Any]]]:
        for a, b in zip(texts_a, texts_b, strict=True):
            if a.output != b.output:
                yield self._keyed(a, b)
                yield self._keyed(b, a)

    def _keyed(self, first: Text, second: Text) -> tuple[str, dict[str, Any]]:
        request: dict[str, Any] = {
            "model": self.model,
            "messages": self.prompt.messages(first, second),
            "temperature": 0,
            "seed": self.seed,
            "max_tokens": self.longest,
            "logprobs": True,
            "top_logprobs": TOP_LOGPROBS,
        }
        if self.constrained:
            request["response_format"] = REPLY
        counted = request | self.extra if self.extra else request
        return key_of(counted, self.endpoint.url), request

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
        return read_answer(kept)

    def _is_known(self, key: str) -> bool:
        return self.replies.get(key) is not None or bool(self.replies.why_unjudged(key))

    def _count_model(self, reply: Mapping[str, Any]) -> None:
        if isinstance(name := reply.get("model"), str):
            self._models[name[:200]] += 1


def _said(answer: PromptAnswer) -> Numbers:
    """(3,) P(first), P(tie), P(second); certain of the choice where the server tells no probabilities."""
    certain = [float(answer.choice == choice) for choice in ORDER]
    return np.array(answer.probabilities or certain)


def _joined(rows: list[tuple[Numbers, str]]) -> Preferences:
    probabilities = np.array([p for p, _ in rows], dtype=float).reshape(-1, 3)
    return Preferences(probabilities, np.array([choice for _, choice in rows], dtype="<U3"))
