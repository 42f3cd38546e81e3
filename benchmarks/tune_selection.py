"""What it saves to ask people of some pairs before others, for `make tune`: simulated on what people did answer.

For the order of the systems: judgments are asked, one annotator's each, on a random seven tenths of the contexts, and the
systems rated by the default rule; Kendall's tau with the systems' mean scores by all judgments. For the comparator: it
learns from random pairs, then from more, chosen one way or the other, and is measured on contexts that it did not see.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy import stats

from evaluator.comparator.architectures import load
from evaluator.comparator.predict import Comparator
from evaluator.judges.texts import Text, context_key
from evaluator.metaevaluation.agreement import agreement
from evaluator.metaevaluation.correlation import pearson
from evaluator.metaevaluation.pairs import JudgedPair, as_arrays
from leaderboard.rating.games import Games
from leaderboard.rating.pairing import order_to_ask
from leaderboard.rating.rules import standings

POINTS = (40, 80, 160, 320, 480)  # judgments at which the order is looked at
AT_ONCE = 20  # judgments between two orders
KEPT = 0.7  # of the contexts, in each run
RUNS = 100
FIRST, MORE = 100, 200  # pairs that a comparator learns from, and pairs that are added

Ask = Callable[[Games, np.ndarray, np.random.Generator], np.ndarray]  # games so far, open pairs -> the open pairs in order


def order_of_systems(
    name: str, texts: Sequence[Text], pairs: Sequence[JudgedPair], systems: Sequence[str], means: np.ndarray, folder: Path
) -> dict:
    """texts (n,) with the systems' names (n,) and mean scores (n,); `folder` holds a comparator that saw none of the contexts
    when it judges them."""
    names, system = np.unique(systems, return_inverse=True)  # (s,), (n,)
    a, b, targets, _ = as_arrays(pairs)  # (p,), (p,), (p, 3)
    first, second = system[a], system[b]  # (p,)
    context = np.unique([context_key(texts[i].context) for i in a], return_inverse=True)[1]  # (p,)
    truth = np.array([means[system == s].mean() for s in range(len(names))])  # (s,)
    comparator = load(folder)
    u = comparator.utilities(texts)  # (n,)
    chances = comparator.preferences(u[a], u[b]).probabilities  # (p, 3)
    ways: dict[str, Ask] = {
        "random": lambda games, left, rng: left,
        "order_to_ask": lambda games, left, rng: _in_order(len(names), games, left, first, second, rng),
        "least sure first": lambda games, left, rng: left[np.argsort(chances[left].max(axis=1), kind="stable")],
    }

    def taus(ask: Ask, seed: int) -> list[float]:
        rng = np.random.default_rng(seed)
        answers = np.array([rng.choice([1, 0, -1], p=target) for target in targets])  # (p,)
        here = rng.permutation(context.max() + 1)[: round(KEPT * (context.max() + 1))]
        left, asked, found = rng.permutation(np.flatnonzero(np.isin(context, here))), np.empty(0, dtype=int), []
        games = lambda: Games(first[asked], second[asked], answers[asked], context[asked])
        while len(asked) < POINTS[-1]:
            left = ask(games(), left, rng)
            asked, left = np.concatenate([asked, left[:AT_ONCE]]), left[AT_ONCE:]
            if len(asked) in POINTS:
                found.append(stats.kendalltau(standings(len(names), games()).rating, truth).statistic)
        return found

    tau = {way: np.array([taus(ask, seed) for seed in range(RUNS)]) for way, ask in ways.items()}  # (runs, points) each
    return {
        "variant": f"asking: {name}",
        "systems": len(names),
        "pairs": len(pairs),
        "judgments": POINTS,
        "tau": {way: found.mean(axis=0).round(3).tolist() for way, found in tau.items()},
        "above random, and its standard error": {
            way: [[round(float(d.mean()), 3), round(float(d.std(ddof=1) / RUNS**0.5), 3)] for d in (found - tau["random"]).T]
            for way, found in tau.items()
            if way != "random"
        },
        "random needs as many": {way: _as_many(found.mean(axis=0), tau["random"].mean(axis=0)) for way, found in tau.items()},
    }


def teaching(
    seed: int,
    texts: Sequence[Text],
    pairs: Sequence[JudgedPair],
    means: np.ndarray,
    train: Callable[[list[JudgedPair], Path], None],
    out: Path,
) -> dict:
    """What a comparator learns from pairs that are chosen in different ways. `train` makes one of some pairs in a folder."""
    rng = np.random.default_rng([seed, 11])
    order = rng.permutation(len(pairs))
    start, left = order[:FIRST], order[FIRST:]
    a, b, _, _ = as_arrays(pairs)
    choices = np.array([pair.choice for pair in pairs])

    def learnt(name: str, chosen: np.ndarray) -> tuple[Comparator, np.ndarray, dict]:
        folder = out / f"teaching-{name}-{seed}"
        train([pairs[i] for i in chosen], folder)
        comparator = load(folder)
        u = comparator.utilities(texts)  # (n,)
        right = agreement(u[a] - u[b], choices)
        return comparator, u, {"accuracy": float(right[choices != "tie"].mean()), "pearson": pearson(u, means)}

    comparator, u, found = learnt("start", start)
    unsure = np.abs(u[a] - u[b])[left]  # (left,)
    apart = comparator.disagreement([texts[i] for i in a[left]], [texts[i] for i in b[left]])  # (left,)
    ways = {
        "random": left[:MORE],
        "margin": left[np.argsort(unsure, kind="stable")][:MORE],
        "ensemble": left[np.argsort(-apart, kind="stable")][:MORE],
    }
    return {
        "variant": "teaching",
        "seed": seed,
        f"{FIRST} pairs": found,
        **{f"{MORE} more, {way}": learnt(way, np.concatenate([start, chosen]))[-1] for way, chosen in ways.items()},
    }


def _in_order(systems: int, games: Games, left: np.ndarray, first, second, rng: np.random.Generator) -> np.ndarray:
    return left[order_to_ask(systems, games, first[left], second[left], seed=int(rng.integers(2**31)))]


def _as_many(found: np.ndarray, random: np.ndarray) -> list[float | None]:
    """Judgments with which random pairs come to the same tau, by the line between their points; None outside of these."""
    needed = np.interp(found, np.maximum.accumulate(random), POINTS, left=np.nan, right=np.nan)
    return [None if np.isnan(n) else round(float(n)) for n in needed]
