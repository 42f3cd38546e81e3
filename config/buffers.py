"""What comes in and goes out of a connection, kept until it is whole: no thread waits for a network.

`Spool` keeps bytes. `Reply` takes an answer and keeps what its reader does not take yet. `Arrival` says when a request is all
there (RFC 9112: by its Content-Length, or by its chunks). It decides only when the request is handed on; gunicorn's own parser
reads it then, and takes the end of what has come as the end.
"""

import errno
import os
import re
import selectors
import socket
from collections import deque
from tempfile import SpooledTemporaryFile
from typing import Any

IN_MEMORY = 256 * 2**10  # bytes; what is longer lies in a file without a name
LONGEST_HEADERS = 64 * 2**10  # bytes, of the headers or of a trailer
LONGEST_CHUNK_LINE = 1024
READ = 256 * 2**10  # bytes at a time
SLOWEST = 16 * 2**10  # bytes a second, of a body or an answer
WAITING_ANSWER = 64 * 2**20  # bytes of an answer that wait for their reader without a thread
LENGTH = re.compile(rb"^content-length[ \t]*:[ \t]*([0-9]{1,18})[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
CHUNKED = re.compile(rb"^transfer-encoding[ \t]*:.*chunked", re.IGNORECASE | re.MULTILINE)
EXPECTS = re.compile(rb"^expect[ \t]*:[ \t]*100-continue", re.IGNORECASE | re.MULTILINE)


class Spool:
    """Bytes, first in, first out."""

    def __init__(self, folder: str | None = None):
        self._file = SpooledTemporaryFile(IN_MEMORY, dir=folder)
        self._start = self._end = 0

    def __len__(self) -> int:
        return self._end - self._start

    def write(self, data: bytes) -> None:
        self._file.seek(self._end)
        self._file.write(data)
        self._end += len(data)

    def peek(self, size: int) -> bytes:
        self._file.seek(self._start)
        return self._file.read(min(size, len(self)))

    def skip(self, size: int) -> None:
        self._start += size
        if self._start == self._end:
            self._start = self._end = 0
            self._file.seek(0)
            self._file.truncate()

    def recv(self, size: int) -> bytes:
        """As a socket whose peer has sent all: b"" at the end."""
        data = self.peek(size)
        self.skip(len(data))
        return data

    def close(self) -> None:
        self._file.close()


class Arrival:
    """How much of one request has come. length: of its body as far as it is known, in bytes."""

    def __init__(self):
        self.is_whole, self.has_headers, self.length, self.expects = False, False, 0, False
        self.has_long_headers = False
        self._line = bytearray()  # the headers, or a line between two chunks, as far as they have come
        self._chunked, self._left = False, 0

    def feed(self, data: bytes) -> None:
        if not self.has_headers:
            searched = max(0, len(self._line) - 3)
            self._line += data
            end = self._line.find(b"\r\n\r\n", searched)
            if end < 0:
                self.has_long_headers = len(self._line) > LONGEST_HEADERS
                return
            data = bytes(self._line[end + 4 :])
            self._read_headers(bytes(self._line[: end + 2]))
        if self._chunked:
            self._feed_chunks(data)
        else:
            self._left -= len(data)
            self.is_whole = self._left <= 0

    def _read_headers(self, head: bytes) -> None:
        self.has_headers, self._line = True, bytearray()
        self.expects, self._chunked = bool(EXPECTS.search(head)), bool(CHUNKED.search(head))
        if length := LENGTH.search(head):
            self.length = self._left = int(length[1])

    def _feed_chunks(self, data: bytes) -> None:
        """_left: bytes of this chunk with its line's end; 0 where the line with the next one's size is due; -1: the trailer."""
        at = 0
        while at < len(data) and not self.is_whole:
            if self._left > 0:
                taken = min(self._left, len(data) - at)
                at, self._left = at + taken, self._left - taken
                continue
            end = data.find(b"\n", at)
            self._line += data[at : end + 1 if end >= 0 else len(data)]
            at = end + 1 if end >= 0 else len(data)
            if len(self._line) > (LONGEST_CHUNK_LINE if self._left == 0 else LONGEST_HEADERS):
                self.is_whole = True  # the parser refuses it
            elif end >= 0:
                self._end_line(bytes(self._line).strip())
                self._line = bytearray()

    def _end_line(self, line: bytes) -> None:
        if self._left < 0:
            self.is_whole = not line  # the trailer ends
            return
        try:
            size = int(line.split(b";")[0], 16)
        except ValueError:
            size = -1
        if size < 0:
            self.is_whole = True  # the parser refuses it
        self.length += max(size, 0)
        self._left = size + 2 if size > 0 else -1


class BufferedReply:
    """What gunicorn's thread has for a socket: takes the answer at once and keeps what the client does not take yet."""

    def __init__(self, sock: socket.socket, folder: str | None):
        self._sock, self._folder = sock, folder
        self.waiting: deque[tuple[Any, int]] = deque()  # (spool, 0), or (number of a file, where in it)
        self._ends: deque[int] = deque()

    def sendall(self, data: bytes) -> None:
        view = memoryview(data)
        if not self.waiting:
            view = view[self._send(view) :]
        if len(view):
            if not self.waiting or not isinstance(self.waiting[-1][0], Spool):
                self._append(Spool(self._folder), 0, 0)
            self.waiting[-1][0].write(bytes(view))
            if len(self.waiting[-1][0]) > WAITING_ANSWER:
                self._wait_for_reader()

    send = sendall

    def sendfile(self, file, offset: int = 0, count: int = 0) -> int:
        self._append(os.dup(file.fileno()), offset, offset + count)
        return count

    def _append(self, source, start: int, end: int) -> None:
        self.waiting.append((source, start))
        self._ends.append(end)

    def flush(self) -> bool:
        """Send what the client takes; returns whether that is all. Raises OSError where the client is gone."""
        while self.waiting:
            source, at = self.waiting[0]
            data = source.peek(READ) if isinstance(source, Spool) else os.pread(source, min(READ, self._ends[0] - at), at)
            if not data:
                self._close_first()
                continue
            if not (sent := self._send(data)):
                return False
            if isinstance(source, Spool):
                source.skip(sent)
            else:
                self.waiting[0] = source, at + sent
        return True

    def _wait_for_reader(self) -> None:
        """An answer so long that its making waits for its reader, who has to go on taking it."""
        while len(self.waiting[-1][0]) > WAITING_ANSWER // 2:
            with selectors.DefaultSelector() as selector:
                selector.register(self._sock, selectors.EVENT_WRITE)
                if not selector.select(READ / SLOWEST * 2):
                    raise BrokenPipeError(errno.EPIPE, "the client does not take its answer")
            if self.flush():
                return

    def _send(self, data) -> int:
        try:
            return self._sock.send(data)
        except (BlockingIOError, InterruptedError):
            return 0

    def _close_first(self) -> None:
        source, _ = self.waiting.popleft()
        self._ends.popleft()
        source.close() if isinstance(source, Spool) else os.close(source)

    def close(self) -> None:
        while self.waiting:
            self._close_first()

    def shutdown(self, how: int) -> None:
        self._sock.shutdown(how)

    def setblocking(self, flag: bool) -> None:
        """Never: gunicorn asks for it."""

    settimeout = setblocking

    def gettimeout(self) -> float:
        return 0.0

    def fileno(self) -> int:
        return self._sock.fileno()

    def getpeername(self):
        return self._sock.getpeername()
