"""A judge of every family, started over HTTP from the page and from the API, and played by real workers; one of these is killed
while two judges are in the middle of their answers."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path

import httpx
import pytest

from tests.evaluator.judges.stub_server import Server
from tests.worker.conftest import installed
from tests.worker.judges_world import PASSWORD
from tests.worker.test_serve_killed import alive, answers, wait_until

ROOT = Path(__file__).parents[2]
GAMES, OUTPUTS, PAIRS = 20, 48, 72  # 4 systems on 12 contexts
KINDS = {"comparator": 2, "metric": 1, "imported": 1, "program": 3, "reward model": 2, "language model": 1}
HELD_AT, BATCHES = 40, 10  # rows of a program, and texts of a reward model, that are answered before the kill
KEPT = """
import sys, time
import django; django.setup()
from evaluator.models import Reply
while Reply.objects.filter(judge__name__startswith="slow").count() < int(sys.argv[1]): time.sleep(0.1)
"""


class House:
    """A web server on a loopback port, and workers that are started and killed beside it."""

    def __init__(self, folder: Path, env: dict[str, str], made: dict):
        self.folder, self.env, self.judges = folder, env, made["judges"]
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.log, self.started = folder / "log", []
        self.start("manage.py", "serve", "--port", str(self.port), "--queues")
        wait_until(lambda: answers(self.port), 600, self.log.read_text)
        address = f"http://127.0.0.1:{self.port}"
        self.client = httpx.Client(base_url=address, headers={"Authorization": f"Bearer {made['key']}"}, timeout=60)
        self.browser = httpx.Client(base_url=address, follow_redirects=True, timeout=60)
        self.submit("/login/", {"username": made["user"], "password": PASSWORD})

    def start(self, *words: str) -> subprocess.Popen:
        command = [sys.executable, *words]
        with self.log.open("ab") as log:
            process = subprocess.Popen(command, cwd=ROOT, env=self.env, stdout=log, stderr=log, start_new_session=True)
        self.started.append(process)
        return process

    def worker(self) -> subprocess.Popen:
        return self.start(
            *("-m", "celery", "-A", "config.celery", "worker", "--concurrency=2", "--loglevel=WARNING"),
            "--include=tests.worker.hold_reward_model",
        )

    def kill(self, process: subprocess.Popen) -> None:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def submit(self, page: str, fields: dict) -> httpx.Response:
        """As a browser does: read the form, send it."""
        form = self.browser.get(page).text
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', form)
        assert token, form
        sent = self.browser.post(page, data={**fields, "csrfmiddlewaretoken": token[1]})
        assert sent.status_code == 200, sent.text
        return sent

    def from_the_page(self, judge: str, seed: int) -> None:
        page = "/c/talk/leaderboard/play/"
        assert f'<option value="{judge}"' in self.browser.get(page).text
        self.submit(page, {"basis": "judge", "judge": judge, "seed": seed, "games": GAMES})

    def from_the_api(self, judge: str, seed: int) -> None:
        asked = {"basis": "judge", "judge": judge, "seed": seed, "games": GAMES}
        made = self.client.post("/api/campaigns/talk/tournaments/", json=asked)
        assert made.status_code == 201 and made.json()["job"]["status"] == "queued", made.text

    def tournaments(self) -> dict[tuple[str, int], dict]:
        return {(row["judge"], row["seed"]): row for row in self.client.get("/api/campaigns/talk/tournaments/").json()}

    def board(self, judge: str, seed: int) -> dict:
        """Of a tournament that has to end well."""
        wait_until(lambda: self.tournaments()[judge, seed]["job"]["finished_at"], 300, self.log.read_text)
        row = self.tournaments()[judge, seed]
        assert row["job"]["status"] == "done" and row["finished_at"], row
        assert row["kind"] == self.judges[judge]
        board = self.client.get(f"/api/tournaments/{row['id']}/").json()
        assert board["basis"]["kind"] == "judge" and board["basis"]["judge"]["name"] == judge
        return board

    def asked(self, folder: str) -> Counter[str]:
        return Counter((self.folder / folder / "asked").read_text().splitlines())


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    folder, server = tmp_path_factory.mktemp("judges"), Server()
    with installed(folder) as env:
        env |= {"JOB_LEASE_SECONDS": "4", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), "COMPARENA_DEVICE": "cpu"}
        env |= {"REWARD_MODEL_FOLDER": str(folder / "reward")}
        command = [sys.executable, "-m", "tests.worker.judges_world", str(folder), server.url]
        made = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=600)
        assert made.returncode == 0, made.stderr
        house = House(folder, env, json.loads(made.stdout))
        yield house
        for process in house.started:
            house.kill(process)
    server.close()


def ratings(board: dict) -> list:
    return [(row["system"], row["rating"]) for row in board["standings"]]


def test_every_family_plays_in_a_worker_and_goes_on_after_a_kill(house):
    assert Counter(house.judges.values()) == KINDS
    slow = ["slow pair scorer", "slow reward"]
    quick = [name for name in house.judges if name not in slow]
    first = house.worker()
    for seed, start in ((1, house.from_the_page), (2, house.from_the_api)):
        for name in quick:
            start(name, seed)
        for name in quick:
            games = [row["games"] for row in house.board(name, seed)["standings"]]
            assert len(games) >= 3 and sum(games) == 2 * GAMES, name  # each counts for both of its sides
    assert set(house.asked("scorer").values()) == {1} and house.asked("scorer").total() == OUTPUTS  # once for both boards
    assert set(house.asked("pair scorer").values()) == {1} and house.asked("pair scorer").total() == 2 * PAIRS

    (house.folder / "slow pair scorer" / "hold").write_text(str(HELD_AT))
    (house.folder / "reward" / "asked").unlink()
    (house.folder / "reward" / "hold").touch()
    house.from_the_page("slow pair scorer", 1)
    house.from_the_api("slow reward", 1)
    held = [house.folder / "slow pair scorer" / "held", house.folder / "reward" / "held"]
    wait_until(lambda: all(file.exists() for file in held), 300, house.log.read_text)
    subprocess.run([sys.executable, "-c", KEPT, str(HELD_AT + BATCHES)], cwd=ROOT, env=house.env, check=True, timeout=120)
    house.kill(first)
    program = int(held[0].read_text())
    wait_until(lambda: not alive(program), 60)  # it ends with its worker, and asks its own model no more
    for file in held:
        file.with_name("hold").unlink()

    house.worker()
    boards = {name: house.board(name, 1) for name in slow}
    assert house.asked("slow pair scorer").total() == 2 * PAIRS + 1  # the row in flight at the kill
    assert set(house.asked("slow pair scorer")) == set(house.asked("pair scorer"))
    assert house.asked("reward").total() == OUTPUTS + 2 and len(house.asked("reward")) == OUTPUTS  # a batch was in flight
    for name, board in boards.items():  # says what it would have said
        assert ratings(board) == ratings(house.board(name.removeprefix("slow "), 1))
