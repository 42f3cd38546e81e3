"""What the REST API reads: JSON that is nested no deeper than a person would write it."""

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from core.rowfiles import MAX_DEPTH, depth_of


class ShallowJSON(JSONParser):
    def parse(self, stream, media_type=None, parser_context=None):
        """Deep nesting would be an error of the server wherever it is written or shown later."""
        try:
            data = super().parse(stream, media_type, parser_context)
        except RecursionError:
            raise ParseError("The JSON is nested too deeply.") from None
        if depth_of(data) > MAX_DEPTH:
            raise ParseError("The JSON is nested too deeply.")
        return data
