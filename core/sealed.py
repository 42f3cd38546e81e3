"""Texts that a database and its backups do not show: encrypted under SECRET_KEY (Fernet: AES-128-CBC with HMAC-SHA-256)."""

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


def digest(secret: str) -> str:
    """By which a random secret is found without being kept: SHA-256, which is enough for 80 random bits or more."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def seal(text: str) -> str:
    return _keys().encrypt(text.encode()).decode()


def unseal(sealed: str) -> str | None:
    """None where it was sealed under another key, or changed."""
    try:
        return _keys().decrypt(sealed.encode()).decode()
    except InvalidToken:
        return None


def seal_anew(sealed: str) -> str | None:
    """The same text under the present SECRET_KEY; None where it can't be read."""
    try:
        return _keys().rotate(sealed.encode()).decode()
    except InvalidToken:
        return None


def _keys() -> MultiFernet:
    keys: list[str] = [str(settings.SECRET_KEY), *map(str, settings.SECRET_KEY_FALLBACKS)]
    derived = [hashlib.sha256(b"comparena sealed " + key.encode()).digest() for key in keys]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in derived])
