"""A second factor beside the password: a code from an app on the person's phone (TOTP, RFC 6238), or a recovery code.

A session passes once for the secret that was there then; a new secret asks every session again. The secret is kept sealed.
"""

import base64
import hashlib
import hmac
import secrets
import struct
import time
from urllib.parse import quote, urlencode

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext

from annotation.models import User
from annotation.people import audit
from core.errors import Refused
from core.sealed import digest, seal, unseal
from core.throttling import CODES_OF_ACCOUNT, RECOVERY_CODES_OF_ACCOUNT

SECONDS, DIGITS = 30, 6  # what every authenticator app takes for granted
DRIFT = 1  # steps that the phone's clock may be off, either way (RFC 6238, 5.2)
SECRET_BYTES = 20  # as long as SHA-1's output (RFC 4226, 4)
RECOVERY_CODES = 10
PASSED = "second_factor"  # in the session
KEY_CHANGED = (
    "The secret key of this server was changed, so it cannot check the app's codes. "
    "Enter a recovery code, or ask an admin to turn your second factor off."
)


def code_at(key: bytes, seconds: float, digits: int = DIGITS) -> str:
    """TOTP with SHA-1 (RFC 6238, 4, upon RFC 4226, 5.3)."""
    digest = hmac.new(key, struct.pack(">Q", int(seconds // SECONDS)), hashlib.sha1).digest()
    offset = digest[-1] & 15
    number = int.from_bytes(digest[offset : offset + 4], "big") & 0x7FFFFFFF
    return f"{number % 10**digits:0{digits}d}"


def new_secret() -> str:
    return base64.b32encode(secrets.token_bytes(SECRET_BYTES)).decode()


def address_for_app(user: User, secret: str) -> str:
    """What the app reads from the picture (the key URI format of Google Authenticator)."""
    label = quote(f"Comparena:{user.get_username()}")
    return f"otpauth://totp/{label}?{urlencode({'secret': secret, 'issuer': 'Comparena'})}"


def step_of(secret: str, typed: str) -> int | None:
    """The time step whose code this is, now or a step off; None where it is none."""
    key, now, typed = base64.b32decode(secret), time.time(), _bare(typed)
    for step in range(int(now // SECONDS) - DRIFT, int(now // SECONDS) + DRIFT + 1):
        if hmac.compare_digest(code_at(key, step * SECONDS).encode(), typed.encode()):
            return step
    return None


@transaction.atomic
def turn_on(user: User, secret: str, typed: str) -> list[str]:
    """Ask for codes of this secret from now on. Returns recovery codes, which are shown once. Raises Refused where the
    typed code is not the secret's."""
    step = step_of(secret, typed)
    if step is None:
        raise Refused(gettext("This is not the code that the app shows now. Is the clock of the phone right?"))
    codes = [base64.b32encode(secrets.token_bytes(10)).decode().lower() for _ in range(RECOVERY_CODES)]
    user.totp_secret, user.totp_step, user.recovery_codes = seal(secret), step, [digest(code) for code in codes]
    user.save(update_fields=["totp_secret", "totp_step", "recovery_codes"])
    audit.about(user, "second factor on")
    return ["-".join(code[i : i + 4] for i in range(0, 16, 4)) for code in codes]


@transaction.atomic
def turn_off(user: User) -> None:
    user.totp_secret, user.recovery_codes = "", []
    user.save(update_fields=["totp_secret", "recovery_codes"])
    audit.about(user, "second factor off")


def check(user: User, typed: str) -> None:
    """Raises Refused where this is neither a code of now that was not used yet, nor a recovery code that is left; after
    ten wrong ones in a quarter of an hour, in any case."""
    is_recovery = len(_bare(typed)) > DIGITS
    limit = RECOVERY_CODES_OF_ACCOUNT if is_recovery else CODES_OF_ACCOUNT  # guessed codes do not lock the others
    if limit.take(str(user.pk)) > limit.count:
        raise Refused(gettext("Too many wrong codes. Wait 15 minutes, then try again."))
    secret = unseal(user.totp_secret)
    step = step_of(secret, typed) if secret else None
    if not (_uses_step(user, step) or _uses_recovery_code(user, typed)):
        audit.about(user, "second factor failed")
        if secret is None:
            raise Refused(KEY_CHANGED)
        raise Refused(gettext("This code is wrong, or was used already. Enter the code that the app shows now."))
    limit.give_back(str(user.pk))


def _uses_step(user: User, step: int | None) -> bool:
    """Each code once: whoever looked over the shoulder comes too late (RFC 6238, 5.2)."""
    return step is not None and bool(User.objects.filter(pk=user.pk, totp_step__lt=step).update(totp_step=step))


@transaction.atomic
def _uses_recovery_code(user: User, typed: str) -> bool:
    stored, code = User.objects.select_for_update().get(pk=user.pk), digest(_bare(typed).lower())
    if code not in stored.recovery_codes:
        return False
    stored.recovery_codes.remove(code)
    stored.save(update_fields=["recovery_codes"])
    audit.about(user, "recovery code used", left=len(stored.recovery_codes))
    return True


def is_due(request) -> bool:
    """Has the signed-in person still to give a code in this session?"""
    secret = request.user.totp_secret
    return bool(secret) and request.session.get(PASSED) != digest(secret)


def is_missing(user: User) -> bool:
    """Has the person to set one up before anything else?"""
    return settings.ADMINS_NEED_SECOND_FACTOR and user.is_admin and not user.totp_secret


def passed(request) -> None:
    request.session.cycle_key()
    request.session[PASSED] = digest(request.user.totp_secret)


def _bare(typed: str) -> str:
    return "".join(typed.split()).replace("-", "")
