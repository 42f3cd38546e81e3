"""The second factor: RFC 6238's own numbers, and that no way in goes past it."""

import re
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from annotation.models import AuditEvent, User
from annotation.people import second_factor
from annotation.people.second_factor import code_at
from annotation.people.tokens import make_token
from core.errors import Refused
from core.sealed import unseal
from tests.annotation.pages import World, hidden

pytestmark = pytest.mark.django_db
NOW = 1_800_000_000
KEY = b"12345678901234567890"
SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"  # noqa: S105  # KEY in base 32 (RFC 4226, appendix D)
BOB = {"username": "bob", "password": "a-long-password"}


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (59, "94287082"),
        (1111111109, "07081804"),
        (1111111111, "14050471"),
        (1234567890, "89005924"),
        (2000000000, "69279037"),
        (20000000000, "65353130"),
    ],
)
def test_codes_are_those_of_rfc_6238_appendix_b(seconds, code):
    assert code_at(KEY, seconds, digits=8) == code


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """The moment, to be moved."""
    moment = [NOW]
    monkeypatch.setattr(second_factor, "time", SimpleNamespace(time=lambda: moment[0]))
    return moment


@pytest.fixture
def world(tmp_path, client):
    return World(tmp_path, client)


@pytest.fixture
def codes(world):
    """Bob's recovery codes; his second factor is on."""
    codes = second_factor.turn_on(world.bob, SECRET, code_at(KEY, NOW - 30))
    return codes


def now(clock, later=0) -> str:
    return code_at(KEY, clock[0] + later)


class TestCodes:
    def test_one_step_off_either_way_is_fine_and_each_is_good_once(self, world, codes, clock):
        clock[0] += 300
        for later in (-30, 0, 30):
            second_factor.check(world.bob, now(clock, later))
            with pytest.raises(Refused, match="used already"):
                second_factor.check(world.bob, now(clock, later))

    @pytest.mark.parametrize("later", [-60, 60])
    def test_two_steps_off_are_not(self, world, codes, clock, later):
        clock[0] += 300
        with pytest.raises(Refused):
            second_factor.check(world.bob, now(clock, later))

    def test_an_older_code_than_the_last_is_refused(self, world, codes, clock):
        clock[0] += 300
        second_factor.check(world.bob, now(clock))
        with pytest.raises(Refused):
            second_factor.check(world.bob, now(clock, -30))

    def test_a_recovery_code_lets_in_once_and_is_kept_as_a_hash(self, world, codes):
        assert len(set(codes)) == 10 and codes[0].replace("-", "") not in str(User.objects.values("recovery_codes"))
        second_factor.check(world.bob, codes[0].upper())
        with pytest.raises(Refused):
            second_factor.check(world.bob, codes[0])
        assert AuditEvent.objects.get(action="recovery code used").detail == {"left": 9}

    def test_who_guesses_waits_also_with_the_right_code(self, world, codes, clock, settings):
        settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "codes"}}
        for _ in range(10):
            with pytest.raises(Refused, match="wrong"):
                second_factor.check(world.bob, "000000")
        with pytest.raises(Refused, match="Too many"):
            second_factor.check(world.bob, now(clock))


