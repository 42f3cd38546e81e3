"""What a board is expected to state of a difference that is planned: each difference's variance is its own, moderated by what
all of them show (`leaderboard.rating.crossed.sandwich`). A plan has one system that is ahead of the others, over which people
may differ more than over the others, and which may vary less because it is nearer to the end of the scale."""

from dataclasses import dataclass

import numpy as np

from leaderboard.rating.crossed.sandwich import expected_prior, moderated


@dataclass(frozen=True)
class Alone:
    """What its own answers say of a difference. freedom: degrees of freedom of the variance."""

    variance: float
    freedom: float


def stated(own: Alone, others: Alone, systems: int) -> Alone:
    """own: of the system that is ahead less another; others: of two others."""
    if systems < 3 or not own.variance or not others.variance:
        return own
    times = [systems - 1, (systems - 1) * (systems - 2) // 2]
    variance = np.repeat([own.variance, others.variance], times)
    freedom = np.repeat([own.freedom, others.freedom], times)
    prior = expected_prior(variance / others.variance, freedom, systems - 1)
    together = (systems - 1) * float(freedom.mean())
    found, df = moderated(variance, freedom, np.full(len(variance), others.variance), prior, together)
    return Alone(float(found[0]), float(df[0]))
