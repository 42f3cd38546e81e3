"""Fixtures that the tests of the evaluator and of the leaderboard share."""

import pytest
from django.test import override_settings

from tests.evaluator.world import World


@pytest.fixture(autouse=True)
def models_dir(tmp_path):
    with override_settings(MODELS_DIR=tmp_path / "models"):
        yield tmp_path / "models"


@pytest.fixture(autouse=True)
def sent(monkeypatch):
    """Messages that would have gone to a broker."""
    from annotation import jobs

    messages = []
    monkeypatch.setattr(jobs.current_app, "send_task", lambda task, args: messages.append((task, args[0])))
    return messages


@pytest.fixture
def world(db, tmp_path, client):
    return World(tmp_path, client)
