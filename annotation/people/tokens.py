"""Keys with which programs act for a user through the REST API."""

import logging
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import DatabaseError, transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotation.models import ApiToken, Scope, User
from annotation.models.people import TOKEN_LIFE
from core.errors import Refused
from core.sealed import digest

log = logging.getLogger(__name__)
MOST = 20  # of one user
PREFIX = "comparena_"  # so that scanners for leaked keys know one
USED_WITHIN = timedelta(minutes=1)  # a busy key writes its last use once a minute, not with every request


def make_token(
    user: User, name: str, scopes: Iterable[str] = tuple(Scope), life: timedelta = TOKEN_LIFE
) -> tuple[ApiToken, str]:
    """The token's row, and the key itself: it is not kept and can't be shown again."""
    kept = " ".join(scope for scope in Scope if scope in set(scopes))
    if not kept:
        raise Refused(gettext("Choose what the token may do."))
    if not timedelta(0) < life <= TOKEN_LIFE:
        raise Refused(f"A token is valid for at most {TOKEN_LIFE.days} days.")
    if not name.strip() or len(name) > 100:
        raise Refused(gettext("Describe the purpose of the token in at most 100 characters."))
    if user.api_tokens.filter(expires_at__gt=timezone.now()).count() >= MOST:
        raise Refused(gettext("You have %(count)d tokens. Revoke one that you no longer use.") % {"count": MOST})
    key = PREFIX + secrets.token_urlsafe(32)
    until = timezone.now() + life
    return ApiToken.objects.create(user=user, name=name.strip(), digest=digest(key), scopes=kept, expires_at=until), key


def token_of(key: str) -> ApiToken | None:
    """The token of a key, with its user; None where it was never made, or revoked, or has expired, or the account is closed."""
    now = timezone.now()
    valid = ApiToken.objects.filter(user__is_active=True, expires_at__gt=now)
    token = valid.select_related("user").filter(digest=digest(key)).first()
    if token is None:
        return None
    if token.used_at is None or token.used_at < now - USED_WITHIN:
        _note_use(token, now)
    return token


def _note_use(token: ApiToken, now: datetime) -> None:
    """Where nothing can be stored, what is only read is read all the same."""
    try:
        with transaction.atomic():
            ApiToken.objects.filter(pk=token.pk).update(used_at=now)
    except DatabaseError as error:
        log.warning("the last use of a token was not noted: %s", error)
