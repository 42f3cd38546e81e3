"""Table 5 of Zhou & Xu (2020) on a campaign with accepted judgments: what a comparator is worth with each part left out.

    python -m benchmarks.ablation SLUG [--recipe paper ""] [--encoder NAME] [--seed 0] [--out var/ablation]

Every recipe has a table of its own; "" is our default. Every row is trained on the same folds and measured on the same
accepted judgments, out of fold. "w/o comparison" is the discriminative evaluator on the same encoder, which is frozen there: it
learns to tell people's texts from generated ones, and its score is the probability that a person wrote the output. This row and
"w/o human annotation" read no judgment until they are measured. By systems is the paper's figure, of the systems' mean scores;
with few systems it says little, so accuracy and the correlation by outputs stand beside it, with 95% intervals. Nothing is
registered. A row takes as long as a training, and "w/o comparison" as long as encoding the texts; a comparator that is in OUT
already is not trained again."""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from core.errors import Refused

HUMAN = {"human_scores": False, "human_judgments": False}
COMPARISON = "w/o comparison"  # another evaluator, not another setting
LEFT_OUT: dict[str, dict[str, bool]] = {
    "full model": {},
    COMPARISON: {},
    "w/o tie option": {"ties": False},
    "w/o strong supervision": {"strong": False},
    "w/o weak supervision": {"weak": False},
    "w/o human annotation": HUMAN,
    "w/o pretrained encoder": {"from_scratch": True},
}
HEAD = ("left out", "accuracy", "Pearson, outputs", "Pearson, systems", "Spearman, systems", "minutes")


