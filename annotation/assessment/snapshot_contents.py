"""What a snapshot's exports say: every answer that was assessed, kept or dropped, written down when it was frozen.

Later answers, retractions, withdrawals and renamed systems change nothing here, so the same export of the same snapshot
has the same bytes for ever.
"""

import json
import zlib
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np

from annotation import snapshots
from annotation.data.export import exported_answers
from annotation.models import Campaign, FrozenAnswers, Snapshot
from annotation.outcome import preference
from annotation.questions import registry
from annotation.snapshots import SnapshotContent
from core.errors import Refused

OUTPUT_NAME = ("system", "checkpoint", "sample")


def freeze(campaign: Campaign, snapshot: Snapshot, assessment) -> None:
    """Write down the answers as they are now. assessment: assess.Assessment."""
    decisions = {}
    rule = assessment.rule
    for question in assessment.questions:
        base = getattr(question.report, "keep", None)
        base = ~np.isnan(question.table.values) if base is None else base
        criterion = question.criterion.pk if question.criterion else None
        for i, annotator in enumerate(question.table.annotators):
            for j in np.flatnonzero(~np.isnan(question.table.values[i])):
                kept = bool(question.keep[i, j])
                by = None if kept else f"MAD {rule['mad']:g}" if not base[i, j] else "adjudication"
                decisions[criterion, annotator, question.table.units[j]] = kept, by

    def decide(*answer):
        return decisions.get(answer, (None, None))

    lines = [
        json.dumps({"kind": kind, **row}, ensure_ascii=False) + "\n"
        for kind in (kind.files for kind in registry.kinds())
        for row in exported_answers(campaign, kind, decide)
    ]
    FrozenAnswers.objects.create(snapshot=snapshot, lines=zlib.compress("".join(lines).encode(), 6))


def rows(snapshot: Snapshot, what: str) -> Iterator[dict]:
    """The snapshot's scores or judgments, with `kept` and `dropped_by`, read as they are asked for. Raises Refused where they
    were never written down."""
    return (json.loads(line) for line in row_lines(snapshot, what))


def row_lines(snapshot: Snapshot, what: str) -> Iterator[bytes]:
    """The same rows as lines of JSON: a line as `freeze` wrote it, less its kind. Raises Refused as `rows` does."""
    frozen = next(packed(snapshot), None)
    if frozen is None:
        raise Refused("This snapshot is too old to have a record of dropped answers. Its own file has the kept ones.")
    lines = snapshots.split_lines(snapshots.unpacked(frozen))
    start = json.dumps({"kind": what})[:-1].encode() + b", "  # of each line, where `freeze` puts it
    return (b"{" + line.removeprefix(start) for line in lines if line.startswith(start))


def packed(snapshot: Snapshot) -> Iterator[bytes]:
    """The compressed lines of its answers; none of a snapshot that is too old to have any."""
    for lines in FrozenAnswers.objects.filter(snapshot=snapshot).values_list("lines", flat=True):
        yield bytes(lines)


def preferences(snapshot: Snapshot, min_margin: float | None = None) -> Iterator[dict]:
    """Pairs {prompt, chosen, rejected} for preference training (DPO, Rafailov et al. 2023), from what was kept.

    From judgments: the output that more people preferred, ties and even votes left out; margin: votes more;
    strength, where people said how much better: their mean towards the chosen one (slightly 1, better 2, much 3). Where
    min_margin is given, also from scores: outputs of one context whose means on a criterion differ by as many points.
    answers: how many people's answers stand behind a pair. A dialogue's turns are one prompt, a line each.
    """
    judgments = (row for row in rows(snapshot, registry.PAIR.files) if row["kept"] is not False)
    pairs = _from_judgments(row for row in judgments if row["choice"])  # not of who could not say
    return pairs if min_margin is None else chain(pairs, _from_scores(snapshot, min_margin))


def unpaired(pairs: Iterable[dict]) -> Iterator[dict]:
    """The preferred outputs of `preferences` and the others, one by one: {prompt, completion, label}, as TRL's unpaired
    preferences (KTO)."""
    for pair in pairs:
        beside = {name: pair[name] for name in ("source", "aspect", "margin", "answers", "simulated", "context_id")}
        for side in ("chosen", "rejected"):
            label = side == "chosen"
            yield {
                "prompt": pair["prompt"],
                "completion": pair[side],
                "label": label,
                **beside,
                "system": pair[f"system_{side}"],
            }


