"""Signing in by an OpenID Connect provider: an extra (requirements-oidc.txt), off until OIDC_ISSUER is set.

Somebody is known by the provider's own name for them (`sub`), never by an e-mail address: anybody can make an account here
with somebody else's. An admin writes `sub` into an account that was there before, to let its owner come in this way.
"""

import logging
import os
import secrets
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any

import httpx
import jwt
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import SuspiciousOperation
from django.urls import path
from mozilla_django_oidc import auth
from mozilla_django_oidc.views import OIDCAuthenticationCallbackView, OIDCAuthenticationRequestView

from annotation.models import User
from core.wall_clock import bind, within

log = logging.getLogger(__name__)
SECONDS = 10.0  # of each of the three requests that a sign-in makes
MOST_BYTES = 2**20  # of an answer


def ask(method: str, url: str, data: Any = None, headers: Any = None, auth: Any = None, **_: Any) -> httpx.Response:
    """As the library asks by `requests`, which waits for ever where a provider sends a byte a second, and reads all that it
    sends."""
    others = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE")  # as `requests` has it
    verify = ssl.create_default_context(cafile=others) if others else True
    unpacked = {"Accept-Encoding": "identity"}
    with httpx.Client(timeout=SECONDS, verify=verify, headers=unpacked, follow_redirects=True) as client:
        bind(client)
        with within(SECONDS), client.stream(method, url, data=data, headers=headers, auth=auth) as response:
            body = b""
            for part in response.iter_raw():
                body += part
                if len(body) > MOST_BYTES:
                    raise ValueError("The provider's answer is too long.")
    kept = {"content-type": response.headers.get("content-type", "")}
    return httpx.Response(response.status_code, headers=kept, content=body, request=response.request)


auth.requests = SimpleNamespace(get=partial(ask, "GET"), post=partial(ask, "POST"))


class NoAnswer(Exception):
    """The provider is away, or answers with something else than was asked for."""


@contextmanager
def _asked() -> Iterator[None]:
    try:
        yield
    except (httpx.HTTPError, OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise NoAnswer(type(error).__name__) from error


def _object(answer: Any) -> dict[str, Any]:
    if not isinstance(answer, dict):
        raise TypeError
    return answer


class Accounts(auth.OIDCAuthenticationBackend):
    def authenticate(self, request, **kwargs):
        try:
            return super().authenticate(request, **kwargs)
        except NoAnswer as error:
            log.warning("no answer of the sign-in provider: %s", error)
            messages.error(request, f"{settings.OIDC_NAME} does not answer as it should. Try again in a while.")
            return None

    def get_token(self, payload):
        with _asked():
            return _object(super().get_token(payload))

    def retrieve_matching_jwk(self, token):
        with _asked():
            return super().retrieve_matching_jwk(token)

    def verify_token(self, token, **kwargs):
        """The library checks signature, nonce and end; whose token it is, and for whom, is checked here (OpenID Connect Core
        1.0, 3.1.3.7)."""
        try:
            payload = super().verify_token(token, **kwargs)
        except jwt.PyJWTError as error:  # 400, not 500
            raise SuspiciousOperation(f"The token is not valid: {error}") from error
        audience = payload.get("aud")
        ours = audience if isinstance(audience, list) else [audience]
        if payload.get("iss") != settings.OIDC_ISSUER or settings.OIDC_RP_CLIENT_ID not in ours:
            raise SuspiciousOperation("The token is another issuer's, or for another client.")
        return payload

    def get_userinfo(self, access_token, id_token, payload):
        with _asked():
            claims = _object(super().get_userinfo(access_token, id_token, payload))
        if not payload.get("sub") or claims.get("sub") != payload["sub"]:  # 5.3.2
            raise SuspiciousOperation("Token and claims are about different people.")
        return claims

    def verify_claims(self, claims):
        return bool(claims.get("sub"))

    def filter_users_by_claims(self, claims):
        return User.objects.filter(oidc_subject=claims["sub"])

    def create_user(self, claims):
        """A new account, whose password nobody knows; None where the address is taken."""
        email = str(claims.get("email") or "").strip().lower()[:150]
        name = email or f"oidc-{secrets.token_hex(6)}"
        if User.objects.filter(username__iexact=name).exists():
            messages.error(self.request, "There is an account with your e-mail address. An admin can let you in this way.")
            return None
        user = User(username=name, email=email, first_name=str(claims.get("name") or "")[:150], oidc_subject=claims["sub"])
        user.set_password(secrets.token_urlsafe(48))
        user.save()
        return user


urlpatterns = [
    path("oidc/", login_not_required(OIDCAuthenticationRequestView.as_view()), name="oidc_authentication_init"),
    path("oidc/callback/", login_not_required(OIDCAuthenticationCallbackView.as_view()), name="oidc_authentication_callback"),
]
