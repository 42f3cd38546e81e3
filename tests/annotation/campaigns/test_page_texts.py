"""Guidelines and consent texts that a page could not show at once are refused, through every door."""

import pytest

from annotation.campaigns.lifecycle import create_campaign
from core.errors import Refused
from tests.annotation.pages import World

pytestmark = pytest.mark.django_db
BRACKETS = "[" * 1_000_000


@pytest.fixture
def world(tmp_path, client):
    world = World(tmp_path, client)
    return world.sign_in(world.alice)


@pytest.mark.parametrize("field", ["guidelines", "consent"])
def test_the_api_refuses_a_million_brackets(world, field):
    address = f"/api/campaigns/{world.campaign.slug}/"
    answer = world.client.patch(address, {field: BRACKETS}, content_type="application/json")
    assert answer.status_code == 422 and "at most" in answer.content.decode()


def test_the_page_refuses_them_and_keeps_what_was(world):
    before = world.campaign.guidelines
    answer = world.post("guidelines/", {"guidelines": "[" * 5000})
    world.campaign.refresh_from_db()
    assert answer.status_code == 422 and world.campaign.guidelines == before


def test_a_new_campaign_has_none(db):
    with pytest.raises(Refused, match="Guidelines"):
        create_campaign(slug="new", guidelines=BRACKETS)
