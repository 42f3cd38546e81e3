"""Agreement and means of a question with a condition, against the package krippendorff and by hand."""

import uuid

import krippendorff
import pytest

from annotation.annotating.assignment import next_assignment
from annotation.annotating.submissions import submit
from annotation.assessment.assess import assess
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.importer import import_outputs
from annotation.models import User
from annotation.people.accounts import add_annotator
from leaderboard import tasks
from leaderboard.tournaments.start import start_tournament
from tests.annotation.pages import write_outputs

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(tmp_path):
    why = CriterionSpec("Why", 1, 3, asked_if={"criterion": "Overall", "below": 3})
    campaign = create_campaign(slug="why", overlap=3, criteria=[CriterionSpec("Overall"), why])
    import_outputs(campaign, write_outputs(tmp_path, 2))
    return campaign


def answered(campaign, points):
    """{output: three answers to "Why", None where it was not asked}; points(person, item) gives both answers."""
    overall, why = campaign.criteria.all()
    said: dict[int, list] = {}
    for person, name in enumerate(("ann", "ben", "cat")):
        annotator = add_annotator(campaign, User.objects.create_user(name))
        while (assignment := next_assignment(annotator)) is not None:
            first, second = points(person, assignment.item)
            submit(annotator, assignment.pk, uuid.uuid4(), {"scores": {overall.pk: first, why.pk: second}})
            row = said.setdefault(assignment.item.output_id, [None] * 3)
            row[person] = second if first < 3 else None
    return said


def test_who_was_not_asked_is_missing_from_agreement(campaign):
    def points(person, item):
        return (5 if item.output_id % 3 == person else 1), 1 + (item.output_id + (person == 2 and item.output_id % 2)) % 3

    table = [[float("nan") if why is None else why for why in column] for column in zip(*answered(campaign, points).values())]
    assert sum(why != why for column in table for why in column) == 6  # one person of each output
    report = assess(campaign, mad=None).decisions.get(criterion__name="Why").report
    expected = krippendorff.alpha(table, level_of_measurement="ordinal", value_domain=[1, 2, 3])
    assert report["alpha_before"] == pytest.approx(expected, abs=1e-9)


def test_the_board_has_the_means_of_those_who_were_asked(campaign):
    systems = sorted(system.name for system in campaign.systems.all())
    place = lambda item: systems.index(item.output.system.name)
    answered(campaign, lambda person, item: (1, 1 + place(item)) if person == 0 else (5, 1))
    assess(campaign, mad=None)
    board = tasks.run(start_tournament(campaign, "people", criterion="Why", foreground=True).job_id)
    means = dict(board.ratings.values_list("system__name", "human_mean"))
    assert means == {name: 1 + number for number, name in enumerate(systems)}
