"""Runs are opened, and their checkpoints are stored once, whole or in parts."""

import json

import pytest

from annotation.models import AuditEvent, Item, Job, Output
from leaderboard.models import Run, RunCheckpoint, RunOutput
from leaderboard.runs import registry, reports
from tests.leaderboard.runs.conftest import Words, judge_all

pytestmark = pytest.mark.django_db


class TestOpening:
    def test_a_run_is_opened_once_and_taken_up_again(self, world, call):
        asked = {"name": " café ", "total_steps": 100, "settings": {"lr": 0.1}, "previous": 3}
        first = call("POST", "runs/", asked)
        whole = first.json()
        assert first.status_code == 201 and (whole["name"], whole["word"], whole["points"]) == ("café", "open", [])
        assert whole["judge"]["name"] == "talk-overall-1" and whole["rules"]["previous"] == 3 and whole["contexts"] == 12
        again = call("POST", "runs/", asked | {"name": "cafe\u0301", "total_steps": 200, "settings": {}})
        assert again.status_code == 200 and again.json()["total_steps"] == 200
        assert again.json()["left_out"] == ["The settings stay as they were sent first."]
        assert Run.objects.count() == 1 and AuditEvent.objects.filter(action="run opened").count() == 1

    @pytest.mark.parametrize(
        "more, said",
        [
            ({"judge": "rouge-l"}, "is judged by talk-overall-1"),
            ({"losses": 9}, "was opened with losses 5, not 9"),
            ({"contexts": 5}, "has 12 contexts, not 5"),
            ({"name": "LSTM"}, "differs in case, spaces or dashes alone"),
            ({"name": "Poor"}, "There is a system 'Poor' already"),
            ({"name": "a/b"}, "no slash"),
            ({"name": "x", "judge": "nobody"}, "There is no judge 'nobody'"),
            ({"name": "x", "contexts": 13}, "has 12 contexts, not 13"),
            ({"name": "x", "worthwhile": 60}, "between 0 and 50"),
            ({"name": "compare"}, "another address"),
        ],
    )
    def test_what_cannot_be_is_refused_in_a_sentence(self, run, call, more, said):
        answer = call("POST", "runs/", {"name": "lstm"} | more)
        assert answer.status_code == 422 and said in answer.json()["message"]
        assert Run.objects.count() == 1

    def test_the_first_sentence_says_why_a_judge_is_in_doubt(self, world, call, used):
        used.gates = {"talk": [{"question": "q", "passed": False, "answer": "It is no better than length."}]}
        used.save()
        said = call("POST", "runs/", {"name": "lstm"}).json()["said"][0]
        assert said.startswith("Comparator talk-overall-1 did not pass the gate: It is no better than length.")

    def test_contexts_are_the_runs_in_its_order(self, world, call, django_assert_max_num_queries):
        call("POST", "runs/", {"name": "half", "contexts": 6})
        ids = [row["context_id"] for row in call("GET", "contexts/?run=half").json()["results"]]
        with django_assert_max_num_queries(11):  # none for each of the 12
            every = call("GET", "contexts/").json()["results"]
        assert len(ids) == 6 and ids == sorted(ids) and len(every) == 12
        assert every[0] == {"context_id": "c00", "turns": world.rows[0]["context"], "group": ""}


