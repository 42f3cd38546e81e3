"""What a server with chat completions accepts. Vendors name the longest reply differently, and many models take no temperature,
seed, log-probabilities, schema or system message. What is refused by name is left out of the request, which is sent again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

LENGTHS = ("max_completion_tokens", "max_tokens")
OPTIONAL = ("top_logprobs", "logprobs", "response_format", "temperature", "seed")  # asked for, and done without
SYSTEM_ROLE = "system role"
SPELLINGS = {  # other words for them
    "log probabilities": "logprobs",
    "logits_all": "logprobs",
    "structured output": "response_format",
    "json_schema": "response_format",
    "json_object": "response_format",
    "json_validate_failed": "response_format",
    "system message": SYSTEM_ROLE,
}
LONGER = 4  # times: a reply that was cut off may have been thinking
LONGEST = 8192  # tokens that a reply is given at most unless more were asked for


@dataclass(frozen=True)
class Profile:
    """without: names left out of each request; lengths: what the server may call the longest reply, the next to be tried first;
    longest: its tokens; extra: what the user adds to each request."""

    longest: int
    lengths: tuple[str, ...] = ("max_tokens", "max_completion_tokens")
    without: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    def sent(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The request as this server takes it."""
        kept = {name: value for name, value in request.items() if name not in (*self.without, *LENGTHS)}
        if SYSTEM_ROLE in self.without:
            kept["messages"] = _one_message(kept["messages"])
        length = {self.lengths[0]: self.longest} if self.lengths else {}
        return {**kept, **length, **self.extra}

    def after(self, complaint: str) -> Profile | None:
        """What to send after a refusal, whose body is the complaint: without all that it names, or else with the least; None
        where nothing is left to leave out."""
        named = _named(complaint)
        if self.lengths and self.lengths[0] in named and not set(named) & set(self._sent()):
            return replace(self, lengths=self.lengths[1:])
        dropped = [name for name in self._sent() if name in named]
        if "logprobs" in dropped and "top_logprobs" not in self.without:
            dropped.append("top_logprobs")  # which means nothing alone
        if not dropped and not set(named) & {*OPTIONAL, SYSTEM_ROLE, *LENGTHS}:
            dropped = [name for name in OPTIONAL if name not in self.without]
        return replace(self, without=tuple(dict.fromkeys((*self.without, *dropped)))) if dropped else None

    def longer(self) -> Profile | None:
        """With room for more thinking; None where there was room enough."""
        return replace(self, longest=min(self.longest * LONGER, LONGEST)) if self.longest < LONGEST else None

    def record(self) -> dict[str, Any]:
        """For the record of what was asked, and for the next run."""
        return {"longest": self.longest, "length": self.lengths[0] if self.lengths else "", "without": list(self.without)}

    def __str__(self) -> str:
        without = f", without {', '.join(self.without)}" if self.without else ""
        return f"{self.lengths[0] if self.lengths else 'no limit'} {self.longest if self.lengths else ''}".strip() + without

    @classmethod
    def of(cls, record: Mapping[str, Any], longest: int, extra: Mapping[str, Any]) -> Profile:
        """From what `record` kept; longest: of a new one."""
        new = cls(longest)
        if not record:
            return replace(new, extra=extra)
        length = record["length"]
        lengths = new.lengths[new.lengths.index(length) :] if length in new.lengths else ()
        return cls(max(record["longest"], longest), lengths, tuple(record["without"]), extra)

    def _sent(self) -> list[str]:
        """What may be left out and is not."""
        return [name for name in (*OPTIONAL, SYSTEM_ROLE) if name not in self.without]


def names_a_parameter(complaint: str) -> bool:
    """Whether a server's complaint is about a part of the request that may be left out."""
    return bool(_named(complaint))


def _named(complaint: str) -> list[str]:
    """The parts of a request that a refusal names."""
    words = complaint.lower()
    for spelling, name in SPELLINGS.items():
        words = words.replace(spelling, name)
    found = []
    for name in (*OPTIONAL, SYSTEM_ROLE, *LENGTHS):
        if name in words:
            found.append(name)
            words = words.replace(name, " ")
    return found


def _one_message(messages: list[dict[str, str]]) -> list[dict[str, str]]:
    """All in the user's message, for models without a system role."""
    return [{"role": "user", "content": "\n\n".join(message["content"] for message in messages)}]
