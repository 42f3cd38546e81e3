"""A judge's replies as rows: kept before anything else happens, for every worker alike."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from evaluator.judges.replies import Replies
from evaluator.models import Judge, Reply


class RowReplies(Replies):
    """Those of one judge, beside what earlier versions kept in a file of the campaign."""

    def __init__(self, judge: Judge, further: Path | None = None):
        """judge: one that is not stored has none, and gets none. further: a file of replies that counts too."""
        super().__init__(None)
        self.judge = judge
        for path in (settings.REPLIES_DIR / f"{judge.campaign.slug}.jsonl", further):
            if path is not None and path.exists():
                self._load(path)
        if judge.pk:
            self._known.update(judge.replies.filter(is_readable=True).values_list("key", "reply"))
            others = judge.replies.filter(is_readable=False).values_list("key", "reply__unjudged")
            self._unjudged.update({key: why for key, why in others if why})

    def get(self, key: str) -> dict[str, Any] | None:
        """Another worker may have asked since."""
        if key not in self._known and self.judge.pk:
            self._known.update(self.judge.replies.filter(key=key, is_readable=True).values_list("key", "reply"))
        return super().get(key)

    def keep(self, key: str, reply: dict[str, Any]) -> None:
        self._known[key] = reply
        self._store(key, reply, True)

    def keep_unreadable(self, key: str, what: Any, why: str = "") -> None:
        self._known.pop(key, None)
        if why:
            self._unjudged[key] = why
        self._store(key, {"unjudged": why, "unreadable": what} if why else what, False)

    def keep_many(self, replies: Mapping[str, dict[str, Any]]) -> None:
        self._known.update(replies)
        if not self.judge.pk:
            return
        rows: Iterable[Reply] = (Reply(judge=self.judge, key=key, reply=reply) for key, reply in replies.items())
        Reply.objects.bulk_create(rows, batch_size=500, ignore_conflicts=True)

    def keep_all(self) -> None:
        """Rows of what a file brought."""
        self.keep_many(self._known)

    def drop(self, keys: Iterable[str]) -> None:
        keys = list(keys)
        for key in keys:
            self._known.pop(key, None)
        for start in range(0, len(keys), 500):  # SQLite takes a limited number of parameters
            self.judge.replies.filter(key__in=keys[start : start + 500]).delete()

    def _store(self, key: str, reply: Any, readable: bool) -> None:
        fields = {"reply": reply, "is_readable": readable}
        Reply.objects.update_or_create(judge=self.judge, key=key, defaults=fields)


class RepliesOfAsking(RowReplies):
    """Those of one time that a judge is asked again: what it answered at another time does not count."""

    def __init__(self, judge: Judge, asking: str):
        super().__init__(judge)
        self._asking = asking

    def _own(self, key: str) -> str:
        return hashlib.sha256(f"{self._asking} {key}".encode()).hexdigest()

    def get(self, key: str) -> dict[str, Any] | None:
        return super().get(self._own(key))

    def known(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        return {key: self._known[own] for key in keys if (own := self._own(key)) in self._known}

    def keep(self, key: str, reply: dict[str, Any]) -> None:
        super().keep(self._own(key), reply)

    def keep_unreadable(self, key: str, what: Any, why: str = "") -> None:
        super().keep_unreadable(self._own(key), what, why)

    def why_unjudged(self, key: str) -> str:
        return super().why_unjudged(self._own(key))