class TestReports:
    def test_a_step_is_stored_once(self, run, report):
        first, again = report(100), report(100)
        assert (first.status_code, again.status_code) == (202, 200)
        assert first.json() | {"job": None} == {
            "step": 100, "complete": True, "stored": 12, "missing": 0, "job": None, "left_out": [],
        }  # fmt: skip
        assert again.json()["stored"] == 0 and again.json()["job"]["id"] == first.json()["job"]["id"]
        assert report(100, "other").status_code == 409
        assert (RunCheckpoint.objects.count(), RunOutput.objects.count(), Job.objects.filter(task=reports.TASK).count()) == (
            1,
            12,
            1,
        )
        assert set(RunOutput.objects.values_list("text", flat=True)) == {"a b"}

    def test_in_parts_it_is_judged_when_whole(self, run, report, world):
        keys = sorted(world.campaign.contexts.values_list("key", flat=True))
        one = report(100, dict.fromkeys(keys[:6], "a"), part=1, parts=2)
        assert (one.status_code, one.json()["complete"], one.json()["missing"], one.json()["job"]) == (202, False, 6, None)
        assert report(100, dict.fromkeys(keys[:6], "a"), part=1, parts=2).status_code == 200
        assert report(100, dict.fromkeys(keys[6:], "a"), part=2, parts=3).status_code == 422
        assert report(100, dict.fromkeys(keys[5:], "b"), part=2, parts=2).status_code == 409
        assert RunOutput.objects.count() == 6
        two = report(100, dict.fromkeys(keys[6:], "b"), part=2, parts=2)
        assert two.json()["complete"] and two.json()["job"] and RunCheckpoint.objects.get().digest

    def test_what_is_missing_unknown_or_twice_is_named(self, run, report, call, world):
        keys = sorted(world.campaign.contexts.values_list("key", flat=True))
        missing = report(100, dict.fromkeys(keys[1:], "a"))
        assert missing.status_code == 422 and "1 of the run's 12 contexts: 'c00'" in missing.json()["message"]
        unknown = report(100, dict.fromkeys([*keys, "no such"], "a"))
        assert unknown.status_code == 422 and "'no such' is no context of run 'lstm'" in unknown.json()["message"]
        rows = [{"context_id": key, "output": "a"} for key in [*keys, keys[0]]]
        assert call("POST", "runs/lstm/checkpoints/", {"step": 1, "outputs": rows}).status_code == 400
        assert not RunCheckpoint.objects.exists()

    @pytest.mark.parametrize(
        "body",
        [
            b'{"step": NaN, "outputs": []}',
            b'{"step": 1, "validation_loss": NaN, "outputs": [{"context_id": "c00", "output": "a"}]}',
            b'{"step": 1, "outputs": [{"context_id": "c00", "output": "\\u0000"}]}',
            b'{"step": 1, "outputs": [{"context_id": "c00", "output": "\\ud800"}]}',
            b'{"step": true, "outputs": [{"context_id": "c00", "output": "a"}]}',
            b'{"step": 1, "part": 3, "parts": 2, "outputs": [{"context_id": "c00", "output": "a"}]}',
            b'{"step": 1, "outputs": [{"context_id": "c00", "output": 5}]}',
            b'{"step": 1, "outputs": [{"context_id": "c00", "output": "' + b"x" * 20_001 + b'"}]}',
            b'{"step": 2147483648, "outputs": [{"context_id": "c00", "output": "a"}]}',
            b"[" * 3000,
        ],
    )
    def test_a_wrong_form_is_400_and_stores_nothing(self, run, call, body):
        answer = call("POST", "runs/lstm/checkpoints/", body)
        assert answer.status_code == 400 and answer.json()["errors"][0]["message"] and not RunCheckpoint.objects.exists()

    def test_a_request_has_a_size(self, run, call):
        assert call("POST", "runs/lstm/checkpoints/", b"x" * (5 * 2**20 + 1)).status_code == 413

    def test_texts_come_back_as_they_went_and_nothing_else_is_kept_silently(self, run, report):
        text = "\ufeff a\r\ne\u0301 \u202eb "
        said = report(100, text, validaton_loss=1.0).json()["left_out"]
        assert said == ["'validaton_loss' is no field of this request."]
        assert RunOutput.objects.first().text == text
        assert report(100, text, validation_loss=2.5).json()["left_out"] == []
        assert "stays 2.5" in report(100, text, validation_loss=3.0).json()["left_out"][0]
        assert RunCheckpoint.objects.get().validation_loss == 2.5

    def test_a_total_grows_and_never_falls_below_what_is_done(self, run, report, call):
        report(1500)
        assert call("GET", "runs/lstm/").json()["total_steps"] == 1500
        assert call("POST", "runs/", {"name": "lstm", "total_steps": 1499}).status_code == 422
        assert report(1600, total_steps=4000).status_code == 202
        assert call("GET", "runs/lstm/").json()["total_steps"] == 4000

    def test_a_total_below_the_step_is_no_total(self, world, report, call):
        assert call("POST", "runs/", {"name": "lstm"}).status_code == 201
        assert report(15, total_steps=3).json()["left_out"] == ["A total of 3 steps is below step 15, so it is not kept."]
        report(900)
        assert call("GET", "runs/lstm/").json()["total_steps"] is None

    def test_a_log_probability_is_at_most_0(self, run, call):
        rows = lambda said: {
            "step": 1,
            "outputs": [{"context_id": "c00", "output": "a", "logprob": said}],
            "part": 1,
            "parts": 2,
        }
        wrong = call("POST", "runs/lstm/checkpoints/", rows(3.0))
        assert wrong.status_code == 400 and "at most 0" in wrong.content.decode()
        assert call("POST", "runs/lstm/checkpoints/", rows(1e-6)).status_code == 202  # rounding

    def test_a_closed_run_takes_no_more(self, run, report, call):
        assert call("POST", "runs/lstm/close/").json()["closed_at"]
        assert report(100).status_code == 409 and AuditEvent.objects.filter(action="run closed").count() == 1

    def test_bounds_are_said(self, run, report, monkeypatch):
        monkeypatch.setattr(reports, "MOST_CHECKPOINTS", 1)
        report(100)
        assert "has 1 checkpoints, the most" in report(200).json()["message"]
        monkeypatch.setattr(registry, "MOST_RUNS", 1)
        with pytest.raises(registry.Refused, match="has 1 runs"):
            registry.open_run(run.campaign, "second")


def test_fifty_checkpoints_make_no_item_and_no_output(run, report, world):
    before = Item.objects.count(), Output.objects.count()
    for step in range(1, 51):
        report(step, f"a {'b ' * (step % 7)}")
    assert judge_all(run, Words()) == 50
    assert (Item.objects.count(), Output.objects.count()) == before
    run.refresh_from_db()
    assert len(run.verdict["points"]) == 50 and run.job is None


def test_others_see_nothing(run, world):
    for user in (world.charlie, None):
        world.client.logout() if user is None else world.client.force_login(user)
        for path in ("contexts/", "runs/", "runs/lstm/", "runs/lstm/csv/", "runs/compare/?name=lstm"):
            assert world.client.get(f"/api/campaigns/talk/{path}").status_code == (401 if user is None else 404)
        body = json.dumps({"step": 1, "outputs": [{"context_id": "c00", "output": "a"}]})
        answer = world.client.post("/api/campaigns/talk/runs/lstm/checkpoints/", body, content_type="application/json")
        assert answer.status_code in (401, 403, 404) and not RunCheckpoint.objects.exists()
