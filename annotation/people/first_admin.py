"""The first admin of an installation, made on a page: by whoever sits at the machine, or knows the code of its terminal."""

import ipaddress
import secrets

from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.db.models import Q
from django.http.request import split_domain_port

from annotation.models import User
from core.errors import Refused

LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # none that is taken for another
GROUPS, GROUP = 4, 4  # 31**16 codes, 79 bits
PROXY_HEADERS = {"HTTP_FORWARDED", "HTTP_VIA", "HTTP_X_REAL_IP", "HTTP_X_CLIENT_IP", "HTTP_TRUE_CLIENT_IP"}


def has_admin() -> bool:
    """Was there ever an account of staff? One that may not sign in any more counts, too."""
    return User.objects.filter(Q(is_staff=True) | Q(is_superuser=True)).exists()


def is_offered(request) -> bool:
    """May this visitor make the first admin, with the code or without?"""
    return (has_code() or is_from_this_machine(request)) and not has_admin()


def new_code() -> str:
    """A code to be typed in: four groups of four letters and digits."""
    return "-".join("".join(secrets.choice(LETTERS) for _ in range(GROUP)) for _ in range(GROUPS))


def has_code() -> bool:
    """Was a code shown where the server was started?"""
    return bool(_letters(settings.FIRST_ADMIN_KEY))


def is_code(typed: str) -> bool:
    """Is this the code that the terminal shows (settings.FIRST_ADMIN_KEY)? Its hyphens and capitals do not matter."""
    asked, given = _letters(settings.FIRST_ADMIN_KEY), _letters(typed)
    return bool(asked) and secrets.compare_digest(asked.encode(), given.encode())


def _letters(code: str) -> str:
    return "".join(code.split()).replace("-", "").lower()


def is_from_this_machine(request) -> bool:
    """Did a browser on this machine ask, without a proxy between? Where proxies are expected, nobody is believed."""
    if settings.PROXIES or settings.HTTPS:
        return False
    if any(name in PROXY_HEADERS or name.startswith(("HTTP_X_FORWARDED", "HTTP_CF_")) for name in request.META):
        return False
    host, _ = split_domain_port(request.get_host())
    return _is_loopback(request.META.get("REMOTE_ADDR", "")) and (host == "localhost" or _is_loopback(host.strip("[]")))


def _is_loopback(address: str) -> bool:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:  # a socket of Unix has no address
        return False
    return (getattr(found, "ipv4_mapped", None) or found).is_loopback


@transaction.atomic
def make_first_admin(unsaved: User) -> User:
    """Store this account as the admin. Raises Refused where there is one by now.

    Two requests at once make one admin: the row that stands for accounts is locked (PostgreSQL), or the whole database
    is, from the transaction's beginning (SQLite)."""
    accounts = ContentType.objects.get_for_model(User)
    ContentType.objects.select_for_update().get(pk=accounts.pk)
    if has_admin():
        raise Refused("There is an admin already.")
    unsaved.is_staff = unsaved.is_superuser = unsaved.may_create_campaigns = True
    unsaved.save()
    return unsaved
