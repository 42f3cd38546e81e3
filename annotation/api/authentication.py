"""Who a request of the REST API acts for: `Authorization: Bearer KEY`, or the session of a signed-in browser.

The one place where a token's scopes count: a view belongs to the scope `research`, unless it has another `scope`.
"""

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied, Throttled
from rest_framework.permissions import SAFE_METHODS

from annotation.models import Scope
from annotation.people.tokens import token_of
from core.throttling import UNKNOWN_TOKENS_FROM_ADDRESS, address


class TokenAuthentication(BaseAuthentication):
    def authenticate(self, request):
        scheme, _, key = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() != "bearer":
            return None
        token = token_of(key.strip())
        if token is None:  # comes before the throttles of the views; whose token is known goes on
            if UNKNOWN_TOKENS_FROM_ADDRESS.is_reached(address(request)):
                raise Throttled(UNKNOWN_TOKENS_FROM_ADDRESS.seconds)
            UNKNOWN_TOKENS_FROM_ADDRESS.count_one(address(request))
            raise AuthenticationFailed("This token is not known here; it may have expired or been revoked.")
        view = request.parser_context["view"]
        scope = getattr(view, "scope", Scope.RESEARCH)
        if not token.allows(scope, only_reads=request.method in SAFE_METHODS):
            raise PermissionDenied(f"This token may {', '.join(token.scope_list)}; this needs the scope {scope}.")
        token.user.acts_as_admin = Scope.ADMIN in token.scope_list
        return token.user, token

    def authenticate_header(self, request) -> str:
        return "Bearer"


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = "annotation.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema) -> dict:
        about = "A token made on the page of your account. It may do what its scopes say: " + "; ".join(Scope.labels) + "."
        return {"type": "http", "scheme": "bearer", "description": about}
