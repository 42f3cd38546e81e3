"""Fixtures that the tests of the evaluator and of the leaderboard share."""

import copy
import shutil
from contextlib import contextmanager

import pytest
from django.db import transaction
from django.test import override_settings

from tests.evaluator.world import World, recipe


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


@contextmanager
def rows_for_a_module(blocker):
    """What is stored in this block stays until the module's tests have run; each has a savepoint inside this transaction."""
    with blocker.unblock():
        transaction.get_connection().ensure_connection()
        block = transaction.atomic()
        block.__enter__()
    yield
    with blocker.unblock():
        transaction.set_rollback(True)
        block.__exit__(None, None, None)


@pytest.fixture(scope="module")
def made_world(django_db_setup, django_db_blocker, tmp_path_factory):
    """Making one takes a quarter of a second, so the tests of a module share its rows. Those that make their own run before
    (tests/conftest.py)."""
    with rows_for_a_module(django_db_blocker):
        with django_db_blocker.unblock():
            made = World(tmp_path_factory.mktemp("world"))
        yield made


@pytest.fixture
def world(made_world, db, tmp_path, client):
    world = copy.deepcopy(made_world)
    shutil.copytree(world.folder, tmp_path, dirs_exist_ok=True)
    world.folder, world.client = tmp_path, client
    return world


@pytest.fixture(scope="module")
def made_comparator(made_world, django_db_blocker, tmp_path_factory, request):
    """(a version, the folder of its models): a training takes a second, so the tests of a module share one, by its `RECIPE`.
    Those that use the world alone run before."""
    from evaluator import tasks
    from evaluator.trainings.services import start_training

    folder, chosen = tmp_path_factory.mktemp("models"), recipe(**request.module.RECIPE)
    with django_db_blocker.unblock(), override_settings(MODELS_DIR=folder):
        return tasks.run(start_training([made_world.campaign], foreground=True, recipe=chosen).job_id), folder


@pytest.fixture
def comparator(made_comparator, world, models_dir):
    """The version in use in the world's campaign, trained on it; its models are a copy."""
    version, folder = made_comparator
    shutil.copytree(folder, models_dir)
    return copy.deepcopy(version)
