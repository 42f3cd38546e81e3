"""Signing in by a provider, which runs on the loopback here: who comes in, as whom, and whose tokens are not believed."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from annotation.models import User

pytestmark = pytest.mark.django_db
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)


class Provider:
    """What it says next: `token` and `claims` on top of what is right."""

    def __init__(self):
        self.token, self.claims, self.key, self.nonce, self.asked = {}, {}, KEY, "", {}
        self.broken: dict[str, tuple[int, bytes]] = {}  # what it says instead, by path
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                provider.asked = {name: values[0] for name, values in parse_qs(body).items()}
                self.answer({"access_token": "abc", "id_token": provider.id_token()})

            def do_GET(self):
                jwk = json.loads(RSAAlgorithm.to_jwk(KEY.public_key())) | {"kid": "k", "alg": "RS256"}
                self.answer({"keys": [jwk]} if self.path == "/jwks" else {"sub": "s-1", "name": "Ann"} | provider.claims)

            def answer(self, body):
                status, content = provider.broken.get(self.path, (200, json.dumps(body).encode()))
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(content)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def id_token(self) -> str:
        right = {"iss": self.url, "aud": "comparena", "sub": "s-1", "nonce": self.nonce, "exp": time.time() + 60}
        return jwt.encode(right | self.token, self.key, algorithm="RS256", headers={"kid": "k"})


@pytest.fixture
def provider(settings):
    provider = Provider()
    settings.ROOT_URLCONF = "tests.core.oidc_urls"
    settings.AUTHENTICATION_BACKENDS = [*settings.AUTHENTICATION_BACKENDS, "config.oidc.Accounts"]
    settings.OIDC_ISSUER, settings.OIDC_NAME = provider.url, "Example University"
    settings.OIDC_RP_CLIENT_ID, settings.OIDC_RP_CLIENT_SECRET = "comparena", "not-told"
    settings.OIDC_RP_SIGN_ALGO, settings.OIDC_USE_PKCE = "RS256", True
    settings.LOGIN_REDIRECT_URL_FAILURE = "/login/"
    for name, path in {"AUTHORIZATION": "/authorize", "TOKEN": "/token", "USER": "/user", "JWKS": "/jwks"}.items():
        setattr(settings, f"OIDC_OP_{name}_ENDPOINT", provider.url + path)
    yield provider
    provider.server.shutdown()
    provider.server.server_close()


def come_in(client, provider):
    """From the log-in to the provider and back."""
    address = urlsplit(client.get("/oidc/?next=/account/")["Location"])
    sent = {name: values[0] for name, values in parse_qs(address.query).items()}
    assert sent["client_id"] == "comparena" and sent["code_challenge_method"] == "S256" and "openid" in sent["scope"]
    provider.nonce = sent["nonce"]
    return client.get("/oidc/callback/", {"code": "c", "state": sent["state"]})


def who(client) -> User | None:
    return User.objects.filter(pk=client.session.get("_auth_user_id")).first()


def test_without_a_provider_there_is_no_way_to_one(client):
    assert client.get("/oidc/").status_code == 404 and "Sign in with" not in client.get("/login/").content.decode()


def test_a_new_person_gets_an_account_without_rights_and_is_known_again(client, provider):
    assert "Sign in with Example University" in client.get("/login/").content.decode()
    provider.claims = {"email": "Ann@example.org"}
    assert come_in(client, provider).url == "/account/"
    ann = who(client)
    assert (ann.username, ann.email, ann.first_name, ann.oidc_subject) == ("ann@example.org", "ann@example.org", "Ann", "s-1")
    assert not (ann.is_staff or ann.is_superuser or ann.may_create_campaigns)
    assert provider.asked["code_verifier"] and provider.asked["client_secret"] == "not-told"  # noqa: S105
    client.logout()
    provider.claims = {"email": "new-address@example.org"}
    come_in(client, provider)
    assert who(client) == ann and User.objects.count() == 1


def test_an_address_opens_nobody_s_account(client, provider):
    admin = User.objects.create_superuser("ann@example.org", "ann@example.org", "a-long-password")
    provider.claims = {"email": "ann@example.org", "email_verified": True}
    assert come_in(client, provider).url == "/login/"
    assert who(client) is None and "An admin can let you in" in client.get("/login/").content.decode()
    User.objects.filter(pk=admin.pk).update(oidc_subject="s-1")
    come_in(client, provider)
    assert who(client) == admin


def test_a_closed_account_stays_closed(client, provider):
    User.objects.create_user("ann", oidc_subject="s-1", is_active=False)
    come_in(client, provider)
    assert who(client) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"token": {"iss": "https://elsewhere.example"}},
        {"token": {"aud": "another-client"}},
        {"token": {"nonce": "another"}},
        {"token": {"exp": 1}},
        {"token": {"sub": "s-2"}},
        {"claims": {"sub": "s-2"}},
        pytest.param({"key": rsa.generate_private_key(public_exponent=65537, key_size=2048)}, id="another key"),
    ],
    ids=str,
)
def test_what_is_not_the_provider_s_word_lets_nobody_in(client, provider, wrong):
    client.raise_request_exception = False
    for name, value in wrong.items():
        setattr(provider, name, value)
    answer = come_in(client, provider)
    assert answer.status_code < 500 and who(client) is None and not User.objects.exists()


@pytest.mark.parametrize("path", ["/token", "/jwks", "/user"])
@pytest.mark.parametrize(
    "status, content",
    [(500, b"{}"), (200, b"<html>"), (200, b"[]"), (200, b"null"), (200, b"[1, 2]"), (200, b'"\xff"'), (302, b"")],
)
def test_a_provider_that_breaks_is_a_sentence_on_the_log_in_page(client, provider, path, status, content):
    provider.broken = {path: (status, content)}
    assert come_in(client, provider).url == "/login/"
    assert "Example University does not answer as it should" in client.get("/login/").content.decode()
    assert who(client) is None and not User.objects.exists()
    provider.broken = {}
    come_in(client, provider)
    assert who(client) is not None


def test_one_that_is_away_too(client, provider, settings):
    settings.OIDC_OP_TOKEN_ENDPOINT = "http://127.0.0.1:9/token"  # noqa: S105
    assert come_in(client, provider).url == "/login/"
    assert "Example University does not answer" in client.get("/login/").content.decode() and who(client) is None
