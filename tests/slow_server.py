"""A server that answers whatever it is asked in one bad way, for SECONDS at most: a client that waits as long has no end."""

import gzip
import re
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

SECONDS, PAUSE = 6.0, 0.05
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
MB = 2**20


def headers_in_drops() -> Iterator[bytes]:
    yield HEAD + b"X-Long: "
    yield from drops()


def body_in_drops() -> Iterator[bytes]:
    yield HEAD + b"Content-Length: 1000000\r\n\r\n"
    yield from drops()


def chunks_in_drops() -> Iterator[bytes]:
    """Not one byte of the body: the first chunk's size never ends."""
    yield HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    yield from drops(b"0")


def silence() -> Iterator[bytes]:
    yield from drops(b"")


def silence_after_headers() -> Iterator[bytes]:
    yield HEAD + b"Content-Length: 1000000\r\n\r\n"
    yield from drops(b"")


def end_in_the_middle() -> Iterator[bytes]:
    yield HEAD + b"Content-Length: 1000000\r\n\r\n{"


def end_of_headers_in_the_middle() -> Iterator[bytes]:
    yield HEAD


def endless_header() -> Iterator[bytes]:
    yield HEAD + b"X-Long: "
    while True:
        yield b"x" * 10_000


def endless_interim_answers() -> Iterator[bytes]:
    while True:
        yield b"HTTP/1.1 100 Continue\r\n\r\n" * 100
        time.sleep(PAUSE)


def long_body() -> Iterator[bytes]:
    yield HEAD + b"Content-Length: %d\r\n\r\n" % (100 * MB)
    for _ in range(100):
        yield b" " * MB


def redirects() -> Iterator[bytes]:
    yield b"HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def packed_twice() -> Iterator[bytes]:
    """32 MB in a few hundred bytes; a client that unpacks once reads kilobytes."""
    body = gzip.compress(gzip.compress(b" " * 32 * MB, 1))
    yield HEAD + b"Content-Encoding: gzip, gzip\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def mail_in_drops() -> Iterator[bytes]:
    yield b"220-"
    yield from drops()


def drops(one: bytes = b" ") -> Iterator[bytes]:
    while True:
        time.sleep(PAUSE)
        yield one


class SlowServer:
    """way: one of the functions above. keeps: answers further requests of a connection. sent: bytes that it could send; asked:
    requests."""

    def __init__(self, way, keeps: bool = False) -> None:
        self.sent = self.asked = 0
        self.is_closed = False
        ours = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                with suppress(OSError):
                    while way is mail_in_drops or self.is_asked():  # a mail server speaks first
                        ours.asked += 1
                        self.answer()
                        if not keeps:
                            break

            def is_asked(self):
                """Read a request to its end; clients send its headers and its body apart. False where none comes."""
                head = b""
                while b"\r\n\r\n" not in head:
                    if not (part := self.request.recv(65_536)):
                        return False
                    head += part
                head, _, body = head.partition(b"\r\n\r\n")
                length = re.search(rb"(?i)\ncontent-length: *(\d+)", head)
                missing = int(length[1]) - len(body) if length else 0
                while missing > 0 and (part := self.request.recv(65_536)):
                    missing -= len(part)
                return True

            def answer(self):
                end = time.monotonic() + SECONDS
                for part in way():
                    if ours.is_closed or time.monotonic() > end:
                        break
                    self.request.sendall(part)
                    ours.sent += len(part)

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.is_closed = True
        self.server.shutdown()
        self.server.socket.close()
