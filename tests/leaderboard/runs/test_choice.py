"""What is chosen of a run counts everywhere: in people's items, on people's board and on the comparator's."""

import uuid

import numpy as np
import pytest

from annotation.annotating.assignment import next_assignment
from annotation.annotating.submissions import submit
from annotation.assessment.assess import assess
from annotation.campaigns.items import draw_items
from annotation.models import Annotator, Campaign, Checkpoint, Item, Output
from evaluator.roster import judge_of
from evaluator.trainings.sources import texts_and_origins, unjudged
from leaderboard.models import Game
from leaderboard.runs.choice import for_board, for_people
from leaderboard.tournaments import play
from leaderboard.tournaments.start import start_tournament
from tests.leaderboard.played import by_people, quiet

pytestmark = pytest.mark.django_db


@pytest.fixture
def pairs(world):
    """The campaign asks for pairs alone."""
    Campaign.objects.filter(pk=world.campaign.pk).update(pairwise=True, likert=False, overlap=1)
    draw_items(world.campaign)
    return Campaign.objects.get(pk=world.campaign.pk)


def about(campaign, system: str = "lstm") -> set[str]:
    """The checkpoints of the system that open items are about."""
    outputs = Output.objects.filter(system__name=system, system__campaign=campaign)
    items = campaign.items.filter(taken=0, places__gt=0)
    open_now = {pk for pair in items.values_list("output", "other") for pk in pair}
    return {output.checkpoint.name for output in outputs.select_related("checkpoint") if output.pk in open_now}


class Even:
    def outcomes(self, a, b):
        return np.zeros(len(a), dtype=int)

    def probabilities(self, a, b):
        return np.array([[0.3, 0.4, 0.3]] * len(a))


def played(campaign, version) -> set[str]:
    """The checkpoints of the run with which a comparator's board is played."""
    board = start_tournament(campaign, "judge", judge_of(campaign, version), foreground=True)
    play.play(board, quiet, lambda version, outputs, report: Even())
    games = Game.objects.filter(tournament=board).values_list("output_a", "output_b")
    ids = {pk for game in games for pk in game}
    return set(Checkpoint.objects.filter(system__name="lstm", outputs__in=ids).values_list("name", flat=True))


def test_the_chosen_step_counts_for_items_people_and_boards(world, used, run, report):
    Campaign.objects.filter(pk=world.campaign.pk).update(overlap=1)
    campaign = Campaign.objects.get(pk=world.campaign.pk)
    for step in (100, 200, 300):
        report(step, f"text of {step}")
    before = campaign.items.count()
    chosen = for_board(run, 300, world.alice)
    assert (chosen.systems, chosen.outputs, chosen.items) == (["lstm"], 12, 12)
    assert about(campaign) == {"step-300"} and played(campaign, used) == {"step-300"}

    assert for_board(run, 200, world.alice).outputs == 12  # an earlier step, chosen later
    assert campaign.items.count() == before + 12 and about(campaign) == {"step-200"} and played(campaign, used) == {"step-200"}
    ann = Annotator.objects.create(campaign=campaign, name="ann")
    overall, wit = campaign.criteria.all()
    while assignment := next_assignment(ann):
        submit(ann, assignment.pk, uuid.uuid4(), {"scores": {overall.pk: 3, wit.pk: 3}})
    assess(campaign, level="interval")
    board = by_people(campaign, criterion="Overall")
    assert "lstm" in {row.name for row in board.ratings.all()}
    answered = Item.objects.filter(campaign=campaign, taken=1, output__system__name="lstm")
    assert set(answered.values_list("output__checkpoint__name", flat=True)) == {"step-200"} and answered.count() == 12

    again = for_board(run, 300, world.alice)  # its texts are there; what was said about it before would be, too
    assert (
        (again.outputs, again.items) == (0, 12) and about(campaign) == {"step-300"} and played(campaign, used) == {"step-300"}
    )
    run.refresh_from_db()
    assert run.system.name == "lstm" and run.checkpoints.exclude(checkpoint=None).count() == 2


def test_the_share_done_is_of_the_prolonged_training(world, run, report, call):
    for step in (100, 900):
        report(step, f"text of {step}")
        for_board(run, step)
    reached = lambda: {o.checkpoint: o.reached for o in texts_and_origins(unjudged(), world.campaign, False)[1]}
    assert reached() == {"step-100": 0.1, "step-900": 0.9}  # 100 / 1000, 900 / 1000
    report(1800, "longer", total_steps=2000)
    assert reached() == {"step-100": 0.05, "step-900": 0.45}  # 100 / 2000, 900 / 2000
    for_board(run, 1800)
    assert reached() == {"step-100": 0.05, "step-900": 0.45, "step-1800": 0.9}


def test_people_are_asked_about_two(world, run, report, pairs):
    keys = [f"c{n:02}" for n in range(12)]
    report(100, {key: f"old {key}" for key in keys})
    report(200, {key: "old c00" if key == "c00" else f"new {key}" for key in keys})
    chosen = for_people(run, 200, 100, world.alice)
    assert chosen.systems == ["lstm step-100", "lstm step-200"] and chosen.pairs == 11 and chosen.outputs == 22
    assert chosen.said == ["1 of the run's 12 contexts have the same text at both steps; nobody is asked about them."]
    first = pairs.items.filter(taken=0).order_by("position")[:11]
    names = {(item.output.system.name, item.other.system.name) for item in first}
    assert names == {("lstm step-100", "lstm step-200")}
    assert len({item.position for item in pairs.items.all()}) == pairs.items.count()
    count = pairs.items.count()
    assert for_people(run, 100, 200, world.alice).pairs == 11 and pairs.items.count() == count


@pytest.mark.parametrize(
    "asked, said",
    [
        ({"step": 100, "purpose": "people", "beside": 200}, "asks people for no judgments of pairs"),
        ({"step": 300, "purpose": "board"}, "has no checkpoint at step 300"),
        ({"step": 200, "purpose": "board"}, "is not whole: 11 outputs have not come"),
        ({"step": 100, "purpose": "people", "beside": 100}, "Two different steps"),
    ],
)
def test_what_cannot_be_chosen_is_refused(run, report, call, asked, said):
    report(100)
    report(200, {"c00": "a"}, part=1, parts=2)
    answer = call("POST", "runs/lstm/choose/", asked)
    assert answer.status_code == 422 and said in answer.json()["message"]
    assert not Checkpoint.objects.exists()
