"""`make tune`: the search behind the defaults of `comparator.settings`, on real judgments that are no part of the product.

    python -m benchmarks.tune FOLDER [--out var/tune] [--seeds 0] [--only NAME ...] [--encoder NAME] [--teacher NAME]

Every variant is measured as a user's training is: `fit` with five folds, so that each score of dailydialog_zhao is predicted
by a member that saw neither its context nor, in the dialogues, its conversation; other sets are learnt from beside it. One
line of JSON for each variant and seed goes to OUT/results.jsonl; what is there already is not run again, and a run that was
cut goes on. The tables in docs/results/comparator-*.md are made of these lines.
"""

import argparse
import json
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch

from benchmarks import tune_selection
from benchmarks.tune_instructions import pandalm
from evaluator.comparator import storage
from evaluator.comparator.architectures import load
from evaluator.comparator.examples import Examples, Exchange, aligned
from evaluator.comparator.predict import Comparator
from evaluator.comparator.references import beside_pairs
from evaluator.comparator.settings import Settings
from evaluator.comparator.supervision.pretraining import SHARED
from evaluator.comparator.supervision.self_supervision import ending, exchanges, unseen
from evaluator.comparator.training.train import TrainingResult, fit
from evaluator.comparator.utility_model import utilities
from evaluator.encoders import pretrained
from evaluator.encoders.encoding import Encoder
from evaluator.judges.calibration import NO_GUARD
from evaluator.judges.texts import Text, context_key
from evaluator.metaevaluation import robustness
from evaluator.metaevaluation.correlation import pearson, spearman
from evaluator.metaevaluation.pairs import JudgedPair, mean_scores, pairs_from_scores
from evaluator.metaevaluation.resampling import interval

MAIN = "dailydialog_zhao"
SETS = {
    MAIN: "Overall",
    "dailydialog_gupta": "Overall",
    "usr_topical_chat": "Overall",
    "usr_persona_chat": "Overall",
    "grade_dailydialog": "coherence",
    "grade_empathetic": "coherence",
}
FOREIGN = ("usr_topical_chat", "grade_empathetic", "dailydialog_gupta")  # each left out of training in turn
BESIDE = ("dailydialog_gupta", "grade_dailydialog")  # their judgments are learnt from too
ASKED = {MAIN: "default", "usr_topical_chat": "default", "dailydialog_gupta": "without-dailydialog_gupta"}  # and by whom
ALONE = ("this campaign alone",)  # but by these variants
BESIDE_IT = {"two criteria": ("Relevance",)}  # further criteria of MAIN that these variants learn

DEFAULT = Settings(folds=5)
VARIANTS = {
    "default": DEFAULT,
    "joint": replace(DEFAULT, architecture="joint"),
    "no self-supervision": replace(DEFAULT, next_utterance=False),
    "no contrast": replace(DEFAULT, contrast_passes=0),
    "contrast only": replace(DEFAULT, base_passes=0, base_harder_passes=0),
    "no harder negatives": replace(DEFAULT, base_harder_passes=0),
    "harder negatives from the start": replace(
        DEFAULT, base_passes=0, base_harder_passes=1.5, base_harder_share=1.0, base_harder_learning_rate=1e-4
    ),
    "no step back": replace(DEFAULT, base_harder_share=1.0),
    "no cosine": replace(DEFAULT, cosine_share=0.0),
    "no references": replace(DEFAULT, references=False),
    "as much of the cosine": replace(DEFAULT, cosine_share=1.0),
    "this campaign alone": DEFAULT,
    "no score loss": replace(DEFAULT, score_weight=0.0),
    "more score loss": replace(DEFAULT, score_weight=4.0),
    "one epoch": replace(DEFAULT, epochs=1),
    "six epochs": replace(DEFAULT, epochs=6),
    "learning rate 2e-5": replace(DEFAULT, learning_rate=2e-5),
    "learning rate 1e-4": replace(DEFAULT, learning_rate=1e-4),
    "from scratch": replace(DEFAULT, from_scratch=True),
    "256 tokens": replace(DEFAULT, max_length=256),
    "two criteria": DEFAULT,
}
OTHERS = ("no human data", "attacks", "pandalm", "transfer", "asking", "teaching")


