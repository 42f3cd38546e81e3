"""What the REST API reads: JSON nested no deeper than a person would write it, of numbers that can be written again."""

import json

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from core.rowfiles import MAX_DEPTH, NUMBERS, depth_of


class ShallowJSON(JSONParser):
    def parse(self, stream, media_type=None, parser_context=None):
        """Deep nesting and 1e999 would be errors of the server wherever they are written or shown later."""
        encoding = (parser_context or {}).get("encoding", "utf-8")
        try:
            data = json.loads(stream.read().decode(encoding), **NUMBERS)
        except RecursionError:
            raise ParseError("The JSON is nested too deeply.") from None
        except ValueError as error:
            raise ParseError(f"JSON parse error - {error}") from None
        if depth_of(data) > MAX_DEPTH:
            raise ParseError("The JSON is nested too deeply.")
        return data
