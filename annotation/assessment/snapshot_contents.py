"""What a snapshot's exports say: every answer that was assessed, kept or dropped, written down when it was frozen.

Later answers, retractions, withdrawals and renamed systems change nothing here, so the same export of the same snapshot
has the same bytes for ever.
"""

import json
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np

from annotation import snapshots
from annotation.data.export import exported_answers
from annotation.models import Campaign, FrozenAnswers, Snapshot
from annotation.outcome import preference
from annotation.questions import registry
from core.errors import Refused

OUTPUT_NAME = ("system", "checkpoint", "sample")
PART = 2**16  # bytes of compressed lines


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
    start = json.dumps({"kind": what})[:-1].encode() + b", "  # of each line, where `freeze` puts it
    return (b"{" + line.removeprefix(start) for line in _unpacked(frozen) if line.startswith(start))


def packed(snapshot: Snapshot) -> Iterator[bytes]:
    """The compressed lines of its answers; none of a snapshot that is too old to have any."""
    for lines in FrozenAnswers.objects.filter(snapshot=snapshot).values_list("lines", flat=True):
        yield bytes(lines)


def _unpacked(data: bytes) -> Iterator[bytes]:
    """Lines of compressed text, a part of it unpacked at a time."""
    unpacker, rest = zlib.decompressobj(), b""
    for place in range(0, len(data), PART):
        *lines, rest = (rest + unpacker.decompress(data[place : place + PART])).split(b"\n")
        yield from lines
    yield rest + unpacker.flush()


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


def _from_judgments(judgments) -> Iterator[dict]:
    pairs: dict[tuple, list] = {}
    for row in judgments:
        outputs = ((row[f"{part}_{side}"] or "") for side in "ab" for part in OUTPUT_NAME)
        key = (row["context_id"], row["aspect"] or "", *outputs)
        pairs.setdefault(key, []).append(row)
    for key in sorted(pairs, key=str):
        votes, row = pairs[key], pairs[key][0]
        margin = sum({"A": 1, "tie": 0, "B": -1}[vote["choice"]] for vote in votes)
        if margin:
            won, lost = ("a", "b") if margin > 0 else ("b", "a")
            yield {
                "prompt": "\n".join(row["context"]),
                "chosen": row[f"output_{won}"],
                "rejected": row[f"output_{lost}"],
                "source": "judgments",
                "aspect": row["aspect"],
                "margin": abs(margin),
                **_strength(votes, margin),
                "answers": len(votes),
                "simulated": any(vote["simulated"] for vote in votes),
                "context_id": row["context_id"],
                "system_chosen": row[f"system_{won}"],
                "system_rejected": row[f"system_{lost}"],
            }


def _strength(votes: list[dict], margin: int) -> dict[str, float]:
    """Nothing where nobody was asked how much better."""
    if "strength" not in votes[0]:
        return {}
    towards_a = [preference(vote["choice"], vote["strength"] or "") for vote in votes]
    return {"strength": round(float(np.mean(towards_a)) * (1 if margin > 0 else -1), 6)}


def _from_scores(snapshot: Snapshot, min_margin: float) -> Iterator[dict]:
    content, simulated = snapshots.read(snapshot), snapshot.is_simulated
    signs = {criterion["name"]: content.sign(criterion["name"]) for criterion in content.criteria}
    scores_by_output: dict[tuple, dict[tuple, list[float]]] = {}
    for row in content.scores:
        outputs = scores_by_output.setdefault((row["context"], row["criterion"]), {})
        value = signs[row["criterion"]] * row["value"]
        outputs.setdefault((row["system"], row["checkpoint"], row["sample"]), []).append(value)
    texts = {(o["context"], o["system"], o["checkpoint"], o["sample"]): o["text"] for o in content.outputs}
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