@dataclass(frozen=True)
class Judged:
    """One set of scored outputs."""

    name: str
    texts: list[Text]
    criteria: list[str]  # (c,) the first is the one that is measured
    means: np.ndarray  # (n,) mean score by the first
    scores: np.ndarray  # (n, c) mean score by each, from 0 to 1
    pairs: list[JudgedPair]
    systems: list[str]  # (n,) whose output each is

    @property
    def contexts(self) -> np.ndarray:
        """(n,) context number"""
        number: dict[str, int] = {}
        return np.array([number.setdefault(context_key(text.context), len(number)) for text in self.texts])


def read(data: Path, name: str, others: Sequence[str] = ()) -> Judged:
    """By the criterion of SETS, and by others that the set has."""
    rows = _lines(data / f"{name}.outputs.jsonl")
    place = {(row["context_id"], row["system"]): i for i, row in enumerate(rows)}
    texts = [Text(tuple(row["context"]), row["output"]) for row in rows]
    ratings, criteria = _lines(data / f"{name}.ratings.jsonl"), [SETS[name], *others]
    scale = {r["aspect"]: tuple(r["scale"]) for r in ratings}
    scores, pairs = np.empty((len(texts), len(criteria))), []
    for c, criterion in enumerate(criteria):
        mine = [r for r in ratings if r["aspect"] == criterion]
        given = [(place[r["context_id"], r["system"]], r["annotator"], r["score"]) for r in mine]
        scores[:, c] = mean_scores(given, len(texts), scale[criterion])
        pairs += [replace(pair, criterion=c) for pair in pairs_from_scores(given, texts, scale[criterion])]
    low, high = scale[SETS[name]]
    means = low + (high - low) * scores[:, 0]
    return Judged(name, texts, criteria, means, scores, pairs, [row["system"] for row in rows])


def read_dialogues(data: Path) -> list[Exchange]:
    rows = _lines(data / "dailydialog_multiref.jsonl")
    return exchanges((row["dialogue_id"], row["turns"], row["references"]) for row in rows)


def apart_from(judged: Judged, main: Judged) -> Judged:
    """Less the contexts that it shares with `main`, and its scores by the first criterion at the mean and spread of main's."""
    ends = {ending(text.context) for text in main.texts}
    keep = [i for i, text in enumerate(judged.texts) if ending(text.context) not in ends]
    place = {i: k for k, i in enumerate(keep)}
    scores = aligned(judged.scores[keep, :1], main.scores[:, :1])
    pairs = [replace(p, a=place[p.a], b=place[p.b]) for p in judged.pairs if p.a in place and p.criterion == 0]
    return replace(
        judged,
        texts=[judged.texts[i] for i in keep],
        criteria=judged.criteria[:1],
        means=judged.means[keep],
        scores=scores,
        pairs=pairs,
        systems=[judged.systems[i] for i in keep],
    )


def run(settings: Settings, seed: int, sets: list[Judged], dialogues, folder: Path) -> TrainingResult:
    """Train on the first set, the others beside it and on its scale; a base that another variant has made is used again."""
    sets = [sets[0], *(apart_from(other, sets[0]) for other in sets[1:])]
    texts = [text for s in sets for text in s.texts]
    starts = np.cumsum([0, *(len(s.texts) for s in sets)])
    pairs = [replace(pair, a=pair.a + int(start), b=pair.b + int(start)) for s, start in zip(sets, starts) for pair in s.pairs]
    scores = np.full((len(texts), len(sets[0].criteria)), np.nan)  # the others have only the first criterion
    for s, start in zip(sets, starts):
        scores[start : start + len(s.texts), : s.scores.shape[1]] = s.scores
    shelf = folder.parent / ("base-" + _base_name(settings, seed))
    if shelf.is_dir() and not folder.is_dir():
        shutil.copytree(shelf, folder)
    told = [0.0]

    def tell(done: float, message: str, point: dict | None) -> None:
        if time.monotonic() - told[0] > 60:
            told[0] = time.monotonic()
            print(f"  {folder.name}: {done:.0%} {message}", flush=True)

    beside = np.arange(len(texts)) >= len(sets[0].texts)  # (n,)
    result = fit(
        Examples(texts, pairs, scores=scores, exchanges=dialogues, criteria=sets[0].criteria, beside=beside),
        settings,
        seed,
        folder,
        tell,
    )
    if not shelf.is_dir() and (folder / "base.json").is_file():
        shelf.mkdir()
        for name in ("base", "matcher", "references"):
            for file in folder.glob(f"{name}.*"):
                shutil.copy(file, shelf)
    return result


