"""Real sets of outputs that people judged, no part of the product: FOLDER/NAME.outputs.jsonl and NAME.ratings.jsonl."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluator.judges.texts import Referenced, context_key, referenced, unit_of
from evaluator.metaevaluation.judges_table import PeopleScores
from evaluator.metaevaluation.pairs import JudgedPair, mean_scores, pairs_from_scores
from evaluator.metrics.inputs import Training


@dataclass(frozen=True)
class Kind:
    """What has to be said of a set that its files do not."""

    criteria: tuple[str, ...]  # the judges' table is about the first
    human: tuple[str, ...] = ()  # systems that are people
    note: str = ""


SETS = {
    "usr_topical_chat": Kind(("Overall",), ("Original Ground Truth", "New Human Generated"), "three annotators"),
    "usr_persona_chat": Kind(("Overall",), ("Original Ground Truth", "New Human Generated"), "three annotators"),
    "grade_dailydialog": Kind(("coherence",), (), "about ten annotators"),
    "grade_empathetic": Kind(("coherence",), (), "about ten annotators"),
    "dailydialog_gupta": Kind(("Overall",), ("human",), "the mean of about five annotators, stored as one"),
    "dailydialog_zhao": Kind(
        ("Overall", "Relevance"),
        (),
        "the mean of four annotators, stored as one; the release does not say which system is whose",
    ),
    "emnlp17": Kind(("quality", "naturalness", "informativeness"), (), "the median of three annotators, stored as one"),
}


KIND = "kind.json"  # NAME.kind.json says what SETS does not know: {"criteria": [...], "human": [...]}


def kind_of(folder: Path, name: str) -> Kind:
    if name in SETS:
        return SETS[name]
    (said,) = lines(folder / f"{name}.{KIND}")
    return Kind(tuple(said["criteria"]), tuple(said["human"]))


@dataclass(frozen=True)
class JudgedSet:
    name: str
    kind: Kind
    texts: list[Referenced]  # (n,)
    people: PeopleScores
    scores: np.ndarray  # (n, c) people's mean by each of the kind's criteria, 0..1, NaN where nobody scored
    published: dict[str, np.ndarray]  # metric -> (n,) as the release has it

    def training(self, seed: int) -> Training:
        """For learned metrics, out of fold by group or the text of the context."""
        return Training.dealt(self.texts, self.scores.tolist(), seed=seed)

    @property
    def digest(self) -> str:
        """Of all that judges read: 12 hexadecimal digits."""
        own = lambda t: (t.context, t.output, t.references, t.human, *filter(None, [t.group]))
        rows = [(*own(text), scores) for text, scores in zip(self.texts, self.scores.tolist())]
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:12]


def read(folder: Path, name: str, references: dict[str, list[str]] | None = None, contexts: int | None = None) -> JudgedSet:
    """references: {context_id: texts} that stand beside those of the file; contexts: the first ones alone."""
    kind, rows = kind_of(folder, name), lines(folder / f"{name}.outputs.jsonl")
    kept = set(list(dict.fromkeys(row["context_id"] for row in rows))[:contexts])
    rows = [row for row in rows if row["context_id"] in kept]
    place = {(row["context_id"], row["system"]): i for i, row in enumerate(rows)}
    human = [row["system"] in kind.human for row in rows]
    plain = [Referenced(tuple(row["context"]), row["output"], group=row.get("group", "")) for row in rows]
    given = [[*row.get("references", ()), *(references or {}).get(row["context_id"], ())] for row in rows]
    texts = referenced(plain, human, given)
    ratings = [row for row in lines(folder / f"{name}.ratings.jsonl") if row["context_id"] in kept]
    scales = {r["aspect"]: (float(r["scale"][0]), float(r["scale"][1])) for r in ratings}
    by_criterion = {
        criterion: [
            (place[r["context_id"], r["system"]], r["annotator"], r["score"]) for r in ratings if r["aspect"] == criterion
        ]
        for criterion in kind.criteria
    }
    scores = np.array([mean_scores(by_criterion[c], len(rows), scales[c]) for c in kind.criteria]).T  # (n, c)
    first = by_criterion[kind.criteria[0]]
    people = _people(
        texts, [row["system"] for row in rows], human, first, pairs_from_scores(first, texts, scales[kind.criteria[0]])
    )
    names = dict.fromkeys(metric for row in rows for metric in row.get("published", ()))
    published = {metric: np.array([row["published"][metric] for row in rows], dtype=float) for metric in names}
    return JudgedSet(name, kind, texts, people, scores, published)


def _people(
    texts: Sequence[Referenced],
    systems: Sequence[str],
    human: Sequence[bool],
    given: Sequence[tuple[int, str, float]],
    pairs: Sequence[JudgedPair],
) -> PeopleScores:
    who = {name: j for j, name in enumerate(sorted({annotator for _, annotator, _ in given}))}
    scores = np.full((len(texts), len(who)), np.nan)
    for i, annotator, score in given:
        scores[i, who[annotator]] = score
    _, contexts = np.unique([context_key(text.context) for text in texts], return_inverse=True)
    _, numbers = np.unique(systems, return_inverse=True)
    words = np.array([len(text.output.split()) for text in texts])
    groups = np.unique([unit_of(text) for text in texts], return_inverse=True)[1] if any(text.group for text in texts) else None
    return PeopleScores(scores, contexts, numbers, np.array(human, dtype=bool), words, tuple(pairs), groups)


def lines(path: Path) -> list[dict]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]
