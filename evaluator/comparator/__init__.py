import evaluator.encoders  # noqa: F401 (before torch, whose threads are to sleep while they wait)
