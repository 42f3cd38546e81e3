"""Taking answers away: what counts now, and what a snapshot was made from, with the same bytes for ever."""

import csv
import io
import json
import re
import zlib
from types import SimpleNamespace

import pytest
from django.utils import timezone

from annotation import long_files, snapshots
from annotation.annotating.consent import withdraw_annotator
from annotation.assessment import preference_files, snapshot_contents
from annotation.assessment.assess import assess
from annotation.campaigns.lifecycle import create_campaign
from annotation.data.importer import import_judgments, import_outputs, import_scores
from annotation.models import Job, LikertScore, Output, PairwiseJudgment
from annotation.tasks import write_preferences
from tests.annotation.pages import text

pytestmark = pytest.mark.django_db
FILES = ["scores.jsonl", "scores.csv", "judgments.jsonl", "judgments.csv", "preferences.jsonl", "preferences.csv?margin=1"]


def body(response) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content


def lines(response) -> list[dict]:
    return [json.loads(line) for line in body(response).decode().split("\n") if line]


def judge(campaign, a, b, choices, **more):
    """People judge the outputs of two systems on the first context."""
    pair = {s: Output.objects.get(context__campaign=campaign, context__key="c0", system__name=s) for s in (a, b)}
    for n, choice in enumerate(choices):
        person, _ = campaign.annotators.get_or_create(name=f"judge-{n}")
        PairwiseJudgment.objects.create(annotator=person, output_a=pair[a], output_b=pair[b], choice=choice, **more)


class TestWhatCountsNow:
    def test_every_field_is_there_and_importers_read_it_back(self, scored, tmp_path):
        judge(scored.campaign, "Hydra-system", "Kraken-system", ["A", "tie"], shown_swapped=True, reason="Warmer.")
        scored.sign_in(scored.alice)
        judgments = lines(scored.get("export/judgments.jsonl"))
        assert judgments[0]["shown_left"] == "B" and judgments[0]["reason"] == "Warmer." and judgments[0]["kept"] is None
        outputs = [
            {"context_id": o.context.key, "context": o.context.turns, "system": o.system.name, "output": o.text}
            for o in Output.objects.select_related("context", "system")
        ]
        again = create_campaign(slug="again")
        for name, rows in (("o.jsonl", outputs), ("s.csv", None), ("j.csv", None)):
            path = tmp_path / name
            if rows is None:
                path.write_bytes(body(scored.get({"s": "export/scores.csv", "j": "export/judgments.csv"}[name[0]])))
            else:
                path.write_text("".join(json.dumps(row) + "\n" for row in rows))
            {"o": import_outputs, "s": import_scores, "j": import_judgments}[name[0]](again, path)
        assert LikertScore.objects.filter(criterion__campaign=again).count() == 18
        stored = PairwiseJudgment.objects.filter(annotator__campaign=again).values_list("choice", "shown_swapped", "reason")
        assert list(stored) == [("A", True, "Warmer."), ("tie", True, "Warmer.")]

    def test_a_spreadsheet_runs_nothing_and_nothing_is_changed_by_it(self, world, tmp_path):
        texts = ["=HYPERLINK(1)", "+1", "-- so", "@here", "a\u2028b", "'=quoted", "'plain", "\tTab", "＝1"]
        rows = [
            {
                "context_id": f"x{n}",
                "context": "c",
                "system_a": "s",
                "output_a": t,
                "system_b": "t",
                "output_b": "b",
                "annotator": "p",
                "choice": "A",
            }
            for n, t in enumerate(texts)
        ]
        path = tmp_path / "j.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        import_judgments(world.campaign, path)
        world.sign_in(world.alice)
        assert [row["output_a"] for row in lines(world.get("export/judgments.jsonl"))] == texts
        table = body(world.get("export/judgments.csv"))
        cells = [row["output_a"] for row in csv.DictReader(io.StringIO(table.decode(), newline=""))]
        assert cells == ["'=HYPERLINK(1)", "'+1", "'-- so", "'@here", "a\u2028b", "'=quoted", "'plain", "'\tTab", "'＝1"]
        (tmp_path / "j.csv").write_bytes(table)
        assert import_judgments(world.campaign, tmp_path / "j.csv").new == {}  # the same texts, to the letter


