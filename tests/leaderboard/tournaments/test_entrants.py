"""People judge the very outputs that play on the board."""

import pytest

from annotation.campaigns.items import playing_outputs
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.models import Checkpoint, Context, Output, System
from leaderboard.tournaments.entrants import current_entrants

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "iterations, newest",
    [
        ([0, None], "at 0"),  # an iteration of 0 is known, so it is later than one that is not
        ([None, 0], "at 0"),
        ([None, None], "second None"),  # of equals the one entered last
        ([5, 10], "at 10"),
        ([10, 5], "at 10"),
    ],
)
def test_people_and_the_board_choose_the_same_checkpoint(iterations, newest):
    campaign = create_campaign(slug="talk", criteria=[CriterionSpec("Overall", 1, 5)])
    system = System.objects.create(campaign=campaign, name="seq2seq")
    context = Context.objects.create(campaign=campaign, key="c", turns=["Hello?"])
    for order, iteration in zip(("first", "second"), iterations):
        checkpoint = Checkpoint.objects.create(system=system, name=order, iteration=iteration)
        text = f"at {iteration}" if iteration is not None else f"{order} None"
        Output.objects.create(context=context, system=system, checkpoint=checkpoint, text=text)

    judged = [output.text for output in playing_outputs(campaign)]
    played = [Output.objects.get(pk=output.pk).text for output in current_entrants(campaign).outputs]
    assert judged == played == [newest]
