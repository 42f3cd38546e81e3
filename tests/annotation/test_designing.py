"""A campaign is designed in the browser."""


import pytest

from annotation.models import Campaign
from tests.annotation.pages import text

pytestmark = pytest.mark.django_db


class TestNewCampaign:
    FIELDS = {
        "title": "Jokes, good & bad", "slug": "", "likert": "on", "overlap": "2", "guidelines": "Laugh.",
        "criteria-TOTAL_FORMS": "6", "criteria-INITIAL_FORMS": "0",
        "criteria-0-name": "Funny", "criteria-0-low": "1", "criteria-0-high": "7", "criteria-0-high_label": "hilarious",
    }  # fmt: skip

    def test_it_is_made_with_its_criteria_and_researcher(self, world):
        answer = world.sign_in(world.alice).client.post("/new/", self.FIELDS)
        made = Campaign.objects.get(slug="jokes-good-bad")
        assert answer.url == "/c/jokes-good-bad/import/" and made.overlap == 2
        assert made.criteria.get().high_label == "hilarious" and made.memberships.get().user == world.alice

    @pytest.mark.parametrize("change, said", [
        ({"slug": "talk"}, "already a campaign"),
        ({"likert": ""}, "nothing to judge"),
        ({"criteria-0-high": "1"}, "must be above"),
        ({"criteria-0-name": ""}, "needs a name"),
        ({"title": ""}, "required"),
    ])  # fmt: skip
    def test_what_is_wrong_is_said_and_what_was_typed_stays(self, world, change, said):
        answer = world.sign_in(world.alice).client.post("/new/", self.FIELDS | change)
        assert answer.status_code == 422 and said in text(answer) and "Laugh." in text(answer)
        assert Campaign.objects.count() == 1

    def test_not_everybody_may(self, world):
        assert world.sign_in(world.bob).client.get("/new/").status_code == 403
