"""The judges' page: who sees it, what its button starts, what it shows, and that nothing is worked out twice."""

import csv
import io

import numpy as np
import pytest

from annotation import jobs, parts
from annotation.models import Job
from annotation.snapshots import WITHDREW
from annotation.views.jobs import with_results
from core.errors import Refused
from evaluator import tasks
from evaluator.metaevaluation.judges_table import JudgeAnswers
from evaluator.models import JudgesTable
from evaluator.views.judges import key_of
from evaluator.worker.judge_tables import candidates, evaluation, material
from tests.evaluator.world import SCORES, World, command, write

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
PAGE = "/c/talk/comparator/judges/"
NAMES = ["cosim", "<b>GPT</b>"]


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("COMPARENA_DEVICE", "cpu")
    lengths = lambda known, name, *_: JudgeAnswers(name, np.array([len(text.output) % 7 for text in known.texts]))
    monkeypatch.setattr("evaluator.worker.judge_tables.candidates.METRICS", ["cosim"])
    monkeypatch.setattr("evaluator.worker.judge_tables.candidates._metric", lengths)


def import_elsewhere(world, by: float = 1.0):
    rows = [{"context_id": r["context_id"], "system": r["system"], "score": by * SCORES[r["system"]]} for r in world.rows]
    command("import_judge_scores", "talk", write(world.folder, "elsewhere.jsonl", rows), "--judge", "<b>GPT</b>", "--replace")


def evaluate(world, **data):
    response = world.post(world.alice, PAGE, {"annotators": "crowd", **data})
    for job in Job.objects.filter(status=Job.Status.QUEUED):
        tasks.set_beside_people(str(job.pk))
    return response


def test_only_researchers_and_admins(world):
    for path in (PAGE, PAGE + "table.csv"):
        assert world.get(world.charlie, path).status_code == 404
    assert world.post(world.charlie, PAGE, {"annotators": "crowd"}).status_code == 404
    assert not JudgesTable.objects.exists()
    assert world.get(world.alice, PAGE).status_code == world.get(world.dora, PAGE).status_code == 200
    world.client.logout()
    assert "/login/" in world.client.get(PAGE).url


def test_before_anything_is_evaluated_it_says_what_to_do(world, tmp_path, client):
    assert "Nothing evaluated yet" in world.get(world.alice, PAGE).content.decode()
    assert world.get(world.alice, PAGE + "table.csv").status_code == 404
    empty = World(tmp_path, client, slug="empty", judged=False)
    html = empty.get(empty.alice, "/c/empty/comparator/judges/").content.decode()
    assert "assess the quality" in html and "<form class" not in html
    assert empty.post(empty.alice, "/c/empty/comparator/judges/", {"annotators": "crowd"}).status_code == 422


def test_the_table_is_worked_out_by_a_job_and_shown(world):
    import_elsewhere(world)
    assert evaluate(world, annotators="expert").status_code == 302
    job = Job.objects.get()
    assert job.status == Job.Status.DONE and job.task == "evaluator.tasks.set_beside_people"
    assert with_results([job])[0].result == PAGE  # every job links to what it made
    html = world.get(world.alice, PAGE).content.decode()
    assert "&lt;b&gt;GPT&lt;/b&gt;" in html and "<b>GPT" not in html and "style=" not in html
    assert all(words in html for words in ("All outputs", "Without outputs that people wrote", "longer is better", "experts"))
    assert "The comparator did not judge" not in html and "comparator: this campaign has no comparator in use" in html
    table = csv.DictReader(io.StringIO(world.get(world.alice, PAGE + "table.csv").content.decode()))
    rows = {row["judge"]: row for row in table if row["scope"] == "all"}
    assert rows.keys() >= {"<b>GPT</b>", "cosim"} and float(rows["cosim"]["score_distinct"]) > 1
    tex = world.get(world.alice, PAGE + "table.tex")
    assert tex["Content-Type"].startswith("application/x-tex") and b"tabular" in tex.content


def test_each_judge_has_a_page(world):
    import_elsewhere(world)
    assert world.get(world.alice, f"{PAGE}{key_of('cosim')}/").status_code == 404  # nothing is evaluated yet
    evaluate(world)
    table = world.get(world.alice, PAGE).content.decode()
    record = JudgesTable.objects.get().record
    for row in record["tables"]["all"]["rows"]:
        path = f"{PAGE}{key_of(row['name'])}/"
        assert f'href="{path}"' in table
        assert world.get(world.charlie, path).status_code == 404
        html = world.get(world.alice, path).content.decode()
        assert 'aria-current="page">Judges</a>' in html and html.count(record["digest"][:12]) == 2  # the command has it too
        assert html.count("<circle") == len(row["profile"]["points"]) and "style=" not in html
        assert ("Settings and cost" in html) == (row["kind"] == "judge")
        worth = row["profile"]["worth"]
        assert worth is None or f"its 10,000 answers are worth {worth['more']:,.0f}" in html
    html = world.get(world.alice, f"{PAGE}{key_of('<b>GPT</b>')}/").content.decode()
    assert "<h1>&lt;b&gt;GPT&lt;/b&gt;" in html and "<b>GPT" not in html
    assert world.get(world.alice, f"{PAGE}{'0' * 12}/").status_code == 404


