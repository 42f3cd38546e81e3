"""What the REST API reads: JSON no longer than a form may be, nested no deeper than a person would write it, of numbers and
texts that can be written again."""

import json

from django.conf import settings
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import JSONParser

from core.rowfiles import MAX_DEPTH, NUMBERS, depth_of


class TooLarge(APIException):
    status_code = 413
    default_detail = f"A request has at most {settings.DATA_UPLOAD_MAX_MEMORY_SIZE // 2**20} MB; send it in parts."


class ShallowJSON(JSONParser):
    rows = ""  # a field of rows, which are read as a file's are: what is wrong there is said with its line

    def parse(self, stream, media_type=None, parser_context=None):
        """Deep nesting, 1e999 and halves of surrogate pairs would be errors of the server wherever they are written or shown
        later."""
        encoding = (parser_context or {}).get("encoding", "utf-8")
        body = stream.read(settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
        if len(body) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            raise TooLarge
        try:
            data = json.loads(body.decode(encoding), **NUMBERS)
            if b"\\u" in body:
                rest = {key: value for key, value in data.items() if key != self.rows} if isinstance(data, dict) else data
                json.dumps(rest, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ParseError("The JSON holds half of a surrogate pair, which is no character.") from None
        except RecursionError:
            raise ParseError("The JSON is nested too deeply.") from None
        except ValueError as error:
            raise ParseError(f"JSON parse error - {error}") from None
        if depth_of(data) > MAX_DEPTH:
            raise ParseError("The JSON is nested too deeply.")
        return data


class OutputsJSON(ShallowJSON):
    rows = "outputs"
