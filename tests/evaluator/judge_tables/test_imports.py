"""Scores and judgments of pairs that a judge gave elsewhere come in by import_judge_scores, all or nothing."""

from itertools import combinations

import pytest
from django.core.management import CommandError

from annotation.models import AuditEvent, System
from core.errors import Refused
from evaluator.judge_tables.imports import judges_of, pairs_of, scores_of
from evaluator.models import ImportedPair, ImportedScore
from evaluator.roster import judge_named
from leaderboard import tasks
from leaderboard.boards import queries
from leaderboard.models import Game
from leaderboard.systems import describe
from leaderboard.tournaments.start import start_tournament
from tests.evaluator.world import SCORES, SYSTEMS, command, write

pytestmark = pytest.mark.django_db


def imported(world, rows, *options, judge="Prometheus", name="scores.jsonl"):
    return command("import_judge_scores", "talk", write(world.folder, name, rows), "--judge", judge, *options)


def rows_of(world, score=1.0):
    return [{"context_id": row["context_id"], "system": row["system"], "score": score} for row in world.rows]


def test_a_file_comes_in_once(world):
    rows = rows_of(world)
    new = {"judges": 1, "judge_scores": 48}
    assert imported(world, rows, "--dry-run")["new"] == new and not ImportedScore.objects.exists()
    assert imported(world, rows) == {"rows": 48, "new": new, "dry_run": False}
    assert imported(world, rows) == {"rows": 48, "new": {}, "dry_run": False, "repeated": 48}
    assert ImportedScore.objects.count() == 48
    assert judges_of(world.campaign) == ["Prometheus"]
    assert scores_of(world.campaign, "Prometheus")["c00", "Fine", "", 0] == 1.0
    event = AuditEvent.objects.get(detail__judges=["Prometheus"])
    assert (event.detail["kind"], event.detail["rows"]) == ("judge_scores", 48)


def test_another_score_replaces_only_where_asked(world):
    imported(world, rows_of(world))
    imported(world, rows_of(world, 2.0), judge="Other")
    with pytest.raises(CommandError, match="is 3, but 1 is stored for this output; --replace replaces it"):
        imported(world, rows_of(world, 3.0)[:2])
    assert imported(world, rows_of(world, 3.0)[:2], "--replace")["new"] == {"judge_scores": 2}
    assert set(scores_of(world.campaign, "Prometheus").values()) == {3.0}
    assert ImportedScore.objects.filter(judge__name="Prometheus").count() == 2
    assert ImportedScore.objects.filter(judge__name="Other").count() == 48


def test_a_context_may_be_given_by_its_text_and_a_system_by_a_former_name(world):
    row = world.rows[1]
    system = System.objects.get(campaign=world.campaign, name="Fine")
    describe(system, "Finer", "", "")
    imported(world, [{"context": row["context"], "system": row["system"], "score": "0.5"}])
    assert scores_of(world.campaign, "Prometheus")[row["context_id"], row["system"], "", 0] == 0.5


def test_tables(world):
    path = world.folder / "scores.csv"
    path.write_text("context_id,system,score\nc00,Fine,high\n", encoding="utf-8")
    with pytest.raises(CommandError, match="scores.csv, line 2, field 'score': expected a number, found .high."):
        command("import_judge_scores", "talk", path, "--judge", "J")
    path.write_text("context_id;system;score\nc00;Fine;0,5\n", encoding="utf-8")  # of a country with a decimal comma
    assert command("import_judge_scores", "talk", path, "--judge", "J")["rows"] == 1


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"score": "high"}, "field 'score': expected a number, found \"high\""),
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


def pairs_of_world(world, better=SCORES, **other):
    """Every two systems of each context; the better one with .8, nobody with .15."""
    rows = []
    for context in sorted({row["context_id"] for row in world.rows}):
        for a, b in combinations(SYSTEMS, 2):
            p = (0.8, 0.15, 0.05) if better[a] > better[b] else (0.05, 0.15, 0.8)
            rows.append({"context_id": context, "system_a": a, "system_b": b, **dict(zip(("a", "tie", "b"), p)), **other})
    return rows


