"""A jury of a campaign's judges, at work. Each juror is what plays under its name: a comparator, a metric, imported judgments,
a program, a reward model or a language model. Scores become answers with a scale and ties fitted on pairs that people judged.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from annotation.models import Output
from core.errors import Refused
from evaluator.judge_tables import imports
from evaluator.judges import protocol
from evaluator.judges.jury import Juror, Jury
from evaluator.judges.protocol import Numbers, OnProgress, Preferences, by_order, differences, likeliest
from evaluator.judges.texts import Text, place_of
from evaluator.models import Judge
from evaluator.worker import comparators
from evaluator.worker.judge_tables.material import Material, material, metric_of

Key = tuple[str, str]  # the context's place, the output
AtWork = Callable[[Judge], protocol.Judge]
Fitted = Callable[[np.ndarray, Material, Callable[[np.ndarray, np.ndarray], Preferences], int], Any]


def jury(judge: Judge, criterion: str, seed: int, known: Material | None, at_work: AtWork, fitted: Fitted) -> Jury:
    """at_work, fitted: `players.at_work` and `players.fitted`, handed in. Raises Refused where a juror has changed."""
    rows = {row.name: row for row in judge.campaign.judges.select_related("version", "campaign")}
    jurors = []
    for name, digest in judge.settings["jurors"].items():
        row = rows.get(name)
        if row is None or row.digest != digest:
            raise Refused(f"Juror {name!r} has changed since {judge.name!r} was set up; set up another jury.")
        jurors.append(_juror(row, criterion, seed, known, at_work, fitted))
    return Jury(jurors, judge.settings["by"])


def _juror(row: Judge, criterion: str, seed: int, known: Material | None, at_work: AtWork, fitted: Fitted) -> Juror:
    if row.version is not None:
        return Juror(row.name, FreshComparator(comparators.load(row.version), {"comparator": row.version.name}))
    player: protocol.Judge
    if row.kind == Judge.Kind.METRIC:
        player = metric_of(known or material(row.campaign, criterion), row.settings["metric"])
    elif row.kind == Judge.Kind.IMPORTED:
        player = _imported(row)
    else:
        player = at_work(row)
    if player.kind == "pairwise":
        return Juror(row.name, player)
    head = None
    if known is not None and known.texts:
        found = fitted(np.asarray(player.utilities(known.texts), dtype=float), known, player.preferences, seed)
        head = found and found[0]
    if head is None:
        return Juror(row.name, player, by_order)
    return Juror(row.name, player, partial(_by_head, head))


def _by_head(head: Any, a: Numbers, b: Numbers) -> Preferences:
    said: Preferences = head.preferences(differences(a, b))
    return said


@dataclass(frozen=True)
class FreshComparator:
    """A comparator that says nothing of contexts that all of its members learned from."""

    comparator: Any
    settings: Mapping[str, Any]
    kind: Literal["pairwise"] = "pairwise"

    def compare(
        self, texts_a: Sequence[Text], texts_b: Sequence[Text], *, on_progress: OnProgress | None = None
    ) -> Preferences:
        new = np.array([not self.comparator.manifest.taught(text) for text in texts_a], dtype=bool)  # (n,)
        a, b = ([text for text, fresh in zip(side, new, strict=True) if fresh] for side in (texts_a, texts_b))
        probabilities, choices = np.full((len(new), 3), np.nan), np.full(len(new), "", dtype="<U3")
        if a:
            rows = np.arange(len(a))
            said = protocol.preferences(self.comparator, [*a, *b], rows, rows + len(a), on_progress)
            probabilities[new], choices[new] = said.probabilities, said.choices
        return Preferences(probabilities, choices)


@dataclass(frozen=True)
class ImportedScores:
    """Scores that were imported, by what they were given to; NaN for other texts."""

    scores: Mapping[Key, float]
    kind: Literal["pointwise"] = "pointwise"

    def utilities(self, texts: Sequence[Text], *, on_progress: OnProgress | None = None) -> Numbers:
        return np.array([self.scores.get((place_of(text), text.output), np.nan) for text in texts], dtype=float)

    def preferences(self, utility_a: Numbers, utility_b: Numbers) -> Preferences:
        return by_order(utility_a, utility_b)


@dataclass(frozen=True)
class ImportedPairs:
    """Comparisons that were imported; NaN and "" for other pairs."""

    said: Mapping[tuple[Key, Key], tuple[float, float, float]]
    kind: Literal["pairwise"] = "pairwise"

    def compare(
        self, texts_a: Sequence[Text], texts_b: Sequence[Text], *, on_progress: OnProgress | None = None
    ) -> Preferences:
        keys = [[(place_of(text), text.output) for text in side] for side in (texts_a, texts_b)]
        nothing = (np.nan, np.nan, np.nan)
        p = np.array([self.said.get(pair, nothing) for pair in zip(*keys, strict=True)], dtype=float).reshape(-1, 3)
        return Preferences(p, likeliest(p))


def _imported(row: Judge) -> protocol.Judge:
    outputs = Output.objects.filter(context__campaign=row.campaign).select_related("context")
    key_of = {output.pk: (place_of(text), text.output) for output in outputs for text in [comparators.text_of(output)]}
    if imports.pairs_of(row.campaign, row.name):
        pairs = row.imported_pairs.values_list("output_a_id", "output_b_id", "p_a", "p_tie", "p_b")
        said = {(key_of[a], key_of[b]): (p_a, p_tie, p_b) for a, b, p_a, p_tie, p_b in pairs}
        return ImportedPairs({(b, a): (p_b, p_tie, p_a) for (a, b), (p_a, p_tie, p_b) in said.items()} | said)
    scores = row.imported_scores.values_list("output_id", "value")
    return ImportedScores({key_of[pk]: value for pk, value in scores})
