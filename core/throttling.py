"""How often somebody may try: log-ins that fail, and joining. Counted in the cache, so Redis makes it one count for all web
processes; without it each counts its own."""

from dataclasses import dataclass

from django.conf import settings
from django.core.cache import cache


@dataclass(frozen=True)
class Limit:
    """At most `count` times in `seconds`, for each key."""

    name: str
    count: int
    seconds: int

    def is_reached(self, key: str) -> bool:
        return cache.get(self._key(key), 0) >= self.count

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
FAILED_FROM_ADDRESS = Limit("failed-address", 100, 15 * 60)
JOINED_FROM_ADDRESS = Limit("joined-address", 300, 15 * 60)


def address(request) -> str:
    """The visitor's network address: what the last trusted proxy saw, where there are proxies (PROXIES)."""
    if settings.PROXIES:
        seen = [part.strip() for part in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
        return seen[-min(settings.PROXIES, len(seen))] or request.META.get("REMOTE_ADDR", "")
    return request.META.get("REMOTE_ADDR", "")
