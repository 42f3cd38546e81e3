"""A WSGI application whose answers are as long as the address says, and wait until its file is there: /file/mebibytes.

The file is of the folder GATES; "0" waits for none. The application makes the file `NAME.busy` when it begins to wait.
"""

import os
import time
from pathlib import Path


def application(environ, start_response):
    _, gate, size, *_ = environ["PATH_INFO"].split("/") + ["0", "0"]
    body = environ["wsgi.input"].read()
    if gate not in ("", "0"):
        file = Path(os.environ["GATES"]) / gate
        file.with_suffix(".busy").touch()
        while not file.exists():
            time.sleep(0.01)
    if size == "file":
        headers = [("Content-Length", str(os.path.getsize(__file__)))]
        start_response("200 OK", headers)
        return environ["wsgi.file_wrapper"](open(__file__, "rb"))
    answer = [f"{os.getpid()} {len(body)} ".encode(), *(b"x" * 2**20 for _ in range(int(size or 0)))]
    start_response("200 OK", [("Content-Length", str(sum(map(len, answer))))])
    return answer
