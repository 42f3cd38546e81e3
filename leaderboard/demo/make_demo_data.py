"""Makes outputs.jsonl, scores.jsonl and judgments.jsonl from contexts.jsonl and training_dialogues.jsonl.

    python -m leaderboard.demo.make_demo_data [--seed 1] [--out leaderboard/demo]

The systems really run: the outputs are what they wrote. The annotators are simulated (see simulated_annotators.py).
"""

import argparse
import json
import os
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from random import Random

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np

from evaluator.encoders.text_encoder import TextEncoder
from evaluator.generators.dialogue import AnsweredTurn, Generator, exchanges
from evaluator.generators.generic import GenericGenerator
from evaluator.generators.ngram import NgramGenerator
from evaluator.generators.random_reply import RandomReplyGenerator
from evaluator.generators.retrieval import Embed, RetrievalGenerator
from evaluator.generators.training_loop import Settings, checkpoints
from leaderboard.demo import simulated_annotators as simulated

FOLDER = Path(__file__).parent
HUMAN, NETWORK = "Human", "LSTM"
ITERATIONS, EVERY = 1200, 120
KEPT = (120, 480, 1200)  # iterations of the checkpoints in the campaign
SCORED_CONTEXTS = 44  # of 68: the rest waits for whoever signs in
SCORES_PER_OUTPUT = 4
JUDGED_PAIRS, JUDGMENTS_PER_PAIR = 70, 3


