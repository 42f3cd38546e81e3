"""What judges elsewhere said, as rows that the importers read back."""

from collections.abc import Iterator
from typing import Any

from annotation.models import Campaign, Output

SCORE_COLUMNS = ["context_id", "system", "checkpoint", "sample", "judge", "score", "best"]
SIDE = ("system", "checkpoint", "sample")
PAIR_COLUMNS = ["context_id", *(f"{name}_{side}" for side in "ab" for name in SIDE), "judge", "a", "tie", "b"]


def exported_scores(campaign: Campaign) -> Iterator[dict[str, Any]]:
    """Higher is better, whatever the file said."""
    about = ("output__context", "output__system", "output__checkpoint", "judge")
    for row in campaign.imported_scores.select_related(*about).order_by("pk").iterator(chunk_size=2000):
        where = {"context_id": row.output.context.key, **_place(row.output)}
        yield {**where, "judge": row.judge.name, "score": row.value, "best": "high"}


def exported_pairs(campaign: Campaign) -> Iterator[dict[str, Any]]:
    """a, tie, b: probabilities, which add up to 1."""
    about = [f"output_{side}__{name}" for side in "ab" for name in ("context", "system", "checkpoint")]
    for row in campaign.imported_pairs.select_related("judge", *about).order_by("pk").iterator(chunk_size=2000):
        where = {"context_id": row.output_a.context.key, **_place(row.output_a, "_a"), **_place(row.output_b, "_b")}
        yield {**where, "judge": row.judge.name, "a": row.p_a, "tie": row.p_tie, "b": row.p_b}


def _place(output: Output, side: str = "") -> dict[str, Any]:
    checkpoint = output.checkpoint.name if output.checkpoint else None
    return dict(zip((f"{name}{side}" for name in SIDE), (output.system.name, checkpoint, output.sample), strict=True))
