"""A WSGI application that asks the database for what takes a minute, but for /: /ask. It leaves a file after a POST."""

import os
from pathlib import Path

from django.db import connection

from config.wsgi import application as product  # noqa: F401  (sets Django up)

FOREVER = {
    "postgresql": "SELECT pg_sleep(60)",
    "sqlite": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n WHERE i < 0",
}
THREE_SECONDS = {
    "postgresql": "SELECT pg_sleep(3)",
    "sqlite": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10000000) SELECT count(*) FROM n",
}


def application(environ, start_response):
    if environ["PATH_INFO"] == "/ask":
        is_read = environ["REQUEST_METHOD"] == "GET"
        with connection.cursor() as cursor:
            cursor.execute((FOREVER if is_read else THREE_SECONDS)[connection.vendor])
        Path(os.environ["DATA_DIR"], "stored").touch()
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]
