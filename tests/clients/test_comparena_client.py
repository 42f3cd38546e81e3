"""The Python client against a live server, and the notebook's cells, one after the other, against another."""

import json
from pathlib import Path

import pytest

from annotation import jobs, long_files
from annotation.assessment import calculations
from annotation.data import uploads
from annotation.models import Job, Output, User
from annotation.people.tokens import make_token
from config.celery import app

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "docs" / "notebooks" / "first_board.ipynb"
ROWS = [{"context": f"Hi {n}", "system": s, "output": f"{s} {n}"} for n in range(6) for s in ("ape", "bee", "emu")]
ORDER = {"ape": 2, "bee": 1, "emu": 0}


@pytest.fixture
def worker(monkeypatch, settings, tmp_path):
    """Jobs are done at once, within the request that queues them."""
    settings.UPLOADS_DIR, settings.MODELS_DIR = tmp_path / "uploads", tmp_path / "models"
    app.loader.import_default_modules()
    monkeypatch.setattr(jobs.current_app, "send_task", lambda task, args: app.tasks[task](*args))


@pytest.fixture
def token(transactional_db):
    return make_token(User.objects.create_user("alice", may_create_campaigns=True), "test")[1]


@pytest.fixture
def client_(comparena_client, live_server, token, worker):
    with comparena_client.Client(live_server.url, token) as client:
        yield client


@pytest.fixture
def talk(client_):
    talk = client_.create_campaign("talk", title="Small talk", pairwise=True, likert=False)
    talk.import_outputs(ROWS, human_systems=["ape"])
    return talk


def pairs(choice=lambda a, b: "A" if ORDER[a] > ORDER[b] else "B"):
    for row in ROWS:
        for other in ROWS:
            a, b = row["system"], other["system"]
            if row["context"] == other["context"] and a < b:
                sides = {"system_a": a, "output_a": row["output"], "system_b": b, "output_b": other["output"]}
                for annotator in ("x", "y"):
                    yield {"context": row["context"], **sides, "annotator": annotator, "choice": choice(a, b)}


def test_from_rows_to_a_board(client_, talk, tmp_path, settings, monkeypatch):
    assert [row["slug"] for row in client_.campaigns()] == ["talk"]
    done = talk.import_judgments(pairs())
    assert done["new"]["judgments"] == 36 and len(talk.judgments()) == 36 and talk.scores() == []
    assert talk.assess()["snapshot"] == talk.snapshots()[0]["name"]
    with monkeypatch.context() as patched:
        patched.setattr(calculations, "AT_ONCE", 0)
        assert talk.assess(verdict="zhao-2020") in [talk.call("GET", f"snapshots/{row['digest']}/") for row in talk.snapshots()]
    standings = talk.play("people", seed=1)
    assert [row["system"] for row in standings] == ["ape", "bee", "emu"] and standings[0]["human_written"]
    assert talk.board() == talk.board("people", "") and [r["system"] for r in talk.board()] == ["ape", "bee", "emu"]
    assert standings[0]["rank_low"] == 1
    printed = str(standings)
    assert "Preferred" in printed and f"{standings[0]['own']['value']:.0%} (" in printed and "ape (human)" in printed
    assert standings.details["said"]["headline"] in printed
    assert talk.details()["numbers"]["judgments"] == 36
    settings.UPLOADS_DIR = tmp_path
    talk.archive(tmp_path / "talk.zip")
    again = client_.bring_back(tmp_path / "talk.zip", slug="again")
    numbers = lambda board: [(row["system"], row["rating"], row["low"], row["high"]) for row in board]
    assert again.slug == "again" and numbers(again.board()) == numbers(standings)
    assert again.outputs() == talk.outputs() and again.judgments() == talk.judgments()
    talk.snapshot_files(tmp_path / "now.zip")
    preferred = talk.preferences(margin=1)
    monkeypatch.setattr(long_files, "AT_ONCE", 0)
    talk.snapshot_files(tmp_path / "later.zip", talk.snapshots()[0]["digest"])
    assert (tmp_path / "now.zip").read_bytes() == (tmp_path / "later.zip").read_bytes()
    assert talk.preferences(margin=1) == preferred and preferred[0]["chosen"]


def test_settings_invitations_and_files(talk, live_server, client, tmp_path):
    talk.set_status("open")
    assert talk.change(overlap=2)["overlap"] == 2
    link = talk.invite("pilot", cap=3)
    assert link.startswith(f"{live_server.url}/join/") and client.get(link.removeprefix(live_server.url)).status_code == 200
    (tmp_path / "owl.csv").write_text("prompt,response\nHi 0,Hu\n")
    assert (
        talk.import_outputs(tmp_path / "owl.csv", system="owl", columns={"context": "prompt", "output": "response"})["rows"]
        == 1
    )
    assert Output.objects.get(system__name="owl").text == "Hu"


def test_what_is_refused_is_raised_with_every_error(client_, talk, comparena_client):
    with pytest.raises(comparena_client.Refused, match="line 2, field 'output'") as refused:
        talk.import_outputs([ROWS[0], {"context": "Hi", "system": "ape", "output": 3}, {"context": "Hi"}])
    assert refused.value.status == 422 and [error["line"] for error in refused.value.errors] == [2, 3]
    with pytest.raises(comparena_client.Refused) as refused:
        client_.campaign("nothing").details()
    assert refused.value.status == 404 and len(refused.value.request_id) > 10
    with pytest.raises(comparena_client.Refused) as refused:
        talk.train()  # nothing is accepted yet
    assert refused.value.status == 422 and "talk" in str(refused.value)


def test_long_files_are_waited_for(talk, comparena_client, monkeypatch):
    monkeypatch.setattr(uploads, "SMALL", 0)
    assert talk.import_outputs([{"context": "Hi 0", "system": "owl", "output": "Hu"}])["new"]["outputs"] == 1
    with pytest.raises(comparena_client.Refused, match="expected text, found a number") as refused:
        talk.import_outputs([{"context": "Hi 0", "system": "yak", "output": 3}])
    assert refused.value.errors[0]["field"] == "output"


def test_jobs_that_fail_or_take_long_end_the_wait(client_, talk, comparena_client):
    job = Job.objects.create(task="t", title="Train", status="failed", error="It broke.")
    job.campaign_id = Output.objects.first().context.campaign_id
    job.save()
    with pytest.raises(comparena_client.Refused, match="It broke."):
        client_.wait(str(job.pk))
    Job.objects.update(status="queued")
    with pytest.raises(TimeoutError, match="queued after 0.01 seconds"):
        client_.wait(str(job.pk), timeout=0.01, every=0.01)


def test_a_training_is_queued(client_, talk, monkeypatch):
    monkeypatch.setattr(jobs.current_app, "send_task", lambda task, args: None)
    talk.import_judgments(pairs())
    talk.assess()
    job = talk.train(seed=3)
    assert client_.job(job)["status"] == "queued" and talk.comparators() == []


def test_the_notebook_runs_cell_by_cell(comparena_client, live_server, token, worker, monkeypatch, capsys):
    monkeypatch.setenv("COMPARENA_URL", live_server.url)
    monkeypatch.setenv("COMPARENA_TOKEN", token)
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    names: dict = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            exec("".join(cell["source"]), names)  # noqa: S102 (our own notebook)
    told = capsys.readouterr().out
    assert "'outputs': 18" in told and "expected text, found a number" in told and "/join/" in told
    board = told[told.index("95% interval") :].splitlines()
    assert [line.split()[1] for line in board[1:4]] == ["Helpful", "Terse", "Echo"] and "Warning: Simulated data" in told
