"""When a request is all there, however it is cut into pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.buffers import IN_MEMORY, Arrival, Spool

bodies = st.binary(max_size=200)
chunks = st.lists(st.binary(min_size=1, max_size=50) | st.sampled_from([b"0\r\n\r\n", b"\r\n"]), max_size=5)


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    at = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[a:b] for a, b in zip(at, at[1:])]


def whole_after(request: bytes, behind: bytes, cuts: list[int]) -> int:
    """After how many bytes the request was held to be whole, at most a piece too late."""
    arrival, at = Arrival(), 0
    for piece in [*pieces(request, cuts), behind]:
        assert not arrival.is_whole
        arrival.feed(piece)
        at += len(piece)
        if arrival.is_whole:
            return at
    raise AssertionError("never whole")


@given(bodies, st.lists(st.integers(0, 1000), max_size=8))
def test_by_its_length(body, cuts):
    request = b"POST / HTTP/1.1\r\nHost: x\r\nContent-length:%d\r\n\r\n" % len(body) + body
    assert whole_after(request, b"GET / HTTP/1.1\r\n\r\n", cuts) == len(request)


@given(chunks, st.booleans(), st.lists(st.integers(0, 1000), max_size=8))
def test_by_its_chunks(parts, with_trailer, cuts):
    body = b"".join(b"%x;a=b\r\n%s\r\n" % (len(part), part) for part in parts)
    end = b"0\r\nX-Sum: 1\r\n\r\n" if with_trailer else b"0\r\n\r\n"
    request = b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" + body + end
    assert whole_after(request, b"", cuts) == len(request)


@given(st.lists(st.binary(max_size=100), max_size=8))
def test_anything_is_taken(parts):
    arrival = Arrival()
    for part in parts:
        arrival.feed(part)


@pytest.mark.parametrize("size", [0, 10, IN_MEMORY, 3 * IN_MEMORY])
def test_what_is_kept_comes_out_as_it_went_in(size):
    spool, data = Spool(), bytes(range(256)) * (size // 256) + b"end"
    spool.write(data[: len(data) // 2])
    first = spool.recv(5)
    spool.write(data[len(data) // 2 :])
    rest = b""
    while part := spool.recv(100_000):
        rest += part
    assert first + rest == data and len(spool) == 0
