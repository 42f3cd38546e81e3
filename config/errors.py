"""What is answered where a request broke: a page, or under /api/ the shape that all errors have there.

A full disk, a database that can only be read, one that is busy and one that is away are no faults of the program; they are
said in a sentence.
"""

import errno
import sqlite3
import sys

import psycopg
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from annotation.api.errors import problem

FULL = 507, gettext_lazy("The disk of this server is full, so nothing was stored. Please tell the people who run this server.")
READ_ONLY = (
    503,
    gettext_lazy("The database is read-only at the moment, so nothing was stored. Please tell the people who run this server."),
)
BUSY = 503, gettext_lazy("The database is busy, so nothing was stored. Please try again in a minute.")
AWAY = (
    503,
    gettext_lazy("The database cannot be reached at the moment. Confirmed answers are stored. Please try again in a minute."),
)
DAMAGED = (
    503,
    gettext_lazy("The database of this server is damaged. Nothing was stored. Please tell the people who run this server."),
)
BROKEN = 500, gettext_lazy("Something went wrong on our side. Confirmed answers are stored.")
OF_SYSTEM = {errno.ENOSPC: FULL, errno.EDQUOT: FULL, errno.EROFS: READ_ONLY}
OF_SQLITE = {sqlite3.SQLITE_FULL: FULL, sqlite3.SQLITE_READONLY: READ_ONLY, sqlite3.SQLITE_BUSY: BUSY}
OF_SQLITE |= {sqlite3.SQLITE_CORRUPT: DAMAGED, sqlite3.SQLITE_NOTADB: DAMAGED}
OF_POSTGRES = {  # disk_full, read_only_sql_transaction, lock_not_available, deadlock_detected; admin_shutdown, crash_shutdown,
    # cannot_connect_now; data_corrupted, index_corrupted
    **{"XX001": DAMAGED, "XX002": DAMAGED},
    **{"53100": FULL, "25006": READ_ONLY, "55P03": BUSY, "40P01": BUSY},
    **{"57P01": AWAY, "57P02": AWAY, "57P03": AWAY},
}


def outage(error: BaseException | None) -> tuple[int, str | Promise]:
    """(status, sentence) of what broke, by the error that came first among those that led to this one."""
    while error is not None:
        told = (
            OF_SYSTEM.get(getattr(error, "errno", None) or 0)
            or OF_SQLITE.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)  # the rest of an extended code says more
            or OF_POSTGRES.get(getattr(error, "sqlstate", None) or "")
            or (AWAY if _lost_connection(error) else None)
        )
        if told:
            return told
        error = error.__cause__ or error.__context__
    return BROKEN


def _lost_connection(error: BaseException) -> bool:
    """Did PostgreSQL not answer, or was the connection cut? Only then the error has no code of the server."""
    return isinstance(error, psycopg.OperationalError) and error.sqlstate is None


def server_error(request) -> HttpResponse:
    """Django's handler500. The page needs no database."""
    status, sentence = outage(sys.exc_info()[1])
    if request.path_info.startswith("/api/"):
        return problem(status, str(sentence))
    told = "" if status == 500 else sentence
    return HttpResponse(render_to_string("500.html", {"told": told}), status=status)


def bad_request(request, exception) -> HttpResponse:
    """Django's handler400. Without the request, so that no cookie that was refused is looked at again."""
    if request.path_info.startswith("/api/"):
        return problem(400, "The request is not in the form it should have; nothing was changed.")
    return HttpResponse(render_to_string("400.html"), status=400)
