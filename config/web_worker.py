"""gunicorn's worker with threads, but a thread is taken only by a request that has come whole, and only until its answer is
made: the main thread waits for the rest of requests and answers, and ends those that take too long. It also ends what somebody
only wanted to see, where they have left.

`manage.py serve` uses it. Where several processes share a port, each takes a connection only while it has a free thread, so
that everybody waits in one queue.
"""

import errno
import resource
import selectors
import socket
import sqlite3
import threading
import time
from concurrent import futures
from typing import Any

from gunicorn.http.parser import RequestParser
from gunicorn.workers.gthread import TConn, ThreadWorker

from config.buffers import READ, SLOWEST, WAITING_ANSWER, Arrival, BufferedReply, Spool

HEADER_SECONDS = 10.0  # from the first moment to the end of the headers
BODY_SECONDS = 60.0  # for a body, and a second more for each of these bytes:
LONGEST_BODY = 8 * 2**30 + 2**20  # bytes: the largest comparator (evaluator/archive.py) in its form
LONG_BODY = 5 * 2**20  # bytes; of longer ones, a process keeps LONG_BODIES together
LONG_BODIES = 2 * LONGEST_BODY
LONGEST_UNREAD = 64 * 2**20  # bytes of a body that nobody read and that are thrown away; after longer ones the connection ends
LINGER_SECONDS = 2.0  # for a client to close, after the answer
READ_ONLY = ("GET", "HEAD")  # methods: what was sent is stored, whoever leaves
REFUSALS = {
    408: b"Request Timeout",
    413: b"Content Too Large",
    431: b"Request Header Fields Too Large",
    503: b"Service Unavailable",
}  # what is answered without a thread


def spool_folder() -> str:
    """Where long bodies lie: on the disk that data lie on, not in a /tmp that may be memory."""
    from django.conf import settings  # gunicorn has loaded the application by now

    return str(settings.FILE_UPLOAD_TEMP_DIR)


def database_of_thread():
    """Django's connection to the database, which may not be open yet."""
    from django.db import DEFAULT_DB_ALIAS, connections

    return connections[DEFAULT_DB_ALIAS]


class Connection(TConn):
    """of a client. until: when the main thread gives it up, by time.monotonic(). asks: Django's connection of the thread that
    makes its answer, while that may be ended."""

    def __init__(self, cfg, client_socket: socket.socket, client, server, folder: str | None):
        super().__init__(cfg, client_socket, client, server)
        self.client_socket, self.events = client_socket, 0
        self.received = Spool(folder)
        self.reply = self.sock = BufferedReply(client_socket, folder)
        self.parser = RequestParser(cfg, self.received, client)
        self.initialized = self.data_ready = True
        self.asks, self.asking = None, threading.Lock()
        self.expect(HEADER_SECONDS)

    def expect(self, seconds: float) -> None:
        """Another request, whose headers are there in so many seconds."""
        self.arrival, self.has_long_body = Arrival(), False
        self.until = time.monotonic() + seconds

    def take(self, data: bytes) -> None:
        had_headers = self.arrival.has_headers
        begun = bool(len(self.received))
        self.received.write(data)
        self.arrival.feed(data)
        now = time.monotonic()
        if self.arrival.has_headers and not had_headers:
            self.until = now + BODY_SECONDS + min(self.arrival.length, LONGEST_BODY) / SLOWEST
        elif not begun:
            self.until = now + HEADER_SECONDS

    @property
    def has_left(self) -> bool:
        """Nobody is there any more to be answered."""
        try:
            return self.client_socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
        except (BlockingIOError, InterruptedError):
            return False
        except OSError:
            return True

    def end_statement(self) -> None:
        """Of the database, which fails in its thread. Called by another one."""
        with self.asking:  # the thread goes on to nobody else's request meanwhile
            database = self.asks and self.asks.connection
            if isinstance(database, sqlite3.Connection):
                database.interrupt()
            elif database:
                database.cancel_safe(timeout=1)

    def close(self, graceful=False):
        self.received.close()
        self.reply.close()
        self.client_socket.close()


