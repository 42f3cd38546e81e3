"""Every reply of a judge that costs something, in a file of JSON lines: whoever goes on with a run that was killed, or runs it
again, asks nothing twice. A language model's are kept as they came."""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from core.errors import Refused


def key_of(request: dict[str, Any], url: str) -> str:
    """SHA-256 of all that a reply depends on: where it was asked, and the whole request, with model, prompt and pair. url: of
    another judge what tells it from others."""
    return hashlib.sha256(json.dumps([url, request], sort_keys=True, ensure_ascii=False).encode()).hexdigest()


class Replies:
    """Raw replies by key. A line is {"key", "reply"}; or {"key", "unreadable": what came instead}, which is asked for again; or
    {"key", "unjudged": why, "unreadable"}, which is not, since the answer would be no other."""

    def __init__(self, path: Path | None):
        """path: None keeps them in memory alone."""
        self.path = path
        self._known: dict[str, dict[str, Any]] = {}
        self._unjudged: dict[str, str] = {}
        if path is not None and path.exists():
            self._load(path)

    def get(self, key: str) -> dict[str, Any] | None:
        return self._known.get(key)

    def keep(self, key: str, reply: dict[str, Any]) -> None:
        self._known[key] = reply
        self._append({"key": key, "reply": reply})

    def keep_unreadable(self, key: str, what: Any, why: str = "") -> None:
        """why: given where it is not to be asked for again."""
        self._known.pop(key, None)
        if why:
            self._unjudged[key] = why
        self._append({"key": key, "unjudged": why, "unreadable": what} if why else {"key": key, "unreadable": what})

    def why_unjudged(self, key: str) -> str:
        """Why it stays without an answer; "" where it may be asked for."""
        return self._unjudged.get(key, "")

    def known(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Those of the keys that were kept when this began, or since by it."""
        return {key: self._known[key] for key in keys if key in self._known}

    def keep_many(self, replies: Mapping[str, dict[str, Any]]) -> None:
        for key, reply in replies.items():
            self.keep(key, reply)

    def drop(self, keys: Iterable[str]) -> None:
        """They turned out to be none."""
        for key in keys:
            self.keep_unreadable(key, "")

    def _load(self, path: Path) -> None:
        lines = path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                key, reply = row["key"], row.get("reply")
            except (ValueError, KeyError, TypeError, AttributeError):
                if number == len(lines):  # the run was killed while it wrote this one
                    continue
                raise Refused(f"{path.name}, line {number}: is no reply of a language model.") from None
            if isinstance(reply, dict):
                self._known[key] = reply
            else:
                self._known.pop(key, None)
                if isinstance(why := row.get("unjudged"), str) and why:
                    self._unjudged[key] = why

    def _append(self, row: dict[str, Any]) -> None:
        """On disk before anything else happens: a reply has cost money."""
        if self.path is None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    file.truncate(self._last_line(file))
            file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    @staticmethod
    def _last_line(file: Any) -> int:
        """Where the last line begins, which was not written to its end."""
        file.seek(0)
        return int(file.read().rfind(b"\n") + 1)
