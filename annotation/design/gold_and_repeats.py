"""Where among a person's items the gold ones stand, and when a pair comes again."""

import random

REPEAT_GAP = 5  # items between a pair and its repeat


def is_gold(place: int, percent: int, seed: str) -> bool:
    """Is this place (from 0) of a person's work one for a gold item?

    The places are cut into stretches of 100 / percent; one place of each is drawn from the seed, so the share holds all
    along and the next one cannot be foreseen.
    """
    if percent <= 0:
        return False
    stretch = place * percent // 100
    first, end = -(-stretch * 100 // percent), -(-(stretch + 1) * 100 // percent)
    return place == random.Random(f"{seed}:{stretch}").randrange(first, end)


def gold_due(place: int, percent: int, seed: str) -> int:
    """How many gold items stand at the places up to this one, where they may come later than at their own."""
    if percent <= 0:
        return 0
    stretch = place * percent // 100
    return stretch + any(is_gold(earlier, percent, seed) for earlier in range(-(-stretch * 100 // percent), place + 1))


def repeat_is_due(pairs: int, repeats: int, percent: int) -> bool:
    """Has this person, after so many pairs, seen fewer of them again than the share asks for?"""
    return repeats < pairs * percent // 100
