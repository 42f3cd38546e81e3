"""A WSGI application whose answers take as long, and are as long, as the address says: /seconds/bytes."""

import os
import time


def application(environ, start_response):
    _, seconds, size, *_ = environ["PATH_INFO"].split("/") + ["0", "0"]
    body = environ["wsgi.input"].read()
    time.sleep(float(seconds or 0))
    if size == "file":
        headers = [("Content-Length", str(os.path.getsize(__file__)))]
        start_response("200 OK", headers)
        return environ["wsgi.file_wrapper"](open(__file__, "rb"))
    answer = [f"{os.getpid()} {len(body)} ".encode(), *(b"x" * 2**20 for _ in range(int(size or 0)))]
    start_response("200 OK", [("Content-Length", str(sum(map(len, answer))))])
    return answer
