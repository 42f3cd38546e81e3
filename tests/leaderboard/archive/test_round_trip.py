"""A campaign with everything in it, made anew from its archive: equal hashes, boards and times, and the same archive again."""

import io
import json
import uuid
import zipfile
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from django.apps import apps

from annotation import snapshots
from annotation.annotating.consent import withdraw_annotator
from annotation.assessment.adjudication import adjudicate
from annotation.assessment.datasheet.own_words import Written
from annotation.assessment.datasheet.own_words import write as write_words
from annotation.assessment.datasheet.sheet import datasheet, left_over
from annotation.campaigns.costs import give_cost
from annotation.campaigns.items import recount
from annotation.data.importer import import_file, import_outputs
from annotation.models import (
    Annotator,
    Assignment,
    Campaign,
    Context,
    DatasheetAnswer,
    Item,
    ItemReport,
    LikertScore,
    PairwiseJudgment,
    SnapshotMark,
    Submission,
)
from core import archives
from core.errors import ImportRefused, Refused
from evaluator.models import Judge
from evaluator.roster import judge_named, set_up
from leaderboard import tasks
from leaderboard.archive.admission import Opened, admit
from leaderboard.archive.export import write_archive
from leaderboard.archive.tables import CAMPAIGN, ELSEWHERE, LEFT, LEFT_MODELS, TABLES
from leaderboard.boards import exports, queries
from leaderboard.models import Tournament
from leaderboard.systems import describe
from leaderboard.tournaments import play
from leaderboard.tournaments.start import start_tournament
from tests.evaluator.fixtures import rows_for_a_module
from tests.evaluator.world import SCORES, World, write
from tests.leaderboard.played import quiet

pytestmark = pytest.mark.django_db
LONG_AGO = datetime(2025, 2, 3, 4, 5, 6, 789, tzinfo=UTC)


def answered(campaign: Campaign) -> None:
    """One score from the page, undone and given again, with a comment; a skipped item; a person who withdrew."""
    zoe = Annotator.objects.create(campaign=campaign, name="Zoë 🦊")
    item = Item.objects.filter(campaign=campaign, other=None).first()
    assignment = Assignment.objects.create(item=item, annotator=zoe, status="done", assigned_at=LONG_AGO, completed_at=LONG_AGO)
    criterion = campaign.criteria.get(name="Wit")
    for score, retracted in ((1, LONG_AGO + timedelta(seconds=9)), (4, None)):
        submission = Submission.objects.create(
            annotator=zoe,
            assignment=assignment,
            payload={"scores": {str(criterion.pk): str(score)}, "reason": "Naïve – «ok»"},
            seconds=7.25,
            retracted_at=retracted,
        )
        LikertScore.objects.create(
            annotator=zoe,
            output=item.output,
            criterion=criterion,
            value=score,
            submission=submission,
            retracted_at=retracted,
            created_at=LONG_AGO,
        )
    ItemReport.objects.create(item=item, annotator=zoe, kind="flag", reason="Half of it is missing.")
    gone = Annotator.objects.create(campaign=campaign, name="gone")
    LikertScore.objects.create(annotator=gone, output=item.output, criterion=criterion, value=2)
    withdraw_annotator(gone)
    pair = list(item.context.outputs.order_by("pk")[:2])
    PairwiseJudgment.objects.create(
        annotator=zoe, output_a=pair[0], output_b=pair[1], choice="tie", detail={"both_bad": True}, shown_swapped=True
    )
    PairwiseJudgment.objects.create(annotator=zoe, output_a=pair[1], output_b=pair[0], choice="", cannot_say=True)
    written = [Written("5.1", text="Naïve – «ok»"), Written("4.1.1", criterion, (2,)), Written("2.3", chosen=(11, 12))]
    write_words(campaign, None, written)
    DatasheetAnswer.objects.create(campaign=campaign, number="4.1.1", about="A criterion that is gone", chosen=[1])
    recount(campaign)


def played(campaign: Campaign, basis: str, **how) -> Tournament:
    """Without a job's heartbeat, which sees nothing of a test's transaction."""
    tournament = start_tournament(campaign, basis, foreground=True, **how)
    return play.play(tournament, quiet, partial(tasks._of_judge, tournament) if basis == "judge" else None)


