"""How often somebody may try: passwords and tokens that fail, and joining. Counted in the cache, so Redis makes it one
count for all web processes; without it each counts its own."""

import ipaddress
import unicodedata
from dataclasses import dataclass

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest
from django.http.response import HttpResponseBase

KNOWN_BROWSER, KNOWN_SECONDS = "known_browser", 90 * 24 * 3600


@dataclass(frozen=True)
class Limit:
    """At most `count` times in `seconds`, for each key."""

    name: str
    count: int
    seconds: int

    def is_reached(self, key: str) -> bool:
        count: int = cache.get(self._key(key), 0)
        return count >= self.count

    def take(self, key: str) -> int:
        """Count one try before it is made, in one step, so that tries side by side all count; returns how many there were.
        More than `count`: this one is not to be made."""
        cache.add(self._key(key), 0, self.seconds)
        try:
            return int(cache.incr(self._key(key)))
        except ValueError:  # it ran out between the two
            cache.set(self._key(key), 1, self.seconds)
            return 1

    def give_back(self, key: str) -> None:
        """It was none of those that are limited."""
        try:
            cache.incr(self._key(key), -1)
        except ValueError:
            pass

    def count_one(self, key: str) -> None:
        if not cache.add(self._key(key), 1, self.seconds):
            try:
                cache.incr(self._key(key))
            except ValueError:  # it ran out between the two
                cache.set(self._key(key), 1, self.seconds)

    def _key(self, key: str) -> str:
        return f"limit:{self.name}:{key.encode().hex()}"[:240]


# A class behind one address may mistype; somebody who guesses one person's password may not go on for long.
FAILED_FOR_ACCOUNT = Limit("failed-account", 10, 15 * 60)
FAILED_FOR_ACCOUNT_ANYWHERE = Limit("failed-account-anywhere", 100, 60 * 60)
FAILED_FROM_ADDRESS = Limit("failed-address", 100, 15 * 60)
JOINED_FROM_ADDRESS = Limit("joined-address", 300, 15 * 60)
FIRST_ADMIN_CODES_FROM_ADDRESS = Limit("first-admin-address", 10, 15 * 60)
MAILED_BY_ACCOUNT = Limit("mailed-account", 100, 60 * 60)
RESETS_FROM_ADDRESS = Limit("reset-address", 20, 60 * 60)
RESETS_FOR_EMAIL = Limit("reset-email", 3, 60 * 60)
RECOVERY_CODES_OF_ACCOUNT = Limit("recovery-codes", 10, 15 * 60)
CODES_OF_ACCOUNT = Limit("second-factor", 10, 15 * 60)  # of a million codes three are right at a time
MAILED_BY_CAMPAIGN = Limit("mailed-campaign", 20, 24 * 60 * 60)  # crowd campaigns have hundreds of annotators
UNKNOWN_TOKENS_FROM_ADDRESS = Limit("unknown-token-address", 60, 60)  # as often as the API answers anybody without a token


def address(request: HttpRequest) -> str:
    """The visitor's network address: what the last trusted proxy saw, where there are proxies (PROXIES)."""
    nearest: str = request.META.get("REMOTE_ADDR", "")
    forwarded: str = request.META.get("HTTP_X_FORWARDED_FOR", "")
    if settings.PROXIES:
        hops = [part.strip() for part in forwarded.split(",")]
        return hops[-min(settings.PROXIES, len(hops))] or nearest
    return nearest


def network(request: HttpRequest) -> str:
    """Whose tries count together: an address, and all of IPv6 that one customer has (a /64)."""
    try:
        own = ipaddress.ip_address(address(request))
    except ValueError:
        return address(request)
    if isinstance(own, ipaddress.IPv4Address):
        return str(own)
    return str(own.ipv4_mapped or ipaddress.ip_network((own, 64), strict=False))


def account_name(username: str) -> str:
    """Folded as the log-in folds it (NFKC), so that another spelling is no new account."""
    return unicodedata.normalize("NFKC", username).strip().lower()[:150]


def password_limits(request: HttpRequest, username: str) -> list[tuple[Limit, str]]:
    """What counts wrong passwords for this log-in name from this address, and from anywhere, each limit with its key. A browser
    in which this account signed in before is not held up by strangers elsewhere."""
    account = account_name(username)
    limits = [(FAILED_FOR_ACCOUNT, f"{network(request)} {account}"), (FAILED_FROM_ADDRESS, network(request))]
    known = request.get_signed_cookie(KNOWN_BROWSER, "", salt=KNOWN_BROWSER, max_age=KNOWN_SECONDS)
    return limits if known == account else [*limits, (FAILED_FOR_ACCOUNT_ANYWHERE, account)]


def remember_browser(response: HttpResponseBase, username: str) -> None:
    """Note in the browser that this account signed in there, or got its letter there."""
    how = {"max_age": KNOWN_SECONDS, "httponly": True, "samesite": "Lax", "secure": settings.SESSION_COOKIE_SECURE}
    response.set_signed_cookie(KNOWN_BROWSER, account_name(username), salt=KNOWN_BROWSER, **how)
