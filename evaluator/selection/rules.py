"""What a user sets before a training is watched, and which comparisons its judge is asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from core.errors import Refused


@dataclass(frozen=True)
class Rules:
    """worthwhile: points of win rate above 50%, ties half, that a checkpoint is to have against the one `per` steps earlier;
    a training that gains as much is not stopped, but with a probability of at most `error` over all looks together.
    previous, losses, plays: k, the losses in a row, and n of the rule of Zhou & Xu (2020, section 4.1).

    Raises Refused where a value makes no sense.
    """

    worthwhile: float = 1.0
    per: int = 1000
    error: float = 0.05
    previous: int = 2
    losses: int = 5
    plays: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.worthwhile < 50:
            raise Refused(f"A worthwhile gain is between 0 and 50 points of win rate, not {self.worthwhile:g}.")
        if not 0 < self.error <= 0.5:
            raise Refused(f"The error of the rule is above 0 and at most 0.5, not {self.error:g}.")
        for name in ("per", "previous", "losses", "plays"):
            if getattr(self, name) < 1:
                raise Refused(f"{name} is at least 1, not {getattr(self, name)}.")
        if self.seed < 0:
            raise Refused(f"seed is at least 0, not {self.seed}.")

    @property
    def worthwhile_slope(self) -> float:
        """The worthwhile gain as a slope: log-odds of winning, per `per` steps."""
        return float(scipy.special.logit(0.5 + self.worthwhile / 100))

    @property
    def span(self) -> str:
        return amount(f"{self.per:,}", "step")


def amount(shown: str, noun: str, more: str = "s") -> str:
    """A number as it is shown, with its noun: "1 point", "+0.30 points"."""
    return f"{shown} {noun}{'' if shown.lstrip('+-') == '1' else more}"


def points(slope: float) -> float:
    """A slope in log-odds per `per` steps as points of win rate above 50% against the checkpoint so many steps earlier."""
    return float(100 * (scipy.special.expit(slope) - 0.5))


def asked_of(m: int, rules: Rules, best: int | None = None) -> list[int]:
    """Which earlier checkpoints the one with index m is compared with by a judge that reads pairs, rising: the previous k, one
    five times as far back (neighbours alone tell little of a slope), the best so far and the first."""
    back = [m - lag for lag in range(1, rules.previous + 1)]
    wanted = {*back, m - 5 * rules.previous, 0, *([] if best is None else [best])}
    return sorted(np.intersect1d(list(wanted), np.arange(m)).tolist())
