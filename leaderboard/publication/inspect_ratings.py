"""People's ratings as Inspect reads them (`inspect_ai.scorer.precomputed_scores`): JSON lines {id, value, epoch, explanation,
metadata}, a file for each system and question, since ids are those of samples."""

import json

from leaderboard.publication.published import Published, slugs


def files(of: Published) -> dict[str, bytes]:
    questions = sorted({rating.question for rating in of.ratings})
    systems = slugs(sorted({rating.place[1] for rating in of.ratings}))
    folder = slugs([question or "pairs" for question in questions])
    scale = {c["name"]: [c["low"], c["high"]] for c in of.content.criteria}
    best = {c["name"]: c.get("best", "high") for c in of.content.criteria}
    warning = "SIMULATED. " if of.simulated else ""
    found: dict[str, list[dict]] = {}
    for rating in of.ratings:
        context, system, checkpoint, sample = rating.place
        what = "points against other systems" if rating.question not in scale else "scores"
        about = {
            "question": rating.question or "which output is better",
            "scale": scale.get(rating.question, [0, 1]),
            "best": best.get(rating.question, "high"),
            **of.content.asked_only(rating.question),
            "annotators": rating.annotators,
            "values": rating.values,
            "standard_error": rating.error,
            "checkpoint": checkpoint,
            "population": "these annotators, on this output",
            "verdict": of.verdicts.get(rating.question, ""),
            "simulated": of.simulated,
            "snapshot": of.snapshot.digest,
        }
        row = {
            "id": context,
            "value": rating.value,
            "epoch": sample + 1,
            "explanation": f"{warning}Mean of {rating.values} {what}, {rating.annotators} annotators.",
            "metadata": about,
        }
        name = systems[system] + (f"@{slugs([checkpoint])[checkpoint]}" if checkpoint else "")
        found.setdefault(f"inspect/{folder[rating.question or 'pairs']}/{name}.jsonl", []).append(row)
    return {name: "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows).encode() for name, rows in found.items()}
