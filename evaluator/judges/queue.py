"""Many requests to one server at once: budget and rate exact, what may pass asked again, each reply handed over as it comes.

Threads only send. Everything else happens in the caller's thread, so that counting and keeping need no lock, and a database
gets one connection.
"""

from __future__ import annotations

import heapq
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from time import monotonic
from types import FrameType
from typing import Any

from core.errors import Refused
from evaluator.judges.endpoint import FIRST_WAIT, LONGEST_WAIT, TRIES, Again, Endpoint, Response, Unaccepted, UnreadableReply
from evaluator.judges.profile import Profile

OnReply = Callable[[str, dict[str, Any]], bool]  # key, chat completion -> whether it was read; False asks for a longer one
OnUnreadable = Callable[[str, UnreadableReply], None]
DOWN = (
    3  # questions given up one after the other, each after TRIES, with no reply between: the server is down, not the pair odd
)


@dataclass
class Question:
    """A request that waits or is under way. tried: how often in a row it was sent and the server failed."""

    key: str
    request: Mapping[str, Any]
    tried: int = 0
    profile: Profile | None = None  # with which it was sent
    replies_before: int = 0  # of the run, when it was sent


@dataclass
class Queue:
    """profile: what the server takes, as it turns out. stopped: asked before each request, says that no more are wanted."""

    endpoint: Endpoint
    profile: Profile
    on_reply: OnReply
    on_unreadable: OnUnreadable
    stopped: Callable[[], bool] = lambda: False
    _waiting: list[tuple[int, Question]] = field(default_factory=list)  # a heap; what failed comes first again
    _running: dict[Future[Response], Question] = field(default_factory=dict)
    _number: count[int] = field(default_factory=count)
    _again: count[int] = field(default_factory=lambda: count(-(10**9)))
    _skipped: float = 0.0  # seconds handed to `endpoint.wait` that did not pass, since a test skips them
    _not_before: float = 0.0  # no request earlier: as the server asked, or the rate
    _at_once: float = 0.0  # requests that may be under way: halved where the server is busy, one more with each round since
    _replies: int = 0
    _given_up: int = 0  # questions in a row
    _failure: BaseException | None = None

    def run(self, requests: Mapping[str, Mapping[str, Any]]) -> None:
        """All of them by key. What is under way when something ends the run, Ctrl-C and SIGTERM too, is waited for and handed
        over, since it costs as much as the rest. What SIGKILL ends is lost: with n connections at most n replies. Raises
        Refused where the server refuses or goes on failing, BudgetSpent, and what a caller raises."""
        self._at_once = float(self.endpoint.connections)
        for key, request in requests.items():
            heapq.heappush(self._waiting, (next(self._number), Question(key, request)))
        with self._until_handed_over(), ThreadPoolExecutor(self.endpoint.connections) as threads:
            while self._waiting or self._running:
                if self._failure or self.stopped():
                    self._waiting.clear()
                if self._has_room() and self._due() <= 0:
                    self._send(threads)
                elif self._running:
                    self._take_replies()
                elif self._waiting:
                    self._wait(self._due())
        if self._failure:
            raise self._failure

    @contextmanager
    def _until_handed_over(self) -> Iterator[None]:
        """A first Ctrl-C or SIGTERM asks nothing more, and ends the run when the replies under way are kept; a second ends it
        at once. Nothing changes in another thread, or where somebody else, such as a worker, has a handler."""
        usual: dict[int, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
        ours = [one for one, before in usual.items() if signal.getsignal(one) == before]
        if threading.current_thread() is not threading.main_thread():
            ours = []

        def end(number: int, frame: FrameType | None) -> None:
            error = KeyboardInterrupt() if number == signal.SIGINT else SystemExit(128 + number)
            if self._failure or not self._running:
                raise error
            self._failure = error

        try:
            for one in ours:
                signal.signal(one, end)
            yield
        finally:
            for one in ours:
                signal.signal(one, usual[one])

    def _clock(self) -> float:
        return monotonic() + self._skipped

    def _due(self) -> float:
        """Seconds until the next request may be sent."""
        return self._not_before - self._clock()

    def _has_room(self) -> bool:
        return bool(self._waiting) and len(self._running) < int(self._at_once)

    def _wait(self, seconds: float) -> None:
        began = monotonic()
        self.endpoint.wait(round(seconds, 3))
        self._skipped += max(seconds - (monotonic() - began), 0.0)

    def _send(self, threads: ThreadPoolExecutor) -> None:
        question = heapq.heappop(self._waiting)[1]
        try:
            self.endpoint.spend(self.profile.longest, len(self._running))
        except Refused as spent:
            self._failure = self._failure or spent
            return
        if self.endpoint.rate:
            self._not_before = max(self._not_before, self._clock()) + 1 / self.endpoint.rate
        question.profile, question.replies_before = self.profile, self._replies
        self._running[threads.submit(self.endpoint.send, self.profile.sent(question.request))] = question

    def _take_replies(self) -> None:
        """Wait for a reply, or until the next request may be sent."""
        timeout = max(self._due(), 0.0) if self._has_room() else None
        done, _ = wait(self._running, timeout=timeout, return_when=FIRST_COMPLETED)
        for future in done:
            self._take(self._running.pop(future), future)

    def _take(self, question: Question, future: Future[Response]) -> None:
        try:
            self._handed_over(question, future)
        except BaseException as error:  # the caller's: a job was cancelled
            self._failure = self._failure or error

    def _handed_over(self, question: Question, future: Future[Response]) -> None:
        try:
            reply = self.endpoint.reply(future.result())
        except Again as again:
            self._failed(question, again)
        except Unaccepted as refused:
            self._adapt(question, refused)
        except UnreadableReply as unreadable:
            self._answered()
            self.on_unreadable(question.key, unreadable)
        except Refused as refused:
            self._failure = self._failure or refused
        else:
            self._answered()
            if not self.on_reply(question.key, reply):
                self._give_more_room(question)

    def _answered(self) -> None:
        self._replies, self._given_up = self._replies + 1, 0
        self._at_once = min(self._at_once + 1 / max(self._at_once, 1.0), float(self.endpoint.connections))

    def _repeat(self, question: Question) -> None:
        heapq.heappush(self._waiting, (next(self._again), question))

    def _failed(self, question: Question, again: Again) -> None:
        """It is asked again, and nothing else before; a server that is only busy, and answers others, is not given up."""
        if again.is_busy and self._replies > question.replies_before:
            question.tried = 0
        question.tried += 1
        if again.is_busy:
            self._at_once = max(self._at_once / 2, 1.0)
        pause = max(min(FIRST_WAIT * 2 ** (question.tried - 1), LONGEST_WAIT), again.seconds)
        if question.tried < TRIES:
            self._not_before = max(self._not_before, self._clock() + pause)
            self._repeat(question)
            return
        said = f"The language model's server failed {TRIES} times in a row; last, {again}."
        self._given_up += 1
        if not self._replies or self._given_up >= DOWN:
            self._failure = self._failure or Refused(said)
        else:
            self.on_unreadable(question.key, UnreadableReply(said, str(again), may_pass=True))

    def _adapt(self, question: Question, refused: Unaccepted) -> None:
        """Sent again without what the server does not take; others may have found that out meanwhile."""
        if question.profile == self.profile:
            changed = self.profile.after(refused.body)
            if changed is None:
                self.on_unreadable(question.key, UnreadableReply(str(refused), refused.body, may_pass=True))
                return
            self.profile = changed
        self._repeat(question)

    def _give_more_room(self, question: Question) -> None:
        if question.profile == self.profile:
            longer = self.profile.longer()
            assert longer is not None, "whoever reads replies asks for a longer one only where there is one"
            self.profile = longer
        self._repeat(question)
