"""Games for the rating tests."""

import numpy as np
import pytest
from hypothesis import settings

from leaderboard.rating.games import Games

settings.register_profile("no deadline", deadline=None)  # a slow machine is not a wrong result
settings.load_profile("no deadline")


@pytest.fixture
def noisy_games():
    """A function: systems, games, contexts -> games whose higher-numbered system is better, with ties."""

    def make(n_systems, n_games, n_contexts, seed=0):
        rng = np.random.default_rng(seed)
        first = rng.integers(n_systems, size=n_games)
        second = (first + rng.integers(1, n_systems, size=n_games)) % n_systems
        outcome = np.sign(np.round((first - second) / 2 + rng.normal(size=n_games))).astype(int)
        return Games(first, second, outcome, rng.integers(n_contexts, size=n_games))

    return make
