"""Which systems are ranked together where there are more of them than places: cyclic incomplete blocks.

A starter, a set of `size` numbers modulo n, is moved round by 0 to n - 1; so each system stands in as many blocks as every
other. Two systems meet as often as their difference modulo n stands in the starters. Where the starters hold every difference
equally often, the blocks are a balanced incomplete block design (Bose 1939, Annals of Eugenics 9, 353-399, by the method of
differences); else the starters are the most even ones that exchanging single numbers finds, as in cyclic designs (John, Wolock
and David 1972, National Bureau of Standards, Applied Mathematics Series 62).
"""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, permutations
from math import ceil

TRIES = 300  # of these, over n: starts of the search for a starter
Block = tuple[int, ...]  # numbers of systems, rising


def blocks(n: int, size: int, wanted: int) -> list[Block]:
    """The first `wanted` blocks of `size` of n systems (of all, where they fit). After each n of them all systems came equally
    often; in between, those that came least come next, as far as the blocks have them together."""
    if size >= n:
        return [tuple(range(n))] * wanted
    met: Counter[int] = Counter()  # how often each difference stands in the starters so far
    dealt: list[Block] = []
    for _ in range(ceil(wanted / n)):
        starter = _starter(n, size, met)
        met.update(_differences(starter, n))
        dealt += _orbit(starter, n)
    return dealt[:wanted]


def most_on_a_context(n: int, size: int) -> int:
    """An upper bound: so many blocks have no pair of systems in common."""
    if size >= n:
        return 1
    return n * (n - 1) // (size * (size - 1))


def dealt(n: int, size: int, contexts: Sequence[str], wanted: int) -> list[tuple[str, Block]]:
    """(context, block), the contexts in turn, so many as are wanted and can be had: no two blocks of a context share a pair, so
    that nobody is asked the same pair twice."""
    waiting = blocks(n, size, min(wanted, len(contexts) * most_on_a_context(n, size)))
    asked: dict[str, set[tuple[int, int]]] = {context: set() for context in contexts}
    given: list[tuple[str, Block]] = []
    turns = list(contexts)
    while waiting and turns:
        still = []
        for context in turns:
            fits = next((at for at, block in enumerate(waiting) if asked[context].isdisjoint(combinations(block, 2))), None)
            if fits is None:
                continue
            block = waiting.pop(fits)
            asked[context].update(combinations(block, 2))
            given.append((context, block))
            still.append(context)
        turns = still
    return given


def _differences(starter: Sequence[int], n: int) -> list[int]:
    return [(a - b) % n for a, b in permutations(starter, 2)]


def _unevenness(starter: Sequence[int], n: int, met: Counter[int]) -> int:
    """The sum of squares of how often each difference stands in the starters, this one among them."""
    after = met.copy()
    after.update(_differences(starter, n))
    return sum(count * count for count in after.values())


def _starter(n: int, size: int, met: Counter[int]) -> list[int]:
    """The most even one of several tries, each begun with another second number."""
    tries = (_exchanged(_begun(second, n, size, met), n, met) for second in range(1, min(n, 2 + TRIES // n)))
    return min(tries, key=lambda starter: _unevenness(starter, n, met))


def _begun(second: int, n: int, size: int, met: Counter[int]) -> list[int]:
    """Numbers are put in one by one, the most even first."""
    starter = [0, second]
    while len(starter) < size:
        free = [number for number in range(n) if number not in starter]
        starter.append(min(free, key=lambda number: _unevenness([*starter, number], n, met)))
    return starter


def _exchanged(starter: list[int], n: int, met: Counter[int]) -> list[int]:
    """Single numbers are exchanged for as long as that makes it more even."""
    least = _unevenness(starter, n, met)
    while True:
        free = [number for number in range(n) if number not in starter]
        others = ([*starter[:at], number, *starter[at + 1 :]] for at in range(1, len(starter)) for number in free)
        best = min(others, key=lambda other: _unevenness(other, n, met))
        if _unevenness(best, n, met) >= least:
            return starter
        starter, least = best, _unevenness(best, n, met)


def _orbit(starter: Sequence[int], n: int) -> list[Block]:
    """The starter moved round, each time by what brings the systems that came least often."""
    moved = [tuple(sorted((number + by) % n for number in starter)) for by in range(n)]
    came: Counter[int] = Counter()
    order = []
    while moved:
        block = min(moved, key=lambda block: sum((came[system] + 1) ** 2 - came[system] ** 2 for system in block))
        moved.remove(block)
        came.update(block)
        order.append(block)
    return order
