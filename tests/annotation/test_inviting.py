"""People are invited, and come in."""


import pytest

from annotation.models import AuditEvent, Invitation, Membership
from annotation.services import invite
from tests.annotation.pages import text

pytestmark = pytest.mark.django_db


class TestPeople:
    def test_a_link_admits_guests_up_to_its_cap(self, world, client):
        world.sign_in(world.alice).post("people/", {"ask": "invite", "cap": "1"})
        invitation = Invitation.objects.get()
        address = f"/join/{invitation.token}/"
        assert address in text(world.get("people/"))
        client.logout()
        assert "Small talk" in text(client.get(address))
        assert client.post(address, {"name": "Zoe"}).url == "/c/talk/annotate/"
        assert client.get("/c/talk/guidelines/").status_code == 200
        client.logout()
        refused = client.post(address, {"name": "Max"})
        assert refused.status_code == 422 and "used up" in text(refused)
        assert "Zoe" in text(world.sign_in(world.alice).get("people/"))

    def test_an_account_joins_with_one_click(self, world):
        address = f"/join/{invite(world.campaign).token}/"
        world.sign_in(world.charlie)
        assert "Join as charlie" in text(world.client.get(address))
        assert world.client.post(address).url == "/c/talk/annotate/"
        assert world.get("guidelines/").status_code == 200

    def test_a_made_up_link_leads_nowhere(self, client):
        assert client.get("/join/nonsense/").status_code == 404

    def test_a_colleague_is_let_in_and_it_is_written_down(self, world):
        world.sign_in(world.alice).post("people/", {"ask": "researcher", "username": "charlie"})
        assert Membership.objects.filter(user=world.charlie).exists()
        assert AuditEvent.objects.filter(action="researcher added", user=world.alice).exists()
        answer = world.post("people/", {"ask": "researcher", "username": "nobody"})
        assert answer.status_code == 422 and "no account" in text(answer)

    def test_simulated_annotators_are_marked(self, world):
        world.campaign.annotators.create(name="sim-1", is_simulated=True)
        assert "a program" in text(world.sign_in(world.alice).get("people/"))
