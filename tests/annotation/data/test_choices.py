"""Words and numbers for the better side: what is plain is read, what may mean two things is asked."""

import json

import pytest

from annotation.campaigns.lifecycle import create_campaign
from annotation.data.importer import import_judgments
from annotation.data.judgments import NO_SIDES
from annotation.models import Campaign, PairwiseJudgment
from annotation.outcome import Outcome, is_both_bad, outcome_named, side_and_strength, side_named
from annotation.questions.strength import said_strength
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
    assert done.assumed == ["The choices 1 and 2 are A and B, and 0 is a tie.", NO_SIDES.format(3)]


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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("A ≫ B", "A>>B", "B ≪ A", "Output (a) is much better", "strongly prefer A"), (Outcome.A, "much")),
        (("A < B", "b > a", "Response 2 is slightly better", "slightly prefer B"), (Outcome.B, "slightly")),
        (("A better", "A is preferred", "prefer A"), (Outcome.A, "")),
        (("A ≈ B", "A~B", "B=A", "no difference", "They are equal", "the responses are about equal"), (Outcome.TIE, "")),
        (("neither is better", "Both are equally good"), (Outcome.TIE, "")),
        (("A ≥ B", "A >= B", "A>>>B", "0 is better", "Model A is better", "much better"), None),  # may mean several things
    ],
)
def test_words_for_how_much_better(words, said):
    assert {(outcome_named(word), side_and_strength(word)[1]) if outcome_named(word) else None for word in words} == {said}


@pytest.mark.parametrize("word", ["Neither is good", "both responses are bad", "tie - both bad", "equally bad", "neither one"])
def test_words_for_both_bad(word):
    assert is_both_bad(word) and outcome_named(word) == Outcome.TIE
    assert not is_both_bad("neither is better") and not is_both_bad("both are good")


def test_a_system_is_said_to_be_better_by_its_name(tmp_path):
    """Also where the name is a word for the side on which it does not stand: s1 is B in the second file."""
    words = ["s1 is much better", "S2 slightly better", "s1 wins", "strongly prefer s2"]
    both = [("A", "much"), ("B", "slightly"), ("A", ""), ("B", "much")]
    for systems in (("s1", "s2"), ("s2", "s1")):
        campaign = create_campaign(slug="-".join(systems), criteria=[], pairwise=True, likert=False)
        import_judgments(campaign, votes(tmp_path, words, systems))
        rows = PairwiseJudgment.objects.filter(annotator__campaign=campaign).order_by("output_a__context__turns")
        assert [(row.choice, said_strength(row.detail)) for row in rows] == both  # stored in the order of names
        assert Campaign.objects.get(pk=campaign.pk).pair_points == 7


@pytest.mark.parametrize("word", ["Model 1 is much better", "Model 1 is better", "model 1 wins"])
def test_a_name_that_stands_for_the_other_side_with_how_much_better(tmp_path, word):
    with pytest.raises(ImportRefused, match="is the system on side B, and stands for A, too"):
        stored(votes(tmp_path, [word], ("Model 2", "Model 1")))


def test_other_numbers_do_not_say_a_side(tmp_path):
    """HelpSteer2-Preference has -3 where the first is much better, and others have 3."""
    with pytest.raises(ImportRefused, match="found -2; a number does not say which side it is for"):
        stored(votes(tmp_path, [1, -2, 0]))