def table(slug: str, fields: dict[str, Any], seed: int, out: Path, show: Callable[[str], None] = print) -> list[dict[str, Any]]:
    """Show the table line by line, and return its rows. fields: those of Settings that differ from its defaults; out: where
    the comparators lie."""
    from annotation.access import campaign_named
    from annotation.snapshots import latest_snapshot
    from evaluator.comparator.examples import Examples
    from evaluator.comparator.settings import Settings
    from evaluator.metaevaluation.card_figures import JudgedTexts
    from evaluator.trainings import sources
    from evaluator.versions.selectors import basis

    campaign = campaign_named(slug)
    snapshot = latest_snapshot(campaign)
    if snapshot is None:
        raise SystemExit(f"Campaign {slug!r} has no accepted judgments to measure on.")
    full, found = Settings(**fields), basis(snapshot)
    source = sources.read(snapshot, found.criterion, found.judgments)
    texts, supervised = sources.supervise(source, campaign, full.strong, full.weak)
    scores = np.concatenate([source.scores, np.full((len(texts) - len(source.texts), 1), np.nan)])
    exchanges = sources.conversations(campaign) if full.next_utterance else []
    examples = Examples(texts, [*source.pairs, *supervised], scores, [found.criterion], exchanges=exchanges)
    judged = JudgedTexts(source.texts, source.pairs, source.scores[:, 0], source.ratings)
    systems = np.unique([key[1] for key in source.keys], return_inverse=True)[1]
    show(f"{slug}, {found.criterion or 'judgments of pairs'}: {len(judged.texts)} outputs of {systems.max() + 1} systems")
    show(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    rows = []
    for name, left_out in LEFT_OUT.items():
        settings, begun = replace(full, **left_out), time.monotonic()
        if name == COMPARISON:
            judge = _discriminator(sources.texts_and_origins(source, campaign, strong=True), examples, full, seed)
        elif name == "full model" or _changes(full, settings, examples):
            judge = _comparator(examples, settings, seed, out / name.replace("/", ""))
        else:
            judge = None
        if judge is None:
            show(f"| {name} | it has none |{' |' * (len(HEAD) - 2)}")
            continue
        row = {"name": name, "minutes": (time.monotonic() - begun) / 60, **_measure(judge, judged, systems, seed)}
        show("| " + " | ".join([name, *(_said(row[figure]) for figure in FIGURES)]) + " |")
        rows.append(row)
    return rows


FIGURES = ("accuracy", "outputs", "systems_pearson", "systems_spearman", "minutes")


def _changes(full, settings, examples) -> bool:
    """Whether less is learnt from, or in another way."""
    switches = [name for name in ("strong", "weak") if getattr(full, name) != getattr(settings, name)]
    if not switches:
        return full != settings
    return any(pair.source in switches for pair in examples.pairs)


def _comparator(examples, settings, seed: int, folder: Path):
    from evaluator.comparator import architectures
    from evaluator.comparator.training.train import fit

    fit(examples, settings, seed, folder)
    return architectures.load(folder)


@dataclass(frozen=True)
class _Discriminator:
    """The discriminative evaluator, asked as a comparator is."""

    metric: Any  # a MetricJudge

    def score(self, texts) -> np.ndarray:
        """(n,) the probability that a person wrote it"""
        return np.asarray(expit(self.metric.utilities(texts)))

    def differences(self, texts_a, texts_b) -> np.ndarray:
        """(n,) in logits"""
        return np.asarray(self.metric.utilities(texts_a) - self.metric.utilities(texts_b))


def _discriminator(known, examples, full, seed: int) -> _Discriminator | None:
    """Trained on the full model's folds; known: all texts of the campaign and who wrote each. None where it has nothing to
    learn from."""
    from evaluator.comparator.training.dataset import checked, split
    from evaluator.encoders.text_encoder import TextEncoder
    from evaluator.judges.texts import Referenced, context_key
    from evaluator.metrics.inputs import Training
    from evaluator.metrics.registry import build

    folds = split(checked(examples, full), full.folds, seed)
    pairs = [(text, origin.human) for text, origin in zip(*known, strict=True) if context_key(text.context) in folds]
    texts = [Referenced(text.context, text.output, human=human) for text, human in pairs]
    training = Training(texts, [folds[context_key(text.context)] for text in texts], seed=seed)
    try:
        return _Discriminator(build("discriminator", encoder=TextEncoder.load(full.encoder), training=training))
    except Refused:
        return None


def _measure(judge, judged, systems: np.ndarray, seed: int) -> dict[str, Any]:
    """judge: a comparator, or what is asked like one."""
    from evaluator.metaevaluation.agreement import accuracy
    from evaluator.metaevaluation.card_figures import correlations
    from evaluator.metaevaluation.pairs import as_arrays

    a, b, _, _ = as_arrays(judged.pairs)
    ahead = judge.differences([judged.texts[i] for i in a], [judged.texts[i] for i in b])  # (p,)
    share = accuracy(ahead, judged.pairs, judged.contexts[a], seed)
    score = judge.score(judged.texts)  # (n,)
    of_outputs = correlations(score, judged.scores, judged.contexts, seed, judged.ratings)
    return {
        "accuracy": (share.value, share.low, share.high),
        "outputs": of_outputs and (of_outputs["pearson"], *of_outputs["pearson_interval"]),
        **by_systems(score, judged.scores, systems),
    }


def by_systems(score: np.ndarray, people: np.ndarray, systems: np.ndarray) -> dict[str, float | None]:
    """Correlations of the systems' means over the outputs that people scored: score, people, systems (n,); NaN is unknown."""
    from evaluator.metaevaluation.correlation import UndefinedCorrelation, pearson, spearman

    known = np.isfinite(score) & np.isfinite(people)
    there = np.unique(systems[known])
    means = [[values[known & (systems == one)].mean() for one in there] for values in (score, people)]
    try:
        return {"systems_pearson": pearson(*means), "systems_spearman": spearman(*means)}
    except UndefinedCorrelation:
        return {"systems_pearson": None, "systems_spearman": None}


def _said(figure: float | tuple | None) -> str:
    if isinstance(figure, tuple):
        return f"{figure[0]:.3f} ({figure[1]:.3f} to {figure[2]:.3f})"
    return "not known" if figure is None else f"{figure:.3f}"


def main() -> None:
    import os

    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from evaluator.comparator.settings import ARCHITECTURES, RECIPES, fields_of

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("slug")
    parser.add_argument(
        "--recipe", choices=["", *RECIPES], nargs="+", default=["paper"], help="what the full model is; '': our default"
    )
    parser.add_argument("--architecture", choices=ARCHITECTURES)
    parser.add_argument("--encoder")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("var/ablation"))
    given = parser.parse_args()
    chosen = {"architecture": given.architecture, "encoder": given.encoder, "strong": True, "weak": True}
    for recipe in given.recipe:
        print(f"\nRecipe: {recipe or 'default'}")
        table(given.slug, fields_of(recipe, **chosen), given.seed, given.out / given.slug / (recipe or "default"))


if __name__ == "__main__":
    main()
