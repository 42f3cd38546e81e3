"""ADEM: a regression of people's scores on context, reference and output (Lowe et al. 2017; Zhao et al. 2020, equations 1, 2).

    score(c, r, o) = c^T M o + r^T N o + b,  with M and N that minimise  sum (score - people's)^2 + l (|M|^2 + |N|^2)

c, r and o are embeddings, reduced to 50 dimensions by principal components as theirs are. Their loss is the same; where they
descend its gradient from the identity, the minimum is found exactly here (the score is linear in M and N, so this is kernel
ridge regression), and l comes from cross-validation over contexts. Their encoder is a recurrent one trained to generate
replies; here it is any frozen encoder. Of several references the mean score counts.
"""

from collections.abc import Sequence

import numpy as np

from evaluator.judges.protocol import Numbers
from evaluator.judges.texts import Referenced, fold_of, kin_of
from evaluator.metrics.out_of_fold import Features, Fit, Judged, scored

DIMENSIONS = 50  # Lowe et al. 2017, section 5
PENALTIES = tuple(10.0**power for power in range(-4, 4))  # of the mean of the kernel's diagonal
INNER_FOLDS = 5


PARTS = ("adem-referenced", "adem-unreferenced")


def adem(features: Features) -> Fit:
    return _fit(features, (True, True))


def referenced_part(features: Features) -> Fit:
    """Equation 1, r^T N o, of the model that learnt both: as Zhao et al. (2020, section 5.1) take it apart."""
    return _fit(features, (False, True))


def unreferenced_part(features: Features) -> Fit:
    """Equation 2, c^T M o, of the same model."""
    return _fit(features, (True, False))


def _fit(features: Features, parts: tuple[bool, bool]) -> Fit:
    """parts: whether c^T M o and r^T N o count in what it says."""

    def fit(texts: Sequence[Referenced], scores: Numbers, seed: int) -> Judged:
        texts, scores = scored(texts, scores, with_references=True)
        read = [features.contexts(texts), _references(features, texts), features.outputs(texts)]  # 3 x (n, h)
        reduced = PrincipalComponents(np.concatenate(read))
        c, r, o = (reduced(vectors) for vectors in read)  # (n, k)
        kernel = bilinear_kernel((c, r, o), (c, r, o))  # (n, n)
        weights, b = kernel_ridge(kernel, scores, _groups(texts, seed))

        def judged(others: Sequence[Referenced]) -> Numbers:
            theirs = (features.contexts(others), _references(features, others), features.outputs(others))
            said = [reduced(vectors) * counts for vectors, counts in zip(theirs, (*parts, True), strict=True)]
            return bilinear_kernel(said, (c, r, o)) @ weights + b

        return judged

    return fit


class PrincipalComponents:
    """The first principal components of vectors (m, h): what the reduction subtracts, and the axes (h, k)."""

    def __init__(self, vectors: Numbers, dimensions: int = DIMENSIONS):
        self.mean = vectors.mean(0)
        _, sizes, axes = np.linalg.svd(vectors - self.mean, full_matrices=False)
        kept = min(dimensions, int((sizes > 1e-6 * sizes[0]).sum())) if sizes[0] > 0 else 1
        self.axes = axes[:kept].T

    def __call__(self, vectors: Numbers) -> Numbers:
        """(n, h) -> (n, k)"""
        return np.asarray((vectors - self.mean) @ self.axes)


def bilinear_kernel(a: Sequence[Numbers], b: Sequence[Numbers]) -> Numbers:
    """Products of the features that M and N weigh, c o^T and r o^T: two triples (c, r, o) of (n, k) and (m, k) -> (n, m)"""
    (c, r, o), (c2, r2, o2) = a, b
    return np.asarray((c @ c2.T + r @ r2.T) * (o @ o2.T))


def kernel_ridge(kernel: Numbers, y: Numbers, groups: Numbers) -> tuple[Numbers, float]:
    """Ridge regression of y (n,) by a kernel (n, n) -> weights (n,) and the intercept; the penalty is the one of PENALTIES with
    the least squared error on groups (n,) that are left out in turn."""
    scale = float(np.diag(kernel).mean()) or 1.0
    error = np.zeros(len(PENALTIES))
    for group in np.unique(groups):
        out, rest = np.flatnonzero(groups == group), np.flatnonzero(groups != group)
        if len(rest):
            across = kernel[np.ix_(out, rest)]  # (o, m)
            every = _solved(kernel[np.ix_(rest, rest)], y[rest], scale)  # (p, m)
            error += ((every @ across.T + y[rest].mean() - y[out]) ** 2).sum(1)
    return _solved(kernel, y, scale)[int(error.argmin())], float(y.mean())


def _solved(kernel: Numbers, y: Numbers, scale: float) -> Numbers:
    """(p, n) weights for each penalty"""
    sizes, axes = np.linalg.eigh(kernel)
    turned = axes.T @ (y - y.mean())  # (n,)
    return np.array([axes @ (turned / (np.maximum(sizes, 0) + penalty * scale)) for penalty in PENALTIES])


def _references(features: Features, texts: Sequence[Referenced]) -> Numbers:
    """(n, h) the mean of each text's references: the score is linear in it, so the mean score is the score of the mean"""
    vectors = features.sentences([reference for text in texts for reference in text.references])  # (r, h)
    starts = np.cumsum([0, *(len(text.references) for text in texts[:-1])])
    sums: Numbers = np.add.reduceat(vectors, starts, axis=0)  # (n, h)
    return np.asarray(sums / np.array([[len(text.references)] for text in texts]))


def _groups(texts: Sequence[Referenced], seed: int) -> Numbers:
    """(n,) contexts, or groups of them, dealt into INNER_FOLDS or as many as there are"""
    kin = kin_of(texts)
    folds = min(INNER_FOLDS, len(set(kin)))
    if folds < 2:
        return np.zeros(len(kin), dtype=int)
    fold = fold_of(kin, folds, seed)
    return np.array([fold[key] for key in kin])
