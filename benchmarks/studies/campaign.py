"""A campaign's accepted scores as a judged set of files, so that a study reads it as it reads a public one."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.studies.judged_sets import KIND


def exported(slug: str, folder: Path) -> str:
    """Writes the latest snapshot's outputs and scores, the highest always best, into the folder, and returns the set's name.
    Raises SystemExit, in one sentence, where there is no snapshot with scores."""
    import django

    django.setup()
    from annotation import snapshots
    from annotation.access import campaign_named
    from annotation.models import Reference
    from annotation.snapshots import latest_snapshot
    from evaluator.trainings import sources

    campaign = campaign_named(slug)
    snapshot = latest_snapshot(campaign)
    content = snapshots.read(snapshot) if snapshot else None
    if snapshot is None or content is None or not content.scores:
        raise SystemExit(f"Campaign {slug!r} has no snapshot with scores to make tables of.")
    groups, references = sources.groups_of(campaign), dict[str, list[str]]()
    for key, text in Reference.objects.filter(context__campaign=campaign).order_by("pk").values_list("context__key", "text"):
        references.setdefault(key, []).append(text)
    name_of = lambda row: " ".join(filter(None, (row["system"], row["checkpoint"], str(row["sample"] or ""))))
    outputs = [
        {"context_id": row["context"], "context": content.contexts[row["context"]], "system": name_of(row)}
        | {"output": row["text"], "references": references.get(row["context"], [])}
        | ({"group": groups[row["context"]]} if row["context"] in groups else {})
        for row in content.outputs
    ]
    scales = {row["name"]: [row["low"], row["high"]] for row in content.criteria}
    ratings = []
    criteria = [name for name in scales if any(row["criterion"] == name for row in content.scores)]
    for criterion in criteria:
        source = sources.read(snapshot, criterion, with_judgments=False)
        for key, given in zip(source.keys, source.ratings, strict=True):
            row = {"context_id": key[0], "aspect": criterion, "scale": scales[criterion]}
            row["system"] = name_of(dict(zip(("context", "system", "checkpoint", "sample"), key)))
            ratings += [row | {"annotator": who, "score": score} for who, score in given]
    compared = content.judgments or [row for row in content.criterion_judgments if row["criterion"] == criteria[0]]
    named = lambda row, side: name_of(dict(zip(("system", "checkpoint", "sample"), row[side])))
    judgments = [
        {"context_id": row["context"], "annotator": row["annotator"], "choice": row["choice"]}
        | {"a": named(row, "a"), "b": named(row, "b")}
        for row in compared
    ]
    human = sorted({name_of(row) for row in content.outputs if row["human"]})
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / f"{slug}.outputs.jsonl", outputs)
    _write(folder / f"{slug}.ratings.jsonl", ratings)
    _write(folder / f"{slug}.judgments.jsonl", judgments)
    _write(folder / f"{slug}.{KIND}", [{"criteria": criteria, "human": human}])
    return slug


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
