"""Instructions instead of dialogue, for `make tune`: pandalm's own pairs, beside length, cosine and people."""

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np

from evaluator.comparator.architectures import load
from evaluator.comparator.examples import Examples
from evaluator.comparator.settings import Settings
from evaluator.comparator.training.train import fit
from evaluator.judges.calibration import decide
from evaluator.judges.texts import Text, context_key
from evaluator.metaevaluation import ceiling
from evaluator.metaevaluation.agreement import agreement
from evaluator.metaevaluation.correlation import pearson
from evaluator.metaevaluation.held_out import decide_by_other_folds
from evaluator.metaevaluation.pairs import JudgedPair, as_arrays, pairs_from_judgments
from evaluator.metaevaluation.resampling import interval
from evaluator.metaevaluation.ties import CLASSES, macro_f1


def read(data: Path) -> tuple[list[Text], list[JudgedPair], list[tuple]]:
    """Texts, pairs, and the judgments as `ceiling.from_judgments` takes them; two equal outputs are no pair."""
    places: dict[Text, int] = {}
    judged, given = [], []
    with (data / "pandalm.pairwise.jsonl").open(encoding="utf-8") as file:
        for row in map(json.loads, file):
            sides = [Text(tuple(row["context"]), row[f"output_{side}"]) for side in "ab"]
            a, b = (places.setdefault(text, len(places)) for text in sides)
            if a != b:
                judged.append((a, b, row["annotator"], row["choice"]))
                given.append((context_key(row["context"]), (a, b), row["annotator"], row["choice"]))
    return list(places), pairs_from_judgments(judged), given


def pandalm(data: Path, settings: Settings, seed: int, folder: Path) -> dict:
    """Folds by context. "not below longer": accuracy and macro-F1 are no lower; "above cosine": the 95% intervals of both
    differences, over contexts, lie above 0."""
    texts, pairs, given = read(data)
    result = fit(Examples(texts, pairs), settings, seed, folder)
    comparator = load(folder)
    a, b, targets, weights = as_arrays(pairs)
    choices = np.array([pair.choice for pair in pairs])  # (p,)
    keys = [context_key(texts[i].context) for i in a]
    folds = np.array([comparator.manifest.folds[key] for key in keys])  # (p,)
    words = np.log1p([len(text.output.split()) for text in texts])  # (n,)
    by_judge = {"comparator": result.utilities, "longer": words, "cosine": comparator.cosines(texts)}
    d = {name: values[a] - values[b] for name, values in by_judge.items()}  # (p,) each
    said = {name: decide(found, 0.0) for name, found in d.items()}  # (p,) each
    said["comparator"] = decide_by_other_folds(d["comparator"], targets, weights, folds)

    agree, clear = {name: agreement(found, choices) for name, found in d.items()}, choices != "tie"  # (p,)
    figures = {
        "accuracy": lambda name, rows: float(agree[name][rows][clear[rows]].mean()),
        "macro-F1": lambda name, rows: _macro_f1(said[name][rows], choices[rows]),
    }
    every, contexts = np.arange(len(pairs)), np.unique(keys, return_inverse=True)[1]  # (p,)

    def above(other: str) -> dict[str, list[float]]:
        """Of each figure, by how much the comparator's exceeds the other's: difference, low, high"""
        differences = {figure: lambda rows, of=of: of("comparator", rows) - of(other, rows) for figure, of in figures.items()}
        return {figure: [by(every), *interval(by, contexts, seed)] for figure, by in differences.items()}

    over_longer, over_cosine = above("longer"), above("cosine")
    return {
        "variant": "pandalm",
        "seed": seed,
        "pairs": len(pairs),
        "calibration_error": result.calibration_error,
        **{figure: {name: of(name, every) for name in d} for figure, of in figures.items()},
        "interval": result.heldout_pairwise_interval,
        "above longer": over_longer,
        "above cosine": over_cosine,
        "not below longer": min(difference for difference, _, _ in over_longer.values()) >= 0,
        "above cosine, surely": min(low for _, low, _ in over_cosine.values()) > 0,
        "three-way": result.heldout_three_way_accuracy,
        "ties": asdict(result.ties),
        "head": asdict(comparator.head),
        "Pearson of utility and log words": pearson(result.utilities, words),
        "ceiling": asdict(ceiling.from_judgments(given)),
        "seconds": round(result.seconds),
    }


def _macro_f1(said: np.ndarray, choices: np.ndarray) -> float:
    return float(macro_f1(np.array([[((choices == c) & (said == s)).sum() for s in CLASSES] for c in CLASSES], dtype=float)))
