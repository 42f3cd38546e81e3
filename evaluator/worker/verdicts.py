"""What a version says of outputs that play, by their ids: from one utility each, or from pairs read together.

Imported by the runner alone, since a joint comparator needs torch."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from annotation.models import Output
from core.errors import Refused
from evaluator.comparator.examples import Text, context_key
from evaluator.comparator.head import Head, decide
from evaluator.comparator.joint_model import JointComparator, choices, meetings

Report = Callable[[float, str], None]


def text_of(output: Output) -> Text:
    return Text(tuple(output.context.turns), output.text)


@dataclass(frozen=True)
class Verdicts:
    """Of a utility comparator."""

    utility: dict[int, float]
    head: Head

    def difference(self, a: Iterable[int], b: Iterable[int]) -> np.ndarray:
        return np.array([self.utility[i] - self.utility[j] for i, j in zip(a, b, strict=True)], dtype=float)

    def outcomes(self, a: Iterable[int], b: Iterable[int]) -> np.ndarray:
        """(n,) +1 where a is better, 0 for a tie, -1 where b is."""
        return _signs(decide(self.difference(a, b), self.head.tie_threshold))

    def probabilities(self, a: Iterable[int], b: Iterable[int]) -> np.ndarray:
        """(n, 3) P(a better), P(tie), P(b better)"""
        return self.head.probabilities(self.difference(a, b))


@dataclass(frozen=True)
class JointVerdicts:
    """Of a joint comparator: every two outputs of one context, read once."""

    games: dict[tuple[int, int], np.ndarray]  # (3,) each, of pairs whose first id is the smaller

    def outcomes(self, a: Iterable[int], b: Iterable[int]) -> np.ndarray:
        """(n,) +1 where a is better, 0 for a tie, -1 where b is."""
        return _signs(choices(self.probabilities(a, b)))

    def probabilities(self, a: Iterable[int], b: Iterable[int]) -> np.ndarray:
        """(n, 3) P(a better), P(tie), P(b better). Raises Refused for outputs of different contexts."""
        try:
            said = [self.games[i, j] if i < j else self.games[j, i][::-1] for i, j in zip(a, b, strict=True)]
        except KeyError:
            raise Refused("A joint comparator compares outputs of one context only.") from None
        return np.array(said).reshape(-1, 3)


def read_together(comparator: JointComparator, outputs: Iterable[Output], report: Report | None = None) -> JointVerdicts:
    """Let the comparator read every two of the outputs that share a context (their contexts selected with them)."""
    ordered = sorted(outputs, key=lambda output: output.pk)
    texts = [text_of(output) for output in ordered]
    a, b = meetings([context_key(text.context) for text in texts])  # (g,)
    watch = None if report is None else lambda done, message, _: report(done, f"Comparing {len(a)} pairs of outputs")
    p = comparator.compare([texts[i] for i in a], [texts[i] for i in b], on_progress=watch).probabilities  # (g, 3)
    return JointVerdicts({(ordered[i].pk, ordered[j].pk): said for i, j, said in zip(a.tolist(), b.tolist(), p)})


def _signs(choices: np.ndarray) -> np.ndarray:
    return (choices == "A").astype(int) - (choices == "B").astype(int)
