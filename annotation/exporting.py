"""Scores and judgments as rows that the importers read back, with what only the campaign knows beside them."""

import csv
import io
import json
from collections.abc import Iterator

from annotation.models import Campaign, LikertScore, PairwiseJudgment

SCORE_FIELDS = ["context_id", "system", "checkpoint", "sample", "aspect", "scale", "annotator", "score", "seconds",
                "answered_at", "simulated"]  # fmt: skip
JUDGMENT_FIELDS = ["context_id", "context", "system_a", "checkpoint_a", "sample_a", "output_a", "system_b", "checkpoint_b",
                   "sample_b", "output_b", "annotator", "choice", "shown_left", "seconds", "answered_at",
                   "simulated"]  # fmt: skip
KINDS = {"scores": SCORE_FIELDS, "judgments": JUDGMENT_FIELDS}


def rows(campaign: Campaign, what: str) -> Iterator[dict]:
    """Live answers in the order they were stored; annotators under their pseudonyms."""
    return _scores(campaign) if what == "scores" else _judgments(campaign)


def _scores(campaign: Campaign) -> Iterator[dict]:
    live = LikertScore.objects.counted().filter(criterion__campaign=campaign)
    about = ["output__context", "output__system", "output__checkpoint", "criterion", "annotator", "submission"]
    live = live.select_related(*about)
    for score in live.order_by("pk").iterator(chunk_size=2000):
        output = score.output
        yield {
            "context_id": output.context.key, "system": output.system.name,
            "checkpoint": output.checkpoint.name if output.checkpoint else None, "sample": output.sample,
            "aspect": score.criterion.name, "scale": [score.criterion.low, score.criterion.high],
            "annotator": score.annotator.name, "score": score.value, **_about(score),
        }  # fmt: skip


def _judgments(campaign: Campaign) -> Iterator[dict]:
    live = PairwiseJudgment.objects.counted().filter(annotator__campaign=campaign)
    sides = [f"output_{side}__{part}" for side in "ab" for part in ("system", "checkpoint")]
    live = live.select_related("output_a__context", *sides, "annotator", "submission")
    for judgment in live.order_by("pk").iterator(chunk_size=2000):
        context = judgment.output_a.context
        row = {"context_id": context.key, "context": context.turns}
        for side, output in (("a", judgment.output_a), ("b", judgment.output_b)):
            row[f"system_{side}"] = output.system.name
            row[f"checkpoint_{side}"] = output.checkpoint.name if output.checkpoint else None
            row[f"sample_{side}"], row[f"output_{side}"] = output.sample, output.text
        left = {None: None, True: "B", False: "A"}[judgment.shown_swapped]
        yield {
            **row, "annotator": judgment.annotator.name, "choice": judgment.choice, "shown_left": left, **_about(judgment)
        }  # fmt: skip


def _about(answer) -> dict:
    return {
        "seconds": answer.submission.seconds if answer.submission else None,
        "answered_at": answer.created_at.isoformat(),
        "simulated": answer.annotator.is_simulated,
    }


def as_jsonl(rows: Iterator[dict]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=False) + "\n"


def as_csv(rows: Iterator[dict], what: str) -> Iterator[str]:
    """A header even where there are no rows; lists are JSON in their cell, as the importer reads them."""
    line = io.StringIO()
    writer = csv.DictWriter(line, KINDS[what])
    writer.writeheader()
    for row in rows:
        writer.writerow({k: json.dumps(v, ensure_ascii=False) if isinstance(v, list) else v for k, v in row.items()})
        if line.tell() > 2**16:
            yield line.getvalue()
            line.seek(0)
            line.truncate()
    yield line.getvalue()
