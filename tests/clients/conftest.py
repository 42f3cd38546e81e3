import importlib.util
import sys
from pathlib import Path

import pytest

CLIENTS = Path(__file__).parents[2] / "clients"


def loaded(name: str):
    """A file of clients/ by itself, as somebody who copied it has it."""
    spec = importlib.util.spec_from_file_location(name, CLIENTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def comparena_client():
    yield loaded("comparena_client")
    del sys.modules["comparena_client"]


@pytest.fixture(scope="module")
def comparena_trainer(comparena_client):
    yield loaded("comparena_trainer")
    del sys.modules["comparena_trainer"]
