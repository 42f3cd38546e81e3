"""Answers of one person that contradict each other: refused, left out and listed, or the latest counts."""

import json

import pytest
from django.core.management import CommandError, call_command

from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.importer import import_file, import_outputs
from annotation.models import LikertScore, PairwiseJudgment
from core.errors import ImportRefused, Refused
from tests.annotation.data.doors import SAMPLES, everywhere, installation, judgments

__all__ = ["installation"]
pytestmark = pytest.mark.django_db
EARLY, LATE, LAST = (f"2026-01-0{day}T12:00:00+00:00" for day in (1, 2, 3))


@pytest.fixture
def campaign(db):
    campaign = create_campaign(slug="talk", criteria=[CriterionSpec("Quality", 1, 5)], pairwise=True)
    import_outputs(campaign, SAMPLES / "common.outputs.jsonl")
    return campaign


def lines(tmp_path, rows):
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def scored(*said) -> list[dict]:
    """(annotator, score, when) of alpha's output on c1"""
    about = {"context_id": "c1", "system": "alpha", "aspect": "Quality"}
    return [about | {"annotator": who, "score": score, "answered_at": when} for who, score, when in said]


def voted(*said) -> list[dict]:
    about = {"context_id": "c1", "system_a": "alpha", "system_b": "beta"}
    return [about | {"annotator": who, "choice": choice, "answered_at": when} for who, choice, when in said]


def stored() -> list[tuple]:
    """(annotator, value, day)"""
    rows = LikertScore.objects.order_by("annotator__name")
    return [(s.annotator.name, s.value, s.created_at.day) for s in rows.select_related("annotator")]


SAID = scored(("ann", 4, EARLY), ("bob", 3, EARLY), ("ann", 2, LAST), ("ann", 4, EARLY), ("ann", 5, LATE))


def test_they_refuse_the_file_and_say_how_to_go_on(campaign, tmp_path):
    with pytest.raises(ImportRefused, match="is 2, but 'ann' already gave .* 4; --contradictions leave_out or latest, or"):
        import_file(campaign, "scores", lines(tmp_path, SAID))
    assert not LikertScore.objects.exists()
    with pytest.raises(Refused, match="Contradictions are leave_out or latest, not 'any'"):
        import_file(campaign, "scores", lines(tmp_path, SAID), contradictions="any")
    with pytest.raises(CommandError, match="--contradictions"):
        call_command("import_scores", "talk", str(lines(tmp_path, SAID)))


def test_all_of_them_are_left_out_and_listed(campaign, tmp_path):
    done = import_file(campaign, "scores", lines(tmp_path, SAID), contradictions="leave_out")
    assert stored() == [("bob", 3, 1)]
    assert (done.rows, done.new["scores"], done.repeated) == (5, 1, 0)
    assert done.left_out == {"contradicts another answer of the same person": 4}
    assert sorted(line for _, line, _ in done.listed) == [1, 3, 4, 5]


def test_the_latest_counts(campaign, tmp_path):
    """Ann's 2 of the third day stands before her 5 of the second."""
    done = import_file(campaign, "scores", lines(tmp_path, SAID), contradictions="latest")
    assert stored() == [("ann", 2, 3), ("bob", 3, 1)]
    assert done.left_out == {"was replaced by a later answer of the same person": 3} and (done.rows, done.repeated) == (5, 0)
    assert sorted(line for _, line, _ in done.listed) == [1, 4, 5]


@pytest.mark.parametrize("when", [None, EARLY])
def test_which_is_the_latest_has_to_be_known(campaign, tmp_path, when):
    rows = scored(("ann", 4, EARLY), ("ann", 2, when))
    with pytest.raises(ImportRefused, match="'answered_at': does not say which of two answers is later, and score is 2"):
        import_file(campaign, "scores", lines(tmp_path, rows), contradictions="latest")


@pytest.mark.parametrize("way", ["leave_out", "latest"])
def test_what_is_stored_stays(campaign, tmp_path, way):
    import_file(campaign, "scores", lines(tmp_path, scored(("ann", 4, EARLY))))
    done = import_file(campaign, "scores", lines(tmp_path, scored(("ann", 2, LATE))), contradictions=way)
    assert done.left_out == {"contradicts an answer that is stored, which stays": 1} and stored() == [("ann", 4, 1)]


def test_a_vote_on_a_pair_shown_the_other_way_round(campaign, tmp_path):
    """B of (beta, alpha) is A of (alpha, beta); both bad is kept with the answer that counts."""
    turned = {"system_a": "beta", "system_b": "alpha"}
    rows = voted(("ann", "A", EARLY), ("ann", "both_bad", LATE)) + [row | turned for row in voted(("ann", "B", EARLY))]
    done = import_file(campaign, "judgments", lines(tmp_path, rows), contradictions="latest")
    vote = PairwiseJudgment.objects.get()
    assert (vote.choice, vote.detail) == ("tie", {"both_bad": True}) and (done.rows, sum(done.left_out.values())) == (3, 2)


@pytest.mark.parametrize(("way", "kept"), [("leave_out", 1), ("latest", 2)])
def test_every_door(installation, tmp_path, way, kept):
    file = lines(tmp_path, voted(("ann", "A", EARLY), ("bob", "B", EARLY), ("ann", "tie", LATE)))
    rows, _, account = everywhere(
        installation, "judgments", str(file), judgments, on="common.outputs.jsonl", contradictions=way
    )
    assert len(rows) == kept and account["rows"] == 3 and sum(account["left_out"].values()) == 3 - kept
