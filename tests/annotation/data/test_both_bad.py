"""A vote that both outputs are bad: told apart from a tie wherever it is kept, and rated as one."""

import json

import pytest

from annotation import snapshots
from annotation.assessment.assess import assess
from annotation.campaigns.lifecycle import create_campaign
from annotation.data.export import as_csv, as_jsonl, exported_answers
from annotation.data.importer import import_judgments
from annotation.data.judgments import NO_SIDES
from annotation.models import Campaign, PairwiseJudgment
from core.errors import ImportRefused

pytestmark = pytest.mark.django_db
ABOUT = {"context": "Q", "system_a": "m1", "output_a": "x", "system_b": "m2", "output_b": "y"}


def campaign_with(tmp_path, slug: str, **votes):
    campaign = create_campaign(slug=slug, criteria=[], pairwise=True, likert=False)
    rows = [ABOUT | {"annotator": who} | (said if isinstance(said, dict) else {"choice": said}) for who, said in votes.items()]
    return campaign, imported(campaign, tmp_path, rows)


def imported(campaign, tmp_path, rows):
    file = tmp_path / "votes.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return import_judgments(campaign, file)


def kept(campaign) -> dict:
    rows = PairwiseJudgment.objects.filter(annotator__campaign=campaign)
    return {j.annotator.name: (j.choice, (j.detail or {}).get("both_bad", False)) for j in rows.select_related("annotator")}


def test_a_word_that_may_mean_a_tie_is_said(tmp_path):
    campaign, done = campaign_with(tmp_path, "talk", a="neither", b="Neither", c="both bad")
    assert "Answers 'neither' are read as 'both are bad', which rates as a tie: 2." in done.assumed
    assert kept(campaign) == {name: ("tie", True) for name in "abc"}


def test_every_word_for_it_is_kept(tmp_path):
    words = {"a": "both_bad", "b": "tie (bothbad)", "c": "Both bad", "d": {"choice": "tie", "both_bad": "TRUE"}, "e": "tie"}
    campaign, _ = campaign_with(tmp_path, "talk", **words)
    assert kept(campaign) == {name: ("tie", name != "e") for name in words}
    with pytest.raises(ImportRefused, match="field 'both_bad': is true, and the choice is A"):
        imported(campaign, tmp_path, [ABOUT | {"annotator": "f", "choice": "A", "both_bad": True}])


@pytest.mark.parametrize("written", ["jsonl", "csv"])
def test_it_leaves_and_comes_back(tmp_path, written):
    campaign, _ = campaign_with(tmp_path, "talk", a="both_bad", b="tie", c="A")
    rows = exported_answers(campaign, "judgments")
    file = tmp_path / f"out.{written}"
    file.write_text("".join(as_csv(rows, "judgments") if written == "csv" else as_jsonl(rows)))
    other = create_campaign(slug="again", criteria=[], pairwise=True, likert=False)
    import_judgments(other, file)
    assert kept(other) == kept(campaign) == {"a": ("tie", True), "b": ("tie", False), "c": ("A", False)}
    assert assess(other).digest == assess(campaign).digest
    assert Campaign.objects.get(slug="again").pair_both_bad  # the copy asks it


def test_a_campaign_with_answers_asks_what_it_asked(tmp_path):
    campaign, _ = campaign_with(tmp_path, "talk", a="A")
    done = imported(campaign, tmp_path, [ABOUT | {"annotator": "b", "choice": "both bad"}])
    assert not Campaign.objects.get(slug="talk").pair_both_bad
    said = "1 answers say that both are bad, which is kept and rates as a tie; pairs are not asked so."
    assert done.assumed == [NO_SIDES.format(1), said]


def test_snapshots_tell_them_apart_and_others_stay_as_they_were(tmp_path):
    (bad, _), (tied, _) = (campaign_with(tmp_path, slug, a=said, b="A") for slug, said in (("x", "both_bad"), ("y", "tie")))
    of_bad, of_tied = assess(bad), assess(tied)
    assert of_bad.digest != of_tied.digest
    assert [row.get("both_bad") for row in snapshots.read(of_bad).judgments] == [True, None]
    assert all(row.keys() == {"context", "a", "b", "annotator", "choice"} for row in snapshots.read(of_tied).judgments)
    assert "both_bad" not in "".join(as_jsonl(exported_answers(tied, "judgments")))


def test_one_that_an_older_version_kept_as_a_tie_stays_and_that_is_said(tmp_path):
    campaign, _ = campaign_with(tmp_path, "talk", a="tie")
    again = imported(campaign, tmp_path, [ABOUT | {"annotator": "a", "choice": "both_bad"}])
    assert (again.rows, again.repeated, again.new) == (1, 1, {}) and kept(campaign) == {"a": ("tie", False)}
    assert again.assumed == [
        NO_SIDES.format(1),
        "1 answers were stored before with another word on how much better, or whether both are bad; they stay as they were.",
    ]
