"""Whether judges are fooled: the frozen attacks (`metaevaluation.robustness`) on answers that people of a campaign found good,
for every judge that can be asked about other texts than theirs. Imported inside commands: some judges need torch."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from core.errors import Refused
from evaluator.comparator.predict import Comparator
from evaluator.judges.protocol import Judge, Numbers
from evaluator.judges.texts import Referenced, Text, as_referenced, place_of
from evaluator.metaevaluation.card_figures import Ahead, JudgedTexts, attack_table, good_answers
from evaluator.worker.judge_tables.material import Material
from evaluator.worker.registration import json_ready


def attacked(known: Material, name: str, judge: Judge, seed: int) -> dict[str, Any]:
    """{judge, attacks: as `attack_table`, why: what stood in the way, "" where nothing did}"""
    source = known.source
    judged = JudgedTexts(list(known.texts), source.pairs, source.scores[:, 0], source.ratings)
    lacks = getattr(judge, "lacks", lambda text: "")
    able = np.array([i for i, text in enumerate(known.texts) if not lacks(text)], dtype=int)
    good = good_answers(judged.take(able), seed)
    if not good:
        return {"judge": name, "attacks": [], "why": "it judges no answer that people found good"}
    try:
        table = attack_table(_ahead(known, judge), good, seed)
    except Refused as refused:
        return {"judge": name, "attacks": [], "why": str(refused).rstrip(".")}
    return json_ready({"judge": name, "attacks": table, "why": ""})


def _ahead(known: Material, judge: Judge) -> Ahead:
    """How far the judge puts the first text before the second; both have the references of their context."""
    references: dict[str, tuple[str, ...]] = {}
    for text in map(as_referenced, known.texts):
        key = place_of(text)
        references[key] = tuple(dict.fromkeys([*references.get(key, ()), *text.references]))

    def with_references(texts: Sequence[Text]) -> list[Referenced]:
        return [replace(as_referenced(text), references=references.get(place_of(text), ())) for text in texts]

    def ahead(first: Sequence[Text], second: Sequence[Text], attacks: Sequence[str]) -> Numbers:
        if judge.kind == "pairwise":
            p = judge.compare(with_references(first), with_references(second)).probabilities
            difference: Numbers = p[:, 0] - p[:, 2]  # NaN where the judge says nothing
            return difference
        if isinstance(judge, Comparator):
            return judge.differences(first, second, unlearnt=attacks)
        u = judge.utilities(with_references([*first, *second]))
        return u[: len(first)] - u[len(first) :]

    return ahead
