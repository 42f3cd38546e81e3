"""Who tries too often waits."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.cache import cache
from django.test import Client as client_class

from annotation.campaigns.lifecycle import create_campaign
from annotation.models import User
from annotation.people.invitations import invite
from annotation.people.tokens import make_token
from core.throttling import JOINED_FROM_ADDRESS, Limit, address

pytestmark = pytest.mark.django_db
PASSWORD = "a-long-password"  # noqa: S105


@pytest.fixture(autouse=True)
def counted(settings):
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    cache.clear()
    yield
    cache.clear()


def log_in(client, password, name="bob", **extra):
    return client.post("/login/", {"username": name, "password": password}, **extra)


class TestSigningIn:
    def test_ten_failures_stop_further_guesses_even_a_right_one(self, client):
        User.objects.create_user("bob", password=PASSWORD)
        assert {log_in(client, "wrong").status_code for _ in range(10)} == {200}
        refused = log_in(client, PASSWORD)
        assert refused.status_code == 429 and "try again in 15 minutes" in refused.content.decode()
        assert not refused.wsgi_request.user.is_authenticated

    def test_other_accounts_and_other_addresses_go_on(self, client):
        User.objects.create_user("bob", password=PASSWORD)
        User.objects.create_user("eve", password=PASSWORD)
        for _ in range(10):
            log_in(client, "wrong")
        assert log_in(client, PASSWORD, name="eve").status_code == 302
        client.logout()
        assert log_in(client, PASSWORD, REMOTE_ADDR="192.0.2.7").status_code == 302

    def test_successes_are_not_counted(self, client):
        User.objects.create_user("bob", password=PASSWORD)
        for _ in range(12):
            assert log_in(client, PASSWORD).status_code == 302
            client.logout()

    def test_another_spelling_of_the_name_is_no_new_account(self, client):
        User.objects.create_user("bob", password=PASSWORD)
        for _ in range(10):
            log_in(client, "wrong", name="\uff42ob")  # a wide b: the log-in folds it to bob
        assert log_in(client, PASSWORD).status_code == 429

    def test_the_admin_site_has_no_other_door(self, client):
        User.objects.create_superuser("bob", password=PASSWORD)
        for _ in range(10):
            refused = client.post("/admin/login/?next=/admin/", {"username": "bob", "password": "wrong"}, follow=True)
        client.post("/admin/login/?next=/admin/", {"username": "bob", "password": PASSWORD})
        assert client.get("/admin/").status_code == 302
        assert refused.redirect_chain == [("/login/?next=/admin/", 302)]
        log_in(client, PASSWORD)
        assert client.get("/admin/").status_code == 200

    def test_who_may_not_into_the_admin_site_is_told_so(self, client):
        client.force_login(User.objects.create_user("bob"))
        assert client.get("/admin/", follow=True).status_code == 403

    def test_a_session_is_no_place_to_guess_its_password(self, client):
        client.force_login(User.objects.create_user("bob", password=PASSWORD))
        new = {"new_password1": "another-long-one", "new_password2": "another-long-one"}
        codes = {client.post("/password/", {"old_password": "wrong", **new}).status_code for _ in range(10)}
        refused = client.post("/password/", {"old_password": PASSWORD, **new})
        assert codes == {200} and refused.status_code == 429 and "try again in 15 minutes" in refused.content.decode()
        assert User.objects.get().check_password(PASSWORD)

    def test_a_weak_new_password_is_no_failed_log_in(self, client):
        client.force_login(User.objects.create_user("bob", password=PASSWORD))
        for _ in range(11):
            again = {"old_password": PASSWORD, "new_password1": "short", "new_password2": "short"}
            assert client.post("/password/", again).status_code == 200


class TestJoining:
    def test_an_address_from_which_hundreds_joined_waits(self, client):
        token = invite(create_campaign(slug="talk")).token
        for _ in range(JOINED_FROM_ADDRESS.count):
            JOINED_FROM_ADDRESS.count_one("127.0.0.1")
        assert client.post(f"/join/{token}/", {"name": "x"}).status_code == 422
        assert not User.objects.exists()
        assert client.post(f"/join/{token}/", {"name": "x"}, REMOTE_ADDR="192.0.2.7").status_code == 302


class TestAddress:
    def test_a_header_anybody_can_send_is_not_believed(self, rf, settings):
        request = rf.get("/", HTTP_X_FORWARDED_FOR="198.51.100.1", REMOTE_ADDR="192.0.2.7")
        assert address(request) == "192.0.2.7"
        settings.PROXIES = 1
        request = rf.get("/", HTTP_X_FORWARDED_FOR="forged, 198.51.100.1", REMOTE_ADDR="192.0.2.7")
        assert address(request) == "198.51.100.1"


class TestApi:
    def test_requests_beyond_the_rate_are_refused_in_the_usual_shape(self, client, monkeypatch):
        from rest_framework.throttling import UserRateThrottle

        monkeypatch.setattr(UserRateThrottle, "THROTTLE_RATES", {"user": "2/min"})
        headers = {"Authorization": f"Bearer {make_token(User.objects.create_user('bob'), 'test')[1]}"}
        answers = [client.get("/api/tasks/", headers=headers) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert answers[2].json()["errors"] and "Retry-After" in answers[2]

    def test_unknown_tokens_are_refused_for_a_while(self, client):
        headers = {"Authorization": "Bearer comparena_guess"}
        answers = [client.get("/api/tasks/", headers=headers) for _ in range(61)]
        assert [answer.status_code for answer in answers] == [401] * 60 + [429]
        assert answers[60].json()["errors"] and "Retry-After" in answers[60]
        known = {"Authorization": f"Bearer {make_token(User.objects.create_user('bob'), 'test')[1]}"}
        assert client.get("/api/tasks/", headers=known).status_code == 200


class TestWhileRedisIsAway:
    @pytest.fixture(autouse=True)
    def away(self, counted, settings):
        """The setting of production; nothing listens on port 1."""
        settings.CACHES = {"default": {"BACKEND": "config.cache.RedisOrOwn", "LOCATION": "redis://127.0.0.1:1/0"}}
        cache.own.clear()

    def test_people_sign_in_and_guesses_are_still_counted(self, client):
        User.objects.create_user("bob", password=PASSWORD)
        assert log_in(client, PASSWORD).status_code == 302
        client.logout()
        assert {log_in(client, "wrong").status_code for _ in range(10)} == {200}
        assert log_in(client, PASSWORD).status_code == 429

    def test_people_join_and_programs_are_served(self, client):
        alice = User.objects.create_user("alice")
        campaign = create_campaign(slug="talk", user=alice, board_is_public=True)
        joined = client.post(f"/join/{invite(campaign, alice).token}/", {"name": "Guest"})
        assert joined.status_code == 302
        client.logout()
        assert client.get("/").status_code == 200
        headers = {"Authorization": f"Bearer {make_token(alice, 'laptop')[1]}"}
        assert client.get("/api/campaigns/talk/", headers=headers).status_code == 200


class TestGuessesFromEverywhere:
    @pytest.fixture(autouse=True)
    def bob(self, client, settings):
        settings.EMAIL_URL = "smtp://example.org"
        settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
        return User.objects.create_user("bob", password=PASSWORD, email="bob@example.org")

    def test_an_account_has_a_limit_over_all_addresses_and_its_owner_gets_in(self, client, mailoutbox):
        own = client_class()
        assert log_in(own, PASSWORD).status_code == 302
        own.cookies.pop("sessionid")  # signed out, in a browser that is known
        statuses = [log_in(client_class(), "wrong", REMOTE_ADDR=f"192.0.{n // 250}.{n % 250}").status_code for n in range(105)]
        assert statuses == [200] * 100 + [429] * 5
        assert log_in(client_class(), PASSWORD, REMOTE_ADDR="203.0.113.9").status_code == 429
        assert log_in(own, PASSWORD).status_code == 302
        assert [(letter.to, "over 100 wrong passwords" in letter.body) for letter in mailoutbox] == [
            (["bob@example.org"], True)
        ]

    def test_a_whole_64_of_ipv6_counts_as_one_address(self, client):
        guesses = [log_in(client_class(), "wrong", REMOTE_ADDR=f"2001:db8:0:7::{n:x}").status_code for n in range(1, 16)]
        assert guesses == [200] * 10 + [429] * 5
        assert log_in(client_class(), PASSWORD, REMOTE_ADDR="2001:db8:0:8::1").status_code == 302

    def test_one_address_alone_does_not_use_up_the_account(self, client):
        for _ in range(105):
            log_in(client_class(), "wrong", REMOTE_ADDR="192.0.2.1")
        assert log_in(client_class(), PASSWORD, REMOTE_ADDR="192.0.2.2").status_code == 302

    def test_tries_side_by_side_are_all_counted(self):
        limit = Limit("side-by-side", 10, 60)
        with ThreadPoolExecutor(13) as pool:
            counts = sorted(pool.map(limit.take, ["x"] * 13))
        assert counts == list(range(1, 14))
