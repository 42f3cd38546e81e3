"""A snapshot's files in the shapes that other tools read. Their own readers and schemas took all files of the demonstration:
inspect-ai 0.3.285, every-eval-ever 0.3.0, datasets 5.2 (TRL's columns), cffconvert 2.0, and the ids of HEDS 3.0's form."""

import io
import json
import re
import zipfile
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation import long_files
from annotation.annotating.consent import withdraw_annotator
from annotation.models import AuditEvent, Calculation, Campaign, Job
from core.errors import Refused
from leaderboard.archive.admission import admit
from leaderboard.archive.export import write_archive
from leaderboard.boards.basis import BoardBasis, BoardJudge
from leaderboard.publication import citation, download, eval_results
from leaderboard.publication.card import card
from leaderboard.publication.contents import as_zip, contents, snapshot_named
from leaderboard.publication.published import published, slugs
from leaderboard.tasks import write_snapshot_files
from leaderboard.tournaments import play
from leaderboard.tournaments.start import start_tournament
from tests.evaluator.fixtures import rows_for_a_module
from tests.evaluator.world import SCORES, World, command
from tests.leaderboard.played import quiet

pytestmark = pytest.mark.django_db
JUDGED = [
    (f"c{n:02}", "Fine", "Poor", who, "A" if (n, who) != (0, "Bob") else "tie") for n in range(4) for who in ("Ann", "Bob")
]


@pytest.fixture(scope="module")
def made(django_db_setup, django_db_blocker, tmp_path_factory):
    """(the world, its files): scores on Overall, of which a robot gave some, and judgments of pairs."""
    with rows_for_a_module(django_db_blocker):
        with django_db_blocker.unblock():
            world = World(tmp_path_factory.mktemp("published"), slug="published")
            world.score("Wit", SCORES, annotators=("robot",), simulated=True)
            world.judge(JUDGED)
            snapshot = world.freeze()
            play.play(start_tournament(world.campaign, "people", criterion="Overall", foreground=True), quiet)
            files = contents(snapshot, "alice/talk")
        yield world, files


@pytest.fixture
def files(made, db):
    return made[1]


def rows(files, name: str) -> list[dict]:
    return [json.loads(line) for line in files[name].decode().split("\n") if line]


def test_preferences_have_trls_columns(files):
    """Of four contexts Ann and Bob prefer Fine, and on the first Bob ties: a margin of one and three of two."""
    pairs = rows(files, "preferences.jsonl")
    assert [(p["system_chosen"], p["margin"], p["answers"]) for p in pairs] == [("Fine", 1, 2), *[("Fine", 2, 2)] * 3]
    assert all({"prompt", "chosen", "rejected"} <= p.keys() and p["simulated"] is False for p in pairs)
    single = rows(files, "unpaired.jsonl")
    assert [row["label"] for row in single] == [True, False] * 4
    assert [row["completion"] for row in single[:2]] == [pairs[0]["chosen"], pairs[0]["rejected"]]


def test_inspect_reads_a_record_for_each_output(files):
    overall = rows(files, "inspect/Overall/Fine.jsonl")
    assert [row["id"] for row in overall] == [f"c{n:02}" for n in range(12)]
    for row in overall:
        assert set(row) == {"id", "value", "epoch", "explanation", "metadata"} and row["epoch"] == 1
        assert (
            row["value"] == SCORES["Fine"] and row["metadata"]["standard_error"] == 0.0 and row["metadata"]["annotators"] == 2
        )
        assert (
            row["metadata"]["verdict"] == "accepted"
            and row["metadata"]["simulated"] is True
            and row["explanation"].startswith("SIMULATED.")
        )
    # On the first context Ann gives Fine 1 and Bob 0.5: the mean is 0.75, its error sqrt(0.125) / sqrt(2) = 0.25.
    pairs = rows(files, "inspect/pairs/Fine.jsonl")
    assert [row["value"] for row in pairs] == [0.75, 1, 1, 1]
    assert pairs[0]["metadata"]["standard_error"] == pytest.approx(0.25)
    assert pairs[0]["metadata"]["verdict"].startswith("not accepted: ")


def test_every_eval_ever_joins_results_and_rated_outputs(files):
    names = [name for name in files if name.startswith("every_eval_ever/")]
    assert len(names) == 8
    (name,) = [n for n in names if "/unknown/Poor/" in n and n.endswith(".json")]
    uuid = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    assert re.fullmatch(rf"every_eval_ever/data/published/unknown/Poor/{uuid}\.json", name)
    aggregate = json.loads(files[name])
    (result,) = aggregate["evaluation_results"]
    score, uncertainty = result["score_details"]["score"], result["score_details"]["uncertainty"]["confidence_interval"]
    assert score == pytest.approx(SCORES["Poor"], abs=0.1) and uncertainty["lower"] <= score <= uncertainty["upper"]
    metric = result["metric_config"]
    assert (metric["min_score"], metric["max_score"], metric["lower_is_better"]) == (1, 5, False)
    said = metric["additional_details"]
    assert "Simulated data" in said["warnings"] and said["simulated"] == "true" and said["signature"].startswith("judge:people")
    assert said["population"] and said["seed"] == "0" and said["code"] and all(isinstance(text, str) for text in said.values())
    detail = aggregate["detailed_evaluation_results"]
    samples = rows(files, "every_eval_ever/" + detail["file_path"])
    assert len(samples) == detail["total_rows"] == 12
    assert {row["evaluation_result_id"] for row in samples} == {result["evaluation_result_id"]}
    assert {row["evaluation"]["score"] for row in samples} == {1.0} and "is_correct" in samples[0]["metadata"]


