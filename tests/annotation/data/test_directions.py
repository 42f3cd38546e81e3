"""Which end of a scale is best: asked where the name leaves it open, said where the values do. And names that look alike."""

import json

import pytest

from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.direction import are_ranks, may_be_low
from annotation.data.importer import import_outputs, import_scores
from annotation.data.spellings import Spellings
from annotation.models import Criterion, LikertScore
from core.errors import ImportRefused
from tests.annotation.data.doors import DOORS, SAMPLES, installation, scores

__all__ = ["installation"]
pytestmark = pytest.mark.django_db
RANKS = "16_rank_1_is_best"


@pytest.mark.parametrize(
    "name", ["Rank", "rank (1 = best)", "Number of errors", "post-editing effort", "HTER", "edit distance", "editTime"]
)
def test_names_that_leave_it_open(name):
    assert may_be_low(name)


@pytest.mark.parametrize(
    "name", ["Quality", "Frankness", "Terseness", "Effortless reading", "Accuracy", "Latent style", "Timely"]
)
def test_names_that_do_not(name):
    assert not may_be_low(name)


def test_ranks_are_one_to_k_in_each_group():
    ranked = [((who, c), v) for who in "ab" for c in range(3) for v in (2, 1, 3)]
    assert are_ranks(ranked)
    assert not are_ranks([*ranked, (("c", 0), 1), (("c", 0), 1)])  # a tie
    assert not are_ranks(ranked[:6])  # too few
    assert not are_ranks([((who, c), v) for who in "ab" for c in range(3) for v in (4, 5)])


@pytest.mark.parametrize("door", DOORS)
def test_every_door_asks_and_takes_the_answer(installation, door):
    """Whose means are 1.05, 1.95 and 3.00 as ranks: the lowest is the best."""
    campaign = installation.campaign("talk", ("Rank", 1, 3), f"{RANKS}.outputs.jsonl")
    with pytest.raises(ImportRefused, match="field 'best': is not said, and on 'Rank' the lowest value may be the best"):
        import_scores(campaign, SAMPLES / f"{RANKS}.scores.csv")
    assert not LikertScore.objects.exists()
    account = installation.through(door, campaign, "scores", SAMPLES / f"{RANKS}.scores.csv", constants={"best": "low"})
    assert Criterion.objects.get().best == "low" and account["new"]["scores"] == len(scores(campaign))
    assert "On 'Rank' the lowest value is the best, as the file says." in account["assumed"]
    again = import_scores(campaign, SAMPLES / f"{RANKS}.scores.csv")
    assert again.new == {} and again.repeated == again.rows  # said once


def test_values_that_are_ranks_are_said(tmp_path):
    campaign = create_campaign(slug="talk", criteria=[CriterionSpec("Order", 1, 3)])
    import_outputs(campaign, SAMPLES / f"{RANKS}.outputs.jsonl")
    text = (SAMPLES / f"{RANKS}.scores.csv").read_text().replace("Rank", "Order")
    file = tmp_path / "scores.csv"
    file.write_text(text)
    said = [sentence for sentence in import_scores(campaign, file, dry_run=True).assumed if "are ranks" in sentence]
    assert said == ["The values of 'Order' are ranks; the highest is taken for the best. Say best: low if it is not."]


def test_an_answered_criterion_keeps_its_direction(tmp_path):
    campaign = create_campaign(slug="talk", criteria=[CriterionSpec("Quality", 1, 5)])
    import_outputs(campaign, SAMPLES / "common.outputs.jsonl")
    file = tmp_path / "scores.jsonl"
    row = {"context_id": "c1", "system": "alpha", "aspect": "Quality", "annotator": "a", "score": 4}
    file.write_text(json.dumps(row))
    import_scores(campaign, file)
    file.write_text(json.dumps(row | {"annotator": "b", "best": "low"}))
    with pytest.raises(ImportRefused, match="is low, but for criterion 'Quality' it is high"):
        import_scores(campaign, file)


def test_names_that_were_kept_apart_stay_apart():
    assert Spellings(["ann1", "ANN1"]).name_of("Ann1") == "Ann1"
    assert Spellings(["ann1"]).name_of("Ann1") == "ann1"
