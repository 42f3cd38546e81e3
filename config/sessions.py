"""Sessions in the database, each under a digest of its key: who reads the database or a backup can't go on with one."""

from typing import Any

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from annotation.statements import Statement
from core.sealed import digest

LENGTH = 40  # of Django's column: 160 bits


def stored_key(key: str) -> str:
    return digest(key)[:LENGTH]


SESSION = Statement(lambda key: Session.objects.filter(session_key=key), arguments=1, texts=(0,))


class SessionStore(db.SessionStore):
    """Named as Django's, since the name salts what is kept. Only for the synchronous server that runs here."""

    def _get_session_from_db(self) -> Any:
        session = SESSION.first(stored_key(str(self.session_key)))
        if session is None or session.expire_date <= timezone.now():
            self._session_key = None
            return None
        return session

    def exists(self, session_key: str) -> bool:
        return super().exists(stored_key(session_key))

    def create_model_instance(self, data: dict[str, Any]) -> Any:
        session = super().create_model_instance(data)
        session.session_key = stored_key(session.session_key)
        return session

    def delete(self, session_key: str | None = None) -> None:
        if key := session_key or self.session_key:
            super().delete(stored_key(key))
