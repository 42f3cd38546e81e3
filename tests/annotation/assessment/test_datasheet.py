"""What the researchers write to the datasheet: by the page and the API, beside what the campaign knows."""

import json

import pytest

from annotation.assessment.assess import assess
from annotation.assessment.datasheet.own_words import Written, write
from annotation.assessment.datasheet.questions import QUESTIONS
from annotation.assessment.datasheet.sheet import SheetAnswer, counts, datasheet, left_over
from annotation.campaigns.lifecycle import duplicate_campaign
from annotation.campaigns.protocol import CriterionSpec, change_campaign
from annotation.models import AuditEvent, Criterion, DatasheetAnswer
from annotation.snapshots import latest_snapshot
from core.errors import Refused
from leaderboard.publication.heds import form
from tests.annotation.pages import CRITERIA, text

pytestmark = pytest.mark.django_db
PAGE, DOOR = "quality/datasheet/", "/api/campaigns/talk/quality/datasheet/"


@pytest.fixture
def asked(scored):
    return scored.sign_in(scored.alice)


def sheet(campaign) -> dict[tuple[str, str], SheetAnswer]:
    answers = datasheet(campaign, latest_snapshot(campaign))
    return {(one.question.number, one.criterion.name if one.criterion else ""): one for one in answers}


def criterion(world, name: str):
    return world.campaign.criteria.get(name=name)


def fields(page) -> dict:
    seen = text(page).partition('name="seen" value="')[2].partition('"')[0]
    return {"seen": seen}


def test_the_page_asks_what_the_campaign_does_not_know_and_keeps_what_is_written(asked):
    page = text(asked.get(PAGE))
    assert "What type" not in page and 'name="text-1.1.2"' in page and 'name="text-3.2.1"' not in page
    wit = criterion(asked, "Fluency").pk
    sent = {"text-1.1.2": "Section <b>4</b>", "chosen-2.3": ["16", "11"], f"chosen-4.1.1-{wit}": "2", "chosen-3.2.2.2": "3"}
    answer = asked.post(PAGE, fields(asked.get(PAGE)) | sent)
    assert answer.status_code == 302
    found = sheet(asked.campaign)
    assert found["1.1.2", ""].answer == "Section <b>4</b>"
    assert found["2.3", ""].answer.startswith("Question generation; Summarisation (text-to-text): The systems: ")
    assert found["4.1.1", "Fluency"].answer == "Goodness" and found["4.1.1", "Overall"].answer is None
    assert counts(list(found.values()))[0] == 4
    page = text(asked.get(PAGE))
    assert "Section &lt;b&gt;4&lt;/b&gt;" in page and f"<b>4 of {counts(list(found.values()))[1]}</b> answered" in page
    asked.post(PAGE, fields(asked.get(PAGE)))  # all fields empty: all is taken back
    assert counts(list(sheet(asked.campaign).values()))[0] == 0
    events = AuditEvent.objects.filter(action="datasheet changed").order_by("pk").values_list("detail", flat=True)
    assert list(events)[0] == {"changed": ["1.1.2", "2.3", "3.2.2.2", "4.1.1 Fluency"]} and len(events) == 2


def test_a_fact_stays_a_fact_and_words_stand_beside_it(asked):
    world = asked
    with pytest.raises(Refused, match="3.2.1: the campaign answers this itself"):
        write(world.campaign, world.alice, [Written("3.2.1", text="A thousand")])
    world.campaign.guidelines = ""
    world.campaign.save()
    write(world.campaign, world.alice, [Written("3.2.4", text="A talk.")])
    assert sheet(world.campaign)["3.2.4", ""].answer == "A talk."
    world.campaign.guidelines = "Read."
    world.campaign.save()
    known = sheet(world.campaign)["3.2.4", ""]
    assert known.answer == "Written guidelines before the start and at hand throughout. A talk." and not known.is_asked
    assert 'name="text-3.2.4"' in text(world.get(PAGE))