class _Votes:
    """What people said of one pair of outputs, added up: no answer is kept."""

    __slots__ = ("answers", "by_strength", "margin", "simulated", "towards_a")

    def __init__(self, by_strength: bool):
        self.margin = self.answers = self.towards_a = 0
        self.by_strength, self.simulated = by_strength, False

    def add(self, row: dict) -> None:
        self.margin += {"A": 1, "tie": 0, "B": -1}[row["choice"]]
        self.answers += 1
        self.simulated |= row["simulated"]
        if self.by_strength:
            self.towards_a += preference(row["choice"], row["strength"] or "")

    def strength(self) -> dict[str, float]:
        """Nothing where nobody was asked how much better."""
        mean = self.towards_a / self.answers * (1 if self.margin > 0 else -1)
        return {"strength": round(mean, 6)} if self.by_strength else {}


def _from_judgments(judgments: Iterable[dict]) -> Iterator[dict]:
    pairs: dict[tuple, _Votes] = {}
    prompts, texts = dict[str, str](), dict[tuple, str]()
    for row in judgments:
        sides = [tuple((row[f"{part}_{side}"] or "") for part in OUTPUT_NAME) for side in "ab"]
        key = (row["context_id"], row["aspect"] or "", *sides[0], *sides[1])
        if key not in pairs:
            pairs[key] = _Votes("strength" in row)
            prompts.setdefault(key[0], "\n".join(row["context"]))
            for side, name in zip("ab", sides, strict=True):
                texts.setdefault((key[0], *name), row[f"output_{side}"])
        pairs[key].add(row)
    for key in sorted(pairs, key=str):
        votes, (context, aspect) = pairs[key], key[:2]
        if votes.margin:
            chosen, rejected = (key[2:5], key[5:]) if votes.margin > 0 else (key[5:], key[2:5])
            yield {
                "prompt": prompts[context],
                "chosen": texts[context, *chosen],
                "rejected": texts[context, *rejected],
                "source": "judgments",
                "aspect": aspect or None,
                "margin": abs(votes.margin),
                **votes.strength(),
                "answers": votes.answers,
                "simulated": votes.simulated,
                "context_id": context,
                "system_chosen": chosen[0],
                "system_rejected": rejected[0],
            }


def _from_scores(snapshot: Snapshot, min_margin: float) -> Iterator[dict]:
    """Of the answers only the numbers are kept."""
    content, simulated = SnapshotContent(), snapshot.is_simulated
    signs, texts = dict[str, int](), dict[tuple, str]()
    scores_by_output: dict[tuple, dict[tuple, array]] = {}
    for line in filter(None, snapshots.split_lines(snapshots.parts(snapshot)[1])):
        row = json.loads(line)
        if row["type"] == "context":
            content.contexts[row["key"]] = row["turns"]
        elif row["type"] == "criterion":
            content.criteria.append(row)
        elif row["type"] == "output":
            texts[row["context"], row["system"], row["checkpoint"], row["sample"]] = row["text"]
        elif row["type"] == "score":
            sign = signs.setdefault(row["criterion"], content.sign(row["criterion"]))
            outputs = scores_by_output.setdefault((row["context"], row["criterion"]), {})
            values = outputs.setdefault((row["system"], row["checkpoint"], row["sample"]), array("d"))
            values.append(sign * row["value"])
    for context, aspect in sorted(scores_by_output):
        outputs = scores_by_output[context, aspect]
        ranked = sorted(((float(np.mean(v)), name, len(v)) for name, v in outputs.items()), key=lambda r: r[1])
        for high, chosen, n in ranked:
            for low, rejected, m in ranked:
                if high - low >= min_margin:
                    yield {
                        "prompt": "\n".join(content.contexts[context]),
                        "chosen": texts[context, *chosen],
                        "rejected": texts[context, *rejected],
                        "source": "scores",
                        "aspect": aspect,
                        "margin": round(high - low, 6),
                        "answers": n + m,
                        "simulated": simulated,
                        "context_id": context,
                        "system_chosen": chosen[0],
                        "system_rejected": rejected[0],
                    }
