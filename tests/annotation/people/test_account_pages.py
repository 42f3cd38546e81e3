"""An admin looks after accounts: who has one, what it may do, a new password, a lost phone; and nobody else does."""

import re

import pytest
from django.test import Client

from annotation.models import AuditEvent, User
from annotation.people.accounts import change_rights
from annotation.people.tokens import make_token
from core.errors import Refused
from tests.annotation.pages import text

pytestmark = pytest.mark.django_db


@pytest.fixture
def dora(client):
    dora = User.objects.create_superuser("dora", password="a-long-password")
    client.force_login(dora)
    return dora


@pytest.fixture
def bob():
    return User.objects.create_user("bob", password="a-long-password", first_name="Robert", email="bob@example.org")


def shown_password(page) -> str:
    return re.search(r'id="password" dir="ltr" readonly value="([^"]+)"', text(page))[1]


class TestPeople:
    def test_guests_admins_and_closed_accounts_have_lists(self, client, dora, bob):
        User.objects.create_user("guest-1")
        User.objects.create_user("gone", password="a-long-password", is_active=False)
        for group, names in (
            ("", ["bob", "dora", "gone"]),
            ("admins", ["dora"]),
            ("closed", ["gone"]),
            ("guests", ["guest-1"]),
        ):
            page = client.get("/people/", {"group": group})
            assert [user.username for user in page.context["accounts"]] == names, group
        assert len(client.get("/people/?group=odd").context["accounts"]) == 3

    def test_they_are_found_by_name_and_address(self, client, dora, bob):
        for asked in ("bo", "ROBERT", "example.org"):
            assert [user.username for user in client.get("/people/", {"q": asked}).context["accounts"]] == ["bob"]

    def test_many_ask_as_much_as_one(self, client, dora, django_assert_num_queries):
        User.objects.bulk_create(User(username=f"u{n:03d}", password="x") for n in range(120))
        with django_assert_num_queries(4):  # session, user; how many, which
            page = text(client.get("/people/"))
        assert "1 to 50 of 121" in page and "u048<" in page and "u060<" not in page

    def test_an_account_is_made_with_a_password_that_works(self, client, dora):
        made = client.post("/people/", {"email": "Ann@example.org", "name": "Ann", "may_create_campaigns": "on"})
        ann = User.objects.get(username="ann@example.org")
        assert ann.may_create_campaigns and not ann.is_staff and ann.check_password(shown_password(made))
        assert AuditEvent.objects.get(action="account made").subject == ann
        again = client.post("/people/", {"email": "ann@example.org"})
        assert again.status_code == 422 and "An account with this address exists" in text(again)


class TestRights:
    def save(self, client, user, **rights):
        return client.post(f"/people/{user.pk}/", {"do": "rights", **{name: "on" for name, given in rights.items() if given}})

    def test_they_are_given_taken_and_noted(self, client, dora, bob):
        assert self.save(client, bob, is_active=True, is_admin=True, may_create_campaigns=True).status_code == 302
        bob.refresh_from_db()
        assert bob.is_staff and bob.is_superuser and bob.may_create_campaigns
        self.save(client, bob, is_active=True)
        bob.refresh_from_db()
        assert not (bob.is_staff or bob.is_superuser or bob.may_create_campaigns)
        first, last = AuditEvent.objects.filter(action="rights changed", subject=bob).order_by("pk")
        assert first.user == last.user == dora and last.detail["is_superuser"] == [True, False]

    def test_who_may_not_sign_in_loses_session_and_tokens(self, client, dora, bob):
        browser, key = Client(), make_token(bob, "laptop")[1]
        browser.force_login(bob)
        self.save(client, bob)
        assert browser.get("/account/").status_code == 302
        assert Client(headers={"Authorization": f"Bearer {key}"}).get("/api/campaigns/").status_code == 401

    def test_nobody_locks_themselves_out(self, client, dora):
        for rights in ({"is_active": True}, {"is_admin": True}):
            refused = self.save(client, dora, **rights)
            assert refused.status_code == 422 and "Another admin can" in text(refused)
        with pytest.raises(Refused):
            change_rights(dora, dora, is_admin=False, is_active=True, may_create_campaigns=True)
        dora.refresh_from_db()
        assert dora.is_active and dora.is_superuser

    def test_the_provider_s_identity_is_asked_where_there_is_one(self, client, dora, bob, settings):
        assert "sign-in provider" not in text(client.get(f"/people/{bob.pk}/"))
        settings.OIDC_ISSUER = "https://id.example.org"
        client.post(f"/people/{bob.pk}/", {"do": "rights", "is_active": "on", "oidc_subject": "s-1"})
        bob.refresh_from_db()
        assert bob.oidc_subject == "s-1"

    def test_who_has_not_every_right_changes_nothing(self, client, bob):
        staff = User.objects.create_user("staff", is_staff=True)
        client.force_login(staff)
        assert "Make a new password" not in text(client.get(f"/people/{bob.pk}/"))
        for user in (bob, staff):
            for asked in ("rights", "password", "second-factor"):
                answer = client.post(f"/people/{user.pk}/", {"do": asked, "is_admin": "on", "is_active": "on"})
                assert answer.status_code == 403, asked
        assert client.post("/people/", {"email": "x@example.org"}).status_code == 403
        assert not User.objects.filter(is_superuser=True).exists() and User.objects.count() == 2

    def test_others_see_no_such_page(self, client, bob):
        client.force_login(bob)
        assert [client.get(path).status_code for path in ("/people/", f"/people/{bob.pk}/", "/jobs/", "/endpoints/")] == [
            404
        ] * 4


class TestPassword:
    def test_a_new_one_ends_the_old(self, client, dora, bob):
        browser = Client()
        browser.force_login(bob)
        make_token(bob, "laptop")
        page = client.post(f"/people/{bob.pk}/", {"do": "password"})
        bob.refresh_from_db()
        assert bob.check_password(shown_password(page)) and not bob.api_tokens.exists()
        assert browser.get("/account/").status_code == 302 and "no-store" in page["Cache-Control"]
        assert AuditEvent.objects.get(action="password changed").user == dora
        assert 'id="password"' not in text(client.get(f"/people/{bob.pk}/"))

    def test_guests_get_none(self, client, dora):
        guest = User.objects.create_user("guest-1")
        assert 'id="password"' not in text(client.post(f"/people/{guest.pk}/", {"do": "password"}))
        guest.refresh_from_db()
        assert not guest.has_usable_password()

    def test_a_lost_phone(self, client, dora, bob):
        User.objects.filter(pk=bob.pk).update(totp_secret="sealed", recovery_codes=["x"])
        assert "Turn the second factor off" in text(client.get(f"/people/{bob.pk}/"))
        client.post(f"/people/{bob.pk}/", {"do": "second-factor"})
        bob.refresh_from_db()
        assert (bob.totp_secret, bob.recovery_codes) == ("", [])
        assert AuditEvent.objects.get(action="second factor off").user == dora
