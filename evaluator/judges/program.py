"""Any program as a judge: JSON lines on its standard input, JSON lines on its standard output.

It is started once, reads all rows, and answers each of them in any order:

    {"id", "context": [turns], "output", "references": [texts]}       ->  {"id", "score"}
    {"id", "context", "output_a", "output_b", "references"}           ->  {"id", "a", "tie", "b"}, which sum to 1

What it answers is kept as it comes, so that a run that was killed asks for the rest alone. It comes when the program flushes
its output. No shell reads the command, so that nothing in it is expanded.
"""

import hashlib
import io
import json
import os
import select
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

from core.errors import Refused, quoted
from core.parent import signalled_at_death_of
from core.rowfiles import BadField, Row, read_rows, refusal
from evaluator.judges.protocol import Numbers, OnProgress, Preferences, by_order
from evaluator.judges.replies import Replies, key_of
from evaluator.judges.texts import Text, place_of

TIMEOUT = 3600.0  # seconds
PIPE_BYTES = 65536  # that a pipe of Linux holds
LAST_BYTES = 4096  # of what a program complains
SUM_ERROR = 1e-3  # by which the three probabilities may miss 1, since programs round
References = Mapping[str, Sequence[str]]  # of a context, by `texts.place_of`
Reading = Callable[[Row], list[float]]  # takes the numbers of an answer; raises BadField


class ProgramJudge:
    """A pointwise judge: a score for each output, on the program's own scale."""

    kind: Literal["pointwise"] = "pointwise"

    def __init__(
        self, command: str, references: References | None = None, timeout: float = TIMEOUT, replies: Replies | None = None
    ):
        self.command, self.references, self.timeout = command, references or {}, timeout
        self.replies = replies or Replies(None)

    def utilities(self, texts: Sequence[Text], *, on_progress: OnProgress | None = None) -> Numbers:
        """(n,) Raises Refused where the program fails, or leaves an output without a finite score."""
        sent = [{"context": list(text.context), "output": text.output, "references": self._references(text)} for text in texts]
        return _answered(self, sent, lambda row: [row.number("score")])[:, 0]

    def preferences(self, utility_a: Numbers, utility_b: Numbers) -> Preferences:
        """What the order of the scores says: how sure it is the program does not tell."""
        return by_order(utility_a, utility_b)

    def _references(self, text: Text) -> list[str]:
        return list(self.references.get(place_of(text), ()))


class ProgramPairJudge:
    """A pairwise judge. Each pair is asked about in both orders, and the answer is the mean, so that sides do not count."""

    kind: Literal["pairwise"] = "pairwise"

    def __init__(
        self, command: str, references: References | None = None, timeout: float = TIMEOUT, replies: Replies | None = None
    ):
        self.command, self.references, self.timeout = command, references or {}, timeout
        self.replies = replies or Replies(None)

    def compare(
        self, texts_a: Sequence[Text], texts_b: Sequence[Text], *, on_progress: OnProgress | None = None
    ) -> Preferences:
        """Raises Refused where the program fails, or leaves a pair without three probabilities."""
        forth = list(zip(texts_a, texts_b, strict=True))
        asked = [*forth, *((b, a) for a, b in forth)]
        sent = [
            {
                "context": list(a.context),
                "output_a": a.output,
                "output_b": b.output,
                "references": list(self.references.get(place_of(a), ())),
            }
            for a, b in asked
        ]
        p, n = _answered(self, sent, _probabilities).reshape(-1, 3), len(forth)
        return Preferences.likeliest((p[:n] + p[n:, ::-1]) / 2)


def _probabilities(row: Row) -> list[float]:
    values = [row.number(side) for side in ("a", "tie", "b")]
    for side, value in zip(("a", "tie", "b"), values, strict=True):
        if not 0 <= value <= 1:
            raise BadField(side, f"expected a probability from 0 to 1, found {value:g}")
    if abs(sum(values) - 1) > SUM_ERROR:
        raise BadField("tie", f"a, tie and b add up to {sum(values):g}; they have to add up to 1")
    return values


def _answered(judge: ProgramJudge | ProgramPairJudge, sent: Sequence[dict[str, Any]], read: Reading) -> Numbers:
    """(n, k) what the program answered to each row, as `read` takes it from the answer; equal rows are asked once, and those
    whose answers are kept not at all. Raises Refused where an answer is missing, comes twice, or cannot be read."""
    if not sent:
        return np.empty((0, 3))
    where = _identity(judge.command)
    keys = [key_of(row, where) for row in sent]
    answers = {key: reply["said"] for key, reply in judge.replies.known(keys).items()}
    first = {key: i for i, key in reversed(list(enumerate(keys)))}  # where each stands first
    asked = {str(i): key for key, i in first.items() if key not in answers}
    if asked:
        rows = [{"id": i, **sent[int(i)]} for i in sorted(asked, key=int)]
        answers |= _asked(judge, rows, asked, read)
    return np.array([answers[key] for key in keys])


