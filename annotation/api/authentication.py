"""Who a request of the REST API acts for: `Authorization: Bearer KEY`, or the session of a signed-in browser."""

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, Throttled

from annotation.people.tokens import user_of
from core.throttling import UNKNOWN_TOKENS_FROM_ADDRESS, address


class TokenAuthentication(BaseAuthentication):
    def authenticate(self, request):
        scheme, _, key = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() != "bearer":
            return None
        user = user_of(key.strip())
        if user is None:  # comes before the throttles of the views; whose token is known goes on
            if UNKNOWN_TOKENS_FROM_ADDRESS.is_reached(address(request)):
                raise Throttled(UNKNOWN_TOKENS_FROM_ADDRESS.seconds)
            UNKNOWN_TOKENS_FROM_ADDRESS.count_one(address(request))
            raise AuthenticationFailed("This token is not known here; it may have expired or been revoked.")
        return user, None

    def authenticate_header(self, request) -> str:
        return "Bearer"


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = "annotation.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema) -> dict:
        return {"type": "http", "scheme": "bearer", "description": "A token made on the page of your account."}
