"""Words and numbers for the better side: what is plain is read, what may mean two things is asked."""

import json

import pytest

from annotation.campaigns.lifecycle import create_campaign
from annotation.data.importer import import_judgments
from annotation.models import PairwiseJudgment
from annotation.outcome import Outcome, outcome_named, side_named
from core.errors import ImportRefused
from leaderboard.offline.commands import main

pytestmark = pytest.mark.django_db


def votes(tmp_path, choices, systems=("gpt", "llama")):
    about = {"system_a": systems[0], "output_a": "x", "system_b": systems[1], "output_b": "y", "annotator": "ann"}
    file = tmp_path / "votes.jsonl"
    file.write_text("".join(json.dumps(about | {"context": f"Q{n}", "choice": c}) + "\n" for n, c in enumerate(choices)))
    return file


def stored(file):
    campaign = create_campaign(slug="talk", criteria=[], pairwise=True, likert=False)
    done = import_judgments(campaign, file)
    return list(PairwiseJudgment.objects.order_by("output_a__context__turns").values_list("choice", flat=True)), done


def test_numbers_are_said(tmp_path):
    choices, done = stored(votes(tmp_path, ["1", 2, "0"]))
    assert choices == ["A", "B", "tie"]
    assert done.assumed == ["The choices 1 and 2 are A and B, and 0 is a tie."]


def test_zeros_and_ones_alone_may_mean_anything(tmp_path, capsys):
    """1 where the first is better, and 0 where the second is; or the other way about; or 0 for a tie."""
    file = votes(tmp_path, [1, 0, 1, 0])
    with pytest.raises(ImportRefused, match="field 'choice': is 0 in some rows and 2 in none"):
        stored(file)
    assert main(["gate", "gpt", "llama", "--judgments", str(file), "--margin", "0.1"]) == 3
    assert "is 0 in some rows and 2 in none" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        (("Response A", "output_1", "A is better", "[[A]]", "model_a", "Answer 1 wins"), Outcome.A),
        (("Response B", "text 2", "b wins", "[[B]]", "assistant_b"), Outcome.B),
        (("Both are equal", "no preference", "[[C]]", "draw"), Outcome.TIE),
        (("System A", "model a", "perhaps", "[[A", "AB", "3"), None),  # systems are called so
    ],
)
def test_words(words, outcome):
    assert {outcome_named(word) for word in words} == {outcome}


def test_a_systems_name_that_stands_for_the_other_side(tmp_path):
    """Called "Response B" and standing on side A; where it stands on its own side, nothing is unclear."""
    with pytest.raises(ImportRefused, match="is the system on side A, and stands for B, too"):
        stored(votes(tmp_path, ["response b"], ("Response B", "Response A")))
    assert side_named("response a", "response a", "response b") == Outcome.A
    with pytest.raises(ValueError, match="is the system on side B, and stands for A, too"):
        side_named("left", "right", "left")
    assert side_named("left", "left", "right") == Outcome.A
    assert side_named("b", "b", "c") is None  # A, tie and B are sides, as exports write them
