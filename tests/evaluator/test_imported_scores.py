"""Scores that a judge gave elsewhere come in by import_judge_scores, all or nothing."""

import pytest
from django.core.management import CommandError

from annotation.models import AuditEvent, System
from evaluator.imported_scores import judges_of, scores_of
from evaluator.models import ImportedScore
from leaderboard.systems import describe
from tests.evaluator.world import command, write

pytestmark = pytest.mark.django_db


def imported(world, rows, *options, judge="Prometheus", name="scores.jsonl"):
    return command("import_judge_scores", "talk", write(world.folder, name, rows), "--judge", judge, *options)


def rows_of(world, score=1.0):
    return [{"context_id": row["context_id"], "system": row["system"], "score": score} for row in world.rows]


def test_a_file_comes_in_once(world):
    rows = rows_of(world)
    assert imported(world, rows, "--dry-run")["new"] == {"scores": 48} and not ImportedScore.objects.exists()
    assert imported(world, rows) == {"rows": 48, "new": {"scores": 48}, "dry_run": False}
    assert imported(world, rows)["new"] == {} and ImportedScore.objects.count() == 48
    assert judges_of(world.campaign) == ["Prometheus"]
    assert scores_of(world.campaign, "Prometheus")["c00", "Fine", "", 0] == 1.0
    event = AuditEvent.objects.get(detail__judge="Prometheus")
    assert (event.detail["kind"], event.detail["rows"]) == ("judge scores", 48)


def test_another_score_replaces_only_where_asked(world):
    imported(world, rows_of(world))
    imported(world, rows_of(world, 2.0), judge="Other")
    with pytest.raises(CommandError, match="is 3, but 1 is stored for this output; --replace replaces it"):
        imported(world, rows_of(world, 3.0)[:2])
    assert imported(world, rows_of(world, 3.0)[:2], "--replace")["new"] == {"scores": 2}
    assert set(scores_of(world.campaign, "Prometheus").values()) == {3.0}
    assert ImportedScore.objects.filter(judge="Prometheus").count() == 2
    assert ImportedScore.objects.filter(judge="Other").count() == 48


def test_a_context_may_be_given_by_its_text_and_a_system_by_a_former_name(world):
    row = world.rows[1]
    system = System.objects.get(campaign=world.campaign, name="Fine")
    describe(system, "Finer", "", "")
    imported(world, [{"context": row["context"], "system": row["system"], "score": "0.5"}])
    assert scores_of(world.campaign, "Prometheus")[row["context_id"], row["system"], "", 0] == 0.5


def test_tables(world):
    path = world.folder / "scores.csv"
    path.write_text("context_id;system;score\nc00;Fine;0,5\n", encoding="utf-8")
    with pytest.raises(CommandError, match="scores.csv, line 2, field 'score': expected a number, found .0,5."):
        command("import_judge_scores", "talk", path, "--judge", "J")
    path.write_text("context_id;system;score\nc00;Fine;0.5\n", encoding="utf-8")
    assert command("import_judge_scores", "talk", path, "--judge", "J")["rows"] == 1


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"score": "high"}, "field 'score': expected a number, found \"high\""),
        ({"score": None}, "field 'score': is missing"),
        ({"system": "Nobody"}, "field 'system': system 'Nobody' has no such output for the context 'c00'"),
        ({"context_id": "c99"}, "field 'system': system 'Person' has no such output for the context 'c99'"),
        ({"context_id": None}, "field 'context': is missing"),
        ({"context_id": None, "context": ["never said"]}, "field 'context': is the text of no context"),
        ({"sample": 3}, "has no such output"),
        ({"score": 7}, "field 'score': is 7, but 1 was given for the same output further up"),
    ],
)
def test_every_error_names_line_and_field_and_stores_nothing(world, wrong, sentence):
    rows = rows_of(world)[:1]
    with pytest.raises(CommandError) as refused:
        imported(world, [*rows, {**rows[0], **wrong}])
    assert "scores.jsonl, line 2" in str(refused.value) and sentence in str(refused.value)
    assert not ImportedScore.objects.exists()


def test_all_errors_are_listed(world, capsys):
    rows = [{**row, "score": "x"} for row in rows_of(world)]
    with pytest.raises(CommandError, match="and 47 more errors; nothing was imported"):
        imported(world, rows)


def test_a_judge_needs_a_name(world):
    with pytest.raises(CommandError, match="A judge has a name of 1 to 100 characters"):
        imported(world, rows_of(world), judge=" ")
