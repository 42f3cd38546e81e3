"""Scores that are written in another unit than the campaign's scale has."""

import json

import pytest

from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.export import as_csv, exported_answers
from annotation.data.importer import import_outputs, import_scores
from annotation.models import LikertScore
from core.errors import ImportRefused

pytestmark = pytest.mark.django_db
CONTEXTS = [f"c{n}" for n in range(10)]


@pytest.fixture
def campaign(tmp_path):
    campaign = create_campaign(slug="slide", criteria=[CriterionSpec("Quality", 0, 100)])
    texts = [{"context_id": c, "context": f"Question {c}?", "system": "m", "output": f"Answer {c}."} for c in CONTEXTS]
    import_outputs(campaign, written(tmp_path, texts))
    return campaign


def written(folder, rows):
    file = folder / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def scores(values, **others):
    return [
        {"context_id": c, "system": "m", "aspect": "Quality", "annotator": "ann", "score": v} | others
        for c, v in zip(CONTEXTS, values)
    ]


SHARES = [0, 0.25, 0.5, 0.74, 1]


def test_shares_on_a_hundred_points_are_refused_with_the_way_out(campaign, tmp_path):
    with pytest.raises(ImportRefused, match="lies between 0 and 1 in every row, and 'Quality' has the scale 0 to 100"):
        import_scores(campaign, written(tmp_path, scores(SHARES)))
    with pytest.raises(ImportRefused, match="lies between 0 and 1 in every row"):
        import_scores(campaign, written(tmp_path, scores([f"{v}%" for v in SHARES])))
    assert not LikertScore.objects.exists()
    assert import_scores(campaign, written(tmp_path, scores(SHARES)), constants={"scale": "0-100"}).new["scores"] == 5
    again = create_campaign(slug="again", criteria=[CriterionSpec("Quality", 0, 100)])
    texts = [{"context_id": c, "context": f"Question {c}?", "system": "m", "output": f"Answer {c}."} for c in CONTEXTS]
    import_outputs(again, written(tmp_path, texts))
    (tmp_path / "out.csv").write_text("".join(as_csv(exported_answers(campaign, "scores"), "scores")))  # which states the scale
    assert import_scores(again, tmp_path / "out.csv").new["scores"] == 5


def test_one_person_of_several_who_writes_shares(campaign, tmp_path):
    rows = scores(SHARES) + scores([10, 20, 50, 74, 100], annotator="bob")
    with pytest.raises(ImportRefused, match="in every row of 'ann'"):
        import_scores(campaign, written(tmp_path, rows))


@pytest.mark.parametrize("values", [[0, 1, 1, 0, 1], [0.5, 70, 3.25], [0, 0.5, 2]])
def test_points_are_stored_without_a_word(campaign, tmp_path, values):
    assert import_scores(campaign, written(tmp_path, scores(values))).assumed == []


def test_five_points_on_a_hundred_are_said(campaign, tmp_path):
    done = import_scores(campaign, written(tmp_path, scores([1, 2, 3, 4, 5, 5, 4, 3, 2, 1])))
    assert done.assumed == ["The scores on 'Quality' go from 1 to 5; its scale goes from 0 to 100."]