def read(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(path: Path, rows: Iterable[dict]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def output_rows(contexts: list[dict], dialogues: list[dict], embed: Embed, seed: int) -> list[dict]:
    """Every system's reply to every context, by the seed."""
    training = exchanges(dialogue["turns"] for dialogue in dialogues)
    turns = [tuple(context["turns"]) for context in contexts]
    systems: list[tuple[str, Generator]] = [
        ("Retrieval", RetrievalGenerator(training, embed)),
        ("N-gram", NgramGenerator(training)),
        ("Generic", GenericGenerator()),
        ("Random reply", RandomReplyGenerator(training)),
    ]
    replies: list[tuple[str, list[str], dict]] = [
        (
            name,
            [system.reply(asked, Random(f"{seed}/{name}//{context['context_id']}")) for asked, context in zip(turns, contexts)],
            {},
        )
        for name, system in systems
    ]
    replies += network_replies(training, turns, seed)
    rows = []
    for i, context in enumerate(contexts):
        human, reference = context["replies"]
        written = [(HUMAN, human, {}), *((name, said[i], extra) for name, said, extra in replies)]
        for name, output, extra in written:
            rows.append(
                {
                    "context_id": context["context_id"],
                    "context": list(turns[i]),
                    "system": name,
                    "output": output,
                    "references": [reference],
                    "metadata": context["metadata"],
                    **extra,
                }
            )
    return rows


def network_replies(training: list[AnsweredTurn], turns: list[tuple[str, ...]], seed: int) -> list[tuple[str, list[str], dict]]:
    """(name, replies, what a row says of the checkpoint) of those that are kept"""
    kept = []
    for one in checkpoints(training, Settings("lstm", ITERATIONS, EVERY), seed):
        if one.iteration in KEPT:
            print(f"{NETWORK} step-{one.iteration}: training loss {one.loss:.2f} nats per word")
            place = {"checkpoint": f"step-{one.iteration}", "iteration": one.iteration, "total_iterations": one.total}
            kept.append((NETWORK, [reply.text for reply in one.replies(turns, seed=seed)], place))
    return kept


def final_rows(outputs: list[dict]) -> list[dict]:
    """The outputs that play on the board: of a system with checkpoints, the last one's."""
    return [row for row in outputs if row.get("iteration") == row.get("total_iterations")]


def latent_qualities(rows: list[dict], embed: Embed, rng: Random) -> dict[str, list[float]]:
    human = {row["context_id"]: row["output"] for row in rows if row["system"] == HUMAN}
    texts = []
    for row in rows:
        written = row["system"] == HUMAN
        replies = tuple(row["references"]) if written else (human[row["context_id"]], *row["references"])
        texts.append(simulated.SimulatedText(tuple(row["context"]), row["output"], replies, written))
    return simulated.qualities(texts, embed, rng)


def score_rows(rows: list[dict], qualities: dict[str, list[float]], scored: set[str], rng: Random) -> list[dict]:
    """SCORES_PER_OUTPUT annotators, drawn anew for each output, score it on every criterion."""
    scores = []
    for i, row in enumerate(rows):
        if row["context_id"] not in scored:
            continue
        chosen = sorted(rng.sample(simulated.ANNOTATORS, SCORES_PER_OUTPUT), key=lambda annotator: annotator.name)
        for criterion, values in qualities.items():
            for annotator in chosen:
                scores.append(
                    {
                        "context_id": row["context_id"],
                        "system": row["system"],
                        **({"checkpoint": row["checkpoint"]} if "checkpoint" in row else {}),
                        "aspect": criterion,
                        "scale": list(simulated.SCALE),
                        "annotator": annotator.name,
                        "simulated": True,
                        "score": simulated.score(annotator, values[i], rng),
                    }
                )
    return scores


def judgment_rows(rows: list[dict], overall: list[float], scored: set[str], rng: Random) -> list[dict]:
    """JUDGED_PAIRS pairs of different texts for one context, each judged by JUDGMENTS_PER_PAIR annotators."""
    pairs = [
        (i, j)
        for i, j in combinations(range(len(rows)), 2)
        if rows[i]["context_id"] == rows[j]["context_id"]
        and rows[i]["context_id"] in scored
        and rows[i]["output"] != rows[j]["output"]
    ]
    judgments = []
    for pair in sorted(rng.sample(pairs, JUDGED_PAIRS)):
        for annotator in sorted(rng.sample(simulated.ANNOTATORS, JUDGMENTS_PER_PAIR), key=lambda a: a.name):
            a, b = rng.sample(pair, 2)
            row = {"context_id": rows[a]["context_id"], "context": rows[a]["context"]}
            for side, k in (("a", a), ("b", b)):
                row[f"system_{side}"] = rows[k]["system"]
                row[f"output_{side}"] = rows[k]["output"]
                if "checkpoint" in rows[k]:
                    row[f"checkpoint_{side}"] = rows[k]["checkpoint"]
            row |= {"annotator": annotator.name, "simulated": True}
            row["choice"] = simulated.choice(annotator, overall[a], overall[b], rng)
            judgments.append(row)
    return judgments


def score_matrix(scores: list[dict], criterion: str) -> np.ndarray:
    """(annotators, outputs), NaN where an annotator did not score."""
    rows = [row for row in scores if row["aspect"] == criterion]
    annotators = sorted({row["annotator"] for row in rows})
    items = sorted({(row["context_id"], row["system"]) for row in rows})
    matrix = np.full((len(annotators), len(items)), np.nan)
    position = {item: i for i, item in enumerate(items)}
    for row in rows:
        matrix[annotators.index(row["annotator"]), position[row["context_id"], row["system"]]] = row["score"]
    return matrix


def without_outliers(matrix: np.ndarray, t: float = 1.0) -> np.ndarray:
    """NaN for |x - median| > t x 1.4826 x MAD, per output; MAD = 0 drops everything off the median."""
    distance = np.abs(matrix - np.nanmedian(matrix, 0))
    return np.where(distance > t * 1.4826 * np.nanmedian(distance, 0), np.nan, matrix)


def print_summary(scores: list[dict], judgments: list[dict]) -> None:
    import krippendorff  # an independent check, needed only here

    for criterion in simulated.CRITERIA:
        matrix = score_matrix(scores, criterion)
        kept = without_outliers(matrix)
        before, after = (krippendorff.alpha(m, level_of_measurement="interval") for m in (matrix, kept))
        counts = int(np.isfinite(matrix).sum()), int(np.isfinite(kept).sum())
        print(f"{criterion}: interval alpha {before:.3f}, {after:.3f} after MAD 1.0, {counts[1]} of {counts[0]} kept")
        for system in sorted({row["system"] for row in scores}):
            values = [r["score"] for r in scores if r["system"] == system and r["aspect"] == criterion]
            print(f"    {system:<13} mean {np.mean(values):.2f}, standard deviation {np.std(values):.2f}")
    print({c: sum(row["choice"] == c for row in judgments) for c in ("A", "tie", "B")})


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the demo campaign's outputs, scores and judgments.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder to write to")
    options = parser.parse_args()

    contexts = read(FOLDER / "contexts.jsonl")
    embed = TextEncoder.load().sentences
    outputs = output_rows(contexts, read(FOLDER / "training_dialogues.jsonl"), embed, options.seed)
    rows = final_rows(outputs)
    qualities = latent_qualities(rows, embed, Random(f"{options.seed}/taste"))
    scored = {context["context_id"] for context in contexts[:SCORED_CONTEXTS]}
    scores = score_rows(rows, qualities, scored, Random(f"{options.seed}/scores"))
    judgments = judgment_rows(rows, qualities["Overall"], scored, Random(f"{options.seed}/judgments"))

    options.out.mkdir(parents=True, exist_ok=True)
    for name, data in (("outputs", outputs), ("scores", scores), ("judgments", judgments)):
        write(options.out / f"{name}.jsonl", data)
        print(f"{name}.jsonl: {len(data)} rows")
    print_summary(scores, judgments)


if __name__ == "__main__":
    main()
