import copy
from pathlib import Path

import pytest

from annotation.questions import registry
from tests.annotation.questions.facts import Facts


@pytest.fixture
def facts(settings):
    """The third kind, there for one test."""
    templates = copy.deepcopy(settings.TEMPLATES)
    templates[0]["DIRS"] = [*templates[0]["DIRS"], Path(__file__).parent / "templates"]
    settings.TEMPLATES = templates
    kind = Facts()
    registry.register(kind)
    yield kind
    registry.unregister(kind)
