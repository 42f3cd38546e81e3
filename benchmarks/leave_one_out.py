"""What a comparator is worth on a set of judgments that it has never seen: each set is left out in turn.

    python -m benchmarks.leave_one_out FOLDER --base FOLDER [--out var/leave-one-out] [--seeds 0 1 2] [--only VARIANT ...]

The comparator learns from all other sets, less the contexts that they share with the one left out, from a base made of
conversations that are in none of them (`train_base`). It is compared with the better of two cosines by the untrained encoder:
of the output with the last turn, and with the whole context. Good answers (card_figures.good_answers) are attacked. A line of
JSON for each variant, set and seed goes to OUT/results.jsonl; what is there already is not run again. The table in
docs/results/comparator-unseen.md is made of these lines (`--tables`)."""

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from benchmarks.studies.judged_sets import read
from evaluator.comparator.architectures import load
from evaluator.comparator.examples import Examples, aligned
from evaluator.comparator.predict import Comparator
from evaluator.comparator.references import beside_pairs
from evaluator.comparator.settings import Settings
from evaluator.comparator.supervision.self_supervision import ending
from evaluator.comparator.training.train import fit
from evaluator.comparator.untrained import cosines as cosines_of
from evaluator.comparator.utility_model import utilities
from evaluator.judges.texts import Text
from evaluator.metaevaluation import robustness
from evaluator.metaevaluation.card_figures import JudgedTexts, attack_table, good_answers
from evaluator.metaevaluation.correlation import pearson
from evaluator.metaevaluation.pairs import JudgedPair
from evaluator.metaevaluation.resampling import interval
from evaluator.metaevaluation.robustness import FEWEST_CASES, SMALLEST_SHARE

SETS = (
    *("dailydialog_zhao", "dailydialog_gupta", "usr_topical_chat", "usr_persona_chat"),
    *("grade_dailydialog", "grade_empathetic"),
)
DEFAULT = Settings()
VARIANTS = {
    "default": DEFAULT,
    "no cosine": replace(DEFAULT, cosine_share=0.0),
    "no references": replace(DEFAULT, references=False),
    "no guards": replace(DEFAULT, guards=False),
    "no score loss": replace(DEFAULT, score_weight=0.0),
    "one epoch": replace(DEFAULT, epochs=1),
    "short": replace(DEFAULT, epochs=1, folds=2),
}


@dataclass(frozen=True)
class Judged:
    """scores: (n, 1) people's means by the set's first criterion, from 0 to 1; contexts: (n,) numbers"""

    texts: list[Text]
    scores: np.ndarray
    contexts: np.ndarray
    pairs: list[JudgedPair]


def judged(data: Path, name: str) -> Judged:
    known = read(data, name)
    texts = [Text(text.context, text.output) for text in known.texts]
    return Judged(texts, known.scores[:, :1], known.people.contexts, list(known.people.pairs))


def apart_from(other: Judged, main: Judged) -> Judged:
    """Less the contexts that it shares with `main`, and its scores at the mean and spread of main's."""
    ends = {ending(text.context) for text in main.texts}
    keep = [i for i, text in enumerate(other.texts) if ending(text.context) not in ends]
    place = {i: k for k, i in enumerate(keep)}
    pairs = [replace(p, a=place[p.a], b=place[p.b]) for p in other.pairs if p.a in place]
    return Judged([other.texts[i] for i in keep], aligned(other.scores[keep], main.scores), other.contexts[keep], pairs)


def joined(sets: list[Judged]) -> Examples:
    """The first criterion of all sets, on the first one's scale."""
    scores = [sets[0].scores[:, :1], *(aligned(s.scores[:, :1], sets[0].scores[:, :1]) for s in sets[1:])]
    starts = np.cumsum([0, *(len(s.texts) for s in sets)])
    pairs = [replace(p, a=p.a + int(k), b=p.b + int(k)) for s, k in zip(sets, starts) for p in s.pairs]
    return Examples([text for s in sets for text in s.texts], pairs, scores=np.concatenate(scores))


def measure(comparator: Comparator, target: Judged, seed: int) -> dict:
    """Pearson with people's means: of the expected scores, of the better untrained cosine, the difference with its interval
    (by contexts), and of what the comparator is made of; the share of good answers preferred to each attack."""
    means = target.scores[:, 0]
    score, both = comparator.score(target.texts), cosines_of(comparator.untrained, comparator.encoder, target.texts).T
    untrained = max(both, key=lambda cosine: pearson(cosine, means))  # (n,)
    above = lambda rows: pearson(score[rows], means[rows]) - pearson(untrained[rows], means[rows])
    cosines, likeness = beside_pairs(comparator.matcher, comparator.references, comparator.encoder, target.texts)
    sequences, nothing = comparator.encoder.pairs(target.texts), torch.zeros(len(cosines))
    rows = range(len(cosines))
    alone = [utilities(model, comparator.encoder, sequences, nothing, rows)[:, 0] for model in comparator.models]
    parts = {"encoded pair": np.mean(alone, axis=0), "cosine": cosines.numpy(), "references": likeness}
    return {
        "pearson": pearson(score, means),
        "untrained cosine": pearson(untrained, means),
        "above it": [above(slice(None)), *interval(above, target.contexts, seed)],
        "attacks": fooled(comparator, target, seed),
        "parts": {name: pearson(part, means) if part.std() else None for name, part in parts.items()},
    }


