"""The same outputs asked about in two ways."""

import pytest

from annotation.assessment.protocol_study import study
from annotation.campaigns.study import design_study
from annotation.models import LikertScore, PairwiseJudgment, User
from annotation.people.accounts import add_annotator
from core.errors import Refused
from tests.annotation.pages import World, text, write_outputs

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

SYSTEMS = ("Ant", "Bee", "Cat", "Dog", "Elk")


@pytest.fixture
def five(tmp_path, client):
    """Six contexts with five outputs each, nothing asked yet but scores."""
    from annotation.data.importer import import_outputs

    world = World(tmp_path, client, contexts=0)
    import_outputs(world.campaign, write_outputs(tmp_path, 6, SYSTEMS))
    return world


def judge(world, honest=3):
    """Everyone scores the drawn outputs by their system's letter, and compares them by it without fail."""
    overall = world.campaign.criteria.get(name="Overall")
    pairs = list(world.campaign.items.exclude(other=None).select_related("output__system", "other__system"))
    for n in range(honest):
        person = add_annotator(world.campaign, User.objects.create_user(f"judge{n}"))
        for item in world.campaign.items.filter(other=None).select_related("output__system"):
            value = 1 + SYSTEMS.index(item.output.system.name)
            LikertScore.objects.create(annotator=person, output=item.output, criterion=overall, value=value)
        for item in pairs:
            better = SYSTEMS.index(item.output.system.name) > SYSTEMS.index(item.other.system.name)
            PairwiseJudgment.objects.create(
                annotator=person, output_a=item.output, output_b=item.other, choice="A" if better else "B"
            )


def test_each_output_meets_four_others_of_its_context(five):
    assert design_study(five.campaign, five.alice, 5) == 5 * 4  # the scores are asked for already
    pairs = list(five.campaign.items.exclude(other=None).select_related("output", "other"))
    assert all(item.output.context_id == item.other.context_id for item in pairs)
    assert design_study(five.campaign, five.alice, 5) == 0  # the same seed draws the same; nothing is asked twice


def test_who_agrees_fully_in_both_ways_has_alpha_one_in_both(five):
    design_study(five.campaign, five.alice, 6)
    judge(five)
    (row,) = study(five.campaign)["criteria"]
    study_figures = row["study"]
    assert (study_figures["outputs"], study_figures["direct_raters"], study_figures["compared_raters"]) == (6, 3, 3)
    for which in ("direct", "compared"):
        assert study_figures["measures"]["alpha_interval"][which]["value"] == 1.0
    assert study_figures["measures"]["kappa"]["difference"]["value"] == 0.0
    # The better letter wins against every worse one, so a score from comparisons is its place: the same as the direct one.
    assert study_figures["across"]["alpha_interval"]["value"] == 1.0


@pytest.mark.parametrize(("outputs", "sentence"), [(7, "from 2 to 6"), (1, "from 2 to 6")])
def test_more_outputs_than_contexts_are_refused(five, outputs, sentence):
    with pytest.raises(Refused, match=sentence):
        design_study(five.campaign, five.alice, outputs)


def test_three_systems_are_too_few(world):
    with pytest.raises(Refused, match="at least 5 outputs"):
        design_study(world.campaign, world.alice, 2)


def test_the_page_designs_and_shows(five):
    five.sign_in(five.alice)
    assert "Nobody has scored an output yet" in text(five.get("quality/study/"))
    assert five.post("quality/study/", {"outputs": "6"}).status_code == 302
    assert five.post("quality/study/", {"outputs": "60"}).status_code == 422
    judge(five)
    page = text(five.get("quality/study/"))
    assert "6 outputs; 3 annotators scored, 3 compared" in page and "alpha, interval" in page
