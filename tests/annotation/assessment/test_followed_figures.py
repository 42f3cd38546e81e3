"""Pages that people open again and again show, where there are many answers, what a worker last made of them: what it made is
what the rows say now, after whatever changed them; a page starts no second job, and never waits."""

import io
import json
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.annotating.assignment import next_assignment
from annotation.annotating.consent import withdraw_annotator
from annotation.annotating.submissions import revise, submit
from annotation.annotating.undo import undo_last
from annotation.assessment import calculations
from annotation.assessment.calculations import FOLLOWED, follow
from annotation.campaigns.known_answers import mark_known
from annotation.campaigns.overview import ByAnswers
from annotation.data.importer import import_file
from annotation.models import Calculation, Job, LikertScore
from annotation.people.personal_data import erase
from tests.annotation.pages import text

pytestmark = pytest.mark.django_db
SETTINGS = {"progress": {}, "people": {}, "overview": {}, "disagreement": {"mad": 1.0, "on_zero_mad": "keep"}}
SETTINGS["pilot"] = {"ahead": None}
PAGES = {"progress/": "progress", "people/": "people", "quality/disagreement/": "disagreement", "plan/": "pilot"}


@pytest.fixture
def large(world, monkeypatch):
    """Every campaign is a large one."""
    monkeypatch.setattr(calculations, "AT_ONCE", 0)
    answer(world)
    return world


def answer(world, value=1):
    assignment = next_assignment(world.annotator)
    key = f"00000000-0000-0000-0000-{assignment.pk:012d}"
    return submit(world.annotator, assignment.pk, key, {"scores": {c.pk: value for c in world.campaign.criteria.all()}})


def later(minutes=2):
    """As if the figures were so old."""
    for row in Calculation.objects.all():
        Calculation.objects.filter(pk=row.pk).update(created_at=row.created_at - timedelta(minutes=minutes))


def worked_out(world) -> dict:
    """What a page shows once the worker is done."""
    later()
    followed = {what: follow(world.campaign, what, "Figures", **settings) for what, settings in SETTINGS.items()}
    for what, one in followed.items():
        if one.job or what != "overview":  # whose first was counted by who asked
            calculations.run(one.job.pk)
    return {what: follow(world.campaign, what, "Figures", **settings).result for what, settings in SETTINGS.items()}


def imported(world, what, rows):
    import_file(world.campaign, what, io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode()), f"{what}.jsonl")


DOORS = {
    "an answer": answer,
    "another value": lambda world: revise(
        world.annotator,
        LikertScore.objects.first().submission.assignment_id,
        "00000000-0000-0000-0000-00000000aaaa",
        {"scores": {criterion.pk: 0 if criterion.low == 0 else 5 for criterion in world.campaign.criteria.all()}},
    ),
    "undone": lambda world: undo_last(world.annotator),
    "a withdrawal": lambda world: withdraw_annotator(world.annotator, world.bob),
    "an erasure": lambda world: erase(world.bob),
    "an import": lambda world: imported(
        world,
        "scores",
        [{"context_id": "c1", "system": "Hydra-system", "criterion": "Overall", "annotator": "Ann", "value": 5}],
    ),
    "a known answer": lambda world: mark_known(
        world.campaign.items.filter(assignments=None).first(), "gold", {"scores": {"Overall": 1}}, world.alice
    ),
    "a deletion": lambda world: LikertScore.objects.first().delete(),
}


@pytest.mark.parametrize("door", DOORS)
def test_figures_are_those_of_the_rows_whatever_changed_them(large, door):
    before = worked_out(large)
    DOORS[door](large)
    kept = worked_out(large)
    assert {what: {k: v for k, v in kept[what].items() if k != "state"} for what in kept} == {
        what: calculations._plain(FOLLOWED[what](large.campaign, **settings)) for what, settings in SETTINGS.items()
    }
    if door != "an erasure":  # answers stay, without the name
        assert kept["people"] != before["people"] or kept["progress"] != before["progress"]


def test_a_page_never_waits_and_starts_one_job(large, django_assert_max_num_queries):
    large.sign_in(large.alice)
    for path, what in PAGES.items():
        assert "counting them for the first time" in text(large.get(path)), path
        large.get(path)
        row = Calculation.objects.get(what=what)
        assert row.result is None and Job.objects.filter(calculation__what=what).count() == 1
        calculations.run(row.job_id)
        assert "The figures are as of" in text(large.get(path)), path
        assert Calculation.objects.get(what=what).job.status == "done"


def test_old_figures_are_shown_while_new_ones_are_worked_out(large):
    old = worked_out(large)["people"]
    assert follow(large.campaign, "people", "Figures").job is None  # a minute has not passed
    answer(large)
    later()
    waiting = follow(large.campaign, "people", "Figures")
    assert waiting.result == old and waiting.job is not None and waiting.as_of < timezone.now() - timedelta(minutes=1)
    others = len(SETTINGS) - 2  # the overview had none
    assert Job.objects.filter(calculation__what="people").count() == Job.objects.count() - others  # no heap of finished ones


def test_where_nothing_changed_nothing_is_worked_out(large, monkeypatch):
    worked_out(large)
    kept = worked_out(large)  # by the worker, the overview too
    monkeypatch.setattr(calculations, "FOLLOWED", dict.fromkeys(FOLLOWED, lambda *args, **settings: pytest.fail("worked out")))
    assert worked_out(large) == kept


def test_the_busiest_come_first_and_then_the_names(world):
    ann, zoe = (world.campaign.annotators.create(name=name) for name in ("Ann", "Zoe"))
    listed = ByAnswers(world.campaign.annotators.all(), {str(zoe.pk): [1, 1], ann.pk: [0, 1]})
    assert [one.name for one in listed[:2]] == ["Zoe", "Ann"] and len(listed) == 3
    assert (listed[0].score_count, listed[0].judgment_count, listed[2].score_count) == (1, 1, 0)
