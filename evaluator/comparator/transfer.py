"""What a comparator is worth on judgments that it did not learn from, beside two judges that learned nothing: "longer is
better" and the cosine of context and output by the untrained encoder."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from evaluator.comparator.joint_model import JointComparator
from evaluator.comparator.predict import Comparator
from evaluator.comparator.untrained import cosines
from evaluator.encoders.hidden_states import embeddings
from evaluator.judges.texts import Text
from evaluator.metaevaluation.card_figures import JudgedTexts, above_cosine, calibration, correlations, pairwise
from evaluator.metaevaluation.pairs import as_arrays

MOST_OUTPUTS = 300  # of another campaign: whole contexts drawn by the seed, so that many campaigns cost minutes
MOST_CONTEXTS = 200  # behind how alike two campaigns are

Watch = Callable[[float, str, dict[str, Any] | None], None]


def transfer(
    comparator: Comparator | JointComparator, judged: JudgedTexts, seed: int, on_progress: Watch | None = None
) -> dict[str, Any]:
    """{above_cosine, outputs, of_outputs, contexts, pairs, calibration, comparator, cosine, longer} on at most MOST_OUTPUTS
    outputs; each judge has `pairwise` and `correlation`, None where people gave nothing to measure it by."""
    sample = judged.sample(MOST_OUTPUTS, seed)
    a, b = [pair.a for pair in sample.pairs], [pair.b for pair in sample.pairs]
    u, p = judge(comparator, sample.texts, a, b, on_progress)  # (n,), (p, 3)
    cosine = comparator.cosines(sample.texts)  # (n,)
    words = np.array([len(text.output.split()) for text in sample.texts], dtype=float)  # (n,)

    def figures(utilities: np.ndarray) -> dict[str, Any]:
        return {
            "pairwise": pairwise(utilities, sample, seed),
            "correlation": correlations(utilities, sample.scores, sample.units, seed, sample.ratings),
        }

    own, both = comparator.expected(u[:, None])[:, 0], cosines(comparator.untrained, comparator.encoder, sample.texts)
    return {
        "above_cosine": above_cosine(own, both, sample.scores, sample.units, seed),
        "outputs": len(sample.texts),
        "of_outputs": len(judged.texts),
        "contexts": len(np.unique(sample.contexts)),
        "pairs": len(sample.pairs),
        "calibration": stated(p, sample, seed),
        "comparator": figures(own),
        "cosine": figures(cosine),
        "longer": figures(words),
    }


def judge(
    comparator: Comparator | JointComparator, texts: Sequence[Text], a: list[int], b: list[int], on_progress: Watch | None
) -> tuple[np.ndarray, np.ndarray]:
    """(utilities (n,), or a pairwise comparator's scores; probabilities (p, 3) of the pairs at positions a (p,), b (p,))"""
    if comparator.kind == "pairwise":
        p = comparator.compare([texts[i] for i in a], [texts[i] for i in b]).probabilities
        return comparator.score(texts, on_progress), p
    u = comparator.utilities(texts, on_progress)
    return u, comparator.preferences(u[a], u[b]).probabilities


def stated(p: np.ndarray, judged: JudgedTexts, seed: int) -> dict[str, Any] | None:
    """How far the probabilities p (p, 3) of the pairs are from what people said."""
    a, _, targets, weights = as_arrays(judged.pairs)
    return calibration(p, targets, weights, judged.units[a], seed)


def centre(comparator: Comparator | JointComparator, contexts: Iterable[Sequence[str]], seed: int) -> np.ndarray:
    """(h,) mean of the embeddings, each of length 1, of at most MOST_CONTEXTS contexts. The product of two centres is the
    mean cosine between the contexts of one campaign and those of another."""
    wholes = sorted({" ".join(context) for context in contexts})
    chosen = np.random.default_rng(seed).permutation(len(wholes))[:MOST_CONTEXTS]
    vectors = embeddings(comparator.untrained, comparator.encoder, [wholes[i] for i in chosen])
    mean: np.ndarray = vectors.cpu().numpy().mean(0)
    return mean
