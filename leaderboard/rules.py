"""By which rules a tournament is played; each is part of its signature."""

from dataclasses import asdict, dataclass

PAPER = "paper"


@dataclass(frozen=True)
class Rules:
    """rating "paper" is the whole of Zhou & Xu (2020), section 3.2, its pairing and its rule for ties included."""

    rating: str = PAPER
    pairing: str = "random"
    ties: str = "ratio0.1"
    level: str = "system"

    def columns(self) -> dict:
        return asdict(self)