@pytest.fixture(scope="module")
def full(django_db_setup, django_db_blocker, tmp_path_factory):
    """(the campaign's id, its archive)"""
    with rows_for_a_module(django_db_blocker):
        with django_db_blocker.unblock():
            folder = tmp_path_factory.mktemp("full")
            world = World(folder, slug="full")
            campaign = world.campaign
            for n, context in enumerate(campaign.contexts.all()):
                Context.objects.filter(pk=context.pk).update(group=f"g{n // 2}")
            newer = [row | {"checkpoint": "step-2", "iteration": 2} for row in world.rows if row["system"] == "Poor"]
            import_outputs(campaign, write(folder, "newer.jsonl", newer))
            judged = [{**row, "judge": "LLM", "score": len(row["output"]) / 7} for row in world.rows]
            import_file(campaign, "judge_scores", write(folder, "judged.jsonl", judged))
            world.score("Wit", SCORES, annotators=("robot",), simulated=True)
            answered(campaign)
            output = campaign.contexts.first().outputs.first()
            adjudicate(campaign, world.alice, campaign.criteria.first().pk, output.pk, None, "", "Both are right.")
            snapshot = world.freeze()
            SnapshotMark.objects.create(snapshot=snapshot, reason="Somebody withdrew.")
            describe(campaign.systems.get(name="Plain"), "Pläin", "", "", world.alice)  # snapshots call it otherwise
            give_cost(campaign.systems.get(name="Poor"), 0.5, "seconds per 1,000 outputs")
            first = played(campaign, "people", criterion="Overall", seed=3)
            Tournament._base_manager.filter(pk=first.pk).update(created_at=LONG_AGO)
            played(campaign, "judge", judge=judge_named(campaign, "LLM"), games=40)
            set_up(campaign, Judge.Kind.PROGRAM, "runs", {"command": "rm -r /", "reads": "pointwise", "timeout": 9.0})
            world.score("Wit", SCORES, annotators=("late",))  # newer than the snapshot, and no answer to the boards' question
            archive = io.BytesIO()
            manifest = write_archive(campaign, archive)
        yield campaign.pk, archive.getvalue(), manifest


@pytest.fixture
def again(full, db):
    """The campaign of the archive, where the first one is out of its way."""
    Campaign.objects.filter(pk=full[0]).update(slug="full-before")
    return admit(io.BytesIO(full[1]), "full.zip")


def test_hashes_boards_and_times_are_equal(full, again):
    before, after = Campaign.objects.get(pk=full[0]), again.campaign
    assert (after.slug, after.title, after.is_simulated, after.created_at) == ("full", "Small talk", True, before.created_at)
    for name in ("digest", "created_at", "accepted_at", "is_simulated"):
        assert list(after.snapshots.values_list(name, flat=True)) == list(before.snapshots.values_list(name, flat=True)), name
    for one, other in zip(before.snapshots.all(), after.snapshots.all(), strict=True):
        assert snapshots.lines(one) == snapshots.lines(other)
        assert list(one.decisions.values_list("report", "verdict")) == list(other.decisions.values_list("report", "verdict"))
    for table in (LikertScore, PairwiseJudgment):
        said = [
            list(table.objects.filter(annotator__campaign=c).order_by("pk").values_list("created_at", "retracted_at", "detail"))
            for c in (before, after)
        ]
        assert said[0] == said[1] and len(said[0]) > 1
    assert LikertScore.objects.filter(annotator__campaign=after, created_at=LONG_AGO).count() == 2
    for one, other in zip(*(queries.finished(c).order_by("pk") for c in (before, after)), strict=True):
        boards = [exports.as_json(queries.board(t)) for t in (one, other)]
        for board, tournament in zip(boards, (one, other)):
            made = board["provenance"]
            assert (made.pop("tournament"), made.pop("permalink")) == (tournament.pk, tournament.get_absolute_url())
            made.pop("campaign")
            if board["agreement"]:
                assert Tournament.objects.get(pk=board["agreement"].pop("tournament")).campaign == tournament.campaign
            assert [row.pop("id") for row in board["standings"]] == [
                tournament.campaign.systems.get(name=row["system"]).pk for row in board["standings"]
            ]
            for row in (board["narrow"] or {"standings": []})["standings"]:
                row.pop("id")
        assert boards[0] == boards[1] and one.created_at == other.created_at and one.finished_at == other.finished_at


def test_both_know_to_which_questions_there_are_newer_answers(full, again):
    for campaign in (Campaign.objects.get(pk=full[0]), again.campaign):
        frozen = snapshots.latest_snapshot(campaign)
        assert [snapshots.has_newer_answers(frozen, asked) for asked in (None, "Wit", "Overall", "")] == [
            True,
            True,
            False,
            False,
        ]
        assert not any(queries.board(t).newer_than for t in queries.finished(campaign))
        criterion, zoe = campaign.criteria.get(name="Overall"), campaign.annotators.get(name="Zoë 🦊")
        given = Submission.objects.create(annotator=zoe, assignment=zoe.assignments.get(), payload={})
        LikertScore.objects.filter(annotator=zoe).update(criterion=criterion)
        LikertScore.objects.filter(annotator=zoe, retracted_at=None).update(submission=given)
        assert [snapshots.has_newer_answers(frozen, asked) for asked in ("Overall", "")] == [True, False]


def test_the_researchers_words_come_along(full, again):
    of = lambda campaign: [
        (one.number, one.answer) for one in datasheet(campaign, snapshots.latest_snapshot(campaign)) if one.own
    ]
    assert of(again.campaign) == of(Campaign.objects.get(pk=full[0])) and len(of(again.campaign)) == 3
    assert left_over(again.campaign).get().about == "A criterion that is gone"


def test_the_archive_of_the_new_campaign_is_the_same_file(full, again):
    archive = io.BytesIO()
    write_archive(again.campaign, archive)
    names = {m: zipfile.ZipFile(archive).read(m) for m in zipfile.ZipFile(archive).namelist()}
    assert names == {m: zipfile.ZipFile(io.BytesIO(full[1])).read(m) for m in names}
    assert archive.getvalue() == full[1]


