"""What a card says of a comparator's judgments: how far they fit people's, with intervals; whether it can be fooled; whether
its answer depends on the sides. Everything is pure: a comparator and people's answers in, plain records out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from annotation.quality.crossed import ANNOTATORS, PEOPLE, of_whom
from evaluator.judges.protocol import Preferences
from evaluator.judges.texts import Text, place_of, unit_of
from evaluator.metaevaluation import robustness
from evaluator.metaevaluation.agreement import accuracy, calibration_error, confidence
from evaluator.metaevaluation.correlation import UndefinedCorrelation, pearson, spearman
from evaluator.metaevaluation.crossed import correlation_of_means, crossed
from evaluator.metaevaluation.pairs import JudgedPair, as_arrays
from evaluator.metaevaluation.resampling import RESAMPLES, bootstrap, correlation_interval, drawn, interval

GOOD_SCORE = 0.75  # of a scale from 0 to 1: the upper quarter is called a good answer
COSINES = ("the last turn", "the whole context")
MOST_ANSWERS, MOST_PAIRS = 100, 200  # that are attacked, and shown with the sides swapped: seconds instead of minutes

Ratings = Sequence[Sequence[tuple[str, float]]]  # of each text (n,), who scored it, and how
# Two texts (n,) each, and the attack that made the second from the first (n,) -> (n,) above 0 where the first is better
Ahead = Callable[[Sequence[Text], Sequence[Text], Sequence[str]], np.ndarray]


@dataclass(frozen=True)
class JudgedTexts:
    """Texts of some contexts with what people said of them; a slice of a campaign's accepted judgments."""

    texts: list[Text]
    pairs: list[JudgedPair]  # by people, positions in texts
    scores: np.ndarray  # (n,) mean score from 0 to 1, NaN where nobody scored
    ratings: Ratings = ()  # (n,) of single people, which the scores are means of; empty where nobody is known

    @cached_property
    def contexts(self) -> np.ndarray:
        """(n,) context number"""
        number: dict[str, int] = {}
        return np.array([number.setdefault(place_of(text), len(number)) for text in self.texts], dtype=int)

    @cached_property
    def units(self) -> np.ndarray:
        """(n,) number of what intervals draw: the context, or its group"""
        number: dict[str, int] = {}
        return np.array([number.setdefault(unit_of(text), len(number)) for text in self.texts], dtype=int)

    def sample(self, limit: int, seed: int) -> "JudgedTexts":
        """Whole contexts, at most `limit` texts."""
        rows = drawn(self.contexts, limit, seed)
        return self.take(rows)

    def without(self, left_out: Callable[[Text], bool]) -> "JudgedTexts":
        """Less the texts of which this is true."""
        return self.take(np.array([i for i, text in enumerate(self.texts) if not left_out(text)], dtype=int))

    def take(self, rows: np.ndarray) -> "JudgedTexts":
        """The texts `rows`, and the pairs of which both are there."""
        place = {int(row): i for i, row in enumerate(rows)}
        kept = [p for p in self.pairs if p.a in place and p.b in place]
        pairs = [replace(pair, a=place[pair.a], b=place[pair.b]) for pair in kept]
        ratings = [self.ratings[i] for i in rows] if self.ratings else ()
        return JudgedTexts([self.texts[i] for i in rows], pairs, self.scores[rows], ratings)


def calibration(
    p: np.ndarray, targets: np.ndarray, weights: np.ndarray, contexts: np.ndarray, seed: int
) -> dict[str, Any] | None:
    """Expected calibration error with its interval: p (n, 3), people's shares (n, 3), weights (n,), contexts (n,). The
    interval resamples contexts and leans upwards, since every resample adds noise of its own. None without a pair."""
    if not len(p):
        return None
    stated, right, bin_of = confidence(p, targets)
    _, where = np.unique(contexts, return_inverse=True)
    gaps = np.zeros((where.max() + 1, bin_of.max() + 1))  # (contexts, bins)
    np.add.at(gaps, (where, bin_of), (right - stated) * weights)
    judged = np.bincount(where, weights=weights)  # (contexts,)
    draws = np.random.default_rng(seed).multinomial(len(gaps), np.full(len(gaps), 1 / len(gaps)), size=RESAMPLES)
    low, high = np.quantile(np.abs(draws @ gaps).sum(1) / (draws @ judged), [0.025, 0.975])
    return {"error": calibration_error(p, targets, weights), "low": float(low), "high": float(high), "pairs": len(p)}


