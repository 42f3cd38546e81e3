"""Boards as the Hugging Face Hub's evaluation results: `.eval_results/NAME.yaml` of a model's repository, a list of {dataset:
{id, task_id}, value, date, source, notes}. JSON is YAML, so that it needs no other writer."""

import json

from leaderboard.publication.board_facts import facts, of_system
from leaderboard.publication.published import Published, address, slug, slugs

TO_BE_WRITTEN = "to-be-written/the-data-sets-name"


def files(of: Published, dataset: str = "") -> dict[str, bytes]:
    """dataset: OWNER/NAME on the Hub, where the snapshot lies or will lie."""
    names = slugs([row["system"] for row in of.content.outputs])
    rows: dict[str, list[dict]] = {}
    for board in of.boards:
        for row in board.standings:
            if row.system not in names or not row.took_part:
                continue
            value = row.own.value if row.own else row.rating
            source = {"name": f"Comparena, {of.campaign.title}"}
            if url := address(board.provenance.permalink):
                source["url"] = url
            notes = "; ".join(f"{name}: {text}" for name, text in (of_system(board, row) | facts(board)).items())
            entry = {
                "dataset": {"id": dataset or TO_BE_WRITTEN, "task_id": slug(board.question.criterion or "pairs")},
                "value": value,
                "date": board.provenance.finished_at[:10],
                "source": source,
                "notes": notes,
            }
            rows.setdefault(row.system, []).append(entry)
    folder = f".eval_results/{slug(of.campaign.slug)}.yaml"
    return {
        f"eval_results/{names[s]}/{folder}": (json.dumps(r, ensure_ascii=False, indent=1) + "\n").encode()
        for s, r in rows.items()
    }
