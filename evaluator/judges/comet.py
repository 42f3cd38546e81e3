"""COMET (Rei et al. 2020) as a pointwise judge, by its own command: `comet-score` of the package unbabel-comet, which is not
installed with Comparena. It reads sources, translations and references, a line each; the context is the source."""

import json
import shlex
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from core.errors import Refused
from evaluator.judges.program import TIMEOUT, run
from evaluator.judges.protocol import Numbers, OnProgress, Preferences, by_order
from evaluator.judges.texts import REFERENCES, Text, as_referenced

COMMAND = "comet-score"


class CometJudge:
    """model: a name that comet-score knows, or a checkpoint's path. Where some outputs have references, those that have none
    are not judged; where none has, the model must be one that needs none."""

    kind: Literal["pointwise"] = "pointwise"

    def __init__(self, model: str, timeout: float = TIMEOUT):
        self.model, self.timeout, self._referenced = model, timeout, False

    @property
    def settings(self) -> dict[str, Any]:
        return {"comet": self.model}

    def utilities(self, texts: Sequence[Text], *, on_progress: OnProgress | None = None) -> Numbers:
        """(n,) COMET's score of each; NaN for one without the reference that others have. Raises Refused where the command is
        not installed, fails, or does not score every line."""
        if shutil.which(COMMAND) is None:
            raise Refused(f"COMET needs its own command, but {COMMAND} is not on the PATH. Install unbabel-comet.")
        ordered = [as_referenced(text) for text in texts]
        self._referenced = any(text.references and not text.human for text in ordered)
        rows = [i for i, text in enumerate(ordered) if not self.lacks(text)]
        scores = np.full(len(ordered), np.nan)
        if rows:
            scores[rows] = self._scored([ordered[i] for i in rows])
        return scores

    def lacks(self, text: Text) -> str:
        """Why it does not judge this text, where it judges others by their references."""
        text = as_referenced(text)
        return f"it needs {REFERENCES}" if self._referenced and (text.human or not text.references) else ""

    def preferences(self, utility_a: Numbers, utility_b: Numbers) -> Preferences:
        return by_order(utility_a, utility_b)

    def _scored(self, texts: Sequence[Text]) -> list[float]:
        with tempfile.TemporaryDirectory() as folder:
            sources, outputs, references, found = (Path(folder) / name for name in ("src", "mt", "ref", "scores.json"))
            _write(sources, [" ".join(text.context) for text in texts])
            _write(outputs, [text.output for text in texts])
            arguments = [
                COMMAND,
                "-s",
                sources,
                "-t",
                outputs,
                "--model",
                self.model,
                "--gpus",
                0,
                "--quiet",
                "--to_json",
                found,
            ]
            if self._referenced:
                _write(references, [as_referenced(text).references[0] for text in texts])
                arguments += ["-r", references]
            run(shlex.join(map(str, arguments)), b"", self.timeout)
            return _read(found, len(texts))


def _write(path: Path, texts: Sequence[str]) -> None:
    """A line each: COMET reads lines."""
    path.write_text("".join(" ".join(text.split()) + "\n" for text in texts), encoding="utf-8", errors="replace")


def _read(path: Path, n: int) -> list[float]:
    """The scores of the one file of translations, in its order."""
    try:
        (rows,) = json.loads(path.read_text(encoding="utf-8")).values()
        scores = [float(row["COMET"]) for row in rows]
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise Refused(f"{COMMAND} wrote no scores that can be read ({type(error).__name__}).") from error
    if len(scores) != n or not np.isfinite(scores).all():
        raise Refused(f"{COMMAND} scored {len(scores)} of {n} outputs, or some with no number.")
    return scores
