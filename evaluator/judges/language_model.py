"""A language model as a pairwise judge, over any server with OpenAI's chat completions.

Language models lean to one side (Wang et al. 2024, "Large Language Models are not Fair Evaluators"), so each pair is asked
about in both orders, and two answers that disagree are a tie. A reply that cannot be read is an error and never a tie.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from core.errors import Refused
from evaluator.judges.endpoint import Endpoint, Price, UnreadableReply, Usage
from evaluator.judges.prompt import REPLY, VERSION, Prompt, PromptAnswer, Unreadable, read_answer
from evaluator.judges.protocol import Numbers, OnProgress, Preferences
from evaluator.judges.replies import Replies, key_of
from evaluator.judges.texts import Text

LONGEST_REPLY = 300  # tokens: a letter and a short sentence
TOP_LOGPROBS = 5
MOST_UNREADABLE = 5  # of a run, which then ends: the rest would cost money and be no better
CHARACTERS_PER_TOKEN = 4  # of English, by OpenAI's rule of thumb; for forecasts alone
ORDER = ("A", "tie", "B")


@dataclass(frozen=True)
class CallForecast:
    """What is left to ask, about. Each call may be repeated where the server fails."""

    calls: int
    prompt_tokens: int
    completion_tokens: int  # at most
    cost: float  # at most, by the prices given

    def __str__(self) -> str:
        return (
            f"{self.calls:,} calls, about {self.prompt_tokens:,} tokens to read and at most {self.completion_tokens:,} to"
            f" write: at most about {self.cost:.2f}"
        )


class LanguageModelJudge:
    """Follows `protocol.PairwiseJudge`. `constrained`: whether the server knows response_format; the prompt asks for the
    same JSON either way. Two outputs with the same text are a tie without being asked about."""

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
    ):
        self.endpoint, self.model, self.prompt, self.seed = endpoint, model, prompt, seed
        self.replies, self.price, self.constrained = replies or Replies(None), price or Price(), constrained
        self._kept, self._answered = Usage(), set[str]()  # replies of earlier runs; keys of all replies that were read
        self._flipped: dict[frozenset[str], bool] = {}  # by the keys of both orders

    @property
    def settings(self) -> dict[str, Any]:
        """What its answers depend on; the key is not among it."""
        return {
            "model": self.model,
            "url": self.endpoint.url,
            "prompt": self.prompt.sha256,
            "prompt_version": VERSION,
            "temperature": 0,
            "seed": self.seed,
            "constrained": self.constrained,
            "orders": "both; a disagreement is a tie",
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
        }

    def forecast(self, texts_a: Sequence[Text], texts_b: Sequence[Text]) -> CallForecast:
        """Of `compare` for the same texts: what is kept already costs nothing."""
        requests = {key: request for key, request in self._requests(texts_a, texts_b) if self.replies.get(key) is None}
        characters = sum(len(m["content"]) for request in requests.values() for m in request["messages"])
        read, written = -(-characters // CHARACTERS_PER_TOKEN), LONGEST_REPLY * len(requests)
        return CallForecast(len(requests), read, written, self.price.of(read, written))

    def compare(
        self, texts_a: Sequence[Text], texts_b: Sequence[Text], *, on_progress: OnProgress | None = None
    ) -> Preferences:
        """Raises Refused where the server fails, the budget is spent, or a reply cannot be read; every reply that can be is
        kept, so that the same again asks for the others only."""
        asked = dict(self._requests(texts_a, texts_b))
        answers: dict[str, PromptAnswer] = {}
        unreadable: list[str] = []
        for i, (key, request) in enumerate(asked.items()):
            try:
                answers[key] = self._answer(key, request)
            except (Unreadable, UnreadableReply) as error:
                unreadable.append(str(error))
                if len(unreadable) == MOST_UNREADABLE:
                    break
            if on_progress:
                on_progress((i + 1) / len(asked), f"{self.model} judges", None)
        if unreadable:
            count = len(unreadable)
            raise Refused(
                f"{count} {'reply' if count == 1 else 'replies'} of {self.model} could not be read; first: {unreadable[0]}"
                " What could be read is kept."
            )
        return _joined([self._both_orders(a, b, answers) for a, b in zip(texts_a, texts_b, strict=True)])

    def reasons(self, a: Text, b: Text) -> list[str]:
        """Of what is kept about two texts: the reason given for A before B, and for B before A."""
        kept = [self.replies.get(self._keyed(first, second)[0]) for first, second in ((a, b), (b, a))]
        return [read_answer(reply).reason for reply in kept if reply is not None]

    def _both_orders(self, a: Text, b: Text, answers: dict[str, PromptAnswer]) -> tuple[Numbers, str]:
        """((3,) mean of both orders, the choice)"""
        if a.output == b.output:
            return np.array([0.0, 1.0, 0.0]), "tie"
        keys = self._keyed(a, b)[0], self._keyed(b, a)[0]
        forth, back = (answers[key] for key in keys)
        turned = {"A": "B", "tie": "tie", "B": "A"}[back.choice]
        self._flipped[frozenset(keys)] = forth.choice != turned
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
            "max_tokens": LONGEST_REPLY,
            "logprobs": True,
            "top_logprobs": TOP_LOGPROBS,
        }
        if self.constrained:
            request["response_format"] = REPLY
        return key_of(request, self.endpoint.url), request

    def _answer(self, key: str, request: dict[str, Any]) -> PromptAnswer:
        kept = self.replies.get(key)
        if kept is not None:
            if key not in self._answered:
                self._answered.add(key)
                self._kept.calls += 1
                self._kept.add(kept)
            return read_answer(kept)
        try:
            reply = self.endpoint.complete(request)
        except UnreadableReply as error:
            self.replies.keep_unreadable(key, error.body)
            raise
        try:
            answer = read_answer(reply)
        except Unreadable:
            self.replies.keep_unreadable(key, reply)
            raise
        self.replies.keep(key, reply)
        self._answered.add(key)
        return answer


def _said(answer: PromptAnswer) -> Numbers:
    """(3,) P(first), P(tie), P(second); certain of the choice where the server tells no probabilities."""
    certain = [float(answer.choice == choice) for choice in ORDER]
    return np.array(answer.probabilities or certain)


def _joined(rows: list[tuple[Numbers, str]]) -> Preferences:
    probabilities = np.array([p for p, _ in rows], dtype=float).reshape(-1, 3)
    return Preferences(probabilities, np.array([choice for _, choice in rows], dtype="<U3"))
