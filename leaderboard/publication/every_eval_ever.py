"""Boards and people's ratings in the schema of Every Eval Ever 0.3 (evaleval on the Hugging Face Hub): for each system one
JSON with its results, and its rated outputs as JSON lines. People have no field there; they stand in `additional_details`."""

import hashlib
import json
import uuid
from typing import Any

from core.version import code_version
from leaderboard.boards.board import Board
from leaderboard.boards.estimates import Standing
from leaderboard.publication.board_facts import facts, of_system
from leaderboard.publication.published import Published, Rating, address, slug, slugs

SCHEMA = "0.3.0"
NO_LIMIT: dict[str, str | float] = {"min_score": "-Infinity", "max_score": "Infinity"}
CORRECT = "People gave a score or preferred one output; nothing is correct or wrong, and is_correct says nothing."


def files(of: Published) -> dict[str, bytes]:
    """{data/CAMPAIGN/DEVELOPER/MODEL/UUID.json or UUID_samples.jsonl: content}"""
    found: dict[str, bytes] = {}
    names = slugs(sorted({row["system"] for row in of.content.outputs}))
    for system in names:
        on = [(board, row) for board in of.boards for row in board.standings if row.system == system and row.took_part]
        if on:
            found |= _of_system(of, system, names[system], on)
    return found


def _of_system(of: Published, system: str, short: str, on: list[tuple[Board, Standing]]) -> dict[str, bytes]:
    results = [_result(of, board, row) for board, row in on]
    by_question: dict[str, dict[str, Any]] = {}  # of people's first board about it
    for (board, _), result in zip(on, results, strict=True):
        if board.basis.kind == "people":
            by_question.setdefault(board.question.criterion, result)
    model = (
        system if system.count("/") == 1 and slug(system.replace("/", "-")) == system.replace("/", "-") else f"unknown/{short}"
    )
    stamp = str(int(of.snapshot.created_at.timestamp()))
    evaluation = f"{of.campaign.slug}/{model}/{stamp}"
    rated = [(r, by_question.get(r.question)) for r in of.ratings if r.place[1] == system]
    rows = [_instance(of, rating, evaluation, model, result) for rating, result in rated if result]
    samples = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    name = f"data/{slug(of.campaign.slug)}/{model}/{_uuid(evaluation, samples, results)}"
    human = any(o["human"] for o in of.content.outputs if o["system"] == system)
    aggregate: dict[str, Any] = {
        "schema_version": SCHEMA,
        "evaluation_id": evaluation,
        "evaluation_timestamp": of.snapshot.created_at.isoformat(),
        "retrieved_timestamp": stamp,
        "source_metadata": {
            "source_name": of.campaign.title,
            "source_type": "evaluation_run",
            "source_organization_name": "to be written",
            "evaluator_relationship": "other",
            "additional_details": {"snapshot_sha256": of.snapshot.digest, "simulated": _truth(of.simulated)},
        },
        "eval_library": {"name": "comparena", "version": code_version()},
        "model_info": {
            "name": system,
            "id": model,
            "additional_details": {
                "deployment_type": "unknown",
                "model_availability": "unknown",
                "written_by_people": _truth(human),
            },
        },
        "evaluation_results": results,
    }
    if samples:
        aggregate["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": f"{name}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(samples).hexdigest(),
            "total_rows": samples.count(b"\n"),
        }
    content = {f"{name}.json": (json.dumps(aggregate, ensure_ascii=False, indent=1) + "\n").encode()}
    return content | ({f"{name}_samples.jsonl": samples} if samples else {})


def _result(of: Published, board: Board, row: Standing) -> dict[str, Any]:
    own, question = row.own, board.question
    in_points = own is not None and question.unit == "points"
    if own is None:
        kind, unit, bounds = "rating", "rating points", NO_LIMIT
        value, low, high = row.rating, row.low, row.high
    else:
        kind, unit = ("mean_score", "points") if in_points else ("win_rate", "proportion")
        ends = (question.low, question.high) if in_points else (0, 1)
        bounds = {name: limit if end is None else end for (name, limit), end in zip(NO_LIMIT.items(), ends)}
        value, low, high = own.value, own.low, own.high  # type: ignore[assignment]
    uncertainty: dict[str, Any] = {"num_samples": row.answers if row.answers is not None else row.games}
    if low is not None and high is not None:
        interval = {"lower": low, "upper": high, "confidence_level": board.method.confidence, "method": board.method.name}
        uncertainty["confidence_interval"] = interval
    source = {"snapshot_sha256": of.snapshot.digest} | ({"url": url} if (url := address(board.provenance.permalink)) else {})
    said = facts(board)
    return {
        "evaluation_result_id": hashlib.sha256(f"{board.provenance.signature}|{row.system}".encode()).hexdigest()[:16],
        "evaluation_name": f"{of.campaign.title}: {said['question']}",
        "source_data": {"dataset_name": of.campaign.slug, "source_type": "other", "additional_details": source},
        "evaluation_timestamp": board.provenance.finished_at,
        "metric_config": {
            "evaluation_description": f"{said['question']}, judged by {said['judged_by']}",
            "metric_id": f"comparena.{board.method.name}.{kind}",
            "metric_name": f"{kind.replace('_', ' ')} on {said['question']}",
            "metric_kind": kind,
            "metric_unit": unit,
            "lower_is_better": bool(in_points and question.best == "low"),
            "score_type": "continuous",
            **bounds,
            "additional_details": said,
        },
        "score_details": {"score": value, "details": of_system(board, row), "uncertainty": uncertainty},
    }


def _instance(of: Published, rating: Rating, evaluation: str, model: str, about: dict[str, Any]) -> dict[str, Any]:
    """about: the result of people's board that it belongs to."""
    context, system, checkpoint, sample = rating.place
    raw = "\n".join(of.content.contexts[context])
    said = {
        "question": rating.question or "which output is better",
        **of.content.asked_only(rating.question),
        "values": str(rating.values),
        "annotators": str(rating.annotators),
        "standard_error": "" if rating.error is None else f"{rating.error:.6g}",
        "checkpoint": checkpoint,
        "verdict": of.verdicts.get(rating.question, ""),
        "simulated": _truth(of.simulated),
        "is_correct": CORRECT,
    }
    return {
        "schema_version": SCHEMA,
        "evaluation_id": evaluation,
        "model_id": model,
        "evaluation_name": about["evaluation_name"],
        "evaluation_result_id": about["evaluation_result_id"],
        "sample_id": f"{context}#{sample}" if sample else context,
        "sample_hash": hashlib.sha256(raw.encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": {"raw": raw, "reference": []},
        "output": {"raw": [of.texts[rating.place]]},
        "answer_attribution": [],
        "evaluation": {"score": rating.value, "is_correct": False},
        "metadata": {name: text for name, text in said.items() if text},
    }


def _truth(value: bool) -> str:
    return "true" if value else "false"


def _uuid(*parts: Any) -> str:
    """A UUID of version 4 by its form, and the same for the same content."""
    return str(uuid.UUID(bytes=hashlib.sha256(repr(parts).encode()).digest()[:16], version=4))