def test_the_hubs_results_name_the_data_set(files):
    (entry,) = json.loads(files["eval_results/Person/.eval_results/published.yaml"])
    assert entry["dataset"] == {"id": "alice/talk", "task_id": "Overall"} and entry["value"] == pytest.approx(5, abs=0.1)
    assert all(word in entry["notes"] for word in ("own_estimate: ", "Simulated data", "signature: judge:people"))


def test_each_judge_and_each_unit_is_a_task_of_its_own(made, db):
    """The Hub compares all values of a task: a rating of 1500 beside a mean of 3 would be one of them. Of two boards alike the
    newest counts, and a system's own number of answers stands beside the board's."""
    of = published(snapshot_named(made[0].campaign))
    (people,) = of.boards
    oracle = BoardBasis("judge", BoardJudge("oracle", "metric"))
    of_judge = replace(people, basis=oracle, standings=tuple(replace(row, own=None) for row in people.standings))
    files = eval_results.files(replace(of, boards=[people, of_judge, people]), "alice/talk")
    by_people, by_oracle = json.loads(files["eval_results/Person/.eval_results/published.yaml"])
    assert by_people["dataset"]["task_id"] == "Overall" and by_people["value"] == pytest.approx(5, abs=0.1)
    assert by_oracle["dataset"]["task_id"] == "Overall-by-oracle-rating" and by_oracle["value"] > 1500
    notes = dict(note.split(": ", 1) for note in by_people["notes"].split("; ") if ": " in note)
    assert (notes["answers_of_system"], notes["answers"]) == ("24", "96 scores by 2 annotators")  # 12 contexts; 4 systems


def test_no_name_ends_the_text_of_a_board(made, db):
    of = published(snapshot_named(made[0].campaign))
    first, *others = of.boards[0].standings
    named = replace(of.boards[0], standings=(replace(first, system="```"), *others))
    lines = card(replace(of, boards=[named]), []).decode().splitlines()
    assert "````text" in lines and lines.count("````") == 1 and sum(line.startswith("``` ") for line in lines) == 1


def test_the_datasheet_is_filled_in_as_far_as_it_is_known(files):
    form = json.loads(files["heds.json"])
    assert form["heds-criteria-criterion"]["control"] == {"Overall": True, "Wit": False, "Pairs": False}
    scale = form["heds-criteria-criterion-response_elicitation-list_or_range"]
    assert scale["data"]["Overall"] == "1 to 5" and scale["number"] == "4.3.4"
    assert form["heds-criteria-criterion-evaluation_mode-absolute_or_relative-2"]["data"] == {"Pairs": True}
    assert form["heds-ethics-review_body"] == {"data": {"": "To be written."}, "control": {}, "number": "5.1"}
    assert form["heds-sample_evaluators_design-evaluators-number_of_evaluators"]["data"][""].startswith("SIMULATED")


def test_who_cites_it_knows_what_it_is(files):
    zenodo, card, cff = json.loads(files[".zenodo.json"]), files["README.md"].decode(), files["CITATION.cff"].decode()
    for text in (zenodo["title"] + zenodo["description"], card, cff):
        assert "simulated" in text.lower() and "judge:people/Overall" in text
    assert zenodo["creators"] == [{"name": "To be written"}] and "license" not in zenodo
    assert card.startswith("---\n") and '"simulated"' in card and "Warning: Simulated data" in card
    assert cff.splitlines()[0] == 'cff-version: "1.2.0"'
    assert "accepted" not in zenodo["title"] and zenodo["description"].count("Simulated data: judgments made by a program") == 1


def test_answers_that_no_board_rests_on_bring_their_warnings(made, files, db):
    """Nobody has played the pairs, of which a fifth are ties: alpha is low. And somebody withdrew since."""
    of_pairs = "The judgments of pairs are not accepted: "
    for name in ("README.md", "CITATION.cff", ".zenodo.json"):
        assert files[name].decode().count(of_pairs) == 1, name
    snapshot = snapshot_named(made[0].campaign)
    withdraw_annotator(made[0].campaign.annotators.get(name="Ann"))
    of = replace(published(snapshot), boards=[])
    for text in (card(of, []), citation.files(of)["CITATION.cff"], citation.files(of)[".zenodo.json"]):
        assert "1 annotator withdrew after it was frozen." in text.decode() and of_pairs in text.decode()


