"""The client's half of a watched training, against a server that is as rude as the world."""

import atexit
import errno
import json
import subprocess
import sys
import time

import pytest

from tests.clients.conftest import CLIENTS
from tests.clients.stub_server import CONTEXTS, StubServer

TEXTS = ["a", "b", "c", "d"]


@pytest.fixture
def stub():
    server = StubServer()
    yield server
    server.kill()


@pytest.fixture
def opened(comparena_client, stub, tmp_path, monkeypatch):
    """opened(): the run of this folder, with waits that are short enough for a test."""
    monkeypatch.setattr(comparena_client.Run, "LAST", 0.2)
    monkeypatch.setattr(comparena_client.Run, "FIRST", 0.01)
    monkeypatch.setattr(comparena_client.Run, "LONGEST", 0.05)
    talk = comparena_client.Client(stub.url, "token").campaign("talk")
    runs = []

    def opened(**how):
        runs.append(talk.run("lstm/3e-4", total=100, folder=tmp_path / "kept", **how))
        return runs[-1]

    yield opened
    for run in runs:
        atexit.unregister(run._leave)


def texts(step: int) -> list[str]:
    return [f"{text} {step}" for text in TEXTS]


def by_context(step: int) -> dict[str, str]:
    return dict(zip((row["context_id"] for row in CONTEXTS), texts(step), strict=True))


def kept(run) -> list[str]:
    return sorted(path.name for path in run.folder.glob("step-*"))


def test_a_loop_reports_and_stops_on_advice(opened, stub, caplog):
    stub.stops_at = 30
    run = opened(judge="bleu", worthwhile=2)
    assert run.contexts == CONTEXTS
    for step in range(10, 60, 10):
        advice = run.report(step, texts(step), validation_loss=1 / step, log_probabilities=[-1.0] * 4, wait=True)
        if advice.stop:
            break
    assert step == 30 and advice.word == "no longer improving" and advice.said == ["Judged by a stub."]
    best = {"step": 30, "probability": 0.9, "rank_low": 1, "rank_high": 2, "not_worse": []}
    assert run.best() == {**best, "known": False, "said": ["Judged by a stub."]}
    assert caplog.text.count("Comparator 1 did not pass its gate.") == 1  # whoever watches the loop alone learns it
    assert stub.stored == {step: by_context(step) for step in (10, 20, 30)} and kept(run) == []
    row = {"context_id": "c0", "output": "a 10", "logprob": -1.0}
    assert stub.bodies[0]["outputs"][0] == row and stub.bodies[0]["total_steps"] == 100
    assert stub.requests[0][1] == "runs/" and advice.strength(20) == 20.0 and advice.strength(40) is None


@pytest.mark.parametrize(
    "rude",
    [
        ["502"] * 3,
        ["reset before", "502"],
        ["reset after"],  # stored, and nobody was told
        ["portal"],
        ["401", "500"],
        ["", "reset after", "reset before", "502", "portal", "reset after", ""],
    ],
    ids=lambda rude: "+".join(rude),
)
def test_nothing_is_lost_and_nothing_comes_twice(opened, stub, rude):
    run = opened()
    stub.rude = list(rude)
    for step in (10, 20, 30):
        run.report(step, texts(step))
    advice = run.advice(timeout=20)
    assert [point["step"] for point in advice.points] == [10, 20, 30]
    assert list(stub.stored.items()) == [(step, by_context(step)) for step in (10, 20, 30)] and kept(run) == []


def test_a_server_that_is_down_gets_the_reports_later_in_order(opened, stub, caplog, comparena_client):
    run = opened()
    run.report(10, texts(10), wait=True)
    stub.kill()
    for step in (20, 30):
        begin = time.monotonic()
        advice = run.report(step, texts(step))
        assert time.monotonic() - begin < 0.5 and advice.points[-1]["step"] == 10  # the newest that is known
    assert kept(run) == ["step-000000000020.json", "step-000000000030.json"]
    again = StubServer(stub.server_port, stub.stored)
    assert [point["step"] for point in run.advice(timeout=20).points] == [10, 20, 30]
    again.kill()
    assert list(stub.stored) == [10, 20, 30] and kept(run) == []
    said = [record.getMessage() for record in caplog.records if record.name == "comparena"]
    assert sum("are sent later, in order" in line for line in said) == 1 and "is back" in said[-1]


def test_a_training_that_goes_on_sends_what_was_left_first(comparena_client, opened, stub, tmp_path):
    stub.kill()
    folder = tmp_path / "kept"
    folder.mkdir()
    with pytest.raises(comparena_client.Refused, match=f"{stub.url} cannot be reached"):  # a new run needs its server
        opened()
    (folder / "contexts.json").write_text(json.dumps(CONTEXTS))
    run = opened()  # one that was opened before goes on
    run.report(20, texts(20))
    run.report(3, texts(3))
    again = StubServer(stub.server_port)
    later = comparena_client.Client(again.url).campaign("talk").run("lstm/3e-4", folder=folder)
    later.report(40, texts(40), wait=True)
    run.advice(timeout=20)
    assert list(again.stored) == [3, 20, 40] and kept(run) == []
    again.kill()


