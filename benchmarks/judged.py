"""Sets of scored outputs, no part of the product, that a comparator learns from and is measured on."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.studies.judged_sets import lines
from evaluator.comparator.examples import aligned
from evaluator.comparator.supervision.self_supervision import ending
from evaluator.judges.texts import Text, context_key
from evaluator.metaevaluation.pairs import JudgedPair, mean_scores, pairs_from_scores

SETS = {
    "dailydialog_zhao": "Overall",
    "dailydialog_gupta": "Overall",
    "usr_topical_chat": "Overall",
    "usr_persona_chat": "Overall",
    "grade_dailydialog": "coherence",
    "grade_empathetic": "coherence",
}


@dataclass(frozen=True)
class Judged:
    """One set of scored outputs, by the criterion of SETS."""

    name: str
    texts: list[Text]
    means: np.ndarray  # (n,) mean score
    scores: np.ndarray  # (n, 1) mean score from 0 to 1
    pairs: list[JudgedPair]

    @property
    def contexts(self) -> np.ndarray:
        """(n,) context number"""
        number: dict[str, int] = {}
        return np.array([number.setdefault(context_key(text.context), len(number)) for text in self.texts])


def read(data: Path, name: str) -> Judged:
    rows = lines(data / f"{name}.outputs.jsonl")
    place = {(row["context_id"], row["system"]): i for i, row in enumerate(rows)}
    texts = [Text(tuple(row["context"]), row["output"]) for row in rows]
    mine = [r for r in lines(data / f"{name}.ratings.jsonl") if r["aspect"] == SETS[name]]
    given, scale = [(place[r["context_id"], r["system"]], r["annotator"], r["score"]) for r in mine], tuple(mine[0]["scale"])
    scores = np.array(mean_scores(given, len(texts), scale))
    means = scale[0] + (scale[1] - scale[0]) * scores
    return Judged(name, texts, means, scores[:, None], pairs_from_scores(given, texts, scale))


def apart_from(judged: Judged, main: Judged) -> Judged:
    """Less the contexts that it shares with `main`, and its scores at the mean and spread of main's."""
    ends = {ending(text.context) for text in main.texts}
    keep = [i for i, text in enumerate(judged.texts) if ending(text.context) not in ends]
    place = {i: k for k, i in enumerate(keep)}
    scores = aligned(judged.scores[keep], main.scores)
    pairs = [replace(p, a=place[p.a], b=place[p.b]) for p in judged.pairs if p.a in place]
    return Judged(judged.name, [judged.texts[i] for i in keep], judged.means[keep], scores, pairs)
