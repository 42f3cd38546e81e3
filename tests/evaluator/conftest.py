from tests.evaluator.fixtures import made_world, models_dir, sent, world  # noqa: F401