class TestGroups:
    def test_they_are_in_the_files_and_come_back(self, scored, tmp_path):
        judge(scored.campaign, "Hydra-system", "Kraken-system", ["A"])
        scored.campaign.contexts.filter(key="c0").update(group="charter")
        scored.sign_in(scored.alice)
        groups = {row["context_id"]: row["group"] for row in lines(scored.get("export/scores.jsonl"))}
        assert groups["c0"] == "charter" and {groups[key] for key in groups if key != "c0"} == {None}
        table = body(scored.get("export/judgments.csv"))
        [row] = csv.DictReader(io.StringIO(table.decode(), newline=""))
        assert row["group"] == "charter"
        (tmp_path / "j.csv").write_bytes(table)
        again = create_campaign(slug="again")
        import_judgments(again, tmp_path / "j.csv")
        assert again.contexts.get().group == "charter"

    def test_files_of_a_campaign_without_groups_have_no_such_field(self, scored):
        judge(scored.campaign, "Hydra-system", "Kraken-system", ["A"])
        scored.sign_in(scored.alice)
        for what in ("scores", "judgments"):
            assert "group" not in lines(scored.get(f"export/{what}.jsonl"))[0]
            assert "group" not in body(scored.get(f"export/{what}.csv")).decode().splitlines()[0].split(",")