def test_scales_are_described_as_they_are_asked(asked):
    campaign = asked.campaign
    campaign.pairwise, campaign.pair_points = True, 7
    campaign.save()
    Criterion.objects.create(campaign=campaign, name="Slide", low=0, high=100, settings={"slider": True}, position=7)
    Criterion.objects.create(campaign=campaign, name="Errors", kind="spans", low=0, high=9, best="low", position=8)
    found = sheet(campaign)
    said = lambda name: [found[number, name].answer for number in ("4.3.3", "4.3.5", "4.3.8")]
    assert said("Overall") == ["5", "Multiple-choice options", "Direct quality estimation"]
    assert said("Slide") == ["101", "Slider", "Direct quality estimation"]
    assert said("Errors")[1:] == [
        "Other: Errors are marked in the text, with their severity.",
        "Evaluation through post-editing/annotation",
    ]
    assert said("") == ["7", "Multiple-choice options", "Relative quality estimation (including ranking)"]


def test_wrong_answers_are_refused_with_nothing_stored(asked):
    campaign, overall = asked.campaign, criterion(asked, "Overall")
    wrong = [
        Written("9.9", text="?"),
        Written("4.1.1", chosen=(1,)),  # on which criterion?
        Written("1.1.2", overall, text="x"),
        Written("4.1.1", overall, (4,)),
        Written("4.1.1", overall, (1, 2)),
        Written("4.1.1", overall, text="Good."),
        Written("1.1.2", chosen=(1,)),
        Written("1.1.2", text="x" * 2001),
    ]
    for one in wrong:
        with pytest.raises(Refused):
            write(campaign, asked.alice, [Written("5.1", text="None did."), one])
    assert not DatasheetAnswer.objects.exists()
    page = asked.post(PAGE, fields(asked.get(PAGE)) | {"text-1.1.2": "x" * 2001, "text-5.1": "Kept as typed"})
    assert page.status_code == 422 and "Kept as typed" in text(page) and not DatasheetAnswer.objects.exists()


def test_who_saves_over_another_is_told_and_loses_nothing(asked):
    before = fields(asked.get(PAGE))
    write(asked.campaign, asked.alice, [Written("5.1", text="Board one")])
    page = asked.post(PAGE, before | {"text-5.1": "Board two"})
    assert page.status_code == 422 and "Stored now: Board one" in text(page) and "Board two" in text(page)
    assert asked.post(PAGE, fields(page) | {"text-5.1": "Board two"}).status_code == 302
    assert sheet(asked.campaign)["5.1", ""].answer == "Board two"


def test_an_answer_follows_its_criterion_and_goes_to_no_other(asked):
    campaign, fluency = asked.campaign, criterion(asked, "Fluency")
    write(campaign, asked.alice, [Written("4.1.2", fluency, (1,)), Written("4.3.1.2", fluency, text="QCET 12")])
    specs = [CriterionSpec(**{**CRITERIA[n].__dict__, "pk": c.pk}) for n, c in enumerate(campaign.criteria.all())]
    renamed = CriterionSpec(**{**specs[1].__dict__, "name": "Grammar"})
    change_campaign(campaign, asked.alice, [specs[0], renamed])
    assert sheet(campaign)["4.3.1.2", "Grammar"].answer == "(written for “Fluency”) QCET 12"
    assert "Written when the criterion was called “Fluency”" in text(asked.get(PAGE))
    write(campaign, asked.alice, [Written("4.3.1.2", criterion(asked, "Grammar"), text="QCET 12")])
    assert sheet(campaign)["4.3.1.2", "Grammar"].answer == "QCET 12"
    change_campaign(campaign, asked.alice, [specs[0]])
    change_campaign(campaign, asked.alice, [specs[0], CriterionSpec("Grammar", 0, 1)])
    assert sheet(campaign)["4.3.1.2", "Grammar"].answer is None
    page = asked.get(PAGE)
    assert "4.3.1.2, <bdi>Grammar</bdi>: QCET 12" in text(page) and left_over(campaign).count() == 2
    one = left_over(campaign).get(number="4.3.1.2")
    asked.post(PAGE, fields(page) | {"discard": one.pk})
    assert left_over(campaign).get().about == "Fluency"


