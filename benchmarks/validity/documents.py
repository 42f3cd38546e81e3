"""Do 95% intervals of a judge's agreement with people hold the truth where contexts come in groups, as questions on documents?

The judge prefers longer outputs; its figures are a card's. The generator is none of the product's: documents differ in how hard
they are, which system does well, who writes long, and whether people like that, and people are of two camps. The truth, fixed
before the first run: `figures` of 300,000 contexts, each of a document of its own, judged by three people of its own."""

import io
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.database import own_database
from benchmarks.validity.rows import scores as score_rows

if TYPE_CHECKING:
    from evaluator.metaevaluation.card_figures import JudgedTexts

CUTS, STRENGTHS, EACH = (-1.2, -0.4, 0.4, 1.2), np.array([0.0, 0.3, 0.6]), 3  # of 5 points; of systems; people for a context


def drawn(document: np.ndarray, people: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """words (contexts, systems), scores (contexts, systems, EACH), who (contexts, EACH). document: (contexts,) numbers"""
    n, m, both = len(document), document[-1] + 1, people == EACH * len(document)
    who = np.arange(people).reshape(n, EACH) if both else rng.random((n, people)).argsort(1)[:, :EACH]
    fits, verbose, hard, likes = rng.normal(0, 0.5, (4, m, 3))[:, document]  # of the last two, each document's first
    length, luck = verbose + rng.normal(0, 0.5, (n, 3)), rng.normal(0, 0.5, (n, 3))
    leaning = rng.normal(0, 0.3, (people, 3)) + 0.4 * rng.choice([-1, 1], (people, 1)) * [1, -1, 0]
    seen = STRENGTHS + fits + luck + (0.2 + likes[:, :1]) * length - hard[:, :1]
    seen = seen[:, None] + (leaning - rng.normal(0, 0.5, (people, 1)))[who] + rng.normal(0, 0.8, (n, EACH, 3))
    return np.round(20 * np.exp(0.5 * length)), 1.0 + np.searchsorted(CUTS, seen).swapaxes(1, 2), who


def campaign_of(documents: int, people: int, seed: int) -> tuple[np.ndarray, ...]:
    """Each document's number for each of its 2 to 10 contexts, and what is `drawn`."""
    rng = np.random.default_rng([seed, 9161])
    document = np.repeat(np.arange(documents), rng.integers(2, 11, documents))
    return document, *drawn(document, people, rng)


def kept(scores: np.ndarray) -> np.ndarray:
    off = np.abs(scores - np.median(scores, axis=2, keepdims=True))
    return off <= 1.4826 * np.median(off, axis=2, keepdims=True)


def figures(words: np.ndarray, scores: np.ndarray) -> tuple[float, float]:
    """Accuracy and Pearson's correlation, of the scores within 1.4826 median deviations of their output's median."""
    said = np.where(kept(scores), scores, np.nan)
    mean, i, j = np.nanmean(said, axis=2), *np.triu_indices(3, 1)
    a, tie, b = ((np.sign(said[:, i] - said[:, j]) == side).sum(axis=2) for side in (1, 0, -1))  # votes (contexts, pairs)
    majority = 1.0 * (a > np.maximum(tie, b)) - (b > np.maximum(tie, a))
    by_means = np.trunc(4 * (mean[:, i] - mean[:, j]))  # where nobody scored both; less than 1/4 point is a tie
    better = np.where(a + tie + b > 0, majority, by_means)
    right = (1 + np.sign(better * (words[:, i] - words[:, j]))) / 2
    return float(right[better != 0].mean()), float(np.corrcoef(words.ravel(), mean.ravel())[0, 1])


def imported_ones(folder: Path, documents: int, people: int, seed: int) -> list[tuple[float, ...]]:
    """(figure, low, high) of both by documents, then as if contexts were independent: through files and commands."""
    from django.core.management import call_command

    from benchmarks.questions.asked import Files
    from benchmarks.validity import imported
    from evaluator.metaevaluation.card_figures import JudgedTexts
    from evaluator.trainings.sources import read

    document, words, scores, who = campaign_of(documents, people, seed)
    c, s, k = (part.ravel() for part in np.indices(scores.shape))
    outputs = [
        {
            "context_id": f"c{i:03}",
            "context": f"question {i}",
            "group": f"d{document[i]}",
            "system": f"s{of}",
            "output": "a " * int(n),
        }
        for (i, of), n in np.ndenumerate(words)
    ]
    answers = score_rows(c, s, who[c, k], scores[c, s, k])
    files = Files(("--criterion", "Quality:1:5"), [("import_outputs", outputs), ("import_scores", answers)])
    campaign = imported.stored(folder, files)
    call_command("assess_quality", campaign.slug, stdout=io.StringIO())
    source = read(campaign.snapshots.get(), "Quality", False)
    return measured(JudgedTexts(source.texts, source.pairs, source.scores[:, 0], source.ratings), seed)


def stated(documents: int, people: int, seed: int) -> list[tuple[float, ...]]:
    """The same without files: what the default filter keeps is left by `figures`' rule."""
    from evaluator.judges.texts import Text
    from evaluator.metaevaluation.card_figures import JudgedTexts
    from evaluator.metaevaluation.pairs import mean_scores, pairs_from_scores

    document, words, scores, who = campaign_of(documents, people, seed)
    texts = [
        Text((f"question {c}",), "a " * int(n), context_id=f"c{c}", group=f"d{document[c]}")
        for (c, _), n in np.ndenumerate(words)
    ]
    given = [(3 * c + s, f"a{who[c, k]:02}", float(scores[c, s, k])) for c, s, k in np.argwhere(kept(scores))]
    ratings = [[(who, value) for at, who, value in given if at == i] for i in range(len(texts))]
    pairs, means = pairs_from_scores(given, texts, (1, 5)), np.array(mean_scores(given, len(texts), (1, 5)))
    found = measured(JudgedTexts(texts, pairs, means, ratings), seed)
    assert np.allclose([value for value, *_ in found], figures(words, scores) * 2)  # of a sample they are what the truth is
    return found


def measured(judged: "JudgedTexts", seed: int) -> list[tuple[float, ...]]:
    from evaluator.metaevaluation.card_figures import correlations, pairwise

    found, length = [], np.array([len(text.output.split()) for text in judged.texts], dtype=float)
    for texts in (judged.texts, [replace(text, group="") for text in judged.texts]):
        one = replace(judged, texts=texts)
        pairs, scored = pairwise(length, one, seed), correlations(length, one.scores, one.units, seed, one.ratings)
        found += [(pairs["accuracy"], pairs["low"], pairs["high"]), (scored["pearson"], *scored["pearson_interval"])]
    return found


THROUGH_FILES = 5  # campaigns of which the commands are asked too
NAMES = [f"{figure}, {units}" for units in ("documents", "contexts") for figure in ("accuracy", "Pearson")]

if __name__ == "__main__":
    documents, people, n = map(int, sys.argv[1:])
    true = figures(*drawn(np.arange(300_000), 900_000, np.random.default_rng(9160))[:2])
    with own_database(), TemporaryDirectory() as folder:
        found = np.array([stated(documents, people, seed) for seed in range(n)])  # (n, 4, 3)
        through_files = [imported_ones(Path(folder), documents, people, seed) for seed in range(THROUGH_FILES)]
    if not np.allclose(found[:THROUGH_FILES], through_files):
        raise SystemExit(f"The commands say {through_files}, the harness {found[:THROUGH_FILES]}.")
    print("| figure, intervals over | truth | mean | holds the truth | SE | median width |")
    for name, number, (value, low, high) in zip(NAMES, true * 2, found.transpose(1, 2, 0)):
        held = (low <= number) & (number <= high)
        share = f"{held.mean():.1%} | {held.std(ddof=1) / n**0.5:.1%}"
        print(f"| {name} | {number:.3f} | {value.mean():.3f} | {share} | {np.median(high - low):.3f} |")