class TestSigningIn:
    def test_the_password_alone_opens_nothing(self, world, codes, clock):
        client = world.client
        assert client.post("/login/", BOB).status_code == 302
        for path in ("/", "/account/", "/c/talk/annotate/", "/boards/", "/account/second-factor/", "/leave/"):
            assert client.get(path)["Location"] == f"/login/code/?next={path}", path
        assert client.get("/api/tasks/").status_code == 401
        assert client.post("/login/code/", {"code": "000000"}).status_code == 422
        done = client.post("/login/code/", {"code": now(clock), "next": "/c/talk/annotate/"})
        assert done.status_code == 302 and done.url == "/c/talk/annotate/"
        assert client.get("/account/").status_code == 200 and client.get("/api/tasks/").status_code == 200

    def test_it_leads_to_no_other_site(self, world, codes, clock):
        world.client.post("/login/", BOB)
        assert world.client.post("/login/code/", {"code": now(clock), "next": "https://evil.example/"}).url == "/"
        assert world.client.get("/login/code/?next=nowhere").url == "nowhere"  # of the same site, no name of a page

    def test_an_answer_that_waits_for_the_log_in_waits_for_the_code(self, world, codes, clock):
        world.sign_in(world.bob)
        world.client.post("/login/code/", {"code": now(clock)})
        form = hidden(world.get("annotate/?start=1")) | {f"score_{c.pk}": 1 for c in world.campaign.criteria.all()}
        world.client.logout()
        page = world.post("annotate/", form).content.decode()
        waiting = re.search(r'name="waiting" value="([^"]+)"', page)[1]
        world.client.post("/login/", BOB | {"waiting": waiting})
        assert world.annotator.scores.count() == 0
        clock[0] += 60
        world.client.post("/login/code/", {"code": now(clock)})
        assert world.annotator.scores.count() == 2

    def test_a_session_of_before_is_asked_too_and_a_token_is_not(self, world, clock):
        world.sign_in(world.bob)
        key = make_token(world.bob, "laptop")[1]
        second_factor.turn_on(world.bob, SECRET, code_at(KEY, NOW))
        assert world.client.get("/account/")["Location"].startswith("/login/code/")
        assert Client(headers={"Authorization": f"Bearer {key}"}).get("/api/tasks/").status_code == 200


class TestThePage:
    def test_on_with_the_first_code_then_off_with_another(self, world, clock):
        client = world.sign_in(world.bob).client
        page = client.get("/account/second-factor/").content.decode()
        assert "<svg" in page and "style=" not in page.split("<svg")[1].split("</svg>")[0]
        secret = re.search(r"<code dir=\"ltr\">([A-Z2-7 ]+)</code>", page)[1].replace(" ", "")
        assert len(second_factor.base64.b32decode(secret)) == 20
        assert client.post("/account/second-factor/", {"code": "000000"}).status_code == 422
        assert User.objects.get(pk=world.bob.pk).totp_secret == ""
        key = second_factor.base64.b32decode(secret)
        done = client.post("/account/second-factor/", {"code": code_at(key, NOW)}).content.decode()
        assert len(re.findall(r"<li><code>[a-z2-7-]{19}</code>", done)) == 10
        assert unseal(User.objects.get(pk=world.bob.pk).totp_secret) == secret
        assert client.get("/account/").status_code == 200  # this session has given a code
        clock[0] += 60
        client.post("/account/second-factor/", {"code": code_at(key, clock[0])})
        assert User.objects.get(pk=world.bob.pk).totp_secret == ""
        actions = AuditEvent.objects.filter(action__startswith="second factor o").order_by("pk")
        assert list(actions.values_list("action", "user__username")) == [
            ("second factor on", "bob"),
            ("second factor off", "bob"),
        ]

    def test_the_app_s_address_names_the_account_and_the_secret(self, world):
        world.bob.username = "bob smith@example.org"
        address = urlsplit(second_factor.address_for_app(world.bob, SECRET))
        assert (address.scheme, address.netloc) == ("otpauth", "totp")
        assert address.path == "/Comparena%3Abob%20smith%40example.org"
        assert parse_qs(address.query) == {"secret": [SECRET], "issuer": ["Comparena"]}

    def test_an_admin_turns_it_off_for_who_lost_the_phone(self, world, codes):
        admin = User.objects.create_superuser("dora")
        asked = {"action": "turn_off_second_factor", "_selected_action": [world.bob.pk]}
        world.sign_in(admin).client.post("/admin/annotation/user/", asked)
        assert User.objects.get(pk=world.bob.pk).totp_secret == ""
        assert AuditEvent.objects.get(action="second factor off").user == admin

    def test_admins_set_one_up_first_where_the_operator_wants_it(self, world, settings):
        settings.ADMINS_NEED_SECOND_FACTOR = True
        User.objects.filter(pk=world.alice.pk).update(is_staff=True)
        client = world.sign_in(world.alice).client
        assert client.get("/admin/")["Location"] == "/account/second-factor/?next=/admin/"
        assert "Admins need a second factor" in client.get("/account/second-factor/").content.decode()
        assert world.sign_in(world.bob).client.get("/account/").status_code == 200
