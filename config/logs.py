"""What the log does not tell: links that let people in are keys."""

import logging
import re

KEYS = re.compile(r"(/(?:join|resume)/)[^/\s?\"']+")


class WithoutKeys(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """The line, and its traceback, with the tokens of links taken out."""
        return KEYS.sub(r"\1[...]", super().format(record))
