"""E-mail, where the operator has set EMAIL_URL; without it none is sent and no page offers any."""

import logging
import socket
import threading
from contextlib import suppress
from typing import Any
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.core.mail import send_mail
from django.core.mail.backends.smtp import EmailBackend

log = logging.getLogger(__name__)
SECONDS = 10  # that a page or a worker waits for the mail server: until it is connected, and for all that follows


class Backend(EmailBackend):
    """Django's, with an end: its time-out bounds how long a server is silent."""

    @property
    def connection_class(self) -> Any:
        return type("Connection", (_WithEnd, super().connection_class), {})


class _WithEnd:
    """Before smtplib's SMTP or SMTP_SSL."""

    sock: Any = None
    timer: threading.Timer | None = None

    def _get_socket(self, *where: Any) -> Any:
        self.timer = threading.Timer(SECONDS, self.cut)
        self.timer.daemon = True
        self.sock = super()._get_socket(*where)  # type: ignore[misc]
        self.timer.start()
        return self.sock

    def cut(self) -> None:
        with suppress(OSError, TypeError):  # closed meanwhile
            socket.socket.shutdown(self.sock, socket.SHUT_RDWR)

    def close(self) -> None:
        if self.timer:
            self.timer.cancel()
        super().close()  # type: ignore[misc]


def settings_of(url: str) -> dict[str, Any]:
    """Django's settings from smtp://user:password@host:587 (STARTTLS), smtps://…:465 (TLS from the start) or
    smtp+plain://host:25 (neither; for a server on this machine). Raises ValueError for anything else, but not for nothing."""
    if not url:
        return {"EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend"}
    parts = urlsplit(url)
    if parts.scheme not in ("smtp", "smtps", "smtp+plain") or not parts.hostname:
        raise ValueError("EMAIL_URL: smtp://user:password@host:587, smtps://… or smtp+plain://… was expected.")
    return {
        "EMAIL_BACKEND": "core.mail.Backend",
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": parts.port or {"smtp": 587, "smtps": 465, "smtp+plain": 25}[parts.scheme],
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": parts.scheme == "smtp",
        "EMAIL_USE_SSL": parts.scheme == "smtps",
        "EMAIL_TIMEOUT": SECONDS,
    }


def is_on() -> bool:
    return bool(settings.EMAIL_URL)


def send(to: str, subject: str, text: str) -> bool:
    """One letter to one address. False where it was not sent; the log says why. Nothing else fails because of it."""
    if not is_on() or not to:
        return False
    try:
        return bool(send_mail(" ".join(subject.split()), text, None, [to]))
    except (OSError, ValueError) as error:  # smtplib's errors are OSErrors; a broken address is a ValueError
        log.warning("e-mail not sent: %s", type(error).__name__)
        return False
