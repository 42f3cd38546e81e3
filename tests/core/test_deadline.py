"""Whom we ask has so many seconds in all, however slowly they send: the sign-in provider, a language model, the Hub, the mail
server. Each once against each way of a server to be slow, long or without end."""

import time

import pytest

from core import mail
from core.errors import Refused
from evaluator.judges.endpoint import MOST_BYTES, Again, Endpoint
from leaderboard import hub
from tests import slow_server
from tests.core import test_oidc
from tests.core.test_oidc import provider  # noqa: F401 (a fixture)
from tests.slow_server import SlowServer

SLACK = 2.0  # seconds that a busy machine may take longer; without an end it is slow_server.SECONDS
LATE, BROKEN = "did not answer within 0.5 seconds", "."
WAYS = {
    slow_server.headers_in_drops: LATE,
    slow_server.body_in_drops: LATE,
    slow_server.chunks_in_drops: ".",  # late, or a size that is too long
    slow_server.silence: LATE,
    slow_server.silence_after_headers: LATE,
    slow_server.endless_interim_answers: LATE,
    slow_server.end_in_the_middle: BROKEN,
    slow_server.end_of_headers_in_the_middle: BROKEN,
    slow_server.endless_header: BROKEN,
    slow_server.packed_twice: "packed more than once",
}
ways = pytest.mark.parametrize("way", [*WAYS, slow_server.long_body, slow_server.redirects], ids=lambda way: way.__name__)


class TestLanguageModel:
    @pytest.mark.parametrize(("way", "said"), WAYS.items(), ids=[way.__name__ for way in WAYS])
    def test_it_is_listened_to_no_longer(self, way, said):
        with SlowServer(way) as server:
            begin = time.monotonic()
            with pytest.raises(Again, match=said):
                Endpoint(f"{server.url}/v1", timeout=0.5).send({"messages": []})
            assert time.monotonic() - begin < 0.5 + SLACK

    def test_a_long_body_is_read_in_part_and_no_redirect_is_followed(self):
        with SlowServer(slow_server.long_body) as server:
            response = Endpoint(f"{server.url}/v1").send({"messages": []})
            assert MOST_BYTES <= len(response.body) < MOST_BYTES + 2**20
        with SlowServer(slow_server.redirects) as server:
            assert Endpoint(f"{server.url}/v1").send({"messages": []}).status == 302 and server.asked == 1

    def test_it_holds_for_a_connection_that_is_used_again_and_for_each_request_anew(self):
        good = slow_server.HEAD + b"Content-Length: 2\r\n\r\n{}"
        answers = iter([[good], slow_server.headers_in_drops(), [good]])
        with SlowServer(lambda: next(answers), keeps=True) as server:
            endpoint = Endpoint(f"{server.url}/v1", timeout=30.0)
            assert endpoint.send({"messages": []}).body == "{}"
            endpoint.timeout = 0.5
            with pytest.raises(Again, match=LATE):
                endpoint.send({"messages": []})
            endpoint.timeout = 30.0  # the end of the request before has passed
            assert endpoint.send({"messages": []}).body == "{}"


@pytest.mark.django_db
class TestSignInProvider:
    @ways
    @pytest.mark.parametrize("endpoint", ["TOKEN", "JWKS", "USER"])
    def test_it_is_a_sentence_soon(self, client, provider, settings, monkeypatch, way, endpoint):  # noqa: F811
        monkeypatch.setattr("config.oidc.SECONDS", 0.5)
        with SlowServer(way) as server:
            setattr(settings, f"OIDC_OP_{endpoint}_ENDPOINT", f"{server.url}/x")
            begin = time.monotonic()
            assert test_oidc.come_in(client, provider).url == "/login/"
            assert time.monotonic() - begin < 0.5 + SLACK
            assert server.sent < 20 * 2**20 and server.asked < 30
        assert "Example University does not answer as it should" in client.get("/login/").content.decode()
        assert test_oidc.who(client) is None


@ways
def test_the_hub_is_listened_to_no_longer(way, tmp_path, monkeypatch):
    from huggingface_hub import constants

    for name, bound in {"SECONDS": 0.4, "MOST_BYTES": 2 * 2**20, "MOST_REQUESTS": 4}.items():
        monkeypatch.setattr(f"leaderboard.hub_client.{name}", bound)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    with SlowServer(way) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        begin = time.monotonic()
        with pytest.raises(Refused) as refused:
            hub.download(hub.address_of("hf://datasets/alice/rows/data/outputs.jsonl"), tmp_path)
        assert time.monotonic() - begin < slow_server.SECONDS - 0.5
        assert "\n" not in str(refused.value) and server.sent < 20 * 2**20


def test_the_mail_server_is_listened_to_no_longer(settings, monkeypatch):
    monkeypatch.setattr("core.mail.SECONDS", 0.5)
    with SlowServer(slow_server.mail_in_drops) as server:
        for name, value in mail.settings_of(f"smtp+plain://127.0.0.1:{server.port}").items():
            setattr(settings, name, value)
        settings.EMAIL_URL = "smtp+plain://127.0.0.1"
        begin = time.monotonic()
        assert mail.send("ann@example.org", "Hello", "Hello") is False
        assert time.monotonic() - begin < 0.5 + SLACK and server.asked == 1
