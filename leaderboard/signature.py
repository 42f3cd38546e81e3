"""The string that every published number carries, so that it can be made again (after sacrebleu; Post 2018).

judge:comparator|comparator:v3|snapshot:9f2c|rating:paper|pairing:random|ties:ratio0.1|games:1200|seed:7|code:1.0+a1b2c3
"""

from typing import Any

KEYS = ("judge", "comparator", "snapshot", "rating", "pairing", "ties", "games", "seed", "code")
NONE = "none"


def signature(
    *,
    judge: str,
    snapshot: str,
    games: int,
    seed: int,
    code: str,
    comparator: str | None = None,
    rating: str = "paper",
    pairing: str = "random",
    ties: str = "ratio0.1",
) -> str:
    """All settings that make a board, in one line; comparator is None when people judge."""
    values = (judge, comparator or NONE, snapshot, rating, pairing, ties, games, seed, code)
    return "|".join(f"{key}:{_checked(key, str(value))}" for key, value in zip(KEYS, values, strict=True))


def parse(text: str) -> dict[str, Any]:
    """The settings of a signature: `signature(**parse(text)) == text`."""
    parts = [part.partition(":") for part in text.split("|")]
    settings = {key: value for key, colon, value in parts if colon and value}
    if tuple(settings) != KEYS or len(parts) != len(KEYS):
        raise ValueError(f"A signature has the parts {', '.join(KEYS)}, in this order.")
    comparator = None if settings["comparator"] == NONE else settings["comparator"]
    return settings | {"comparator": comparator, "games": int(settings["games"]), "seed": int(settings["seed"])}


def _checked(key: str, value: str) -> str:
    if not value or "|" in value or value != value.strip():
        raise ValueError(f"The signature's {key} must be neither empty nor hold a | or spaces at its ends.")
    return value
