"""Metrics that compare embeddings: of the words of output and reference, of their tokens in context, or of whole texts.

Cosines, so from -1 to 1, and higher is better. Of several references the most similar counts, as in Gupta et al. (2019). A text
without tokens is similar to nothing: 0.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from evaluator.encoders.text_encoder import TextEncoder
from evaluator.judges.protocol import Numbers, OnProgress
from evaluator.judges.texts import Referenced
from evaluator.metrics.inputs import Inputs
from evaluator.metrics.metric import Measure

RUBER = "ruber-referenced"
AT_ONCE = 256  # texts whose token vectors are kept at once
Similarity = Callable[[Numbers, Numbers], float]  # token vectors of output (a, h) and reference (b, h)


def make(name: str, inputs: Inputs) -> tuple[Measure, dict[str, Any]]:
    """By its name in the registry."""
    encoder = inputs.encoder
    assert encoder is not None  # `build` has seen to it
    if name == "cosim":
        return _cosim(encoder), {**encoder.settings, **_whole_text(encoder)}
    if name == "esm":
        return _esm(encoder), {**encoder.settings, **_whole_text(encoder), "of_references": "max"}
    contextual = name.startswith("bertscore") or name == RUBER
    settings: dict[str, Any] = {"vectors": "last layer" if contextual else "input embeddings", "of_references": "max"}
    if name.startswith("bertscore"):
        settings |= {"idf": False, "rescaled": False}
    return by_tokens(encoder.tokens if contextual else encoder.words, SIMILARITIES[name]), {**encoder.settings, **settings}


def _whole_text(encoder: TextEncoder) -> dict[str, str]:
    return {"vectors": f"{encoder.pooling.way} of the last layer", "pooling_by": encoder.pooling.by}


def average(output: Numbers, reference: Numbers) -> float:
    """Cosine of the means of the word vectors (Liu et al. 2016, section 3.2.2)."""
    return cosine(output.mean(0), reference.mean(0))


def extrema(output: Numbers, reference: Numbers) -> float:
    """Cosine of what is farthest from zero in each dimension (Forgues et al. 2014; Liu et al. 2016, section 3.2.3)."""
    return cosine(_farthest(output), _farthest(reference))


def greedy(output: Numbers, reference: Numbers) -> float:
    """Mean of both directions of greedy matching (Rus & Lintean 2012; Liu et al. 2016, section 3.2.1)."""
    return sum(matches(output, reference)) / 2


def bertscore_f1(output: Numbers, reference: Numbers) -> float:
    """F of precision and recall; 0 where both are 0 or they cancel out (Zhang et al. 2020, BERTScore, section 3)."""
    precision, recall = matches(output, reference)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def matches(output: Numbers, reference: Numbers) -> tuple[float, float]:
    """(precision, recall): the mean, over the output's tokens and over the reference's, of the largest cosine that a token has
    with one of the other side (Zhang et al. 2020, BERTScore, section 3; every token weighs the same)."""
    cosines = _unit(output) @ _unit(reference).T  # (a, b)
    return float(cosines.max(1).mean()), float(cosines.max(0).mean())


def ruber(output: Numbers, reference: Numbers) -> float:
    """(cosine + 1) / 2 of the largest values of each dimension, 0..1 (Zhao et al. 2020, equation 3). Tao et al. (2018, section
    3.1) pool largest and smallest values of word2vec; of tokens in context the largest alone, as Ghazarian et al. (2019)."""
    return (cosine(output.max(0), reference.max(0)) + 1) / 2


SIMILARITIES: dict[str, Similarity] = {
    "embedding-average": average,
    "embedding-extrema": extrema,
    "embedding-greedy": greedy,
    "bertscore-precision": lambda output, reference: matches(output, reference)[0],
    "bertscore-recall": lambda output, reference: matches(output, reference)[1],
    "bertscore-f1": bertscore_f1,
    RUBER: ruber,
}


def cosine(a: Numbers, b: Numbers) -> float:
    """Of two vectors (h,); 0 where one of them is zero"""
    length = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / length if length else 0.0


def _farthest(vectors: Numbers) -> Numbers:
    """(t, h) -> (h,) the largest absolute value of each column, with its sign"""
    extreme: Numbers = np.take_along_axis(vectors, np.abs(vectors).argmax(0)[None], 0)[0]
    return extreme


def _unit(vectors: Numbers) -> Numbers:
    """Rows (t, h) of length 1; a zero row stays"""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(length > 0, length, 1)


def by_tokens(vectors_of: Callable[[Sequence[str]], list[Numbers]], similarity: Similarity) -> Measure:
    def measure(texts: Sequence[Referenced], on_progress: OnProgress | None = None) -> Numbers:
        measured = np.zeros(len(texts))
        for start in range(0, len(texts), AT_ONCE):
            part = texts[start : start + AT_ONCE]
            strings = list(dict.fromkeys(string for text in part for string in (text.output, *text.references)))
            vectors = dict(zip(strings, vectors_of(strings), strict=True))
            for i, text in enumerate(part, start):
                output, references = vectors[text.output], [vectors[reference] for reference in text.references]
                if len(output):
                    measured[i] = max(similarity(output, r) if len(r) else 0.0 for r in references)
            if on_progress:
                on_progress((start + len(part)) / len(texts), "Comparing embeddings", None)
        return measured

    return measure


def _cosim(encoder: TextEncoder) -> Measure:
    """Cosine of context and response (Zhang et al. 2021, equation 6). The context is all its turns in a row."""

    def measure(texts: Sequence[Referenced], on_progress: OnProgress | None = None) -> Numbers:
        contexts = encoder.sentences([" ".join(text.context) for text in texts])  # (n, h)
        return np.asarray((contexts * encoder.sentences([text.output for text in texts])).sum(1))

    return measure


def _esm(encoder: TextEncoder) -> Measure:
    """Cosine of reference and response (Zhang et al. 2021, equation 3)."""

    def measure(texts: Sequence[Referenced], on_progress: OnProgress | None = None) -> Numbers:
        outputs = encoder.sentences([text.output for text in texts])  # (n, h)
        references = encoder.sentences([reference for text in texts for reference in text.references])  # (r, h)
        owner = np.repeat(np.arange(len(texts)), [len(text.references) for text in texts])  # (r,)
        most = np.full(len(texts), -np.inf)
        np.maximum.at(most, owner, (outputs[owner] * references).sum(1))
        return most

    return measure