def measure(name: str, seed: int, result: TrainingResult, folder: Path, judged: Judged) -> dict:
    """Correlation of the scores expected out of fold with people's means, and by how much it exceeds the default's; ties and
    calibration on their pairs."""
    u = result.utilities[: len(judged.texts)]  # (n,)
    expected = storage.load_manifest(folder).head.expected(u)  # (n,)
    np.save(folder / "expected.npy", expected)
    usual = folder.parent / f"default-{seed}" / "expected.npy"
    default = np.load(usual) if usual.is_file() else expected
    above = lambda rows: pearson(expected[rows], judged.means[rows]) - pearson(default[rows], judged.means[rows])
    return {
        "variant": name,
        "seed": seed,
        "pearson": pearson(expected, judged.means),
        "interval": interval(lambda rows: pearson(expected[rows], judged.means[rows]), judged.contexts, seed),
        "spearman": spearman(expected, judged.means),
        "pearson of utilities": pearson(u, judged.means),
        "above the default": [above(slice(None)), *interval(above, judged.contexts, seed)],
        "pairwise": result.heldout_pairwise_accuracy,
        "longer": result.longer_is_better_accuracy,
        "calibration_error": result.calibration_error,
        "criteria": result.criteria,
        "ties": asdict(result.ties),
        "seconds": round(result.seconds),
        "learnt_from": result.learnt_from,
        "consistency": result.consistency and asdict(result.consistency),
    }


def nobody(seed: int, judged: Judged, folder: Path) -> dict:
    """What is known before anybody judged: the base of the default and its cosine, both as members start, and references."""
    base, encoder = (
        storage.load_base(folder),
        Encoder(pretrained.load_tokenizer(folder), DEFAULT.max_length, precision=DEFAULT.precision),
    )
    matcher = storage.load_matcher(folder, storage.read_json(folder / "matcher.json")["sha256"])
    references = storage.load_references(folder, storage.read_json(folder / "references.json")["sha256"])
    cosines, likeness = beside_pairs(matcher, references, encoder, judged.texts)  # (n,), (n,)
    cosine = cosines.numpy()  # (n,)
    u = utilities(base, encoder, encoder.pairs(judged.texts), torch.zeros(len(cosine)), range(len(cosine)))[:, 0]  # (n,)
    both = u / u.std() + DEFAULT.cosine_share * cosine / cosine.std()
    return {
        "variant": "no human data",
        "seed": seed,
        "pearson": pearson(both, judged.means),
        "interval": interval(lambda rows: pearson(both[rows], judged.means[rows]), judged.contexts, seed),
        "spearman": spearman(both, judged.means),
        "base": pearson(u, judged.means),
        "cosine": pearson(cosine, judged.means),
        "references": pearson(likeness, judged.means),
    }


def transfer(seed: int, sets: dict[str, Judged], dialogues, out: Path, left_out: str) -> dict:
    """The default on a set that it did not learn from: of the sets it learns from, trained without that one, without the
    contexts that others share with it and without its dialogues."""
    target = sets[left_out]
    if left_out in BESIDE:
        folder = out / f"without-{left_out}-{seed}"
        others = [sets[MAIN], *(sets[name] for name in BESIDE if name != left_out)]
        foreign = unseen(dialogues, [text.context for text in target.texts])
        run(replace(DEFAULT, folds=3), seed, [apart_from(s, target) for s in others], foreign, folder)
    else:
        folder = out / f"default-{seed}"
    comparator = load(folder)
    u = comparator.score(target.texts)
    cosine = comparator.cosines(target.texts)
    difference = lambda rows: pearson(u[rows], target.means[rows]) - pearson(cosine[rows], target.means[rows])
    return {
        "variant": f"left out: {left_out}",
        "seed": seed,
        "pearson": pearson(u, target.means),
        "spearman": spearman(u, target.means),
        "interval": interval(lambda rows: pearson(u[rows], target.means[rows]), target.contexts, seed),
        "cosine alone": pearson(cosine, target.means),
        "longer": pearson(_lengths(target), target.means),
        "above cosine, interval": interval(difference, target.contexts, seed),
    }


def teaching(seed: int, judged: Judged, dialogues, out: Path) -> dict:
    """What the choice of pairs does for the comparator: answers to pairs alone, three members on the default's base."""
    recipe = replace(DEFAULT, folds=3)

    def train(pairs: list[JudgedPair], folder: Path) -> None:
        run(recipe, seed, [replace(judged, scores=np.full_like(judged.scores, np.nan), pairs=pairs)], dialogues, folder)

    return tune_selection.teaching(seed, judged.texts, judged.pairs, judged.means, train, out)


