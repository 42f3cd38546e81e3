"""A newer checkpoint comes while people judge the older one: one rule for what they are handed, for people's board and for the
comparator's. 12 contexts, ape with step-600 and then step-700, bee without checkpoints."""

import json
import uuid
from types import SimpleNamespace

import numpy as np
import pytest
from django.db.models import F

from annotation.annotating import places
from annotation.annotating.assignment import next_assignment
from annotation.annotating.submissions import submit
from annotation.assessment.assess import assess
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.importer import import_outputs
from annotation.models import Annotator, Item, Output
from evaluator.roster import judge_of
from leaderboard.models import Game
from leaderboard.tournaments import play
from leaderboard.tournaments.start import start_tournament
from tests.leaderboard.played import a_version, by_people, quiet

pytestmark = pytest.mark.django_db
CLOSED = "{} items about older checkpoints, which nobody has begun, give way to items about the newest ones."
KEPT = "{} items about older checkpoints stay with the people who began them, and go to nobody else."


def rows(system: str, text: str, **more) -> list[dict]:
    return [{"context_id": f"c{n}", "context": f"Hi {n}", "system": system, "output": f"{text} {n}"} | more for n in range(12)]


@pytest.fixture
def bring(tmp_path):
    def bring(campaign, *files, **how):
        file = tmp_path / "outputs.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for some in files for row in some))
        return import_outputs(campaign, file, **how)

    return bring


def talk(bring, **settings):
    campaign = create_campaign(slug="talk", overlap=2, status="open", **settings)
    bring(campaign, rows("ape", "old", checkpoint="step-600", iteration=600), rows("bee", "b"))
    return campaign


def about(items) -> set[str]:
    """The checkpoints of ape that these items are about."""
    sides = [
        output
        for item in items.select_related("output__checkpoint", "other__checkpoint")
        for output in (item.output, item.other)
    ]
    return {output.checkpoint.name for output in sides if output and output.checkpoint}


def free(campaign):
    return campaign.items.filter(taken__lt=F("places"))


def answer(annotator, assignment) -> None:
    """Ape gets 4 of 5 and bee 2; a pair of them is a tie."""
    criterion = annotator.campaign.criteria.first()
    score = 4 if assignment.item.output.system.name == "ape" else 2
    payload = {"choice": "tie"} if assignment.item.is_pair else {"scores": {criterion.pk: score}}
    submit(annotator, assignment.pk, uuid.uuid4(), payload)


NEWER = {"checkpoint": "step-700", "iteration": 700}


@pytest.mark.parametrize("kind", ["scores", "pairs"])
def test_items_people_and_boards_follow_the_newest(bring, kind):
    of_pairs = kind == "pairs"
    settings = {"pairwise": of_pairs, "likert": not of_pairs}
    campaign = talk(bring, criteria=[CriterionSpec("Quality", 1, 5)], **settings)
    number = campaign.items.count()
    ann, bob = (Annotator.objects.create(campaign=campaign, name=name) for name in ("ann", "bob"))
    for _ in range(4):
        answer(ann, next_assignment(ann))
    held = next_assignment(bob)  # in bob's hands while the file comes
    began = campaign.items.filter(assignments__isnull=False, cell__contains=str(campaign.systems.get(name="ape").pk)).distinct()
    expected = began.filter(output__checkpoint__name="step-600") | began.filter(other__checkpoint__name="step-600")
    expected = set(expected.values_list("pk", flat=True))

    preview = bring(campaign, rows("ape", "new", **NEWER), dry_run=True)
    done = bring(campaign, rows("ape", "new", **NEWER))
    kept = [KEPT.format(len(expected))] if expected else []
    assert done.assumed == preview.assumed == [CLOSED.format(12 - len(expected)), *kept]
    assert done.new["items"] == 12
    assert about(free(campaign)) == {"step-700"}
    assert set(campaign.items.exclude(pk__in=free(campaign)).values_list("pk", flat=True)) >= expected
    assert campaign.items.count() == number + len(expected)

    assert next_assignment(bob).pk == held.pk  # he may finish it
    answer(bob, held)
    while assignment := next_assignment(ann):
        assert "step-600" not in about(Item.objects.filter(pk=assignment.item_id))
        answer(ann, assignment)
    while assignment := next_assignment(bob):
        answer(bob, assignment)
    snapshot = assess(campaign)
    board = by_people(campaign, criterion="" if of_pairs else "Quality")
    assert snapshot.scores + snapshot.judgments > 0
    assert {r.system.name for r in board.ratings.select_related("system")} == {"ape", "bee"}
    new = set(Output.objects.filter(checkpoint__name="step-700").values_list("pk", flat=True))
    answered = campaign.items.filter(output__in=new) | campaign.items.filter(other__in=new)
    assert answered.count() == 12 and not answered.filter(taken__lt=2).exists()

    version = a_version(SimpleNamespace(campaign=campaign))
    board = start_tournament(campaign, "judge", judge_of(campaign, version), foreground=True)
    play.play(board, quiet, lambda version, outputs, report: Judge())
    played = {pk for game in Game.objects.filter(tournament=board) for pk in (game.output_a_id, game.output_b_id)}
    assert played == new | set(Output.objects.filter(system__name="bee").values_list("pk", flat=True))


class Judge:
    def outcomes(self, a, b):
        return np.ones(len(a), dtype=int)

    def probabilities(self, a, b):
        return np.array([[0.6, 0.1, 0.3]] * len(a))


def test_what_lapses_goes_to_nobody_else(bring):
    campaign = talk(bring, pairwise=True, likert=False, criteria=[])
    ann, bob = (Annotator.objects.create(campaign=campaign, name=name) for name in ("ann", "bob"))
    held = next_assignment(ann)
    bring(campaign, rows("ape", "new", **NEWER))
    places.give_back(held)
    assert about(free(campaign)) == {"step-700"} and not free(campaign).filter(pk=held.item_id).exists()
    places.skip(next_assignment(bob))
    assert about(free(campaign)) == {"step-700"} and free(campaign).count() == 12


def test_an_older_checkpoint_that_comes_later_gets_no_items(bring):
    campaign = talk(bring, pairwise=True, likert=False, criteria=[])
    done = bring(campaign, rows("ape", "older", checkpoint="step-500", iteration=500))
    assert done.assumed == [] and "items" not in done.new and about(campaign.items) == {"step-600"}


def test_a_number_of_pairs_stays_that_number(bring):
    campaign = talk(bring, pairwise=True, likert=False, criteria=[], pair_design="number", pairs=5)
    bring(campaign, rows("ape", "new", **NEWER))
    assert campaign.items.count() == 5 and about(campaign.items) == {"step-700"}
