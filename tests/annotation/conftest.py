"""One campaign with its people; the same with scores."""

import pytest

from annotation.models import LikertScore, Output, User
from annotation.people.accounts import add_annotator
from tests.annotation.pages import World


@pytest.fixture
def world(tmp_path, client):
    return World(tmp_path, client)


@pytest.fixture
def scored(world):
    """Three people score every output, mostly alike."""
    overall = world.campaign.criteria.get(name="Overall")
    for n in range(3):
        person = add_annotator(world.campaign, User.objects.create_user(f"judge{n}"))
        for i, output in enumerate(Output.objects.all()):
            value = 1 + (i * 2) % 5 if n or i else 5
            LikertScore.objects.create(annotator=person, output=output, criterion=overall, value=value)
    return world