def test_a_slow_server_does_not_hold_the_training(opened, stub):
    run = opened()
    stub.rude, stub.slowness = ["slow"], 1.0
    begin = time.monotonic()
    run.report(10, texts(10))
    run.report(20, texts(20))
    assert time.monotonic() - begin < 0.5
    assert run.best(timeout=20)["step"] == 20


def test_a_server_that_hangs_holds_the_training_up_once(opened, stub, comparena_client, monkeypatch):
    monkeypatch.setattr(comparena_client.Run, "GRACE", 0.5)
    run = opened()
    stub.rude, stub.slowness = ["slow"] * 9, 3.0
    took = []
    for step in (10, 20):
        begin = time.monotonic()
        run.report(step, texts(step), wait=True)
        took.append(time.monotonic() - begin)
    assert 0.4 < took[0] < 1.5 and took[1] < 0.5 and len(kept(run)) == 2


def test_an_interrupt_while_it_waits_loses_nothing(opened, stub, monkeypatch):
    run = opened()
    stub.rude = ["502"] * 2
    with monkeypatch.context() as patched:

        def interrupted(*args, **how):
            raise KeyboardInterrupt

        patched.setattr(run, "_wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run.report(10, texts(10), wait=True)
    assert run.advice(timeout=20).points[0]["step"] == 10 and stub.stored == {10: by_context(10)}


def test_a_full_disk_warns_and_goes_on(opened, stub, monkeypatch, caplog):
    run = opened()
    stub.rude = ["502"]

    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(run._outbox, "write", full)
    run.report(10, texts(10))
    run.report(20, texts(20), wait=True)
    assert list(stub.stored) == [10, 20] and "No space left on device" in caplog.text


def test_what_is_refused_is_set_aside_and_the_next_goes_on(opened, stub, caplog):
    stub.stored[10] = dict.fromkeys(by_context(10), "from an earlier training")
    run = opened()
    run.report(10, texts(10))
    run.report(20, texts(20), wait=True)
    assert kept(run) == ["step-000000000010.refused"] and "Step 10 has other outputs." in caplog.text
    assert json.loads((run.folder / "step-000000000010.refused").read_text())["outputs"][0]["output"] == "a 10"
    assert stub.stored[20] == by_context(20)


def test_an_error_of_the_server_that_stays_holds_nobody_up_forever(comparena_client, opened, stub, caplog):
    run = opened()
    stub.rude = ["500"] * 5
    run.report(10, texts(10))
    run.report(20, texts(20), wait=True)
    assert list(stub.stored) == [20] and kept(run) == ["step-000000000010.refused"]


def test_the_same_step_is_kept_once(opened, stub, caplog):
    run = opened()
    stub.kill()
    run.report(10, texts(10))
    run.report(10, texts(10))
    assert caplog.text.count("other outputs") == 0
    run.report(10, texts(11))
    assert caplog.text.count("Those stand") == 1 and run._outbox.get(10)["outputs"][0]["output"] == "a 10"


def test_a_large_report_goes_in_parts(comparena_client, opened, stub, monkeypatch):
    monkeypatch.setattr(comparena_client, "PART", 400)
    run = opened()
    long = ["ß" * 20, "x" * 1000, "y" * 20, "z" * 20]
    run.report(10, long, validation_loss=2.0, wait=True)
    assert [(body["part"], body["parts"], len(body["outputs"])) for body in stub.bodies] == [(1, 3, 1), (2, 3, 1), (3, 3, 2)]
    sizes = [size for method, path, size in stub.requests if "checkpoints" in path]
    assert sizes[0] <= 400 and sizes[2] <= 400 < sizes[1]  # an output that is longer goes alone
    assert {body["validation_loss"] for body in stub.bodies} == {2.0} and list(stub.stored[10].values()) == long


def test_wrong_outputs_are_an_error_at_once(opened, stub):
    run = opened()
    for wrong, said in [
        (["a"], "Expected 4 values, one for each context in their order, found 1"),
        ("abcd", "found 1"),
        (["a", "b", None, "d"], "context 'c2' needs a text, found None"),
        ({"c0": "a"}, "context 'c1' needs a text"),
        ({"c9": "a"}, "no context 'c9'"),
    ]:
        with pytest.raises(ValueError, match=said):
            run.report(10, wrong)
    run.report(10, texts(10), validation_loss=float("nan"), log_probabilities={"c0": float("-inf"), "c1": -2}, wait=True)
    assert "validation_loss" not in stub.bodies[0] and "logprob" not in stub.bodies[0]["outputs"][0]
    assert stub.bodies[0]["outputs"][1]["logprob"] == -2.0


def test_a_program_that_ends_at_once_has_sent_everything(stub, tmp_path):
    program = (
        "from comparena_client import Client\n"
        f"run = Client({stub.url!r}).campaign('talk').run('short', folder={str(tmp_path / 'kept')!r})\n"
        "run.report(10, list('abcd'))\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=CLIENTS, check=True, timeout=60)
    assert list(stub.stored) == [10] and list((tmp_path / "kept").glob("step-*")) == []
