from tests.evaluator.comparator.conftest import tiny_encoder  # noqa: F401
