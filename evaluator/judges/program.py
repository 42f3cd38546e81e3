"""Any program as a judge: JSON lines on its standard input, JSON lines on its standard output.

It is started once, reads all rows, and answers each of them in any order:

    {"id", "context": [turns], "output", "references": [texts]}       ->  {"id", "score"}
    {"id", "context", "output_a", "output_b", "references"}           ->  {"id", "a", "tie", "b"}, which sum to 1

No shell reads the command, so that nothing in it is expanded.
"""

import io
import json
import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from core.errors import Refused, quoted
from core.rowfiles import BadField, Row, read_rows, refusal
from evaluator.judges.protocol import Numbers, OnProgress, Preferences, by_order
from evaluator.judges.texts import Text

TIMEOUT = 3600.0  # seconds
SUM_ERROR = 1e-3  # by which the three probabilities may miss 1, since programs round
References = Mapping[tuple[str, ...], Sequence[str]]  # of a context


class ProgramJudge:
    """A pointwise judge: a score for each output, on the program's own scale."""

    kind: Literal["pointwise"] = "pointwise"

    def __init__(self, command: str, references: References | None = None, timeout: float = TIMEOUT):
        self.command, self.references, self.timeout = command, references or {}, timeout

    def utilities(self, texts: Sequence[Text], *, on_progress: OnProgress | None = None) -> Numbers:
        """(n,) Raises Refused where the program fails, or leaves an output without a finite score."""
        sent = [
            {"id": str(i), "context": list(text.context), "output": text.output, "references": self._references(text)}
            for i, text in enumerate(texts)
        ]
        return _answered(self.command, sent, self.timeout, lambda row: [row.number("score")])[:, 0]

    def preferences(self, utility_a: Numbers, utility_b: Numbers) -> Preferences:
        """What the order of the scores says: how sure it is the program does not tell."""
        return by_order(utility_a, utility_b)

    def _references(self, text: Text) -> list[str]:
        return list(self.references.get(text.context, ()))


class ProgramPairJudge:
    """A pairwise judge. Each pair is asked about in both orders, and the answer is the mean, so that sides do not count."""

    kind: Literal["pairwise"] = "pairwise"

    def __init__(self, command: str, references: References | None = None, timeout: float = TIMEOUT):
        self.command, self.references, self.timeout = command, references or {}, timeout

    def compare(
        self, texts_a: Sequence[Text], texts_b: Sequence[Text], *, on_progress: OnProgress | None = None
    ) -> Preferences:
        """Raises Refused where the program fails, or leaves a pair without three probabilities."""
        forth = list(zip(texts_a, texts_b, strict=True))
        asked = [*forth, *((b, a) for a, b in forth)]
        sent = [
            {
                "id": str(i),
                "context": list(a.context),
                "output_a": a.output,
                "output_b": b.output,
                "references": list(self.references.get(a.context, ())),
            }
            for i, (a, b) in enumerate(asked)
        ]
        p, n = _answered(self.command, sent, self.timeout, _probabilities).reshape(-1, 3), len(forth)
        return Preferences.likeliest((p[:n] + p[n:, ::-1]) / 2)


def _probabilities(row: Row) -> list[float]:
    values = [row.number(side) for side in ("a", "tie", "b")]
    for side, value in zip(("a", "tie", "b"), values, strict=True):
        if not 0 <= value <= 1:
            raise BadField(side, f"expected a probability from 0 to 1, found {value:g}")
    if abs(sum(values) - 1) > SUM_ERROR:
        raise BadField("tie", f"a, tie and b add up to {sum(values):g}; they have to add up to 1")
    return values


def _answered(command: str, sent: list[dict[str, Any]], timeout: float, read: Callable[[Row], list[float]]) -> Numbers:
    """(n, k) what the program answered to each row, as `read` takes it from the answer. Raises Refused where an answer is
    missing, comes twice, or cannot be read."""
    if not sent:
        return np.empty((0, 3))
    name = f"the output of {_arguments(command)[0]}"
    written = run(command, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in sent).encode(), timeout)
    answers: dict[str, list[float]] = {}
    asked = [row["id"] for row in sent]
    known = frozenset(asked)
    for row in read_rows(io.BytesIO(written), name):
        try:
            key = row.name("id")
            if key not in known:
                raise BadField("id", f"{quoted(key)} was not asked for")
            if key in answers:
                raise BadField("id", f"{quoted(key)} is answered twice")
            answers[key] = read(row)
        except BadField as error:
            raise refusal(name, row.line, str(error), error.field) from None
    missing = [key for key in asked if key not in answers]
    if missing:
        some = f"{len(missing)} of {len(asked)} rows have no answer; the first has the id {quoted(missing[0])}"
        raise refusal(name, None, some, "id")
    return np.array([answers[key] for key in asked])


def run(command: str, given: bytes, timeout: float) -> bytes:
    """What the program wrote to its standard output. Raises Refused where it cannot be started, fails, or takes longer than
    timeout seconds; then it ends with all processes that it started."""
    arguments = _arguments(command)
    try:
        process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
    except OSError as error:
        raise Refused(f"The judge {arguments[0]!r} cannot be started ({error.strerror}).") from error
    try:
        written, complaint = process.communicate(given, timeout)
    except subprocess.TimeoutExpired:
        raise Refused(f"The judge {arguments[0]!r} took longer than {timeout:g} seconds.") from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    if process.returncode:
        last = (complaint.decode("utf-8", "replace").strip().splitlines() or ["it said nothing"])[-1]
        raise Refused(f"The judge {arguments[0]!r} failed with status {process.returncode}: {last[:500]}")
    return written


def _arguments(command: str) -> list[str]:
    try:
        arguments = shlex.split(command)
    except ValueError as error:
        raise Refused(f"The judge's command cannot be read ({error}).") from error
    if not arguments:
        raise Refused("The judge's command is empty.")
    return arguments