def fooled(judged: Judged, comparator: Comparator, seed: int) -> dict:
    """Share of good answers (mean score in the upper quarter of the scale) preferred to each attack, out of fold; and what
    the guards cost in correlation."""
    good = [text for text, score in zip(judged.texts, judged.scores[:, 0]) if score >= 0.75]
    shares = {}
    for attack in robustness.attacks([text.context for text in good], [text.output for text in good], seed):
        u_good = comparator.utilities([Text(c, answer) for c, answer in zip(attack.contexts, attack.good)])
        u_bad = comparator.utilities([Text(c, answer) for c, answer in zip(attack.contexts, attack.bad)])
        shares[attack.name + (", other words" if attack.held_out else "")] = robustness.preferred(u_good, u_bad)
    with_guards = comparator.score(judged.texts)  # (n,)
    comparator.head = replace(comparator.head, guard=NO_GUARD)
    without = comparator.score(judged.texts)  # (n,)
    loss = lambda rows: pearson(without[rows], judged.means[rows]) - pearson(with_guards[rows], judged.means[rows])
    return {
        "variant": "attacks",
        "seed": seed,
        "good answers": len(good),
        "preferred": shares,
        "guards cost": [loss(slice(None)), *interval(loss, judged.contexts, seed)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, default=Path("var/tune"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--only", nargs="+", help=f"of {', '.join([*VARIANTS, *OTHERS])}; default: all")
    parser.add_argument("--encoder", default="", help="of the variants of settings; with an --out of its own")
    parser.add_argument("--teacher", default="", help="of the variants of settings; with an --out of its own")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    sets = {name: read(chosen.data, name) for name in SETS}
    dialogues = read_dialogues(chosen.data)
    log = chosen.out / "results.jsonl"
    done = {(row["variant"], row["seed"]) for row in _lines(log)} if log.is_file() else set()

    def note(row: dict) -> None:
        print(json.dumps(row), flush=True)
        with log.open("a") as file:
            file.write(json.dumps(row) + "\n")

    wanted = lambda name: chosen.only is None or name in chosen.only
    for seed in chosen.seeds:
        for name, settings in VARIANTS.items():
            if wanted(name) and (name, seed) not in done:
                folder = chosen.out / f"{name.replace(' ', '-')}-{seed}"
                main_set = read(chosen.data, MAIN, BESIDE_IT.get(name, ()))
                learnt = [main_set] if name in ALONE else [main_set, *(sets[s] for s in BESIDE)]
                recipe = replace(settings, encoder=chosen.encoder, teacher=chosen.teacher)
                note(measure(name, seed, run(recipe, seed, learnt, dialogues, folder), folder, main_set))
        if wanted("no human data") and ("no human data", seed) not in done:
            note(nobody(seed, sets[MAIN], chosen.out / f"default-{seed}"))
        if wanted("attacks"):
            note(fooled(sets[MAIN], load(chosen.out / f"default-{seed}"), seed))
        if wanted("pandalm") and ("pandalm", seed) not in done:
            note(pandalm(chosen.data, replace(DEFAULT, max_length=256), seed, chosen.out / f"pandalm-{seed}"))
        for name in FOREIGN:
            if wanted("transfer") and (f"left out: {name}", seed) not in done:
                note(transfer(seed, sets, dialogues, chosen.out, name))
        for name, by in (ASKED if wanted("asking") else {}).items():
            if (f"asking: {name}", seed) not in done:
                s, folder = sets[name], chosen.out / f"{by}-{seed}"
                found = tune_selection.order_of_systems(name, s.texts, s.pairs, s.systems, s.means, folder)
                note({**found, "seed": seed})
        if wanted("teaching") and ("teaching", seed) not in done:
            note(teaching(seed, sets[MAIN], dialogues, chosen.out))


def _base_name(settings: Settings, seed: int) -> str:
    parts = [f"{k}={v}" for k, v in vars(settings).items() if k.startswith(("base_", "contrast_")) or k in (*SHARED, "teacher")]
    return context_key([*parts, str(seed)])[:12]


def _lengths(judged: Judged) -> np.ndarray:
    return np.array([len(text.output.split()) for text in judged.texts])


def _lines(path: Path) -> list[dict]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    main()
