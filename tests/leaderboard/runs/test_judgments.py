"""A run's checkpoints are judged once, in the order of their steps, by whatever the campaign has for a judge."""

import numpy as np
import pytest

from annotation import jobs
from annotation.models import Job
from core.errors import Refused
from leaderboard.models import RunCheckpoint, RunComparison
from leaderboard.runs import judgments
from tests.leaderboard.runs.conftest import Words, judge_all

pytestmark = pytest.mark.django_db


def words(n: int) -> str:
    return " ".join("abcdefghijkl"[:n])


class TestOneJob:
    def test_takes_all_that_wait_once_and_in_order(self, run, report, call):
        for step in (300, 100, 200):
            report(step, words(step // 100))
        assert Job.objects.filter(task="leaderboard.tasks.judge_run").count() == 1
        judge = Words()
        assert judge_all(run, judge) == 3 and judge.asked == [words(n) for n in (1, 2, 3) for _ in range(12)]
        whole = call("GET", "runs/lstm/").json()
        assert (
            [point["step"] for point in whole["points"]] == [100, 200, 300] and whole["waiting"] == 0 and whole["job"] is None
        )
        # 200 is compared with 100; 300 with 200 and 100, on 12 contexts each
        assert [(p["wins"], p["ties"], p["losses"]) for p in whole["points"]] == [(0, 0, 0), (12, 0, 0), (24, 0, 0)]
        assert whole["best"]["step"] == 300 and [point["mean_length"] for point in whole["points"]] == [1, 3, 5]

    def test_a_report_after_the_last_look_makes_another_job(self, run, report):
        first = report(100).json()["job"]["id"]
        judge_all(run, Words())
        second = report(200).json()["job"]["id"]
        assert first != second and judge_all(run, Words()) == 1

    def test_a_report_while_it_judges_is_taken_along(self, run, report):
        report(100)

        class Slow(Words):
            def utilities(self, written, report_progress):
                if not self.asked:
                    assert report(200, "a").json()["job"]["id"] == str(run.job_id)
                return super().utilities(written, report_progress)

        run.refresh_from_db()
        assert judge_all(run, Slow()) == 2

    def test_a_worker_that_dies_leaves_what_is_judged(self, run, report):
        for step in (100, 200):
            report(step, words(step // 100))

        class Dying(Words):
            def utilities(self, written, report):
                if self.asked:
                    raise KeyboardInterrupt
                return super().utilities(written, report)

        with pytest.raises(KeyboardInterrupt):
            judge_all(run, Dying())
        run.refresh_from_db()
        assert run.job.status == Job.Status.FAILED and RunCheckpoint.objects.exclude(judged_at=None).count() == 1
        assert jobs.retry(run.job)
        judge = Words()
        assert judge_all(run, judge) == 1 and set(judge.asked) == {words(2)}

    def test_a_judge_that_refuses_is_said_and_the_next_report_goes_on(self, run, report, call):
        report(100)

        class Refusing(Words):
            def utilities(self, written, report):
                raise Refused("Its budget is spent.")

        with pytest.raises(Refused):
            judge_all(run, Refusing())
        whole = call("GET", "runs/lstm/").json()
        assert (
            whole["said"][-1].endswith("Its budget is spent.") and whole["waiting"] == 1 and whole["job"]["status"] == "failed"
        )
        report(200)
        assert judge_all(run, Words()) == 2

    def test_a_job_that_was_replaced_does_nothing(self, run, report):
        report(100)
        run.refresh_from_db()
        old = run.job
        jobs.cancel(old)
        report(200)
        assert jobs.retry(Job.objects.get(pk=old.pk))
        with jobs.claim(old.pk) as claim:
            assert judgments.judge_waiting(claim, lambda run: Words()) == 0
        assert judge_all(run, Words()) == 2


def test_what_is_not_judged_is_counted(run, report, call):
    class Silent(Words):
        def utilities(self, written, report):
            found = super().utilities(written, report)
            found[:silent] = np.nan
            return found

    for step, silent in ((100, 0), (200, 5), (300, 12)):  # noqa: B007 (read above)
        report(step, words(step // 100))
        judge_all(run, Silent())
    whole = call("GET", "runs/lstm/").json()
    assert [(p["step"], p["wins"], p["unjudged"]) for p in whole["points"]] == [(100, 0, 0), (200, 7, 5)]
    assert "said nothing of some outputs at 2 checkpoints, at most 12 at one." in whole["said"][-1]


def test_a_judge_of_pairs_is_asked_each_pair_once(run, report, call):
    for step in (100, 200, 300):
        report(step, words(step // 100))
    judge = Words(reads_pairs=True)
    judge_all(run, judge)
    # 200 against 100; 300 against 200 and 100
    assert len(judge.asked) == 3 * 12 and RunComparison.objects.count() == 3
    report(250, words(6))  # late: against 200 and 100, and 300 against it
    late = Words(reads_pairs=True)
    judge_all(run, late)
    pairs = [(words(6), words(2)), (words(6), words(1)), (words(3), words(6))]
    assert sorted(set(late.asked)) == sorted(f"{a} | {b}" for a, b in pairs) and len(late.asked) == 36
    whole = call("GET", "runs/lstm/").json()
    assert whole["best"]["step"] == 250 and [p["losses"] for p in whole["points"]] == [0, 0, 0, 12]


def test_csv_says_in_each_row_who_judged(run, report, call):
    report(100)
    judge_all(run, Words())
    header, row = call("GET", "runs/lstm/csv/").content.decode().splitlines()
    named = dict(zip(header.split(","), row.split(",")))
    assert (named["step"], named["run"], named["judge"], named["contexts"]) == ("100", "lstm", "talk-overall-1", "12")


def test_a_metric_and_its_references(world, call):
    """Through the worker's own way: rouge-l beside what people wrote there ("good" is its last word)."""
    from leaderboard.tasks import judge_checkpoints

    call("POST", "runs/", {"name": "metric", "judge": "rouge-l"})
    person = {row["context_id"]: row["output"] for row in world.rows if row["system"] == "Person"}
    for step, texts in {1: dict.fromkeys(person, "nothing alike"), 2: person}.items():
        rows = [{"context_id": key, "output": text} for key, text in texts.items()]
        assert call("POST", "runs/metric/checkpoints/", {"step": step, "outputs": rows}).status_code == 202
    assert judge_checkpoints(Job.objects.get(task="leaderboard.tasks.judge_run").pk) == 2
    rows = dict(RunCheckpoint.objects.values_list("step", "utilities"))
    assert max(rows[1]) == 0 and min(rows[2]) == pytest.approx(1.0)
    assert call("GET", "runs/metric/").json()["points"][1]["wins"] == 12


def test_a_total_that_grows_while_the_job_runs_is_read_anew(run, report, call):
    report(900)

    class Slow(Words):
        def utilities(self, written, report_progress):
            if not self.asked:
                report(1500, "a")
            return super().utilities(written, report_progress)

    assert judge_all(run, Slow()) == 2
    assert [point["step"] for point in call("GET", "runs/lstm/").json()["points"]] == [900, 1500]
