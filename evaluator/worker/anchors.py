"""Asking a language model again about its anchor set."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from core.errors import Refused
from evaluator.judges.pairwise_model import LanguageModelJudge
from evaluator.judges.pointwise_model import LanguageModelScorer
from evaluator.judges.protocol import OnProgress
from evaluator.judges.texts import Text
from evaluator.metaevaluation.consistency import drift
from evaluator.metaevaluation.pairs import JudgedPair
from evaluator.models import AnchorAsking, AnchorSet
from evaluator.trainings import sources
from evaluator.versions.selectors import basis
from evaluator.worker.judge_tables.material import material
from evaluator.worker.players import language_model
from evaluator.worker.registration import json_ready
from evaluator.worker.replies import RepliesOfAsking, RowReplies


def ask(asking: AnchorAsking, report: Callable[[float, str], None]) -> AnchorAsking:
    """The first time takes what the judge has said already; later ones ask everything anew, within its budget, and go on where
    they were stopped. What stays unjudged is counted, however much it is. Raises Refused."""
    of = asking.anchor_set
    earlier = list(of.askings.filter(choices__isnull=False))
    judge, source = of.judge, _source(of)
    if not of.pairs:
        of.pairs = _drawn(source, of.size, of.seed)
        of.save(update_fields=["pairs"])
    replies = RepliesOfAsking(judge, str(asking.pk)) if earlier else RowReplies(judge)
    known = material(judge.campaign, of.criterion, of.snapshot.digest)
    player = language_model(judge, of.criterion, of.seed, known, replies)
    text_of = dict(zip(source.keys, source.texts, strict=True))
    a, b = ([text_of[tuple(pair[side])] for pair in of.pairs] for side in (0, 1))
    asking.choices = _choices(player, a, b, lambda done, said, _: report(done, said)).tolist()
    asking.used = json_ready({**player.used, "model": player.model, "price": judge.settings["price"]})
    if earlier:
        first = earlier[0].choices
        assert first is not None
        asking.drift = _compared(of, first, asking.choices, source)
    asking.save(update_fields=["choices", "used", "drift"])
    return asking


def _choices(
    player: LanguageModelJudge | LanguageModelScorer, a: Sequence[Text], b: Sequence[Text], watch: OnProgress
) -> np.ndarray:
    """(n,) "A", "tie", "B", or "" where it says nothing"""
    if player.kind == "pairwise":
        return player.compare(a, b, on_progress=watch).choices
    u_a, u_b = player.utilities([*a, *b], on_progress=watch).reshape(2, -1)
    judged = ~np.isnan(u_a + u_b)
    choices = np.full(len(a), "", dtype="<U3")
    choices[judged] = player.preferences(u_a[judged], u_b[judged]).choices
    return choices


def _source(of: AnchorSet) -> sources.Source:
    return sources.read(of.snapshot, of.criterion, basis(of.snapshot, of.criterion or None).judgments)


def _drawn(source: sources.Source, size: int, seed: int) -> list[tuple]:
    """Names of the outputs of each pair: at random, of all pairs that people judged."""
    judged = sorted({(source.keys[pair.a], source.keys[pair.b]) for pair in source.pairs})
    if not judged:
        raise Refused("People judged no two outputs of one context, so there is nothing to compare the judge with.")
    return [judged[row] for row in sorted(np.random.default_rng(seed).permutation(len(judged))[:size].tolist())]


def _compared(of: AnchorSet, first: Sequence[str], now: Sequence[str], source: sources.Source) -> dict[str, Any] | None:
    """What changed from the first answers to those of now, beside people's."""
    judged: dict[tuple, list[JudgedPair]] = {}
    for pair in source.pairs:
        judged.setdefault((source.keys[pair.a], source.keys[pair.b]), []).append(pair)
    people = [_said(judged[tuple(a), tuple(b)]) for a, b in of.pairs]
    groups = sources.groups_of(of.snapshot.campaign)
    found = drift(first, now, np.array(people), [groups.get(a[0], a[0]) for a, _ in of.pairs], of.seed)
    return vars(found) if found else None


def _said(pairs: Sequence[JudgedPair]) -> np.ndarray:
    """(3,) shares of people's answers A, tie and B"""
    shares: np.ndarray = np.average([pair.target for pair in pairs], axis=0, weights=[pair.weight for pair in pairs])
    return shares