def reliability(p: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> list[dict[str, Any]]:
    """[{said, right, n}] by tenths of the stated probability: its mean, the share of people's answers that it got right, and
    the number of pairs; the tenths in which nothing fell are left out."""
    stated, right, bin_of = confidence(p, targets)
    n, total = np.bincount(bin_of), np.bincount(bin_of, weights=weights)  # (bins,)
    sums = [np.bincount(bin_of, weights=values * weights) for values in (stated, right)]
    return [
        {"said": float(sums[0][i] / total[i]), "right": float(sums[1][i] / total[i]), "n": int(n[i])} for i in np.flatnonzero(n)
    ]


def correlations(
    u: np.ndarray, scores: np.ndarray, contexts: np.ndarray, seed: int, ratings: Ratings = ()
) -> dict[str, Any] | None:
    """Pearson and Spearman of u (n,) with people's mean scores (n,), pooled over all outputs that have both, NaN being
    none. ratings: whose means the scores are; with those of enough people intervals are over contexts and annotators. None
    where there is no correlation to speak of."""
    rows = np.flatnonzero(np.isfinite(u) & np.isfinite(scores))
    u, scores, contexts = u[rows], scores[rows], contexts[rows]
    given = [(i, *rating) for i, row in enumerate(rows.tolist()) for rating in (ratings[row] if ratings else ())]
    output, value = np.array([row[0] for row in given], dtype=int), np.array([row[2] for row in given], dtype=float)
    _, annotator = np.unique(np.array([row[1] for row in given], dtype=str), return_inverse=True)
    population, annotators = of_whom(annotator)
    figures: dict[str, Any] = {"outputs": len(rows), "contexts": len(np.unique(contexts)), "annotators": annotators}
    try:
        figures |= {"pearson": pearson(u, scores), "spearman": spearman(u, scores)}
    except UndefinedCorrelation:
        return None

    def over_people(measure: str) -> tuple[float, float] | None:
        means = correlation_of_means(measure, u, output, value)
        found = crossed(means, contexts[output], annotator, seed) if population == PEOPLE else None
        return None if found is None else found.around_correlation(figures[measure])

    measures = ("pearson", "spearman")
    found = {f"{measure}_interval": over_people(measure) for measure in measures}
    if not all(found.values()):
        population = ANNOTATORS if annotators else None
        found = {f"{measure}_interval": correlation_interval(measure, u, scores, contexts, seed) for measure in measures}
    return figures | {"population": population} | found


def above_cosine(
    u: np.ndarray, cosines: np.ndarray, scores: np.ndarray, contexts: np.ndarray, seed: int
) -> dict[str, Any] | None:
    """{cosine, pearson, above, low, high}: by how much the Pearson correlation of u (n,) with people's mean scores (n,) exceeds
    that of the better of two untrained cosines (n, 2), with the last turn of the context and with the whole, and its interval
    over contexts (n,), paired. None where a correlation does not exist."""
    rows = np.flatnonzero(np.isfinite(u) & np.isfinite(scores))
    u, cosines, scores, contexts = u[rows], cosines[rows], scores[rows], contexts[rows]
    try:
        known = [pearson(one, scores) for one in cosines.T]
        own = pearson(u, scores)
    except UndefinedCorrelation:
        return None
    better = int(np.argmax(known))
    above = lambda drawn: pearson(u[drawn], scores[drawn]) - pearson(cosines[drawn, better], scores[drawn])
    low_high = interval(above, contexts, seed)
    if low_high is None:
        return None
    told = {"cosine": COSINES[better], "pearson": known[better], "above": own - known[better]}
    return told | dict(zip(("low", "high"), low_high))


def pairwise(u: np.ndarray, judged: JudgedTexts, seed: int) -> dict[str, Any] | None:
    """Share of people's clear preferences that u (n,) orders the same way. None where there is none."""
    clear = [pair for pair in judged.pairs if pair.choice != "tie"]
    if not clear:
        return None
    a, b, _, _ = as_arrays(judged.pairs)
    found = accuracy(u[a] - u[b], judged.pairs, judged.units[a], seed)
    return {
        "accuracy": found.value,
        "low": found.low,
        "high": found.high,
        "pairs": len(clear),
        "population": found.population,
        "annotators": found.annotators,
    }


def good_answers(judged: JudgedTexts, seed: int) -> list[Text]:
    """At most MOST_ANSWERS that people found good: mean score in the upper quarter of the scale; where an output has no
    score, one that won a judged pair and lost none."""
    won = {side for pair in judged.pairs if (side := _winner(pair)) is not None}
    lost = {pair.a + pair.b - side for pair in judged.pairs if (side := _winner(pair)) is not None}
    scores = np.asarray(judged.scores)
    good = [i for i, s in enumerate(scores) if (s >= GOOD_SCORE if np.isfinite(s) else i in won - lost)]
    chosen = np.random.default_rng(seed).permutation(len(good))[:MOST_ANSWERS]
    return [judged.texts[good[i]] for i in sorted(chosen)]


def _winner(pair: JudgedPair) -> int | None:
    return {"A": pair.a, "tie": None, "B": pair.b}[pair.choice]


def attack_table(ahead: Ahead, good: Sequence[Text], seed: int) -> list[dict[str, Any]]:
    """Of each attack on the good answers (n,), in what share of cases the honest answer is preferred: [{attack, other_words,
    share, low, high, n, answers}]; neither being better counts half. An attack that could not be made is left out."""
    made = robustness.attacks([text.context for text in good], [text.output for text in good], seed)
    honest = [good[i] for attack in made for i in attack.answer]
    bad = [replace(good[i], output=output) for attack in made for i, output in zip(attack.answer, attack.bad, strict=True)]
    names = [attack.name for attack in made for _ in attack.answer]
    parts = np.split(ahead(honest, bad, names), np.cumsum([len(attack.good) for attack in made])[:-1])
    table = []
    for attack, d in zip(made, parts, strict=True):
        said = np.flatnonzero(~np.isnan(d))
        d = d[said]
        if len(d):
            preferred = (d > 0) + 0.5 * (d == 0)  # (n,)
            low, high = bootstrap(preferred, np.array([unit_of(good[attack.answer[i]]) for i in said]), seed)
            table.append(
                {
                    "attack": attack.name,
                    "other_words": attack.held_out,
                    "share": float(preferred.mean()),
                    "low": low,
                    "high": high,
                    "n": len(d),
                    "answers": len(good),
                }
            )
    return table


def flips(compare: Callable[[list[Text], list[Text]], Preferences], judged: JudgedTexts, seed: int) -> dict[str, Any] | None:
    """Share of judged pairs, at most MOST_PAIRS, whose answer is another when the sides are swapped."""
    chosen = sorted(np.random.default_rng(seed).permutation(len(judged.pairs))[:MOST_PAIRS])
    if not chosen:
        return None
    pairs = [judged.pairs[i] for i in chosen]
    first, second = [judged.texts[p.a] for p in pairs], [judged.texts[p.b] for p in pairs]
    forth, back = compare(first, second).choices, compare(second, first).choices
    swapped = np.select([back == "A", back == "B"], ["B", "A"], "tie")
    flipped = (forth != swapped).astype(float)  # (n,)
    low, high = bootstrap(flipped, np.array([unit_of(text) for text in first]), seed)
    return {"share": float(flipped.mean()), "low": low, "high": high, "n": len(pairs)}
