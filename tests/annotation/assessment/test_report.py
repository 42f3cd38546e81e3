"""The report that a paper takes along."""

import csv
import io
import re

import pytest
from django.utils import timezone

from annotation.annotating.consent import withdraw_annotator
from annotation.assessment.assess import assess
from annotation.assessment.datasheet.sheet import datasheet
from annotation.models import AuditEvent, LikertScore, System
from core.version import code_version
from tests.annotation.pages import text

pytestmark = pytest.mark.django_db

# The questions of HEDS 3.0, Belz & Thomson 2024, as its form numbers them (https://nlp-heds.github.io, commit 3239cd3).
HEDS = [
    "1.1.1",
    "1.1.2",
    "1.2",
    "1.3.1.1",
    "1.3.1.2",
    "1.3.1.3",
    "1.3.2.1",
    "1.3.2.2",
    "1.3.2.3",
    "2.1",
    "2.2",
    "2.3",
    "2.4",
    "2.5",
    "3.1.1",
    "3.1.2",
    "3.1.3.1",
    "3.1.3.2",
    "3.1.3.3",
    "3.2.1",
    "3.2.2.1",
    "3.2.2.2",
    "3.2.2.3",
    "3.2.2.4",
    "3.2.3",
    "3.2.4",
    "3.2.5",
    "3.3.1",
    "3.3.2",
    "3.3.3.1",
    "3.3.3.2",
    "3.3.4.1",
    "3.3.4.2",
    "3.3.5",
    "3.3.6",
    "3.3.7",
    "3.3.8",
    "4.1.1",
    "4.1.2",
    "4.1.3",
    "4.2.1",
    "4.2.2",
    "4.2.3",
    "4.3.1.1",
    "4.3.1.2",
    "4.3.2",
    "4.3.3",
    "4.3.4",
    "4.3.5",
    "4.3.6",
    "4.3.7",
    "4.3.8",
    "4.3.9",
    "4.3.10",
    "4.3.11.1",
    "4.3.11.2",
    "4.3.12.1",
    "4.3.12.2",
    "5.1",
    "5.2",
    "5.3",
    "5.4",
]


@pytest.fixture
def reported(scored):
    System.objects.filter(name="Hydra-system").update(name="Hydra_50% & |more|")
    assess(scored.campaign, 1.0, "interval", "drop", user=scored.alice)
    return scored.sign_in(scored.alice)


def sheet(world):
    return {a.number: a.answer for a in datasheet(world.campaign, world.campaign.snapshots.first())}


def test_every_question_of_the_datasheet_is_there_for_every_criterion(reported):
    numbers = [a.number for a in datasheet(reported.campaign, reported.campaign.snapshots.first())]
    by_criterion = [number for number in HEDS if number.startswith("4.")]
    expected = [n for n in HEDS if n < "4"] + [n.replace("4.", f"4{c}.", 1) for c in "ab" for n in by_criterion] + HEDS[-4:]
    assert numbers == expected


def test_what_the_campaign_knows_is_answered_and_nothing_else(reported):
    answers = sheet(reported)
    assert answers["3.2.1"] == "3 (1 more joined and judged nothing)"  # three judges and Bob, who has joined
    assert answers["4a.3.1.1"] == "Overall" and answers["4a.3.3"] == "5"
    assert answers["4a.3.2"] == "Is it a good reply?" and answers["4b.3.2"] == "no definition given"
    assert answers["4b.3.4"] == "0 (broken) to 1 (fluent)"
    alpha = reported.campaign.snapshots.first().decisions.get().report["alpha_after"]
    assert f"Krippendorff's alpha {alpha:.3f}" in answers["4a.3.11.2"]
    assert answers["4b.3.11.2"] == "InterAA not assessed"  # nobody scored fluency
    for unknown in ("1.1.2", "2.4", "3.2.2.1", "4a.1.1", "5.1", "5.4"):
        assert answers[unknown] is None


