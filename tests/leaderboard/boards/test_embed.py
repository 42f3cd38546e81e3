"""A public board stands in a frame of any site; nothing else does. And where boards are played and shown from."""

import html
import re

import pytest

from leaderboard.models import Tournament
from tests.leaderboard.played import by_people

pytestmark = pytest.mark.django_db
PAGE, EMBED, PLAY = "/c/talk/leaderboard/", "/c/talk/leaderboard/embed/", "/c/talk/leaderboard/play/"


@pytest.fixture
def public(world):
    by_people(world.campaign)
    world.campaign.board_is_public = True
    world.campaign.save()
    return world


def ancestors(response) -> str:
    return re.search(r"frame-ancestors ([^;]+)", response["Content-Security-Policy"])[1]


class TestTheFrame:
    def test_any_site_may_show_it(self, public, client):
        response = client.get(EMBED)
        assert response.status_code == 200 and ancestors(response) == "*" and "X-Frame-Options" not in response
        page = response.content.decode()
        assert "Person" in page and "95% interval" in page and "/c/talk/leaderboard/?basis=people" in page

    def test_its_code_is_one_element_whatever_the_campaign_is_called(self, public, client):
        public.campaign.title = '"><script>alert(1)</script>'
        public.campaign.save()
        code = html.unescape(
            re.search(r"<textarea id=.embed.[^>]*>(.*?)</textarea>", client.get(PAGE).content.decode(), re.S)[1]
        )
        assert code.count("<") == 2 and code.startswith("<iframe src=") and code.endswith("></iframe>")
        assert html.unescape(code).count("<script>") == 1  # as a text

    def test_it_has_no_form_and_knows_nobody(self, public, client):
        client.force_login(public.alice)
        response = client.get(EMBED)
        page = response.content.decode()
        assert "<form" not in page and "csrf" not in page and "Sign out" not in page and "alice" not in page
        assert "form-action 'none'" in response["Content-Security-Policy"]
        assert all("target=" in link for link in re.findall(r"<a [^>]+>", page))

    @pytest.mark.parametrize("who", [None, "alice", "charlie", "dora"])
    def test_a_board_that_is_not_public_is_in_no_frame_whoever_asks(self, world, client, who):
        by_people(world.campaign)
        if who:
            client.force_login(getattr(world, who))
        refused = client.get(EMBED)
        assert refused.status_code == 404 and ancestors(refused) == "'none'" and refused["X-Frame-Options"] == "DENY"

    def test_without_a_board_there_is_no_frame(self, world, client):
        world.campaign.board_is_public = True
        world.campaign.save()
        assert client.get(EMBED).status_code == 404

    def test_it_shows_the_board_that_is_asked_for(self, public, client):
        assert client.get(f"{EMBED}?basis=judge").status_code == 404
        assert client.get(f"{EMBED}?judge=people&criterion=Overall").status_code == 200

    def test_every_other_page_keeps_refusing(self, public, client):
        board = Tournament.objects.get()
        pages = [
            "/",
            "/boards/",
            "/login/",
            PAGE,
            f"{PAGE}beside/",
            f"{PAGE}history/",
            f"{PAGE}breakdown/",
            f"/tournaments/{board.pk}/",
        ]
        own = ["/c/talk/", "/c/talk/people/", "/c/talk/design/", PLAY, f"{PAGE}samples/", "/account/"]
        for address in [*pages, *own, f"/tournaments/{board.pk}.svg", "/nowhere/"]:
            client.force_login(public.alice) if address in own else client.logout()
            response = client.get(address)
            assert ancestors(response) == "'none'" and response["X-Frame-Options"] == "DENY", address

    def test_the_page_gives_the_lines_to_paste_where_it_is_public(self, public, client):
        html = client.get(PAGE).content.decode()
        assert '&lt;iframe src="http://testserver/c/talk/leaderboard/embed/?basis=people&amp;criterion=Overall"' in html
        public.campaign.board_is_public = False
        public.campaign.save()
        assert "iframe" not in public.get(public.alice, PAGE).content.decode()


class TestPlayAndSettings:
    def test_they_have_a_page_of_their_own_beside_the_results(self, world):
        by_people(world.campaign)
        board, play = (world.get(world.alice, page).content.decode() for page in (PAGE, PLAY))
        assert 'id="play"' not in board and 'id="who-sees"' not in board and f'href="{PLAY}"' in board
        assert 'id="play"' in play and 'id="who-sees"' in play and 'aria-current="page">Play and settings' in play

    def test_it_is_for_researchers(self, public, client):
        assert client.get(PLAY).status_code == 302 and PLAY in client.get(PLAY).url
        assert public.get(public.charlie, PLAY).status_code == 404
        assert PLAY not in public.get(public.charlie, PAGE).content.decode()

    def test_what_is_refused_leads_back_to_the_form(self, world):
        assert world.post(world.alice, PLAY, {"basis": "people", "seed": "x"}).url == PLAY
        assert world.post(world.alice, PLAY, {"basis": "people", "seed": "1"}).url == PAGE
        assert world.post(world.alice, f"{PAGE}settings/", {"is_public": "on"}).url == PLAY
        world.campaign.refresh_from_db()
        assert world.campaign.board_is_public
