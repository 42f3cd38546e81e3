"""Pairs judged by a number: nothing says which side it is for, so the person does, at every door by one rule."""

import json

import pytest

from annotation.campaigns.lifecycle import create_campaign
from annotation.data.importer import import_judgments
from annotation.models import Campaign, PairwiseJudgment
from annotation.outcome import on_scale
from core.errors import ImportRefused
from core.rows import Row
from leaderboard.offline.answers import Output, _points

pytestmark = pytest.mark.django_db
WORDS = {
    "-3 to 3": {-3: "A is much better", -2: "A is better", -1: "A is slightly better", 0: "tie", 3: "B is much better"},
    "3 to -3": {3: "A is much better", 1: "A is slightly better", -2: "B is better"},
    "1 to 5": {1: "A is much better", 2: "A is slightly better", 3: "tie", 4: "B is slightly better", 5: "B is much better"},
    "7 to 1": {7: "A is much better", 6: "A is better", 4: "tie", 3: "B is slightly better"},
    "−1 to 1": {-1: "A is better", 0: "tie", 1: "B is better"},
}


@pytest.mark.parametrize(("scale", "number", "word"), [(s, n, w) for s, words in WORDS.items() for n, w in words.items()])
def test_what_a_number_says(scale, number, word):
    assert on_scale(number, scale) == word


@pytest.mark.parametrize(("scale", "number"), [("1 to 6", 1), ("1-7", 1), ("1 to 7", 8), ("1 to 7", 0), ("0 to 100", 50)])
def test_what_no_scale_says(scale, number):
    with pytest.raises(ValueError):
        on_scale(number, scale)


def rows(tmp_path, choices):
    file, texts = tmp_path / "pairs.jsonl", {"system_a": "m1", "system_b": "m2", "annotator": "ann"}
    pairs = [
        {"context_id": f"c{n}", "context": f"Q{n}?", "output_a": f"x{n}", "output_b": f"y{n}", "choice": choice, **texts}
        for n, choice in enumerate(choices)
    ]
    file.write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    return file


def stored() -> list[tuple]:
    by = PairwiseJudgment.objects.order_by("output_a__context__key")
    return [(row.choice, (row.detail or {}).get("strength", "")) for row in by]


def pairs_campaign() -> Campaign:
    return create_campaign(slug="pairs", likert=False, pairwise=True, criteria=[])


def test_numbers_are_read_as_the_person_says(tmp_path):
    file = rows(tmp_path, [-3, "-1", 0, 2, "3.0"])
    with pytest.raises(ImportRefused, match="choice_scale"):
        import_judgments(pairs_campaign(), file)
    found = import_judgments(Campaign.objects.get(), file, constants={"choice_scale": "-3 to 3"})
    assert stored() == [("A", "much"), ("A", "slightly"), ("tie", ""), ("B", ""), ("B", "much")]
    assert Campaign.objects.get().pair_points == 7
    assert "Numbers in choices are read from -3, the best of A, to 3, the best of B, on 7 points: 5." in found.assumed


def test_the_points_are_those_of_the_scale_and_not_of_what_was_used(tmp_path):
    import_judgments(pairs_campaign(), rows(tmp_path, [5, 3, 5]), constants={"choice_scale": "5 to 1"})
    assert stored() == [("A", "much"), ("tie", ""), ("A", "much")] and Campaign.objects.get().pair_points == 5


@pytest.mark.parametrize(("scale", "field"), [("1 to 6", "choice_scale"), ("1 to 3", "choice")])
def test_a_scale_that_does_not_fit_is_refused(tmp_path, scale, field):
    with pytest.raises(ImportRefused) as refused:
        import_judgments(pairs_campaign(), rows(tmp_path, [7, 1]), constants={"choice_scale": scale})
    assert refused.value.errors[0].field == field and not PairwiseJudgment.objects.exists()


def test_one_mark_is_said_to_be_slightly(tmp_path):
    found = import_judgments(pairs_campaign(), rows(tmp_path, ["A > B", "[[B>A]]", "A=B"]))
    assert stored() == [("A", "slightly"), ("B", "slightly"), ("tie", "")]
    assert any("'A > B' is read as 'A is slightly better'" in said and said.endswith(": 2.") for said in found.assumed)


@pytest.mark.parametrize(("number", "points"), [(7, 1.0), (6, 1.0), (4, 0.0), (1, -1.0)])
def test_files_without_a_server_are_read_by_the_same_rule(number, points):
    one, other = (Output("c", name) for name in ("m1", "m2"))
    assert _points(Row(1, {"choice": number, "choice_scale": "7 to 1"}), one, other, True) == points