def test_a_table_from_before_has_pages_too(world):
    """Records hold no profile that were kept before there was one."""
    evaluate(world)
    table = JudgesTable.objects.get()
    for scope in table.record["tables"].values():
        for row in scope["rows"]:
            del row["profile"]
    table.save()
    assert world.get(world.alice, PAGE).status_code == 200
    html = world.get(world.alice, f"{PAGE}{key_of('cosim')}/").content.decode()
    assert "<circle" not in html and "Not known." in html
    rows = csv.DictReader(io.StringIO(world.get(world.alice, PAGE + "table.csv").content.decode()))
    assert {row["worth"] for row in rows if row["kind"] != "stack"} == {""}


def test_the_same_is_worked_out_once_and_what_changed_anew(world):
    evaluate(world)
    evaluate(world)
    assert JudgesTable.objects.count() == 1
    import_elsewhere(world)
    evaluate(world)
    import_elsewhere(world, 2.0)
    evaluate(world)
    evaluate(world, annotators="skilled")
    assert JudgesTable.objects.count() == 4
    tables = list(JudgesTable.objects.all())
    assert [len(table.record["tables"]["all"]["rows"]) for table in tables] == [5, 5, 5, 4]


def test_any_number_of_workers_makes_the_same_table(world):
    import_elsewhere(world)
    world.post(world.alice, PAGE, {"annotators": "crowd"})
    job, elsewhere = Job.objects.get(), []

    def together_with_another(part, report):  # who takes the rest while the first worker is at its first part
        if not elsewhere:
            elsewhere.append(parts.lend_a_hand(job.pk, tasks._part_of_table))
        return work(part, report)

    with jobs.claim(job.pk) as claim:
        table = JudgesTable.objects.get()
        work = evaluation.part_work(table)
        shared = parts.share(claim, lambda: [{"judge": name} for name in NAMES], together_with_another, "Asking")
        known = material.material(world.campaign, table.criterion)
        together = evaluation.record_of(known, candidates.candidates(known), shared, "crowd", 0)
    assert elsewhere == [1]
    alone = evaluation.evaluate(known, candidates.candidates(known), "crowd", 0)
    assert without_seconds(together) == without_seconds(alone) and len(together["tables"]["all"]["rows"]) == 5


def without_seconds(record: dict) -> dict:
    for table in record["tables"].values():
        for row in table["rows"]:
            row.pop("seconds")
    return record


def test_a_judge_that_is_gone_meanwhile_is_named(world):
    import_elsewhere(world)
    world.post(world.alice, PAGE, {"annotators": "crowd"})
    work = evaluation.part_work(JudgesTable.objects.get())
    with pytest.raises(Refused, match="nobody has changed since this table was asked for. Ask for it again."):
        work({"judge": "nobody"}, lambda *said: None)


def test_a_failed_job_can_be_asked_for_again(world):
    world.post(world.alice, PAGE, {"annotators": "crowd"})
    Job.objects.update(status=Job.Status.FAILED, error="The worker died 3 times.")
    html = world.get(world.alice, PAGE).content.decode()
    assert "The worker died 3 times." in html and "Start again" in html
    evaluate(world)
    assert JudgesTable.objects.count() == 2 and JudgesTable.objects.first().record is not None


def test_newer_judgments_make_it_old(world):
    evaluate(world)
    doors = [PAGE, PAGE + "table.csv", PAGE + "table.tex", f"{PAGE}{key_of('cosim')}/", "/api/campaigns/talk/judges/"]
    doors.append("/api/campaigns/talk/judges/table/csv/")
    said = lambda door: world.get(world.alice, door).content.decode()
    assert not any("from an earlier snapshot" in said(door) for door in doors)
    world.score("Overall", {**SCORES, "Poor": 2}, annotators=("Cleo",))
    world.freeze()
    assert all("from an earlier snapshot" in said(door) for door in doors)
    JudgesTable.objects.get().snapshot.marks.create(reason=f"Bob {WITHDREW}")
    assert all("1 annotator withdrew after it was frozen." in said(door) and "Bob withdrew" not in said(door) for door in doors)


def test_a_criterion_that_is_not_there_is_refused(world):
    response = world.post(world.alice, PAGE, {"annotators": "crowd", "criterion": "Wit"})
    assert response.status_code == 422 and "The evaluation was not started" in response.content.decode()
    assert not Job.objects.exists()
