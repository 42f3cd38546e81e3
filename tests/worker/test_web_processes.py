"""The web processes of `manage.py serve` share their work: who waits is answered by any process with a free thread. A thread is
taken by a request that has come whole, until its answer is made."""

import http.client
import socket
import subprocess
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from leaderboard.management.commands.serve import _web_server
from tests.worker import waiting_app
from tests.worker.conftest import installed
from tests.worker.test_serve_killed import answers, wait_until

pytestmark = pytest.mark.one_database
ROOT = Path(__file__).parents[2]
REQUESTS = 8


@contextmanager
def serving(folder, environment, processes: int, threads: int = 1, application: str = "waiting_app"):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = _web_server("127.0.0.1", port, processes, threads)
    command[command.index("config.wsgi")] = f"tests.worker.{application}"
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        wait_until(lambda: answers(port), 600, (folder / "log").read_text)
        get(port)  # a process has started, and not only its socket
        yield port
    finally:
        process.terminate()
        process.wait(60)


@pytest.fixture(scope="module")
def gates(tmp_path_factory):
    """A folder: an answer waits for its file there."""
    return tmp_path_factory.mktemp("gates")


@pytest.fixture(scope="module")
def port(gates):
    """Of two processes with one thread each."""
    with installed(gates / "two") as env, serving(gates / "two", env | {"GATES": str(gates)}, processes=2) as port:
        yield port


@pytest.fixture(scope="module")
def single(gates):
    """Of one process with one thread, which keeps connections."""
    with installed(gates / "one") as env, serving(gates / "one", env | {"GATES": str(gates)}, processes=1) as port:
        yield port


@contextmanager
def busy(port: int, gates: Path, name: str):
    """A request takes a thread until the end, and is answered then."""
    waiting = threading.Thread(target=get, args=(port, f"/{name}/0"))
    waiting.start()
    try:
        wait_until((gates / f"{name}.busy").exists, 60)
        yield
    finally:
        (gates / name).touch()
        waiting.join()


def get(port: int, path: str = "/0/0", timeout: float = 30) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    connection.request("GET", path)
    response = connection.getresponse()
    assert response.status == 200
    return response.read()


def exchange(port: int, *parts: bytes, pause: float = 0.05) -> bytes:
    """All that is answered to what is sent in these parts, until the server closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        for part in parts:
            connection.sendall(part)
            time.sleep(pause)
        answer = b""
        while data := connection.recv(65536):
            answer += data
        return answer


class TestSeveralProcesses:
    def test_nobody_waits_for_a_busy_process_while_another_is_free(self, port, gates):
        with busy(port, gates, "held"):
            assert len({get(port).split()[0] for _ in range(REQUESTS)}) == 1

    def test_half_a_request_takes_no_thread(self, port):
        halves = [socket.create_connection(("127.0.0.1", port)) for _ in range(REQUESTS)]
        for half in halves:
            half.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc")
        assert [get(port, timeout=5)[:1].isdigit() for _ in range(REQUESTS)] == [True] * REQUESTS
        halves[0].sendall(b"def123")
        assert b"".join(iter(lambda: halves[0].recv(65536), b"")).endswith(b" 9 ")
        for half in halves:
            half.close()


class TestRequests:
    def test_a_body_in_pieces_is_read_whole(self, single):
        body = b"x" * 3_000_000
        head = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
        assert exchange(single, head[:30], head[30:] + body[:10], body[10:1_000_000], body[1_000_000:]).endswith(b" 3000000 ")

    def test_chunks_are_read_whole(self, single):
        head = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
        assert exchange(single, head, b"5\r\n0\r\n\r\n\r\n", b"3\r\nab", b"c\r\n0\r\n", b"\r\n").endswith(b" 8 ")

    def test_requests_one_behind_the_other_are_answered_in_turn(self, single):
        one = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
        last = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        answer = exchange(single, one % 3 + b"abc" + one % 1 + b"a" + last)
        assert [part.split()[1] for part in answer.split(b"\r\n\r\n")[1:]] == [b"3", b"1", b"0"]

    def test_a_body_that_waits_for_leave_gets_it(self, single):
        head = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
        answer = exchange(single, head, b"ab")
        assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200") and answer.count(b"100 Continue") == 1
        assert answer.endswith(b" 2 ")

    @pytest.mark.parametrize(
        ("request_", "status"),
        [
            (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999\r\n\r\n", b"413"),
            (b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 70_000, b"431"),
            (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"400"),
            (b"nonsense\r\n\r\n", b"400"),
        ],
    )
    def test_what_no_client_may_send_is_refused_at_once(self, single, request_, status):
        assert exchange(single, request_).split()[1] == status

    def test_who_has_left_keeps_no_thread(self, single, gates):
        with busy(single, gates, "first"):
            for _ in range(REQUESTS):
                with socket.create_connection(("127.0.0.1", single)) as left:
                    left.sendall(b"GET /left/0 HTTP/1.1\r\nHost: x\r\n\r\n")
        try:
            get(single)
            assert not (gates / "left.busy").exists()
        finally:
            (gates / "left").touch()


class TestAnswers:
    def test_an_answer_that_nobody_takes_keeps_no_thread(self, single):
        with socket.create_connection(("127.0.0.1", single)) as slow:
            slow.sendall(b"GET /0/20 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            time.sleep(0.3)
            assert [get(single, timeout=5)[:1].isdigit() for _ in range(REQUESTS)] == [True] * REQUESTS
            size = 0
            while data := slow.recv(2**20):
                size += len(data)
        assert size > 20 * 2**20

    def test_a_very_long_answer_comes_whole(self, single):
        assert len(get(single, "/0/150")) > 150 * 2**20

    def test_a_file_comes_whole(self, single):
        assert get(single, "/0/file") == Path(waiting_app.__file__).read_bytes()


def test_what_somebody_wanted_to_see_ends_when_they_leave_and_what_they_sent_is_stored(tmp_path, environment):
    with serving(tmp_path, environment, processes=1, application="asking_app") as port:
        for method in ("GET", "POST"):
            with socket.create_connection(("127.0.0.1", port), timeout=30) as client:
                client.sendall(f"{method} /ask HTTP/1.1\r\nHost: here\r\nContent-Length: 0\r\n\r\n".encode())
                time.sleep(1)
            begin = time.monotonic()
            assert get(port) == b"ok"  # by the one thread that there is
            assert time.monotonic() - begin < 20  # a minute, or for ever, where nothing ends it
            assert Path(environment["DATA_DIR"], "stored").exists() == (method == "POST")
