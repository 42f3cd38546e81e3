from tests.annotation.data.stores import receiving, stores  # noqa: F401 (fixtures)
from tests.evaluator.fixtures import made_world, models_dir, sent, world  # noqa: F401 (a fixture)
from tests.leaderboard.played import version  # noqa: F401 (a fixture)
