from tests.annotation.data.stores import receiving, stores  # noqa: F401 (fixtures)
