"""What the log does not tell: links that let people in are keys."""

import logging
import re

from core.request_id import current

KEYS = re.compile(r"(/(?:join|resume|password/reset/[^/\s]+)/)[^/\s?\"']+")


class WithoutKeys(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """The line, and its traceback, with the tokens of links taken out; `request_id` is for the format."""
        record.request_id = current.get() or "-"
        return KEYS.sub(r"\1[...]", super().format(record))