class TestPairs:
    def test_they_come_in_once_whichever_side_is_first(self, world):
        rows = pairs_of_world(world)
        new = {"judges": 1, "judge_pairs": 72}
        assert imported(world, rows, "--pairs") == {"rows": 72, "new": new, "dry_run": False}
        turned = [
            {
                "context_id": row["context_id"],
                **{"system_a": row["system_b"], "system_b": row["system_a"]},
                **{"a": row["b"], "tie": row["tie"], "b": row["a"]},
            }
            for row in rows
        ]
        assert imported(world, turned, "--pairs")["new"] == {} and ImportedPair.objects.count() == 72
        said = pairs_of(world.campaign, "Prometheus")
        assert said[("c00", "Fine", "", 0), ("c00", "Poor", "", 0)] == (0.8, 0.15, 0.05)
        assert said[("c00", "Poor", "", 0), ("c00", "Fine", "", 0)] == (0.05, 0.15, 0.8)
        assert judges_of(world.campaign) == ["Prometheus"]

    def test_a_choice_is_certain(self, world):
        about = {"context_id": "c00", "system_a": "Poor", "system_b": "Fine"}
        imported(world, [{**about, "choice": "B"}], "--pairs")
        row = ImportedPair.objects.get()
        assert (row.p_a, row.p_tie, row.p_b) in [(0, 0, 1), (1, 0, 0)]
        assert pairs_of(world.campaign, "Prometheus")[("c00", "Poor", "", 0), ("c00", "Fine", "", 0)] == (0, 0, 1)
        with pytest.raises(CommandError, match="is .*, but .* is stored for this pair; --replace replaces it"):
            imported(world, [{**about, "choice": "tie"}], "--pairs")

    @pytest.mark.parametrize(
        "change, message",
        [
            ({"choice": "C"}, "'choice': is 'C'; it must be A, tie or B"),
            ({"a": 0.5, "tie": 0.2, "b": 0.2}, "add up to 0.9; they have to add up to 1"),
            ({"a": 1.5, "tie": 0, "b": -0.5}, "expected a probability from 0 to 1, found 1.5"),
            ({"choice": "A", "system_b": "Fine"}, "names the same output as system_a"),
            ({"choice": "A", "system_b": "Nobody"}, "system 'Nobody' has no such output"),
        ],
    )
    def test_what_is_refused_changes_nothing(self, world, change, message):
        row = {"context_id": "c00", "system_a": "Fine", "system_b": "Poor", **change}
        with pytest.raises(CommandError, match=message):
            imported(world, [*pairs_of_world(world)[:3], row], "--pairs")
        assert not ImportedPair.objects.exists()

    def test_one_name_is_one_kind_of_judge(self, world):
        imported(world, rows_of(world))
        with pytest.raises(CommandError, match="'Prometheus' has scores here already; pairs need another name"):
            imported(world, pairs_of_world(world), "--pairs")

    def test_they_stand_in_the_table_and_play(self, world):
        imported(world, pairs_of_world(world), "--pairs")
        said = command("evaluate_judges", "talk", "--judge", "Prometheus")
        row = next(row for row in said["tables"]["all"]["rows"] if row["name"] == "Prometheus")
        assert row["pairs"] == 72 and row["accuracy"]["value"] == 1.0
        board = tasks.run(
            start_tournament(world.campaign, "judge", judge_named(world.campaign, "Prometheus"), foreground=True).job_id
        )
        assert [r.name for r in board.ratings.order_by("-rating")] == ["Person", "Fine", "Plain", "Poor"]
        assert {game.p_a for game in Game.objects.filter(tournament=board)} <= {0.8, 0.05}

    @pytest.mark.parametrize("missing", [1, 60])
    def test_only_pairs_that_it_compared_play(self, world, missing):
        kept = pairs_of_world(world)[missing:]
        imported(world, kept, "--pairs")
        started = start_tournament(world.campaign, "judge", judge_named(world.campaign, "Prometheus"), foreground=True)
        played = tasks.run(started.job_id)
        assert f"says nothing of {missing} of the 72 pairs that may meet" in played.settings["warning"]
        sides = [(game.output_a, game.output_b) for game in played.games.select_related("output_a__system", "output_b__system")]
        met = {(a.context.key, frozenset([a.system.name, b.system.name])) for a, b in sides}
        compared = {(row["context_id"], frozenset([row["system_a"], row["system_b"]])) for row in kept}
        assert met and met <= compared and (missing == 1 or met == compared)

    def test_with_people_it_must_have_compared_nearly_all(self, world):
        imported(world, pairs_of_world(world)[4:], "--pairs")  # 4 of 72 are more than 5%
        judge = judge_named(world.campaign, "Prometheus")
        started = start_tournament(world.campaign, "corrected", judge, foreground=True)
        with pytest.raises(Refused, match="says nothing of 4 of the 72 pairs that may meet"):
            tasks.run(started.job_id)

    def test_with_people_a_pair_that_is_missing_does_not_count(self, world):
        imported(world, pairs_of_world(world)[3:], "--pairs")
        judge = judge_named(world.campaign, "Prometheus")
        played = tasks.run(start_tournament(world.campaign, "corrected", judge, foreground=True).job_id)
        assert queries.board(played).basis.people.worth.games == 69