def test_of_the_campaign_that_comes_back_they_are_the_same(made, db):
    world, files = made
    out = io.BytesIO()
    write_archive(world.campaign, out)
    Campaign.objects.filter(pk=world.campaign.pk).update(slug="before")
    again = contents(snapshot_named(admit(out, "published.zip").campaign), "alice/talk")
    places = re.compile(rb'"(tournament|id)": \d+|"?/tournaments/\d+/"?|,\d+,judge:people')
    differ = {name for name in files if again[name] != files[name]}
    assert again.keys() == files.keys() and differ <= {n for n in files if n.startswith("boards/")}
    assert all(places.sub(b"", again[n]) == places.sub(b"", files[n]) for n in differ if n.endswith(".json"))


def test_page_api_and_command_give_the_same_zip(made, db, client, tmp_path):
    world, _ = made
    name = snapshot_named(world.campaign).name
    command("export_snapshot", world.campaign.slug, str(tmp_path / "out.zip"))
    client.force_login(world.alice)
    page = b"".join(client.get(f"/c/published/snapshots/{name}/published/").streaming_content)
    assert page == client.get(f"/api/campaigns/published/snapshots/{name}/published/").content
    assert page == (tmp_path / "out.zip").read_bytes()
    assert zipfile.ZipFile(tmp_path / "out.zip").namelist()[0] == "README.md"
    assert client.get(f"/c/published/snapshots/{'0' * 12}/published/").status_code == 404
    with pytest.raises(Refused, match="no snapshot that begins with"):
        snapshot_named(world.campaign, "0000")


class TestManyAnswers:
    """A worker writes the zip where there is much to read: more answers, or longer texts, than a request takes time for."""

    @pytest.fixture(params=["AT_ONCE", "AT_ONCE_BYTES"])
    def paths(self, made, db, client, monkeypatch, settings, tmp_path, request):
        world, _ = made
        client.force_login(world.alice)
        settings.UPLOADS_DIR = tmp_path
        snapshot = snapshot_named(world.campaign)
        at_once = as_zip(contents(snapshot))
        monkeypatch.setattr(long_files, request.param, 10)
        return (
            f"/c/published/snapshots/{snapshot.name}/published/",
            f"/api/campaigns/published/snapshots/{snapshot.name}/published/",
            at_once,
        )

    def test_page_and_api_tell_the_job_and_then_give_the_same_file(self, paths, client):
        page, api, at_once = paths
        assert "Write the files of snapshot" in client.get(page).content.decode()
        later, again = client.get(api), client.get(page, {"file": 1})
        job = Job.objects.get(task=download.TASK)  # one for all
        assert later.status_code == 202 and later.json() == {"job": str(job.pk)}
        assert later.headers["Location"] == f"/api/jobs/{job.pk}/" and "data-job-url" in again.content.decode()
        assert not AuditEvent.objects.filter(action="exported").exists()  # nothing has left yet
        write_snapshot_files(str(job.pk))
        write_snapshot_files(str(job.pk))  # a message that comes twice
        assert client.get(f"/api/jobs/{job.pk}/").json()["status"] == "done"
        assert 'href="?file=1"' in client.get(page).content.decode()
        assert b"".join(client.get(page, {"file": 1}).streaming_content) == at_once
        assert b"".join(client.get(api).streaming_content) == at_once
        assert Job.objects.filter(task=download.TASK).count() == 1 and AuditEvent.objects.filter(action="exported").count() == 2

    @pytest.mark.parametrize("change", ["decision", "day", "lost file"])
    def test_what_is_no_longer_true_is_written_anew(self, paths, client, made, change, tmp_path):
        _, api, _ = paths
        write_snapshot_files(client.get(api).json()["job"])
        assert client.get(api).status_code == 200
        if change == "decision":
            snapshot_named(made[0].campaign).decisions.update(overruled_at=timezone.now())
        elif change == "day":
            Calculation.objects.update(created_at=timezone.now() - timedelta(days=1, minutes=1))
        else:
            (file,) = (tmp_path / "published").iterdir()
            file.unlink()
        assert client.get(api).status_code == 202 and Job.objects.filter(task=download.TASK).count() == 2

    def test_what_failed_says_why_and_is_started_again(self, paths, client, monkeypatch):
        page, api, at_once = paths
        job = client.get(api).json()["job"]
        with monkeypatch.context() as patched, pytest.raises(Refused):
            patched.setattr("leaderboard.publication.contents.MAX_UNPACKED_BYTES", 0)
            write_snapshot_files(job)
        said = client.get(page).content.decode()
        assert "These files are longer than" in said and "MOST_UNPACKED_MB" in said and client.get(api).json() == {"job": job}
        client.post(f"/jobs/{job}/retry/")
        write_snapshot_files(job)
        assert b"".join(client.get(api).streaming_content) == at_once


def test_names_of_any_kind_become_paths():
    assert slugs(["A/B", "A-B", "Füchse", "狐", ".."]) == {
        "A/B": "A-B",
        "A-B": "A-B-2",
        "Füchse": "Fuchse",
        "狐": "xe78b90",
        "..": "x2e2e",
    }
