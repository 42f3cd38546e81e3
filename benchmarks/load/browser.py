"""A browser as a server sees it: one kept connection, cookies, forms. Standard library, so that the generator costs little."""

import asyncio
import time
from collections import defaultdict
from dataclasses import dataclass
from urllib.parse import urlencode

TIMEOUT = 60  # seconds; a request that takes longer is an error of the run


@dataclass
class Response:
    status: int
    headers: dict[str, str]
    body: str


class Timings:
    """Seconds of every answered request, by what it was for."""

    def __init__(self):
        self.seconds: dict[str, list[float]] = defaultdict(list)

    def add(self, kind: str, seconds: float) -> None:
        self.seconds[kind].append(seconds)

    def extend(self, other: "Timings") -> None:
        for kind, values in other.seconds.items():
            self.seconds[kind] += values

    def quantile(self, kind: str, q: float) -> float:
        """Nearest-rank quantile in milliseconds."""
        ordered = sorted(self.seconds[kind])
        return 1000 * ordered[min(len(ordered) - 1, int(q * len(ordered)))]

    def lines(self) -> list[str]:
        return [
            f"  {kind:<14} {len(values):>6} requests   p50 {self.quantile(kind, 0.5):7.1f} ms   "
            f"p95 {self.quantile(kind, 0.95):7.1f} ms   max {1000 * max(values):7.1f} ms"
            for kind, values in sorted(self.seconds.items())
        ]


class Browser:
    def __init__(self, host: str, port: int, timings: Timings):
        self.host, self.port, self.timings = host, port, timings
        self.cookies: dict[str, str] = {}
        self._reader = self._writer = None

    async def get(self, path: str, kind: str) -> Response:
        return await self._timed(kind, self._request("GET", path))

    async def post(self, path: str, fields: dict, kind: str, headers: dict | None = None) -> Response:
        return await self._timed(kind, self._request("POST", path, form(fields), headers))

    async def post_and_hang_up(self, path: str, fields: dict) -> None:
        """The request arrives, the connection is cut before the answer."""
        self._write("POST", path, form(fields), None, *(await self._connection()))
        await self._writer.drain()
        self.close()

    def twin(self) -> "Browser":
        """The same session over another connection: the second of two clicks."""
        other = Browser(self.host, self.port, self.timings)
        other.cookies = self.cookies
        return other

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None

    async def _timed(self, kind: str, request) -> Response:
        start = time.perf_counter()
        response = await asyncio.wait_for(request, TIMEOUT)
        self.timings.add(kind, time.perf_counter() - start)
        return response

    async def _connection(self):
        if self._writer is None or self._reader.at_eof():
            self._reader, self._writer = await asyncio.open_connection(self.host, self.port)
        return self._reader, self._writer

    async def _request(self, method, path, body=None, headers=None) -> Response:
        fresh = self._writer is None
        try:
            return await self._exchange(method, path, body, headers)
        except (ConnectionError, asyncio.IncompleteReadError):
            if fresh:
                raise
            self.close()  # the server had closed the idle connection; browsers try again as well
            return await self._exchange(method, path, body, headers)

    async def _exchange(self, method, path, body, headers) -> Response:
        reader, writer = await self._connection()
        self._write(method, path, body, headers, reader, writer)
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        response = Response(int(head[0].split(" ", 2)[1]), {}, "")
        for line in head[1:]:
            name, _, value = line.partition(": ")
            if name.lower() == "set-cookie":
                key, _, cookie = value.partition(";")[0].partition("=")
                self.cookies[key] = cookie
            elif name:
                response.headers[name.lower()] = value
        response.body = (await _body(reader, response.headers)).decode()
        if response.headers.get("connection") == "close":
            self.close()
        return response

    def _write(self, method, path, body, headers, reader, writer) -> None:
        origin = f"http://{self.host}:{self.port}"
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self.host}:{self.port}", f"Origin: {origin}", "Accept: text/html"]
        if self.cookies:
            lines.append("Cookie: " + "; ".join(f"{k}={v}" for k, v in self.cookies.items()))
        if body is not None:
            sent = {"Content-Type": "application/x-www-form-urlencoded", "Content-Length": len(body), **(headers or {})}
            lines += [f"{k}: {v}" for k, v in sent.items()]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b""))


def form(fields: dict) -> bytes:
    return urlencode(fields).encode()


async def _body(reader, headers: dict) -> bytes:
    if headers.get("transfer-encoding") != "chunked":
        return await reader.readexactly(int(headers.get("content-length", 0)))
    parts = []
    while size := int((await reader.readline()).strip(), 16):
        parts.append((await reader.readexactly(size + 2))[:-2])
    await reader.readline()
    return b"".join(parts)
