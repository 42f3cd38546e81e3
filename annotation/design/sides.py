"""Which output of a pair stands on the left, so that left and right come equally often."""

from collections import defaultdict
from collections.abc import Hashable, Sequence

Edge = tuple[Hashable, Hashable]


def starts_swapped(pairs: Sequence[Edge]) -> list[bool]:
    """For each pair (a, b): does b stand on the left?

    Each pair of systems (always given in the same order) is swapped every second time; what then remains (pairs that
    come an odd number of times) is oriented along Eulerian circuits. So left and right differ by at most one for every
    pair of systems and for every system.
    """
    swapped = [False] * len(pairs)
    occurrences: dict[Edge, list[int]] = defaultdict(list)
    for index, pair in enumerate(pairs):
        occurrences[pair].append(index)
    for indices in occurrences.values():
        for index in indices[1::2]:
            swapped[index] = True
    odd = [indices[-1] for indices in occurrences.values() if len(indices) % 2]
    for index, reverse in zip(odd, orient([pairs[index] for index in odd])):
        swapped[index] = reverse
    return swapped


def orient(edges: Sequence[Edge]) -> list[bool]:
    """Turn round (True) or keep each edge so that at every vertex the edges that leave and enter differ by at most one.

    An extra vertex joins the vertices of odd degree; then every component has an Eulerian circuit, and the edges are
    turned the way the circuit runs.
    """
    touching: dict[Hashable, list[int]] = defaultdict(list)
    for index, edge in enumerate(edges):
        for vertex in edge:
            touching[vertex].append(index)
    extra = object()
    joined = [*edges, *((vertex, extra) for vertex, indices in list(touching.items()) if len(indices) % 2)]
    for index, (vertex, _) in enumerate(joined[len(edges) :], start=len(edges)):
        touching[vertex].append(index)
        touching[extra].append(index)
    walked, reverse = [False] * len(joined), [False] * len(joined)
    for start in list(touching):
        vertex = start
        while indices := touching[vertex]:  # every degree is even, so the walk ends where it began
            index = indices.pop()
            if walked[index]:
                continue
            walked[index] = True
            a, b = joined[index]
            reverse[index] = vertex != a
            vertex = b if vertex == a else a
    return reverse[: len(edges)]