def _asked(
    judge: ProgramJudge | ProgramPairJudge, rows: Sequence[dict[str, Any]], keys: Mapping[str, str], read: Reading
) -> dict[str, list[float]]:
    """What it answers to the rows, by their keys; keys: by a row's id. Of a program that breaks a rule nothing is kept."""
    name = f"the output of {_arguments(judge.command)[0]}"
    heard: set[str] = set()

    def keep(lines: bytes) -> None:
        found = _readable(lines, name, keys, read)
        judge.replies.keep_many({key: {"said": said} for key, said in found.items() if key not in heard})
        heard.update(found)

    given = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    written = run(judge.command, given, judge.timeout, keep)
    try:
        answers = _read(written, name, keys, read)
    except Refused:
        judge.replies.drop(heard)
        raise
    judge.replies.keep_many({key: {"said": said} for key, said in answers.items() if key not in heard})
    return answers


def _readable(lines: bytes, name: str, keys: Mapping[str, str], read: Reading) -> dict[str, list[float]]:
    """Those of some lines that are answers; `_read` says later what is wrong with the others."""
    found: dict[str, list[float]] = {}
    with suppress(Refused):  # no line of these is one
        for row in read_rows(io.BytesIO(lines), name, on_error=lambda error: None):
            with suppress(BadField, KeyError):
                found[keys[row.name("id")]] = read(row)
    return found


def _read(written: bytes, name: str, keys: Mapping[str, str], read: Reading) -> dict[str, list[float]]:
    answers: dict[str, list[float]] = {}
    for row in read_rows(io.BytesIO(written), name):
        try:
            identifier = row.name("id")
            if identifier not in keys:
                raise BadField("id", f"{quoted(identifier)} was not asked for")
            if keys[identifier] in answers:
                raise BadField("id", f"{quoted(identifier)} is answered twice")
            answers[keys[identifier]] = read(row)
        except BadField as error:
            counts = "; NaN counts as missing" if b"NaN" in written else ""
            raise refusal(name, row.line, f"{error}{counts}", error.field) from None
    missing = [identifier for identifier, key in keys.items() if key not in answers]
    if missing:
        first = min(missing, key=int)
        some = f"{len(missing)} of {len(keys)} rows have no answer; the first has the id {quoted(first)}"
        raise refusal(name, None, some, "id")
    return answers


def _identity(command: str) -> str:
    """The command with the SHA-256 of each file that it names, so that a changed program is asked anew."""
    arguments = _arguments(command)
    files = [shutil.which(arguments[0]) or "", *arguments[1:]]
    return json.dumps([arguments, [_digest(name) for name in files]])


def _digest(name: str) -> str:
    """Empty where there is no such file: what is code and no name may be longer than any."""
    try:
        if not Path(name).is_file():
            return ""
        with open(name, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return ""


def run(command: str, given: bytes, timeout: float, heard: Callable[[bytes], None] = lambda lines: None) -> bytes:
    """What the program wrote to its standard output. heard: called with whole lines as they come. Raises Refused where it
    cannot be started, fails, or takes longer than timeout seconds; then it ends with all processes that it started. It ends
    too where this process is killed."""
    arguments, deadline = _arguments(command), time.monotonic() + timeout
    with tempfile.TemporaryFile() as complaints:
        try:
            process = subprocess.Popen(
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                start_new_session=True,
                preexec_fn=signalled_at_death_of(os.getpid(), signal.SIGKILL),
            )
        except OSError as error:
            raise Refused(f"The judge {arguments[0]!r} cannot be started ({error.strerror}).") from error
        assert process.stdin and process.stdout
        threading.Thread(target=_give, args=(process.stdin, given), daemon=True).start()
        try:
            written = _heard(process.stdout, deadline, heard)
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise Refused(f"The judge {arguments[0]!r} took longer than {timeout:g} seconds.") from None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            process.stdout.close()
        if process.returncode:
            raise Refused(f"The judge {arguments[0]!r} failed with status {process.returncode}: {_last(complaints)[:500]}")
    return written


def _give(pipe: IO[bytes], given: bytes) -> None:
    with suppress(BrokenPipeError), pipe:  # it may read nothing
        pipe.write(given)


def _heard(pipe: IO[bytes], deadline: float, heard: Callable[[bytes], None]) -> bytes:
    """All that comes until the end; while `heard` works, more lines gather. Raises TimeoutExpired."""
    written, told = bytearray(), 0
    waiting = select.poll()
    waiting.register(pipe.fileno(), select.POLLIN)
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not waiting.poll(left * 1000):
            raise subprocess.TimeoutExpired("", left)
        chunk = os.read(pipe.fileno(), PIPE_BYTES)
        if not chunk:
            return bytes(written)
        written += chunk
        if end := chunk.rfind(b"\n") + 1:
            whole = len(written) - len(chunk) + end
            heard(bytes(written[told:whole]))
            told = whole


def _last(complaints: IO[bytes]) -> str:
    """The last line of what it complained."""
    complaints.seek(max(0, complaints.seek(0, os.SEEK_END) - LAST_BYTES))
    return (complaints.read().decode("utf-8", "replace").strip().splitlines() or ["it said nothing"])[-1]


def _arguments(command: str) -> list[str]:
    try:
        arguments = shlex.split(command)
    except ValueError as error:
        raise Refused(f"The judge's command cannot be read ({error}).") from error
    if not arguments:
        raise Refused("The judge's command is empty.")
    return arguments