class WebWorker(ThreadWorker):
    def init_process(self):
        self.working: set[Connection] = set()  # that a thread has
        self.checked_at = 0.0
        self.open: dict[Connection, Any] = {}  # which the main thread waits for, the oldest first, with what it does then
        self.folder = spool_folder()
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(65_536, most) if most > 0 else 65_536, most))
        super().init_process()

    def run(self):
        self.poller.register(self.method_queue.fileno(), selectors.EVENT_READ, self.method_queue.run_callbacks)
        while self.alive:
            self.notify()
            self.set_accept_enabled(len(self.working) < self.cfg.threads)
            self.wait_for_and_dispatch_events(timeout=1.0)
            if not self.is_parent_alive():
                break
            self.end_late()
        self.set_accept_enabled(False)
        end = time.monotonic() + self.cfg.graceful_timeout
        while (self.working or self.open) and time.monotonic() < end:
            for connection in [one for one in self.open if self.open[one] == self.on_request and not len(one.received)]:
                self.end(connection)  # it has asked for nothing
            self.notify()
            self.wait_for_and_dispatch_events(timeout=0.1)
            self.end_late()
        self.tpool.shutdown(wait=False)
        self.poller.close()
        self.method_queue.close()
        for listener in self.sockets:
            listener.close()

    def accept(self, listener):
        try:
            client_socket, client = listener.accept()
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.ECONNABORTED, errno.EWOULDBLOCK):
                raise
            return
        connection = Connection(self.cfg, client_socket, client, listener.getsockname(), self.folder)
        if len(self.open) >= self.worker_connections:  # who has waited longest goes: an honest request is there at once
            self.end(next(iter(self.open)))
        self.on_request(connection)

    def wait(self, connection: Connection, events: int, then) -> None:
        """Call then(connection) when the client sends or takes something."""
        connection.events, self.open[connection] = events, then
        self.poller.register(connection.client_socket, events, lambda _: then(connection))

    def stop_waiting(self, connection: Connection) -> None:
        if self.open.pop(connection, None) is not None:
            self.poller.unregister(connection.client_socket)

    def end(self, connection: Connection) -> None:
        self.stop_waiting(connection)
        connection.close()

    def on_request(self, connection: Connection) -> None:
        """Something of a request has come, or may have."""
        try:
            data = connection.client_socket.recv(READ)
        except (BlockingIOError, InterruptedError):
            data = None
        except OSError:
            return self.end(connection)
        if data == b"":
            return self.end(connection)
        expected = connection.arrival.expects
        if data:
            connection.take(data)
        arrival = connection.arrival
        if arrival.is_whole:
            self.stop_waiting(connection)
            self.enqueue_req(connection)
        elif arrival.has_long_headers:
            self.refuse(connection, 431)
        elif arrival.length > LONGEST_BODY:
            self.refuse(connection, 413)
        elif arrival.length > LONG_BODY and not self.has_room(connection):
            self.refuse(connection, 503)
        else:
            if arrival.expects and not expected:
                connection.reply.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            if connection not in self.open:
                self.wait(connection, selectors.EVENT_READ, self.on_request)

    def has_room(self, connection: Connection) -> bool:
        """For another long body beside those that are coming in."""
        connection.has_long_body = True
        kept = sum(len(one.received) for one in self.open if one.has_long_body and one is not connection)
        return kept + connection.arrival.length <= LONG_BODIES

    def enqueue_req(self, conn):
        self.working.add(conn)
        super().enqueue_req(conn)

    def handle(self, conn):
        """In a thread."""
        return False if conn.has_left else super().handle(conn)

    def handle_request(self, req, conn):
        req._expected_100_continue = False  # the body is here
        if req.method in READ_ONLY:
            conn.asks = database_of_thread()
        try:
            return super().handle_request(req, conn)
        finally:
            with conn.asking:
                conn.asks = None

    def _keepalive_after(self, conn, keeps):
        """What nobody read of a body is here, too: it is thrown away, so that the next request on the connection is found."""
        return bool(keeps) and conn.parser.finish_body(max_bytes=LONGEST_UNREAD)

    def finish_request(self, conn, fs: futures.Future):
        self.working.discard(conn)
        try:
            keeps = bool(fs.result()) and self.alive
        except BaseException:
            keeps = False
        conn.keeps = keeps
        conn.until = time.monotonic() + BODY_SECONDS + WAITING_ANSWER / SLOWEST
        self.on_reply(conn)

    def on_reply(self, connection: Connection) -> None:
        """The client can take more of its answer, which is made."""
        try:
            if not connection.reply.flush():
                if connection not in self.open:
                    self.wait(connection, selectors.EVENT_WRITE, self.on_reply)
                return
        except OSError:
            return self.end(connection)
        self.stop_waiting(connection)
        if connection.keeps:
            self.expect_next(connection)
        else:
            self.linger(connection)

    def expect_next(self, connection: Connection) -> None:
        """A kept connection; its next request may be there already, in part or whole."""
        ahead = connection.parser.unreader.take_buffered() + connection.received.recv(len(connection.received))
        connection.expect(self.cfg.keepalive)
        if ahead:
            connection.take(ahead)
        self.on_request(connection)

    def linger(self, connection: Connection) -> None:
        """Closed at once, what the client still sends would destroy the end of its answer (RFC 9112, 9.6)."""
        try:
            connection.client_socket.shutdown(socket.SHUT_WR)
        except OSError:
            return self.end(connection)
        connection.until = time.monotonic() + LINGER_SECONDS
        self.on_end(connection)

    def on_end(self, connection: Connection) -> None:
        try:
            while data := connection.client_socket.recv(READ):
                pass
        except (BlockingIOError, InterruptedError):
            data = b"?"
        except OSError:
            data = b""
        if not data:
            self.end(connection)
        elif connection not in self.open:
            self.wait(connection, selectors.EVENT_READ, self.on_end)

    def refuse(self, connection: Connection, status: int) -> None:
        """Without a thread."""
        self.stop_waiting(connection)
        reason = REFUSALS[status]
        head = b"HTTP/1.1 %d %s\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n"
        connection.keeps = False
        connection.until = time.monotonic() + LINGER_SECONDS
        try:
            connection.reply.sendall(head % (status, reason, len(reason) + 1) + reason + b"\n")
        except OSError:
            return self.end(connection)
        self.on_reply(connection)

    def end_late(self) -> None:
        """Once a second."""
        now = time.monotonic()
        if now - self.checked_at < 1:
            return
        self.checked_at = now
        for connection in [one for one in self.working if one.asks and one.has_left]:
            threading.Thread(target=connection.end_statement, daemon=True).start()
        for connection in [one for one in self.open if one.until < now]:
            if self.open[connection] == self.on_request and len(connection.received):
                self.refuse(connection, 408)
            else:
                self.end(connection)