class TestASnapshot:
    @pytest.fixture
    def frozen(self, scored):
        judge(scored.campaign, "Hydra-system", "Kraken-system", ["A", "A", "B"])
        judge(scored.campaign, "Human-writer", "Hydra-system", ["A", "B"])
        scored.snapshot = assess(scored.campaign)
        scored.sign_in(scored.alice)
        return scored

    def files(self, world) -> list[bytes]:
        return [body(world.get(f"snapshots/{world.snapshot.name}/{name}")) for name in FILES]

    def test_it_has_the_same_bytes_twice_and_after_everything_that_happens_later(self, frozen):
        before = self.files(frozen)
        assert all(before) and self.files(frozen) == before
        judge(frozen.campaign, "Human-writer", "Kraken-system", ["A", "A"])
        LikertScore.objects.filter(pk=LikertScore.objects.first().pk).update(retracted_at=timezone.now())
        withdraw_annotator(LikertScore.objects.first().annotator)
        frozen.campaign.systems.filter(name="Hydra-system").update(name="Lerna-system")
        assert self.files(frozen) == before

    def test_it_says_of_every_answer_whether_it_was_kept(self, frozen):
        scores = lines(frozen.get(f"snapshots/{frozen.snapshot.name}/scores.jsonl"))
        assert len(scores) == 18 and sum(row["kept"] for row in scores) == frozen.snapshot.scores < 18
        assert {row["dropped_by"] for row in scores if not row["kept"]} == {"MAD 1"}
        assert all(row["kept"] for row in lines(frozen.get(f"snapshots/{frozen.snapshot.name}/judgments.jsonl")))

    def test_preferences_are_the_majoritys_and_even_votes_make_none(self, frozen):
        [pair] = lines(frozen.get(f"snapshots/{frozen.snapshot.name}/preferences.jsonl"))
        assert pair == {
            "prompt": "Hello 0.\nHi there 0!",
            "chosen": "Reply 0 to 0",
            "rejected": "Reply 1 to 0",
            "source": "judgments",
            "aspect": None,
            "margin": 1,
            "answers": 3,
            "simulated": False,
            "context_id": "c0",
            "system_chosen": "Hydra-system",
            "system_rejected": "Kraken-system",
        }

    def test_it_is_read_a_part_at_a_time(self, frozen, monkeypatch):
        whole = list(snapshot_contents.rows(frozen.snapshot, "scores"))
        monkeypatch.setattr(snapshots, "PART", 7)
        assert len(whole) == 18 and list(snapshot_contents.rows(frozen.snapshot, "scores")) == whole
        length, parts = snapshots.parts(frozen.snapshot)
        first, *others = parts
        assert len(first) < length / 10 and first + b"".join(others) == snapshots.lines(frozen.snapshot)

    def test_a_damaged_snapshot_is_told_before_its_first_byte(self, frozen):
        frozen.snapshot.content = zlib.compress(b"other")
        with pytest.raises(ValueError, match="is damaged"):
            snapshots.parts(frozen.snapshot)

    def test_preferences_keep_no_answers(self, frozen, monkeypatch):
        """Of 18 scores and 5 judgments there is one at a time, and the one before it while it is replaced."""

        class Row(dict):
            now = most = 0

            def __init__(self, row):
                super().__init__(row)
                Row.now += row.get("type") != "criterion"
                Row.most = max(Row.most, Row.now)

            def __del__(self):
                Row.now -= self.get("type", "") != "criterion"

        pairs = list(snapshot_contents.preferences(frozen.snapshot, 2.0))
        read = SimpleNamespace(loads=lambda line: Row(json.loads(line)), dumps=json.dumps)
        monkeypatch.setattr(snapshot_contents, "json", read)
        assert list(snapshot_contents.preferences(frozen.snapshot, 2.0)) == pairs and Row.most == 2
        assert {pair["source"] for pair in pairs} == {"judgments", "scores"}

    @pytest.mark.parametrize("name", ["preferences.jsonl?margin=2", "preferences.csv"])
    def test_many_are_a_workers(self, frozen, monkeypatch, settings, tmp_path, name):
        """The request reads none of them: page and API tell the job, then both give the bytes of before."""
        page = f"snapshots/{frozen.snapshot.name}/{name}"
        _, format, margin = re.fullmatch(r"(\w+)\.(\w+)(.*)", name).groups()
        api = f"/api/campaigns/{frozen.campaign.slug}/snapshots/{frozen.snapshot.name}/export/preferences/{format}/{margin}"
        at_once = body(frozen.get(page))
        settings.UPLOADS_DIR = tmp_path
        monkeypatch.setattr(long_files, "AT_ONCE", 10)
        with monkeypatch.context() as patched:
            patched.setattr(snapshot_contents, "rows", None)
            patched.setattr(snapshots, "parts", None)
            later = frozen.client.get(api)
            assert "Write the preference pairs" in text(frozen.get(page))
        job = Job.objects.get(task=preference_files.TASK)
        assert later.status_code == 202 and later.json() == {"job": str(job.pk)}
        write_preferences(str(job.pk))
        again = f"{page}{'&' if margin else '?'}file=1"
        assert "file=1" in text(frozen.get(page)) and body(frozen.get(again)) == body(frozen.client.get(api)) == at_once
        assert preference_files.address(Job.objects.get()).endswith(page)

    def test_so_many_files_are_kept_whatever_margins_are_asked_for(self, frozen, monkeypatch, settings, tmp_path):
        settings.UPLOADS_DIR = tmp_path
        monkeypatch.setattr(long_files, "AT_ONCE", 10)
        monkeypatch.setattr(long_files, "MOST", 2)
        for n in range(1, 5):
            frozen.get(f"snapshots/{frozen.snapshot.name}/preferences.jsonl?margin={n}")
            write_preferences(str(Job.objects.filter(task=preference_files.TASK).latest("created_at").pk))
        assert len(list((tmp_path / "published").iterdir())) == 2
        frozen.get(f"snapshots/{frozen.snapshot.name}/preferences.jsonl?margin=3")  # is there
        assert Job.objects.filter(task=preference_files.TASK).count() == 4

    def test_preferences_from_scores_are_asked_for_with_a_margin(self, frozen):
        address = f"snapshots/{frozen.snapshot.name}/preferences.jsonl"
        preferences = [row for row in lines(frozen.get(address + "?margin=2")) if row["source"] == "scores"]
        kept = [r for r in lines(frozen.get(f"snapshots/{frozen.snapshot.name}/scores.jsonl")) if r["kept"]]
        means = {}
        for row in kept:
            means.setdefault((row["context_id"], row["system"]), []).append(row["score"])
        means = {key: sum(v) / len(v) for key, v in means.items()}
        expected = {(c, s, t) for c, s in means for d, t in means if c == d and means[c, s] - means[c, t] >= 2}
        assert {(r["context_id"], r["system_chosen"], r["system_rejected"]) for r in preferences} == expected and expected
        for wrong in ("x", "0", "nan", "-1"):
            refused = frozen.get(f"{address}?margin={wrong}")
            assert refused.status_code == 409 and "margin" in text(refused)

    def test_a_snapshot_from_before_says_so(self, frozen):
        frozen.snapshot.frozen_answers.delete()
        assert frozen.get(f"snapshots/{frozen.snapshot.name}/scores.csv").status_code == 409

    def test_researchers_only(self, frozen):
        for user in (frozen.bob, frozen.charlie):
            frozen.sign_in(user)
            assert {frozen.get(f"snapshots/{frozen.snapshot.name}/{name}").status_code for name in FILES} == {404}