def test_a_copy_has_what_holds_for_it(asked):
    campaign, overall = asked.campaign, criterion(asked, "Overall")
    said = [
        Written("1.3.1.1", text="Ada"),
        Written("2.4", text="English"),
        Written("4.1.1", overall, (1,)),
        Written("5.1", text="Board"),
        Written("1.1.2", text="Section 4"),
    ]
    write(campaign, asked.alice, said)
    of = lambda copy: {
        (row.number, row.criterion and row.criterion.name) for row in copy.datasheet_answers.select_related("criterion")
    }
    bare = duplicate_campaign(campaign, slug="bare", user=asked.alice)
    full = duplicate_campaign(campaign, slug="full", with_texts=True, user=asked.alice)
    assert of(bare) == {("1.3.1.1", None), ("4.1.1", "Overall")} and of(full) == of(bare) | {("2.4", None)}
    assert bare.datasheet_answers.get(number="4.1.1").criterion.campaign == bare


def test_the_report_counts_and_every_file_has_it(asked):
    assess(asked.campaign, 1.0, "interval", "drop", user=asked.alice)
    _, wanted = counts(datasheet(asked.campaign, latest_snapshot(asked.campaign)))
    assert f"{wanted} questions of the datasheet want your words" in text(asked.get("quality/report/"))
    write(asked.campaign, asked.alice, [Written("5.1", text="50% & <b>"), Written("2.5", text="Spanish and Klingon")])
    page = text(asked.get("quality/report/"))
    assert f"{wanted - 2} questions" in page and "50% &amp; &lt;b&gt;" in page
    assert "Written by the researchers: 2.5, 5.1." in page
    assert "50% & &lt;b>" in text(asked.get("quality/report.md")) and r"50\% \& <b>" in text(asked.get("quality/report.tex"))
    heds = form(asked.campaign, latest_snapshot(asked.campaign))
    assert heds["heds-ethics-review_body"]["data"] == {"": "50% & <b>"}
    spanish, other = "heds-system-output_languages-150", "heds-system-output_languages-185"  # as the form numbers its boxes
    assert heds[spanish]["text"] == {"": "149. Spanish, Castilian"} and heds[other]["data"] == {"": True}
    assert heds["heds-system-output_languages-other_text"] == {
        "data": {"": "Spanish and Klingon"},
        "control": {},
        "number": None,
    }


def test_the_api_reads_and_writes_the_same(asked):
    got = asked.client.get(DOOR).json()
    assert len(got["answers"]) == len(QUESTIONS) + sum(q.by_criterion for q in QUESTIONS)
    by_number = {(row["number"], row["criterion"]): row for row in got["answers"]}
    assert by_number["3.2.1", None]["fact"].startswith("3 (") and not by_number["3.2.1", None]["is_asked"]
    answer = by_number["4.2.3", "Overall"] | {"chosen": [1]}
    body = json.dumps({"answers": [answer, {"number": "1.2", "chosen": [2]}]})
    done = asked.client.patch(DOOR, body, content_type="application/json")
    assert done.status_code == 200 and done.json()["answered"] == 2
    assert asked.client.patch(DOOR, done.content, content_type="application/json").json() == done.json()  # sent back as it is
    assert AuditEvent.objects.filter(action="datasheet changed").count() == 1
    for row, status in (
        ({"number": "4.2.3", "criterion": "Wisdom", "chosen": [1]}, 422),
        ({"number": "3.2.1", "text": "9"}, 422),
        ({"number": "1.2", "chosen": ["x"]}, 400),
    ):
        refused = asked.client.patch(DOOR, json.dumps({"answers": [row]}), content_type="application/json")
        assert refused.status_code == status, refused.content
