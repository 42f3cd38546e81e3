"""How much a sum of unexpected answers varies where answers about one context, or by one person, are not independent.

The sandwich's meat of generalised estimating equations (Liang & Zeger 1986), for one way of clustering or for two that cross:
contexts and annotators (Cameron, Gelbach & Miller 2011, "Robust Inference with Multiway Clustering", section 2.2). Each way
counts C / (C - 1) times for its C clusters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def variance_of_sum(rows: scipy.sparse.csr_matrix, clusters: Sequence[ArrayLike]) -> Floats:
    """(p, p), the covariance of the sum over rows (n, p), each what one answer adds, all of mean 0.

    clusters: one or two arrays (n,) of any numbers. One cluster alone says nothing: ValueError. Where two ways less what they
    share are no covariance, the negative part is left out (the same, section 2.3)."""
    ways = [np.unique(np.asarray(way), return_inverse=True)[1].ravel() for way in clusters]
    if least_clusters(ways) < 2:
        raise ValueError("A variance needs at least two clusters of each kind.")
    total = sum(_of_one_way(rows, way) for way in ways)
    if len(ways) == 2:
        total = total - _of_one_way(rows, ways[0] * (ways[1].max() + 1) + ways[1])
    size, direction = np.linalg.eigh(total)
    return np.asarray((direction * np.maximum(size, 0.0)) @ direction.T)


def least_clusters(clusters: Sequence[ArrayLike]) -> int:
    """Of the way with the fewest; less one, they are the degrees of freedom (Cameron, Gelbach & Miller 2011)."""
    return min(len(np.unique(np.asarray(way))) for way in clusters)


def _of_one_way(rows: scipy.sparse.csr_matrix, way: ArrayLike) -> Floats:
    _, cluster = np.unique(np.asarray(way), return_inverse=True)
    n, count = len(cluster), int(cluster.max()) + 1
    sums = scipy.sparse.csr_matrix((np.ones(n), (cluster, np.arange(n))), shape=(count, n)) @ rows  # (count, p)
    return np.asarray((sums.T @ sums).toarray()) * count / (count - 1)
