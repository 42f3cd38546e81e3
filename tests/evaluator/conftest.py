from tests.evaluator.fixtures import models_dir, sent, world  # noqa: F401
