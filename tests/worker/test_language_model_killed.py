"""A language model plays a whole tournament as real processes: the first is killed in the middle, the next one goes on."""

import json
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from tests.evaluator.judges.model_server import serve, tiny_model

ROOT = Path(__file__).parents[2]
KILLED_AFTER, BUDGET, PAIRS = 20, 100, 72  # 6 pairs of 4 systems on 12 contexts, each asked about in both orders

SETUP = """
import random, sys
from pathlib import Path
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from annotation.data.importer import import_scores
from tests.evaluator.world import SCORES, World, write
folder = Path(sys.argv[1])
world, rng = World(folder, judged=False), random.Random(0)
rows = [
    {"context_id": r["context_id"], "system": r["system"], "aspect": "Overall", "annotator": annotator,
     "score": min(5, max(1, SCORES[r["system"]] + rng.choice([-1, 0, 0, 1])))}
    for r in world.rows for annotator in ("Ann", "Bob", "Cleo", "Dan")
]
import_scores(world.campaign, write(folder, "crowd.jsonl", rows))
world.freeze()
"""
PLAY = (
    SETUP
    + """
call_command("run_tournament", *sys.argv[2:])
"""
)
GO_ON = """
import io, json, sys
import django; django.setup()
from django.core.management import CommandError, call_command
budget, *model = sys.argv[1:]
def say(*words):
    out = io.StringIO()
    try:
        call_command(*words, *model, "--json", stdout=out)
    except CommandError as error:
        print(json.dumps({"error": str(error)}), flush=True)
    else:
        print(json.dumps(json.loads(out.getvalue())), flush=True)
play = "run_tournament", "talk", "--wait", "--stop", "all"
say(*play, "--basis", "judge", "--calls", budget)
say(*play, "--basis", "judge", "--calls", "1000")
say("evaluate_judges", "talk", "--judge", "tiny", "--calls", "0", "--page")
say("run_tournament", "talk", "--basis", "corrected", "--criterion", "Overall", "--wait", "--calls", "0")
from evaluator.models import JudgesTable
print(json.dumps({"page": [row["name"] for row in JudgesTable.objects.get().record["tables"]["all"]["rows"]]}))
"""


class Stub:
    """The server, which holds back its answer where the first run is to be killed; answered: how often each request was."""

    def __init__(self):
        self.answered: Counter[str] = Counter()
        self.held, self.lasts = threading.Event(), True
        self.http = serve(tiny_model(), before=self.before)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"

    def before(self, request: dict) -> bool:
        if self.lasts and self.answered.total() == KILLED_AFTER:
            self.held.set()
            return False
        self.answered[json.dumps(request, sort_keys=True)] += 1
        return True


@pytest.fixture
def stub():
    one = Stub()
    yield one
    one.http.shutdown()
    one.http.server_close()


def test_it_plays_on_after_a_kill_within_its_budget(stub, tmp_path, environment):
    env = environment | {"PYTHONPATH": str(ROOT), "COMPARENA_DEVICE": "cpu", "LOG_LEVEL": "ERROR"}
    model = ["--language-model", "tiny", "--url", stub.url, "--price", "1", "4", "--connections", "1"]
    first = ["talk", "--basis", "judge", "--wait", "--stop", "all", "--calls", "1000", *model]
    log = (tmp_path / "log").open("wb")
    process = subprocess.Popen([sys.executable, "-c", PLAY, str(tmp_path), *first], cwd=ROOT, env=env, stdout=log, stderr=log)
    try:
        assert stub.held.wait(300), (tmp_path / "log").read_text()
    finally:
        process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL and stub.answered.total() == KILLED_AFTER
    stub.lasts = False

    again = [sys.executable, "-c", GO_ON, str(BUDGET), *model]
    done = subprocess.run(again, cwd=ROOT, env=env, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr
    spent, played, table, together, page = map(json.loads, done.stdout.splitlines())

    assert f"budget of {BUDGET} calls is spent" in spent["error"]
    used = played["judge"]["used"]
    every = 2 * PAIRS
    kept = BUDGET - 1  # the call that the kill cut off was spent, and brought nothing
    assert (used["kept"], used["calls"], used["pairs"]) == (kept, every - kept, PAIRS)
    assert stub.answered.total() == every and set(stub.answered.values()) == {1}  # no question twice
    assert played["games"] == PAIRS and played["ending"] == "all" and 0 < used["flips"] < PAIRS
    assert used["cost"] == pytest.approx((used["prompt_tokens"] + 4 * used["completion_tokens"]) / 1e6) and used["cost"] > 0

    row = next(row for row in table["tables"]["all"]["rows"] if row["name"] == "tiny")
    assert row["settings"]["calls"] == 0 and row["settings"]["cost"] > 0 and row["settings"]["flips"] == used["flips"]
    assert len(row["alternative"]["comparisons"]) == 4 and row["alternative"]["winning_rate"] == 0.0  # its weights are random
    assert "tiny" in page["page"]
    assert together["basis"] == "corrected" and together["judge"]["used"]["calls"] == 0 and together["games"] > 0
