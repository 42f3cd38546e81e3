"""Run in an installation of its own: a line of its input is Python code, its answer a line: [what that printed, the error]."""

import io
import json
import sys
import traceback
from contextlib import redirect_stdout

import django
from django.db import close_old_connections


def main() -> None:
    from django.core.management import call_command

    import annotation.models
    import evaluator.models

    names = {"io": io, "json": json, "call_command": call_command, **vars(annotation.models), **vars(evaluator.models)}
    for line in sys.stdin:
        said, error = io.StringIO(), ""
        close_old_connections()
        with redirect_stdout(said):
            try:
                exec(json.loads(line), dict(names))  # noqa: S102 a test's own code
            except Exception:
                error = traceback.format_exc()
        print(json.dumps([said.getvalue(), error]), flush=True)


if __name__ == "__main__":
    django.setup()
    main()
