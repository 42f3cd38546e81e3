from tests.evaluator.fixtures import comparator, made_comparator, made_world, models_dir, sent, world  # noqa: F401
