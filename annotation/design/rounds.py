"""Round robins: in which order n systems meet so that every system and every pair comes equally often at any moment.

Source: Walecki's decomposition of the complete graph into Hamiltonian cycles (Lucas 1892, Récréations mathématiques II;
Alspach 2008, Bull. ICA 52) for odd n, the circle method (a 1-factorisation, Kirkman 1847) for even n.
"""

Pair = tuple[int, int]


def rounds(n: int) -> list[list[Pair]]:
    """Every pair of 0..n-1 exactly once, in rounds that each leave all n equally often played.

    Even n: n - 1 rounds, in each everyone meets one other. Odd n: (n - 1) / 2 rounds, in each everyone meets two
    others. Cut off anywhere, also within a round, nobody has played more than once more than anybody else.
    """
    if n < 2:
        return []
    return _matchings(n) if n % 2 == 0 else [_alternate(cycle) for cycle in _walecki_cycles(n)]


def ring(n: int, number: int) -> list[Pair]:
    """The pairs of the context with this number (from 0): everyone meets two others (one where n is 2).

    Over contexts 0, 1, 2, ... the counts of any two pairs never differ by more than one.
    """
    played = rounds(n)
    if n < 3 or n % 2:
        return played[number % len(played)] if played else []
    return played[2 * number % len(played)] + played[(2 * number + 1) % len(played)]


def _matchings(n: int) -> list[list[Pair]]:
    """One stays, the others turn around it."""
    turning = n - 1
    return [[(n - 1, r), *(((r + i) % turning, (r - i) % turning) for i in range(1, n // 2))] for r in range(turning)]


def _walecki_cycles(n: int) -> list[list[int]]:
    turning = n - 1
    zigzag = [0, *(sign * step for step in range(1, n // 2) for sign in (1, -1)), n // 2]
    return [[turning, *((start + step) % turning for step in zigzag)] for start in range(n // 2)]


def _alternate(cycle: list[int]) -> list[Pair]:
    """Every second edge around an odd cycle, twice around: no vertex gets its second edge before all have their first."""
    edges = list(zip(cycle, cycle[1:] + cycle[:1]))
    return edges[::2] + edges[1::2]
