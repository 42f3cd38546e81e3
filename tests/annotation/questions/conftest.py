import pytest
from django.core.management import call_command

from tests.annotation.questions.fixtures import facts  # noqa: F401 (a fixture)


@pytest.fixture
def run_command():
    return call_command
