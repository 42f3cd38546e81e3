"""The cache that all web processes share, in Redis. While Redis is away each process keeps its own, so that no page breaks
and attempts are still counted. A certificate that fails is an error."""

import logging
import ssl
from collections.abc import Callable

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import ConnectionError, TimeoutError

log = logging.getLogger(__name__)


def _or_own(name: str) -> Callable:
    def method(self, *args, **kwargs):
        try:
            return getattr(RedisCache, name)(self, *args, **kwargs)
        except (ConnectionError, TimeoutError) as error:
            if isinstance(error.__context__, ssl.SSLError):
                raise  # a server that can't prove who it is has to be noticed
            log.warning("Redis is away (%s); this process counts by itself", error)
            return getattr(self.own, name)(*args, **kwargs)

    return method


class RedisOrOwn(RedisCache):
    def __init__(self, server, params):
        super().__init__(server, params)
        self.own = LocMemCache("while Redis is away", params)

    add, get, set, incr = map(_or_own, ("add", "get", "set", "incr"))
    get_many, set_many, delete, clear = map(_or_own, ("get_many", "set_many", "delete", "clear"))
