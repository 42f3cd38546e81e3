"""Sets of scored outputs, no part of the product, that a comparator learns from and is measured on."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

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
    """One set of scored outputs."""

    name: str
    texts: list[Text]
    criteria: list[str]  # (c,) the first is the one that is measured
    means: np.ndarray  # (n,) mean score by the first
    scores: np.ndarray  # (n, c) mean score by each, from 0 to 1
    pairs: list[JudgedPair]
    systems: list[str]  # (n,) whose output each is

    @property
    def contexts(self) -> np.ndarray:
        """(n,) context number"""
        number: dict[str, int] = {}
        return np.array([number.setdefault(context_key(text.context), len(number)) for text in self.texts])


def read(data: Path, name: str, others: Sequence[str] = ()) -> Judged:
    """By the criterion of SETS, and by others that the set has."""
    rows = _lines(data / f"{name}.outputs.jsonl")
    place = {(row["context_id"], row["system"]): i for i, row in enumerate(rows)}
    texts = [Text(tuple(row["context"]), row["output"]) for row in rows]
    ratings, criteria = _lines(data / f"{name}.ratings.jsonl"), [SETS[name], *others]
    scale = {r["aspect"]: tuple(r["scale"]) for r in ratings}
    scores, pairs = np.empty((len(texts), len(criteria))), []
    for c, criterion in enumerate(criteria):
        mine = [r for r in ratings if r["aspect"] == criterion]
        given = [(place[r["context_id"], r["system"]], r["annotator"], r["score"]) for r in mine]
        scores[:, c] = mean_scores(given, len(texts), scale[criterion])
        pairs += [replace(pair, criterion=c) for pair in pairs_from_scores(given, texts, scale[criterion])]
    low, high = scale[SETS[name]]
    means = low + (high - low) * scores[:, 0]
    return Judged(name, texts, criteria, means, scores, pairs, [row["system"] for row in rows])


def apart_from(judged: Judged, main: Judged) -> Judged:
    """Less the contexts that it shares with `main`, and its scores by the first criterion at the mean and spread of main's."""
    ends = {ending(text.context) for text in main.texts}
    keep = [i for i, text in enumerate(judged.texts) if ending(text.context) not in ends]
    place = {i: k for k, i in enumerate(keep)}
    scores = aligned(judged.scores[keep, :1], main.scores[:, :1])
    pairs = [replace(p, a=place[p.a], b=place[p.b]) for p in judged.pairs if p.a in place and p.criterion == 0]
    return replace(
        judged,
        texts=[judged.texts[i] for i in keep],
        criteria=judged.criteria[:1],
        means=judged.means[keep],
        scores=scores,
        pairs=pairs,
        systems=[judged.systems[i] for i in keep],
    )


def _lines(path: Path) -> list[dict]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]
