from tests.annotation.data.stores import receiving, stores  # noqa: F401 (fixtures)
from tests.evaluator.fixtures import comparator, made_comparator, made_world, models_dir, sent, world  # noqa: F401 (fixtures)
from tests.leaderboard.played import version  # noqa: F401 (a fixture)
