"""The index of public boards: what is public stands there with who leads and how surely, and nothing else."""

import pytest
from django.core.cache import cache
from django.utils import timezone

from annotation.campaigns.lifecycle import create_campaign
from leaderboard.boards import public_boards
from tests.leaderboard.played import by_people

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def kept(settings):
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def public(world):
    world.campaign.board_is_public = True
    world.campaign.save()
    return world


def page(client, address="/") -> str:
    return client.get(address).content.decode()


class TestWhatStandsThere:
    def test_without_a_public_board_it_says_how_one_gets_there(self, world, client):
        by_people(world.campaign)
        assert "None yet" in page(client) and "Small talk" not in page(client)

    def test_a_public_campaign_without_a_board_is_not_there(self, public, client):
        assert "Small talk" not in page(client)

    def test_who_leads_with_its_interval_and_how_much_was_judged(self, public, client):
        """World: 4 systems on 12 contexts; Ann and Bob scored every output alike, so that all 96 scores are kept and the
        person's texts (5 of 5) are above Fine's (4)."""
        board = by_people(public.campaign)
        first = board.ratings.get(name="Person")
        html = page(client)
        assert '<a href="/c/talk/leaderboard/">Small talk</a>' in html
        assert "Person is first. It is above Fine by 1.00 points (" in html
        assert f"Rating {first.rating:.0f}, 95% interval {first.low:.0f} to {first.high:.0f}" in html
        assert "<dt>systems</dt><dd>4</dd>" in html and "<dt>judgments</dt><dd>96</dd>" in html
        assert f'datetime="{timezone.localtime(board.finished_at).isoformat()[:19]}' in html
        assert page(client, "/boards/").count("Small talk") == 1

    def test_which_end_is_best_and_what_became_of_the_answers_stand_there_at_once(self, public, client):
        public.campaign.criteria.filter(name="Overall").update(best="low")
        board = by_people(public.campaign)
        html = page(client)
        assert "judged by people, on Overall (lowest is best)" in html and "withdrew" not in html
        board.snapshot.marks.create(reason="Ann withdrew after it was frozen.")
        html = page(client)
        assert (
            f"About its snapshot {board.snapshot.name}: 1 annotator withdrew after it was frozen." in html
            and "Ann " not in html
        )

    def test_what_is_not_known_is_not_claimed(self, world, client):
        world.score("Wit", {"Person": 4, "Fine": 3, "Plain": 3, "Poor": 3}, annotators=["Ann"])
        world.score("Wit", {"Person": 3, "Fine": 4, "Plain": 3, "Poor": 3}, annotators=["Bob"])
        world.freeze()
        world.campaign.board_is_public = True
        world.campaign.save()
        by_people(world.campaign, criterion="Wit")
        assert "are level so far" in (html := page(client)) and "is first" not in html

    def test_what_is_made_private_or_put_away_goes_at_once(self, public, client):
        by_people(public.campaign)
        assert "Small talk" in page(client)
        public.campaign.board_is_public = False
        public.campaign.save()
        assert "Small talk" not in page(client)
        public.campaign.board_is_public, public.campaign.deleted_at = True, timezone.now()
        public.campaign.save()
        assert "Small talk" not in page(client)

    def test_a_newer_board_is_told_at_once(self, public, client):
        by_people(public.campaign)
        page(client)
        public.score("Overall", {"Person": 1, "Fine": 5, "Plain": 1, "Poor": 1}, annotators=("Cleo", "Dan", "Eve", "Fay"))
        public.freeze()
        by_people(public.campaign)
        assert "Fine is first" in page(client)


class TestMany:
    @pytest.fixture
    def many(self, public):
        """One with a board of its own; the others borrow its row, which is enough for a list."""
        board = by_people(public.campaign)
        for n in range(14):
            campaign = create_campaign(slug=f"poem-{n}", title=f"Poems {n}", board_is_public=True)
            ratings = list(board.ratings.all())
            job = type(board.job).objects.create(task="t", title="t", campaign=campaign)
            copy = type(board)(campaign=campaign, job=job, basis="people", settings=board.settings, criterion="Overall")
            copy.board = board.board
            copy.save()
            for row in ratings:
                row.pk, row.tournament, row._state.adding = None, copy, True
                row.save()
            copy.finished_at = timezone.now()
            copy.save()
        return public

    def test_they_are_paged_and_searched(self, many, client):
        first, second = page(client), page(client, "/?page=2")
        assert "1 to 12 of 15" in first and "Poems 13" in first and "Small talk" in second and "Poems 13" not in second
        assert 'aria-label="Search leaderboards"' in first
        found = page(client, "/?q=small")
        assert "Small talk" in found and "Poems" not in found
        assert "None of the leaderboards fits “novel”" in page(client, "/?q=novel")

    def test_a_page_that_was_asked_for_before_costs_few_queries(self, many, client, django_assert_max_num_queries):
        page(client)
        with django_assert_max_num_queries(3):  # an admin, how many boards, the page of them
            page(client)
        assert len(public_boards.summaries(public_boards.campaigns())) == 15
