"""The string that every published number carries, so that it can be made again (after sacrebleu; Post 2018).

    judge:comparator|comparator:v3|refit:none|snapshot:9f2c|entrants:4x12-5d1e0a77|criterion:Overall|level:system|
    extends:none|method:glicko2|rating:glicko2|pairing:random|ties:half|stop:parted|idle:no|wanted:none|games:1200|looks:9|seed:7|resampling:0|
    replicates:200|draws:100000|circles:999|confidence:0.95|population:people|code:1.0+a1b2c3

A signature never changes once it is stored. So a key that comes later has a place in KEYS, and signatures without it are
still read; the keys of the first ones are in every signature. One that names no code (`0.1.0`, without a commit or a digest)
is read too, but none is made any more.
"""

from typing import Any

KEYS = (
    "judge",
    "comparator",  # none: people judge, or a judge that is no comparator
    "named",  # that judge; left out where there is none
    "settings",  # SHA-256, its first 12 digits, of what that judge's answers depend on
    "refit",  # the snapshot and pairs on which the comparator's scale, theta and tie threshold were fitted anew, and these
    "snapshot",
    "entrants",  # systems x contexts, and a digest of what they wrote
    "groups",  # texts: contexts are grouped by their texts; left out where they are as they were declared
    "criterion",
    "level",
    "extends",  # the tournament whose games are taken over
    "method",  # that made the numbers, as `boards.board.Method` names it
    "rating",  # this and the next four: rules of games; none where no games were rated, or none were drawn
    "pairing",
    "ties",
    "stop",
    "idle",
    "wanted",  # games that were asked for
    "games",
    "looks",
    "seed",
    "resampling",  # the seed of the draws of contexts
    "replicates",
    "draws",  # of all ratings, for the chance to be the best
    "circles",  # boards drawn from one order, for the circles that chance makes; none where outputs play
    "confidence",
    "population",  # whom a board of people, or calibrated, speaks of; none where intervals resample contexts alone
    "code",
)
FIRST = ("judge", "comparator", "snapshot", "rating", "pairing", "ties", "games", "seed", "code")
NUMBERS = ("wanted", "games", "looks", "seed", "resampling", "replicates", "draws", "circles")
RULES = ("rating", "pairing", "ties", "stop", "idle")
OPTIONAL = ("comparator", "refit", "extends", "wanted", "circles", "population", *RULES)  # may be None
NONE = "none"


def signature(**settings: str | int | float | None) -> str:
    """All settings that make a board, by the names of KEYS, in one line."""
    _check_keys(tuple(key for key in KEYS if key in settings), len(settings))
    if "+" not in str(settings["code"]):
        raise ValueError("A signature names the code that made the number, as core.version does; a release alone does not.")
    return "|".join(f"{key}:{_written(key, settings[key])}" for key in KEYS if key in settings)


def parse(text: str) -> dict[str, Any]:
    """The settings of a signature, of today or of before: `signature(**parse(text)) == text`."""
    parts = [part.partition(":") for part in text.split("|")]
    settings = {key: value for key, colon, value in parts if colon and value}
    _check_keys(tuple(settings), len(parts))
    return {key: _read(key, value) for key, value in settings.items()}


def _check_keys(keys: tuple[str, ...], parts: int) -> None:
    """Those of the first signatures and any of the later ones, in their order, each once."""
    if keys != tuple(key for key in KEYS if key in keys) or not {*FIRST} <= {*keys} or len(keys) != parts:
        raise ValueError(f"A signature has the parts {', '.join(KEYS)}, in this order.")


def _written(key: str, value: str | int | float | None) -> str:
    text = NONE if value is None and key in OPTIONAL else str(value)
    if value is None and key not in OPTIONAL or not text or "|" in text or text != text.strip():
        raise ValueError(f"The signature's {key} must be neither empty nor hold a | or spaces at its ends.")
    return text


def _read(key: str, value: str) -> str | int | None:
    if key in OPTIONAL and value == NONE:
        return None
    return int(value) if key in NUMBERS else value
