"""The name of the request that is being answered, or that asked for the job that is being done: it joins their log lines."""

import re
import uuid
from contextvars import ContextVar

HEADER = "X-Request-ID"
WELL_FORMED = re.compile(r"[A-Za-z0-9._-]{1,64}")

current: ContextVar[str] = ContextVar("request_id", default="")


def request_id(given: str | None) -> str:
    """What was given where it is well formed (1 to 64 letters, digits, dots, hyphens, underscores), else a new one."""
    return given if given and WELL_FORMED.fullmatch(given) else uuid.uuid4().hex
