"""Boards as the Hugging Face Hub's evaluation results: `.eval_results/NAME.yaml` of a model's repository, a list of {dataset:
{id, task_id}, value, date, source, notes}. JSON is YAML, so that it needs no other writer. The Hub takes all values of one
task for the same quantity, so each judge and each unit has a task of its own, with the newest board's value."""

import json

from leaderboard.boards.board import Board
from leaderboard.boards.estimates import Standing
from leaderboard.boards.wording import judge_name
from leaderboard.publication.board_facts import facts, of_system
from leaderboard.publication.published import Published, address, slug, slugs

TO_BE_WRITTEN = "to-be-written/the-data-sets-name"


def files(of: Published, dataset: str = "") -> dict[str, bytes]:
    """dataset: OWNER/NAME on the Hub, where the snapshot lies or will lie."""
    names = slugs([row["system"] for row in of.content.outputs])
    newest = {(row.system, _task(board, row)): (board, row) for board in of.boards for row in board.standings if row.took_part}
    tasks = slugs([task for _, task in newest])
    rows: dict[str, list[dict]] = {}
    for (system, task), (board, row) in newest.items():
        if system not in names:
            continue
        source = {"name": f"Comparena, {of.campaign.title}"}
        if url := address(board.provenance.permalink):
            source["url"] = url
        said = {f"{name}_of_system" if name in facts(board) else name: text for name, text in of_system(board, row).items()}
        entry = {
            "dataset": {"id": dataset or TO_BE_WRITTEN, "task_id": tasks[task]},
            "value": row.own.value if row.own else row.rating,
            "date": board.provenance.finished_at[:10],
            "source": source,
            "notes": "; ".join(f"{name}: {text}" for name, text in (said | facts(board)).items()),
        }
        rows.setdefault(system, []).append(entry)
    folder = f".eval_results/{slug(of.campaign.slug)}.yaml"
    return {
        f"eval_results/{names[s]}/{folder}": (json.dumps(r, ensure_ascii=False, indent=1) + "\n").encode()
        for s, r in rows.items()
    }


def _task(board: Board, row: Standing) -> str:
    """What the value is of: people's estimates have the question's name, others say who judged and in what unit."""
    by = {"people": [], "corrected": ["by people and", judge_name(board)]}.get(board.basis.kind, ["by", judge_name(board)])
    return " ".join([board.question.criterion or "pairs", *by, *([] if row.own else ["rating"])])