def fooled(comparator: Comparator, target: Judged, seed: int) -> dict[str, float]:
    """{attack: share of good answers that are preferred to it}, by what has not learnt this kind of broken outputs"""
    good = good_answers(JudgedTexts(target.texts, [], target.scores[:, 0]), seed)
    ahead = lambda honest, bad, attacks: comparator.differences(honest, bad, unlearnt=attacks)
    rows = attack_table(ahead, good, seed) if good else []
    return {row["attack"] + (", other words" if row["other_words"] else ""): row["share"] for row in rows}


def results(log: Path) -> list[dict]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.is_file() else []


def table(rows: list[dict]) -> Iterator[str]:
    """Of each variant: each set's Pearson, mean over the seeds, with its difference from the untrained cosine; and the mean,
    where every set was left out."""
    names = list(SETS)
    yield "| variant | seeds | " + " | ".join(names) + " | mean | above the cosine |"
    yield "|---|---:|" + "---:|" * (len(names) + 2)
    for variant in dict.fromkeys(row["variant"] for row in rows):
        mine = [[row for row in rows if (row["variant"], row["left out"]) == (variant, name)] for name in names]
        means = [np.mean([row["pearson"] for row in some]) if some else None for some in mine]
        ahead = [np.mean([row["above it"] for row in some], axis=0) if some else None for some in mine]  # (3,) each
        cells = [f"{mean:.3f} ({above(d)})" if some else "not run" for some, mean, d in zip(mine, means, ahead)]
        end = f"{np.mean(means):.3f} | {np.mean([d for d, _, _ in ahead]):+.3f}" if all(mine) else "– | –"
        seeds = sorted({row["seed"] for some in mine for row in some})
        yield f"| {variant} | {', '.join(map(str, seeds))} | " + " | ".join(cells) + f" | {end} |"


def above(figure: Sequence[float]) -> str:
    difference, low, high = figure
    return f"{difference:+.3f}, {low:+.3f} to {high:+.3f}"


def attacks(rows: list[dict], sets: dict[str, Judged]) -> Iterator[str]:
    """Of each variant and set: in what share of cases a good answer was preferred to each attack, mean over the seeds, and how
    many cases of the first seed; bold below SMALLEST_SHARE, no share of too few cases."""
    for variant in dict.fromkeys(row["variant"] for row in rows):
        mine = [row for row in rows if row["variant"] == variant]
        names = [name for name in SETS if any(row["left out"] == name for row in mine)]
        yield f"| attack on {variant} | " + " | ".join(names) + " |"
        yield "|---|" + "---:|" * len(names)
        shares = {name: [row["attacks"] for row in mine if row["left out"] == name] for name in names}
        cases = {name: attacked(sets[name], min(row["seed"] for row in mine if row["left out"] == name)) for name in names}
        for attack in dict.fromkeys(attack for some in shares.values() for one in some for attack in one):
            yield (
                f"| {attack} | " + " | ".join(_cell(attack, shares[name], cases[name].get(attack, 0)) for name in names) + " |"
            )


def _cell(attack: str, of_seeds: list[dict[str, float]], n: int) -> str:
    told = [shares[attack] for shares in of_seeds if attack in shares]
    if not told or n < FEWEST_CASES:
        return f"– ({n})"
    share = float(np.mean(told))
    return f"**{share:.2f}** ({n})" if share < SMALLEST_SHARE else f"{share:.2f} ({n})"


def attacked(target: Judged, seed: int) -> dict[str, int]:
    """{attack: cases}"""
    good = good_answers(JudgedTexts(target.texts, [], target.scores[:, 0]), seed)
    made = robustness.attacks([text.context for text in good], [text.output for text in good], seed)
    return {one.name + (", other words" if one.held_out else ""): len(one.good) for one in made}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--base", type=Path, help="the folder of a base; without one, members start from the encoder")
    parser.add_argument("--out", type=Path, default=Path("var/leave-one-out"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--only", nargs="+", default=["default"], help=f"of {', '.join(VARIANTS)}")
    parser.add_argument("--sets", nargs="+", default=list(SETS), help="that are left out in turn")
    parser.add_argument("--tables", action="store_true", help="train nothing, print the table of what is there")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    sets, log = {name: judged(chosen.data, name) for name in SETS}, chosen.out / "results.jsonl"
    wanted = [] if chosen.tables else [(v, n, s) for s in chosen.seeds for v in chosen.only for n in chosen.sets]
    for variant, left_out, seed in wanted:
        if any((row["variant"], row["left out"], row["seed"]) == (variant, left_out, seed) for row in results(log)):
            continue
        target, folder = sets[left_out], chosen.out / f"{variant.replace(' ', '-')}-{left_out}-{seed}"
        examples = joined([apart_from(sets[name], target) for name in SETS if name != left_out])
        settings = replace(VARIANTS[variant], base=chosen.base.name if chosen.base else "")
        trained = fit(examples, settings, seed, folder, base_dir=chosen.base)
        row = {"variant": variant, "left out": left_out, "seed": seed, **measure(load(folder), target, seed)}
        row |= {"accuracy out of fold": trained.heldout_pairwise_accuracy, "seconds": round(trained.seconds)}
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)
    print("\n".join([*table(results(log)), "", *attacks(results(log), sets)]))


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    main()
