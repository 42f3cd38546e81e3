"""Scores and judgments as rows that the importers read back, with what only the campaign knows beside them."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from annotation.models import Campaign, Context, LikertScore, PairwiseJudgment

ABOUT = ["annotator", "seconds", "active_seconds", "answered_at", "simulated", "kept", "dropped_by"]
SCORE_FIELDS = ["context_id", "group", "system", "checkpoint", "sample", "aspect", "scale", "score", "reason", *ABOUT]
JUDGMENT_FIELDS = [
    "context_id",
    "context",
    "group",
    "system_a",
    "checkpoint_a",
    "sample_a",
    "output_a",
    "system_b",
    "checkpoint_b",
    "sample_b",
    "output_b",
    "aspect",
    "choice",
    "reason",
    "shown_left",
    *ABOUT,
]
PREFERENCE_FIELDS = [
    "prompt",
    "chosen",
    "rejected",
    "source",
    "aspect",
    "margin",
    "answers",
    "context_id",
    "system_chosen",
    "system_rejected",
]
CONTENT_TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}
KINDS = {"scores": SCORE_FIELDS, "judgments": JUDGMENT_FIELDS, "preferences": PREFERENCE_FIELDS}
# Fields that a file has only where the campaign does, so that files of other campaigns stay as they were.
OPTIONAL = {"scores": {"group", "reason"}, "judgments": {"group"}, "preferences": set()}
# What makes a spreadsheet run a cell (OWASP, "CSV Injection"), the full-width signs too.
FORMULA = tuple("=+-@\t\r\n＝＋－＠")
Decide = Callable[[int | None, int, object], tuple[bool | None, str | None]]


def undecided(criterion, annotator, unit) -> tuple[None, None]:
    """Outside a snapshot nothing is kept or dropped yet."""
    return None, None


def exported_answers(campaign: Campaign, what: str, decide: Decide = undecided) -> Iterator[dict]:
    """Live answers in the order they were stored; annotators under their pseudonyms.

    decide(criterion id or None, annotator id, output id or pair of ids) -> (kept, what dropped it).
    """
    return _scores(campaign, decide) if what == "scores" else _judgments(campaign, decide)


def _scores(campaign: Campaign, decide: Decide) -> Iterator[dict]:
    live = LikertScore.objects.counted().filter(criterion__campaign=campaign)
    about = ["output__context", "output__system", "output__checkpoint", "criterion", "annotator", "submission"]
    live, grouped = live.select_related(*about), campaign.has_groups
    for score in live.order_by("pk").iterator(chunk_size=2000):
        output = score.output
        yield {
            "context_id": output.context.key,
            **_group(output.context, grouped),
            "system": output.system.name,
            "checkpoint": output.checkpoint.name if output.checkpoint else None,
            "sample": output.sample,
            "aspect": score.criterion.name,
            "scale": [score.criterion.low, score.criterion.high],
            "score": score.value,
            **_comment(score, campaign.asks_reason),
            **_about(score, decide(score.criterion_id, score.annotator_id, score.output_id)),
        }


def _judgments(campaign: Campaign, decide: Decide) -> Iterator[dict]:
    live = PairwiseJudgment.objects.counted().filter(annotator__campaign=campaign)
    sides = [f"output_{side}__{part}" for side in "ab" for part in ("system", "checkpoint")]
    live = live.select_related("output_a__context", *sides, "annotator", "submission", "criterion")
    grouped = campaign.has_groups
    for judgment in live.order_by("pk").iterator(chunk_size=2000):
        context = judgment.output_a.context
        row = {"context_id": context.key, "context": context.turns, **_group(context, grouped)}
        for side, output in (("a", judgment.output_a), ("b", judgment.output_b)):
            row[f"system_{side}"] = output.system.name
            row[f"checkpoint_{side}"] = output.checkpoint.name if output.checkpoint else None
            row[f"sample_{side}"], row[f"output_{side}"] = output.sample, output.text
        unit = judgment.output_a_id, judgment.output_b_id
        yield {
            **row,
            "aspect": judgment.criterion.name if judgment.criterion else None,
            "choice": judgment.choice,
            "reason": judgment.reason or None,
            "shown_left": {None: None, True: "B", False: "A"}[judgment.shown_swapped],
            **_about(judgment, decide(judgment.criterion_id, judgment.annotator_id, unit)),
        }


def _group(context: Context, grouped: bool) -> dict:
    """Only where the campaign has groups."""
    return {"group": context.group or None} if grouped else {}


def _comment(score: LikertScore, asked: bool) -> dict:
    """Only where the campaign asks for one. It is of the item, so all scores of one answer have the same."""
    return {"reason": score.submission.payload.get("reason") if score.submission else None} if asked else {}


def _about(answer, decision: tuple) -> dict:
    submission = answer.submission
    return {
        "annotator": answer.annotator.name,
        "seconds": submission.seconds if submission else None,
        "active_seconds": submission.active_seconds if submission else None,
        "answered_at": answer.created_at.isoformat(),
        "simulated": answer.annotator.is_simulated,
        "kept": decision[0],
        "dropped_by": decision[1],
    }


def as_jsonl(rows: Iterable[dict]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=False) + "\n"


def as_csv(rows: Iterable[dict], what: str) -> Iterator[str]:
    """A header even where there are no rows; lists are JSON in their cell, as the importer reads them. There is a column
    for an OPTIONAL field where the rows have that field.

    A text that a spreadsheet would run as a formula gets an apostrophe before it, and its column's name goes into the
    cell `guarded`, so that the importer takes off exactly these apostrophes.
    """
    line, rows = io.StringIO(), iter(rows)
    first = next(rows, {})
    columns = [name for name in KINDS[what] if name not in OPTIONAL[what] or name in first]
    writer = csv.DictWriter(line, [*columns, "guarded"])
    writer.writeheader()
    for row in chain([first] if first else [], rows):
        guarded = [name for name, value in row.items() if isinstance(value, str) and value.startswith(FORMULA)]
        cells = {k: json.dumps(v, ensure_ascii=False) if isinstance(v, list) else v for k, v in row.items()}
        writer.writerow(cells | {name: "'" + row[name] for name in guarded} | {"guarded": " ".join(guarded)})
        if line.tell() > 2**16:
            yield line.getvalue()
            line.seek(0)
            line.truncate()
    yield line.getvalue()
