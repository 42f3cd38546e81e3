"""`python -m benchmarks.metaevaluation [RUNS]`: do the intervals of a judge's agreement with people hold for other people?

Five systems (strengths 0 to 0.8) answer 60 contexts; an output is as good as its system, its context (SD 0.5) and luck (SD 0.5)
make it. 6 or 12 annotators with a severity (SD 0.5), a leaning to each system (SD by row) and noise (SD 0.7) give scores
from 1 to 5: three of them to each output ("spread"), the same three to all outputs of a context ("dense"), or three to each
output of whom one is drawn with a weight of 40% ("uneven"). A judge sees quality with noise of SD 0.7. True is what the same
design gives with 6,000 contexts and as many annotators. Covered: of 95% intervals over contexts and annotators, and of those
over contexts alone; width: of the first against the second.

`python -m benchmarks.metaevaluation means [RUNS]`: the same of each system's mean score, as the live page has it.
"""

import os
import sys
from multiprocessing import Pool

import numpy as np

from annotation.quality.crossed import context_mean
from evaluator.judges.texts import Text
from evaluator.metaevaluation.agreement import accuracy, agreement
from evaluator.metaevaluation.card_figures import correlations
from evaluator.metaevaluation.correlation import pearson, spearman
from evaluator.metaevaluation.pairs import JudgedPair, mean_scores, pairs_from_scores

STRENGTHS, K, RUNS = np.linspace(0, 0.8, 5), 3, 200
CONTEXTS, MANY = 60, 6000
FIGURES = ("pearson", "spearman", "accuracy")
DESIGNS, TASTES, ANNOTATORS = ("spread", "uneven", "dense"), (0.0, 0.3, 0.6), (6, 12)


class Judged:
    """One campaign and the judge's scores of its outputs u (outputs,)."""

    def __init__(self, design: str, taste: float, annotators: int, contexts: int, seed: int):
        rng = np.random.default_rng(seed)
        n = contexts * len(STRENGTHS)
        self.context, system = np.divmod(np.arange(n), len(STRENGTHS))
        quality = STRENGTHS[system] + rng.normal(0, 0.5, contexts)[self.context] + rng.normal(0, 0.5, n)
        weight = np.full(annotators, 1 / annotators)
        if design == "uneven" and annotators < contexts:
            weight = np.array([0.4, *[0.6 / (annotators - 1)] * (annotators - 1)])
        who = chosen(contexts if design == "dense" else n, weight, rng)
        who = who[self.context] if design == "dense" else who  # (outputs, K)
        severity, leaning = rng.normal(0, 0.5, annotators), rng.normal(0, taste, (annotators, len(STRENGTHS)))
        seen = 3 + quality[:, None] + leaning[who, system[:, None]] - severity[who] + rng.normal(0, 0.7, who.shape)
        value = np.clip(np.round(seen), 1, 5)
        self.rows = [(i, f"a{a}", v) for i in range(n) for a, v in zip(who[i].tolist(), value[i].tolist(), strict=True)]
        self.u = quality + rng.normal(0, 0.7, n)

    def values(self) -> list[float]:
        """FIGURES"""
        texts = [Text((str(c),), "") for c in self.context]
        scores = np.array(mean_scores(self.rows, len(texts), (1, 5)))
        clear = [pair for pair in pairs_from_scores(self.rows, texts, (1, 5)) if pair.choice != "tie"]
        d = self.u[[pair.a for pair in clear]] - self.u[[pair.b for pair in clear]]
        right = agreement(d, np.array([pair.choice for pair in clear]))
        return [pearson(self.u, scores), spearman(self.u, scores), float(right.mean())]

    def figures(self, seed: int) -> np.ndarray:
        """(2, figures, 3): value, low and high of FIGURES, over contexts and annotators, and over contexts alone."""
        texts = [Text((str(c),), str(i)) for i, c in enumerate(self.context)]
        scores = np.array(mean_scores(self.rows, len(texts), (1, 5)))
        ratings: list[list[tuple[str, float]]] = [[] for _ in texts]
        for i, who, value in self.rows:
            ratings[i].append((who, value))
        pairs = pairs_from_scores(self.rows, texts, (1, 5))
        nobody = [JudgedPair(p.a, p.b, p.target, p.weight) for p in pairs]
        found = []
        for known, by in ((ratings, pairs), ((), nobody)):
            r = correlations(self.u, scores, self.context, seed, known)
            a = np.array([pair.a for pair in by])
            right = accuracy(self.u[a] - self.u[[pair.b for pair in by]], by, self.context[a], seed)
            found.append([(r[name], *r[f"{name}_interval"]) for name in FIGURES[:2]] + [(right.value, right.low, right.high)])
        return np.array(found)


