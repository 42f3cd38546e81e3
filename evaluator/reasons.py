"""What language models said of one item and why, read out of the replies that are kept; nothing is asked."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from annotation.models import Item, Output
from annotation.snapshots import latest_snapshot
from core.errors import Refused
from evaluator.judges.answers import Unreadable
from evaluator.judges.endpoint import Endpoint
from evaluator.judges.pairwise_model import GRADES, LanguageModelJudge
from evaluator.judges.replies import Replies
from evaluator.judges.texts import Referenced
from evaluator.models import Judge
from evaluator.offers import model_of, prompt_of
from evaluator.trainings import sources
from evaluator.versions.selectors import basis


@dataclass(frozen=True)
class Opinion:
    """answer: in words; reason: "" where none was given."""

    judge: str
    criterion: str
    answer: str
    reason: str


class StoredReplies(Replies):
    """A judge's, each looked up when it is asked for."""

    def __init__(self, judge: Judge):
        super().__init__(None)
        self.judge = judge

    def get(self, key: str) -> dict[str, Any] | None:
        row = self.judge.replies.filter(key=key, is_readable=True).first()
        return row.reply if row else None


def opinions(item: Item) -> list[Opinion]:
    """Of all language models of the campaign, on each criterion. Those that are shown examples are asked otherwise when there
    is a newer snapshot; then nothing is found of what they said before."""
    campaign = item.campaign
    rows = list(campaign.judges.filter(kind=Judge.Kind.LANGUAGE_MODEL, replies__isnull=False).distinct())
    if not rows:
        return []
    criteria = ["", *campaign.criteria.values_list("name", flat=True)]
    seeds = sorted({0, *campaign.judges_tables.values_list("seed", flat=True)})
    texts = _texts(item)
    return [
        found for row in rows for criterion in criteria for seed in seeds[:10] for found in _of(row, criterion, seed, texts)
    ]


def _texts(item: Item) -> list[Referenced]:
    """The item's one or two outputs, or several, with the references of their context."""
    shown = item.texts
    beside = Output.objects.filter(context=item.output.context_id, replaced_at=None).select_related("context", "system")
    every = [*shown, *(output for output in beside.order_by("pk") if output not in shown)]
    return sources.referenced_outputs(item.campaign, every)[: len(shown)]


def _of(row: Judge, criterion: str, seed: int, texts: list[Referenced]) -> Iterator[Opinion]:
    try:
        model = model_of(row, Endpoint(row.settings["url"]), _prompt(row, criterion, seed), seed, StoredReplies(row))
    except Refused:
        return  # a prompt that is gone, or asks for a scale that this criterion lacks
    sides = "ABCDEFG"
    orders: list[tuple[int, ...]]
    if isinstance(model, LanguageModelJudge):
        orders = [(0, 1), (1, 0)] if len(texts) == 2 else []
    else:
        orders = [(i,) for i in range(len(texts))]
    for order in orders:
        try:
            said = model.said(*(texts[i] for i in order))
        except Unreadable:
            continue
        if said is None:
            continue
        if len(order) == 2:
            answer = f"{_preference(said.label, order)} ({sides[order[0]]} shown first)"
        else:
            answer = f"{said.label} for {sides[order[0]]}" if len(texts) > 1 else said.label
        yield Opinion(row.name, criterion, answer, said.reason)


def _preference(label: str, order: tuple[int, ...]) -> str:
    grade = GRADES[label]
    if grade == 0:
        return "tie"
    better = "AB"[order[0] if grade > 0 else order[1]]
    return f"{better} is much better" if abs(grade) == 2 else f"{better} is better"


def _prompt(row: Judge, criterion: str, seed: int) -> Any:
    source = None
    if row.settings.get("examples") and (snapshot := latest_snapshot(row.campaign)):
        chosen = basis(snapshot, criterion or None)
        source = sources.read(snapshot, chosen.criterion, chosen.judgments)
    return prompt_of(row, criterion, seed, source)