def test_a_board_played_anew_has_the_same_digits(again):
    first = queries.finished(again.campaign).filter(basis="people").get()
    once_more = played(again.campaign, "people", criterion="Overall", seed=3)
    numbers = lambda t: [(r.name, r.rating, r.rd, r.low, r.high) for r in t.ratings.all()]
    assert numbers(once_more) == numbers(first) and once_more.signature == first.signature


def test_a_comparators_board_opens_as_before(full, db):
    """Its judge comes back as imported, and is one of the comparators still."""
    before = Campaign.objects.get(pk=full[0])
    before.judges.filter(name="LLM").update(kind=Judge.Kind.COMPARATOR)
    opens = lambda campaign: [queries.default_board(campaign), queries.latest(campaign, queries.JUDGE)]
    opened, archive = opens(before), io.BytesIO()
    assert opened[1].judge.name == "LLM"
    write_archive(before, archive)
    Campaign.objects.filter(pk=before.pk).update(slug="full-before")
    after = admit(archive, "full.zip").campaign
    assert after.judges.get(name="LLM").kind == Judge.Kind.IMPORTED
    assert [(t.signature, t.finished_at) for t in opens(after)] == [(t.signature, t.finished_at) for t in opened]


def test_what_is_answered_stays_answered_and_nothing_runs(again):
    campaign = again.campaign
    zoe = campaign.annotators.get(name="Zoë 🦊")
    live = zoe.submissions.get(retracted_at=None)
    assert live.payload == {"scores": {str(campaign.criteria.get(name="Wit").pk): "4"}, "reason": "Naïve – «ok»"}
    assert zoe.user is None and campaign.annotators.get(name="gone").withdrawn_at
    assert {i.cell for i in campaign.items.filter(other=None)} <= {
        str(pk) for pk in campaign.systems.values_list("pk", flat=True)
    }
    judge = campaign.judges.get(name="runs")
    assert judge.kind == Judge.Kind.IMPORTED
    assert judge.settings == {"elsewhere": {"kind": "program", "settings": {"reads": "pointwise"}}}  # not how it was run
    event = campaign.audit_events.filter(action="import").latest("pk")
    assert event.detail["rows"] == sum(again.rows.values()) and len(event.detail["sha256"]) == 64


def test_the_manifest_says_what_it_is_and_what_stays_behind(full):
    manifest = json.loads(zipfile.ZipFile(io.BytesIO(full[1])).read("manifest.json"))
    assert manifest == full[2] and manifest["simulated"] is True and manifest["not_carried"] == LEFT
    assert [board["signature"].partition("|")[0] for board in manifest["boards"]] == ["judge:people/Overall", "judge:other"]
    assert any("Simulated data" in board["warnings"] for board in manifest["boards"])


def test_a_dry_run_stores_nothing(full, stores):
    Campaign.objects.filter(pk=full[0]).update(slug="full-before")
    before = stores.rows()
    done = admit(io.BytesIO(full[1]), "full.zip", dry_run=True)
    assert done.dry_run and done.rows["scores"] > 1 and stores.rows() == before and stores.files() == []


def test_what_is_written_is_read(full, db, monkeypatch):
    """At the limit, with more files than an import takes; beyond it both sides name the setting."""
    written, size = io.BytesIO(full[1]), sum(file["bytes"] for file in full[2]["files"].values())

    def limit(most: int) -> None:
        monkeypatch.setattr(archives, "MAX_UNPACKED_BYTES", most)
        monkeypatch.setattr("leaderboard.archive.export.MAX_UNPACKED_BYTES", most)

    monkeypatch.setattr(archives, "MOST_FILES", 3)
    limit(size)
    with Opened(written, "full.zip") as archive:
        assert len(archive.members) > 3 and archive.manifest == full[2]
    limit(size - 1)
    with pytest.raises(ImportRefused, match="MOST_UNPACKED_MB"), Opened(written, "full.zip"):
        pass
    with pytest.raises(Refused, match="MOST_UNPACKED_MB, here and where it is read"):
        write_archive(Campaign.objects.get(pk=full[0]), io.BytesIO())


def test_every_table_is_carried_or_said_to_stay_behind():
    carried = {table.model.__name__ for table in [CAMPAIGN, *TABLES]} | ELSEWHERE
    for app, left in LEFT_MODELS.items():
        models = {model.__name__ for model in apps.get_app_config(app).get_models()}
        assert models - carried == set(left.split()), app


def test_keys_of_another_archive_never_meet(full, again):
    """The same archive twice on one server: each has its own answers."""
    other = admit(io.BytesIO(full[1]), "full.zip", slug="twice").campaign
    keys = [
        set(Submission.objects.filter(annotator__campaign=c).values_list("key", flat=True)) for c in (again.campaign, other)
    ]
    assert keys[0].isdisjoint(keys[1]) and all(isinstance(key, uuid.UUID) for key in keys[1])