def chosen(items: int, weight: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """K different annotators for each item, one after the other by their weights: (items, K)"""
    if len(weight) > 1000:  # so many that K drawn at once are different but for a few
        return rng.integers(len(weight), size=(items, K))
    times = rng.exponential(size=(items, len(weight))) / weight
    return np.argsort(times, axis=1)[:, :K]


def simulate(case: tuple[str, float, int, int]) -> np.ndarray:
    """(2, figures, 3): as `Judged.figures`"""
    design, taste, annotators, seed = case
    return Judged(design, taste, annotators, CONTEXTS, seed).figures(seed)


def truth(case: tuple[str, float]) -> list[float]:
    return Judged(*case, MANY, MANY, 1_000_000).values()


def simulate_means(case: tuple[str, float, int, int]) -> np.ndarray:
    """(2, systems, 2): low and high of each system's mean, over contexts and annotators, and over contexts alone."""
    design, taste, annotators, seed = case
    judged = Judged(design, taste, annotators, CONTEXTS, seed)
    output, who, value = (np.array(column) for column in zip(*judged.rows, strict=True))
    found = []
    for system in range(len(STRENGTHS)):
        own = output % len(STRENGTHS) == system
        answers = value[own], judged.context[output[own]]
        intervals = []
        for people in (who[own], np.zeros(own.sum())):
            mean, spread = context_mean(*answers, people)
            assert spread is not None, "there are many contexts"
            intervals.append(spread.around(mean))
        found.append(intervals)
    return np.swapaxes(np.array(found), 0, 1)


def true_means(case: tuple[str, float]) -> np.ndarray:
    """(systems,)"""
    output, _, value = zip(*Judged(*case, MANY, MANY, 1_000_000).rows, strict=True)
    return np.bincount(np.array(output) % len(STRENGTHS), value) / np.bincount(np.array(output) % len(STRENGTHS))


def of_means(runs: int) -> None:
    print(f"{runs} runs a row; in a cell: tastes of SD {', '.join(map(str, TASTES))}")
    print("| scores, annotators | covered | contexts alone | width |")
    for design in DESIGNS:
        for annotators in ANNOTATORS:
            cells = []
            for taste in TASTES:
                true = true_means((design, taste))
                found = np.array([simulate_means((design, taste, annotators, seed)) for seed in range(runs)])
                covered = ((found[..., 0] <= true) & (true <= found[..., 1])).mean(axis=(0, 2))
                width = (found[..., 1] - found[..., 0]).mean(axis=(0, 2))
                cells.append([*covered, width[0] / width[1]])
            columns = (" ".join(f"{value:.3f}" for value in column) for column in zip(*cells, strict=True))
            print(f"| {design}, {annotators} |", " | ".join(columns), "|", flush=True)


def main() -> None:
    if sys.argv[1:2] == ["means"]:
        return of_means(int(sys.argv[2]) if len(sys.argv) > 2 else RUNS)
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    print(f"{runs} runs a row; in a cell: tastes of SD {', '.join(map(str, TASTES))}")
    print("| scores, annotators |", " | ".join(f"{name}: covered | contexts alone | width" for name in FIGURES), "|")
    with Pool() as pool:
        for design in DESIGNS:
            true = np.array(pool.map(truth, [(design, taste) for taste in TASTES]))  # (tastes, figures)
            for annotators in ANNOTATORS:
                cases = [(design, taste, annotators, seed) for taste in TASTES for seed in range(runs)]
                found = np.array(pool.map(simulate, cases, 5)).reshape(len(TASTES), runs, 2, len(FIGURES), 3)
                low, high = found[..., 1], found[..., 2]  # (tastes, runs, 2, figures)
                covered = ((low <= true[:, None, None]) & (true[:, None, None] <= high)).mean(axis=1)
                width = (high - low).mean(axis=1)
                cells = [
                    " | ".join(
                        " ".join(f"{value:.3f}" for value in column)
                        for column in (*covered[:, :, i].T, width[:, 0, i] / width[:, 1, i])
                    )
                    for i in range(len(FIGURES))
                ]
                print(f"| {design}, {annotators} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
