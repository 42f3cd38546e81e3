"""Files and tournaments judged in parts: the same results whoever judges which part, and as judged by one alone."""

import json
import random

import numpy as np
import pytest
from django.test import override_settings

from annotation import jobs, parts
from annotation.models import JobPart, Output
from core.errors import ImportRefused, Refused
from evaluator.models import JudgedFile, Utility
from evaluator.tasks import judge_file
from evaluator.worker import comparators, judged_files, shared_files
from tests.evaluator.judges.test_protocol import Last, Length
from tests.evaluator.world import write
from tests.leaderboard.played import version  # noqa: F401 a fixture

PAIRS = [
    {"id": n, "context": [f"question {n % 7}"], "output_a": "a " * random.Random(n).randint(1, 9), "output_b": "b" * (n % 5)}
    for n in range(23)
]


@pytest.fixture(autouse=True)
def small(monkeypatch, tmp_path, db):
    for module in (comparators, judged_files, shared_files):
        monkeypatch.setattr(module, "CHUNK", 5)
    monkeypatch.setattr(comparators, "Comparator", Length)
    for module in (comparators, judged_files, shared_files):
        monkeypatch.setattr(module, "load", lambda of, of_files=False: Length())
    with override_settings(UPLOADS_DIR=tmp_path / "uploads"):
        yield


def with_helpers(monkeypatch, others: int):
    """Each time that the job's own worker is at a part, `others` do one as well."""
    real, inside = parts.do, []

    def do(part, work, report):
        if not inside:
            inside.append(True)
            for _ in range(others):
                if other := parts.take(part.job_id):
                    real(other, work, report)
            inside.clear()
        real(part, work, report)

    monkeypatch.setattr(parts, "do", do)


@pytest.mark.parametrize("others", [0, 2])
@pytest.mark.parametrize("kind", ["compare", "score"])
def test_a_file_is_judged_as_by_one_alone(version, tmp_path, monkeypatch, others, kind):  # noqa: F811
    with_helpers(monkeypatch, others)
    rows = PAIRS if kind == "compare" else [{**row, "output": row["output_a"]} for row in PAIRS]
    path, alone, out = write(tmp_path, "in.jsonl", rows), tmp_path / "alone.jsonl", tmp_path / "out.jsonl"
    getattr(judged_files, f"{kind}_file")(Length(), path, alone)
    made = shared_files.start(version, kind, path)
    assert [part.work["rows"] for part in made.job.parts.all()] == [5, 5, 5, 5, 3]
    judge_file(str(made.job_id))
    shared_files.wait(made, look_seconds=0.0)
    assert shared_files.fetch(made, out) == 23
    assert out.read_bytes() == alone.read_bytes()
    assert list((tmp_path / "uploads/judged").iterdir()) == [] and not JobPart.objects.exists()


def test_what_is_merged_is_not_merged_again(version, tmp_path, monkeypatch):  # noqa: F811
    made = shared_files.start(version, "compare", write(tmp_path, "in.jsonl", PAIRS))
    with jobs.claim(made.job_id) as claim:
        shared_files.run(claim)
        claim.job.refresh_from_db()
        monkeypatch.setattr(shared_files, "_merge", None)
        shared_files.run(claim)  # as after a worker that died between merging and saying so


def test_a_bad_row_is_named_and_nothing_is_kept(version, tmp_path):  # noqa: F811
    path = write(tmp_path, "in.jsonl", [*PAIRS, {"context": ["Hi"], "output_a": "a"}])
    with pytest.raises(ImportRefused) as refused:
        shared_files.start(version, "compare", path)
    assert (refused.value.errors[0].file, refused.value.errors[0].line) == ("in.jsonl", 24)
    assert refused.value.errors[0].field == "output_b"
    assert not JudgedFile.objects.exists() and list((tmp_path / "uploads/judged").iterdir()) == []


def test_without_a_worker_the_command_says_so_and_leaves_nothing_queued(version, tmp_path):  # noqa: F811
    made = shared_files.start(version, "compare", write(tmp_path, "in.jsonl", PAIRS))
    with pytest.raises(Refused, match="No worker is running"):
        shared_files.wait(made, look_seconds=0.0)
    made.job.refresh_from_db()
    assert made.job.status == "cancelled"


def test_what_is_remembered_is_read_as_of_one_moment(world, version, django_assert_num_queries):  # noqa: F811
    """While another board of the version stores what it judged: of half of its part, the other half would be judged in other
    company."""
    stored = {pk: float(pk) for pk in Output.objects.values_list("pk", flat=True)[:5]}
    Utility.objects.bulk_create(Utility(version=version, output_id=pk, value=value) for pk, value in stored.items())
    first, *others = stored
    with django_assert_num_queries(1):
        assert comparators._known(version, [*others, *range(max(others) + 1, max(others) + 2000)]) == {
            pk: stored[pk] for pk in others
        }
    with django_assert_num_queries(0):
        assert comparators._known(version, []) == {}


@pytest.mark.parametrize("others", [0, 2])
def test_outputs_are_judged_as_by_one_alone(world, version, monkeypatch, others):  # noqa: F811
    outputs = list(Output.objects.select_related("context"))
    alone = comparators.utilities(version, outputs)
    Utility.objects.all().delete()
    with_helpers(monkeypatch, others)
    job = jobs.enqueue("leaderboard.tasks.play", "Play")
    laid_out = []
    with jobs.claim(job.pk) as claim:

        def shared(works, work):
            laid_out.extend(works())
            return parts.share(claim, lambda: laid_out, work, "Judging")

        assert comparators.utilities(version, outputs, shared=shared) == alone
    assert sorted(pk for part in laid_out for pk in part["outputs"]) == sorted(alone)
    assert dict(Utility.objects.values_list("output_id", "value")) == alone  # each once


@pytest.mark.parametrize("others", [0, 2])
def test_a_joint_comparators_pairs_are_judged_as_by_one_alone(world, version, monkeypatch, others):  # noqa: F811
    monkeypatch.setattr(comparators, "architecture", lambda of: "joint")
    monkeypatch.setattr(comparators, "load", lambda of: Last())
    outputs = list(Output.objects.select_related("context"))
    alone = comparators.verdicts(version, outputs)
    with_helpers(monkeypatch, others)
    job = jobs.enqueue("leaderboard.tasks.play", "Play")
    with jobs.claim(job.pk) as claim:
        said = comparators.verdicts(version, outputs, shared=lambda works, work: parts.share(claim, works, work, "Judging"))
    assert said.place == alone.place and np.array_equal(said.read.probabilities, alone.read.probabilities)
    assert json.dumps(said.read.choices.tolist()) == json.dumps(alone.read.choices.tolist())