def test_what_was_taken_back_or_was_practice_was_not_judged(reported):
    """Six outputs, two of each of three systems, by three people each; one output's answers are taken back, another's are those
    of a training item."""
    assert "Hydra_50% & |more|: 2;" in sheet(reported)["3.1.1"]
    of_hydra = LikertScore.objects.filter(output__system__name__startswith="Hydra").order_by()
    one, other = of_hydra.values_list("output", flat=True).distinct()
    LikertScore.objects.filter(output=one).update(retracted_at=timezone.now())
    assert "Hydra_50% & |more|: 1;" in sheet(reported)["3.1.1"]
    LikertScore.objects.filter(output=other).update(purpose="training")
    assert "Hydra" not in sheet(reported)["3.1.1"]
    person = reported.campaign.annotators.get(user__username="judge0")
    LikertScore.objects.filter(annotator=person).update(retracted_at=timezone.now())
    assert sheet(reported)["3.2.1"] == "2 (2 more joined and judged nothing)"
    withdraw_annotator(reported.campaign.annotators.get(user__username="judge1"))
    assert sheet(reported)["3.2.1"] == "2 (1 withdrew later; 2 more joined and judged nothing)"


def test_it_says_what_the_filter_took_and_what_intervals_are_of(reported):
    """Of 18 scores, six by each of three people, one is five where the others say one."""
    rows = list(csv.DictReader(io.StringIO(text(reported.get("quality/report.csv")))))
    (kept,) = [r["value"] for r in rows if (r["section"], r["row"], r["column"]) == ("Agreement", "Overall", "Kept of all")]
    assert kept == f"{reported.campaign.snapshots.first().scores} of 18" and kept != "18 of 18"
    for door in ("quality/report/", *(f"quality/report.{kind}" for kind in ("md", "tex", "csv"))):
        seen = text(reported.get(door))
        assert "interval resamples items, and holds for these annotators only" in seen and code_version()[:3] in seen, door


def test_it_says_what_intervals_resample(reported):
    assert "over evaluators and over contexts;" in sheet(reported)["4a.3.10"]
    reported.campaign.contexts.filter(key="c0").update(group="charter")
    assert "over evaluators and over groups of contexts;" in sheet(reported)["4a.3.10"]


def test_markdown_tables_have_as_many_cells_as_their_heads(reported):
    report_text = text(reported.get("quality/report.md"))
    assert report_text.startswith("# Small talk") and "(to be written)" in report_text
    width = None
    for line in report_text.splitlines():
        cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else None
        assert cells is None or width is None or cells == width
        width = cells
    assert "Hydra\\_50% & \\|more\\|" in report_text


def test_latex_escapes_what_it_would_read_as_a_command(reported):
    report_text = text(reported.get("quality/report.tex"))
    assert r"Hydra\_50\% \& |more|" in report_text
    assert report_text.count(r"\begin{longtable}") == report_text.count(r"\end{longtable}") > 2


def test_csv_holds_the_same_numbers(reported):
    rows = list(csv.DictReader(io.StringIO(text(reported.get("quality/report.csv")))))
    report = reported.campaign.snapshots.first().decisions.get().report
    (alpha,) = [r["value"] for r in rows if (r["section"], r["row"], r["column"]) == ("Agreement", "Overall", "Alpha after")]
    assert alpha == f"{report['alpha_after']:.3f}"


def test_newer_answers_are_said_wherever_it_goes(reported):
    doors = ["quality/report/", *(f"quality/report.{kind}" for kind in ("md", "tex", "csv"))]
    said = "Newer answers have come since. Agreement is without them"
    assert [said in text(reported.get(door)) for door in doors] == [False] * 4
    AuditEvent.objects.create(campaign=reported.campaign, action="import", detail={"new": {"scores": 3}})
    assert [said in text(reported.get(door)) for door in doors] == [True] * 4


def test_who_withdrew_is_counted_and_not_named(reported):
    gone = reported.campaign.annotators.get(user__username="judge1")
    withdraw_annotator(gone)
    for door in ("quality/report/", *(f"quality/report.{kind}" for kind in ("md", "tex", "csv"))):
        seen = text(reported.get(door))
        assert "1 annotator withdrew after it was frozen." in seen and f"{gone.name} withdrew" not in seen, door


def test_the_page_shows_it_and_outsiders_get_nothing(reported):
    assert "Human Evaluation Datasheet" in text(reported.get("quality/report/"))
    assert reported.get("quality/report.docx").status_code == 404
    for user in (reported.bob, reported.charlie):
        reported.sign_in(user)
        assert reported.get("quality/report/").status_code == 404
        assert reported.get("quality/report.md").status_code == 404


def test_without_a_snapshot_it_says_what_to_do(world):
    world.sign_in(world.alice)
    assert "Nothing has been accepted yet" in text(world.get("quality/report/"))
    assert world.get("quality/report.md").status_code == 404
