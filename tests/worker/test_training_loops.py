"""The scripts of docs/judges/training-loops.md, as they stand there, while their server is killed and started again."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.conftest import CLIENTS, loaded
from tests.worker.test_serve_killed import alive, descendants, serve, wait_until  # noqa: F401 (a fixture)

pytestmark = pytest.mark.one_database
PAGE = Path(__file__).parents[2] / "docs" / "judges" / "training-loops.md"
SCRIPTS = dict(zip(("bigram", "tiny-gpt2"), re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)))
STEPS = {"bigram": [100, 200, 300, 400, 500, 600], "tiny-gpt2": [10, 20, 30, 40]}
# Python reads it before a script: it writes down what is reported, and holds the third report until the server is killed, and
# the last until it is back: scripts as small as these end before a server starts.
WITNESS = """
import json, os, pathlib, time, comparena_client
sent, steps = comparena_client.Run.report, []
def hold(until):
    while not pathlib.Path(until).exists():
        time.sleep(0.05)
def report(run, step, outputs, **how):
    steps.append(step)
    if len(steps) == 3:
        pathlib.Path("held").touch()
        hold("go on")
    if len(steps) == int(os.environ["REPORTS"]):
        hold("back")
    with open("written.jsonl", "a") as written:
        written.write(json.dumps([step, outputs]) + "\\n")
    return sent(run, step, outputs, **how)
comparena_client.Run.report = report
"""
SIGNED_IN = """
from annotation.people.tokens import make_token
print(json.dumps(make_token(User.objects.create_user("alice", may_create_campaigns=True), "test")[1]))
"""
STORED = """
from leaderboard.models import RunCheckpoint
rows = RunCheckpoint.objects.order_by('run__name', 'step')
texts = lambda row: list(row.outputs.order_by('context_id').values_list('text', flat=True))
print(json.dumps([[row.run.name, row.step, texts(row), len(row.utilities or [])] for row in rows]))
"""


def prompt(environment, code: str):
    """What code prints, read as JSON, in the installation."""
    command, root = [sys.executable, "-m", "tests.worker.prompt"], PAGE.parents[2]
    said = subprocess.run(
        command, cwd=root, env=environment, input=json.dumps(code), capture_output=True, text=True, check=True
    )
    printed, error = json.loads(said.stdout)
    assert not error, error
    return json.loads(printed)


def started(name: str, folder: Path, url: str, token: str) -> subprocess.Popen:
    (folder / "witness").mkdir(parents=True)
    (folder / "witness" / "sitecustomize.py").write_text(WITNESS)
    paths = f"{folder / 'witness'}:{CLIENTS}"
    env = os.environ | {"PYTHONPATH": paths, "COMPARENA_URL": url, "COMPARENA_TOKEN": token, "OMP_NUM_THREADS": "1"}
    env["REPORTS"] = str(len(STEPS[name]))
    log = (folder / "log").open("wb")
    return subprocess.Popen([sys.executable, "-c", SCRIPTS[name]], cwd=folder, env=env, stdout=log, stderr=log)


def test_the_scripts_of_the_page_lose_nothing_and_send_nothing_twice(serve, environment, tmp_path):  # noqa: F811
    environment["JOB_LEASE_SECONDS"] = "4"
    server, port = serve()
    url = f"http://127.0.0.1:{port}"
    token = prompt(environment, SIGNED_IN)
    talk = loaded("comparena_client").Client(url, token).create_campaign("talk", title="Small talk", pairwise=True)
    replies = ("the cat sat on the mat", "a bird sang", "the dog and the rug", "on the sun", "a cat", "the bird sat on a dog")
    talk.import_outputs(
        [{"context": f"Hi {n}", "system": "person", "output": text} for n, text in enumerate(replies)], human_systems=["person"]
    )
    folders = {name: tmp_path / name for name in SCRIPTS if name in STEPS}
    scripts = {name: started(name, folder, url, token) for name, folder in folders.items()}
    logs = lambda: "\n".join((folder / "log").read_text() for folder in folders.values())
    is_held = lambda: all((folder / "held").exists() for folder in folders.values())
    wait_until(lambda: is_held() or any(s.poll() is not None for s in scripts.values()), 300, logs)
    assert is_held(), logs()
    children = descendants(server.pid)
    server.kill()
    server.wait()
    wait_until(lambda: not any(map(alive, children)), 120)
    for folder in folders.values():
        (folder / "go on").touch()
    waiting = lambda folder: list(folder.glob(".comparena-runs/talk/*/step-*"))
    wait_until(lambda: all(map(waiting, folders.values())), 120, logs)
    serve(port)
    for folder in folders.values():
        (folder / "back").touch()
    assert {name: script.wait(300) for name, script in scripts.items()} == dict.fromkeys(scripts, 0), logs()
    stored = prompt(environment, STORED)
    written = {
        name: [json.loads(line) for line in (folder / "written.jsonl").read_text().splitlines()]
        for name, folder in folders.items()
    }
    assert {name: [step for step, _ in rows] for name, rows in written.items()} == STEPS
    assert stored == [[name, step, texts, 6] for name, rows in written.items() for step, texts in rows]
    for name, folder in folders.items():
        log = (folder / "log").read_text()
        assert waiting(folder) == [] and log.count("are sent later, in order") == 1 and "is back" in log
        assert talk.run(name, folder=tmp_path / "looked").best()["step"] in STEPS[name] and "'rank_low'" in log
