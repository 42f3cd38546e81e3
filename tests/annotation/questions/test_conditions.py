"""Questions that are asked only where an earlier answer about the same output says so: through every door."""

import io
import json
import re
import uuid

import pytest
from django.core.management import CommandError
from rest_framework.test import APIClient

from annotation import snapshots
from annotation.annotating.assignment import next_assignment
from annotation.annotating.submissions import revise, submit
from annotation.assessment.assess import as_dict, assess, work_out_assessment
from annotation.campaigns.lifecycle import create_campaign, duplicate_campaign
from annotation.campaigns.plan import grounds_of, protocol_of
from annotation.campaigns.protocol import CriterionSpec, change_campaign
from annotation.data.export import as_csv, exported_answers
from annotation.data.importer import import_outputs, import_scores
from annotation.design.plan import Protocol
from annotation.models import Campaign, LikertScore, User
from annotation.people.accounts import add_annotator
from annotation.questions import conditions
from core.errors import Refused
from leaderboard.archive.admission import admit
from leaderboard.archive.export import write_archive
from leaderboard.boards import exports, queries
from tests.annotation.pages import hidden, text, write_outputs
from tests.annotation.questions.test_third_kind import DESIGN
from tests.leaderboard.archive.test_round_trip import played

pytestmark = pytest.mark.django_db
BELOW_3 = {"criterion": "Overall", "below": 3}
WHY = CriterionSpec("Why", 1, 4, asked_if=BELOW_3)
SURE = CriterionSpec("Sure", 1, 3, asked_if={"criterion": "Why", "equal": 2})
ONLY = "asked only if Overall is below 3"


@pytest.fixture
def campaign(tmp_path):
    campaign = create_campaign(slug="why", criteria=[CriterionSpec("Overall", cannot_say=True), WHY, SURE])
    import_outputs(campaign, write_outputs(tmp_path, 2))
    return campaign


@pytest.fixture
def bob(campaign):
    return add_annotator(campaign, User.objects.create_user("bob", password="a-long-password"))


def said(campaign, **values):
    return {"scores": {campaign.criteria.get(name=name).pk: value for name, value in values.items()}}


def stored(annotator):
    rows = LikertScore.objects.filter(annotator=annotator, retracted_at=None).order_by("criterion__position")
    return {row.criterion.name: row.value for row in rows.select_related("criterion")}


def answer(annotator, **values):
    return submit(annotator, next_assignment(annotator).pk, uuid.uuid4(), said(annotator.campaign, **values))


@pytest.mark.parametrize(
    ("asked_if", "value", "holds"),
    [
        ({"criterion": "O", "below": 3}, 2, True),
        ({"criterion": "O", "below": 3}, 3, False),
        ({"criterion": "O", "at_least": 3}, 3, True),
        ({"criterion": "O", "at_least": 3}, 2.9, False),
        ({"criterion": "O", "equal": 3}, 3.0, True),
        ({"criterion": "O", "equal": 3}, 4, False),
        ({"criterion": "O", "below": 3}, None, False),
    ],
)
def test_when_a_condition_holds(asked_if, value, holds):
    assert conditions.holds(asked_if, value) is holds


@pytest.mark.parametrize(
    ("asked_if", "sentence"),
    [
        ({"criterion": "Wit", "below": 3}, "Why: there is no criterion 'Wit' for its condition"),
        ({"criterion": "Why", "below": 3}, "its condition is about itself"),
        ({"criterion": "Late", "below": 3}, "is about 'Late', which is asked later. Each would wait for the other"),
        ({"criterion": "Later", "below": 3}, "is about 'Later', which is asked later.$"),
        ({"criterion": "Overall", "below": 7}, "7 is not on the scale of 'Overall', which goes from 1 to 5"),
        ({"criterion": "Overall", "at_least": 0}, "0 is not on the scale"),
        ({"criterion": "Overall", "below": 1}, "would never be asked"),
        ({"criterion": "Overall", "above": 1}, "names a criterion and a whole number"),
        ({"criterion": "Overall", "below": 3, "equal": 2}, "names a criterion and a whole number"),
        ({"criterion": "Overall", "below": "3"}, "names a criterion and a whole number"),
        ({"criterion": "Marks", "below": 3}, "'Marks' has no points"),
    ],
)
def test_what_can_be_no_condition(asked_if, sentence):
    marks = CriterionSpec("Marks", 0, 100, kind="spans", best="low")
    late = CriterionSpec("Late", asked_if={"criterion": "Why", "equal": 1})
    criteria = [CriterionSpec("Overall"), marks, CriterionSpec("Why", asked_if=asked_if), late, CriterionSpec("Later")]
    with pytest.raises(Refused, match=sentence):
        create_campaign(slug="odd", criteria=criteria)


def test_pairs_have_no_conditions(campaign):
    with pytest.raises(Refused, match="Why: it has a condition, which is about one output"):
        change_campaign(campaign, pairwise=True, pairwise_by_criterion=True)
    with pytest.raises(Refused, match="it has a condition"):
        create_campaign(slug="odd", criteria=[CriterionSpec("Overall"), WHY], pairwise=True, pairwise_by_criterion=True)


class TestAnswering:
    def test_what_is_asked_is_required_and_what_is_not_is_not(self, campaign, bob):
        with pytest.raises(Refused, match="Please also score: Why"):
            answer(bob, Overall=2)
        with pytest.raises(Refused, match="Please also score: Sure"):
            answer(bob, Overall=2, Why=2)
        answer(bob, Overall=2, Why=1)
        assert stored(bob) == {"Overall": 2, "Why": 1}

    def test_what_was_not_asked_is_neither_stored_nor_kept_and_named(self, bob):
        submission = answer(bob, Overall=4, Why=2, Sure=1)
        assert submission.left_out == ["Why", "Sure"] and stored(bob) == {"Overall": 4}
        assert list(submission.payload["scores"].values()) == [4]

    def test_who_cannot_say_is_not_asked_why(self, bob):
        assert answer(bob, Overall="cannot_say", Why=2).left_out == ["Why"]
        assert stored(bob) == {"Overall": None}

    def test_the_same_answer_again_is_the_same(self, campaign, bob):
        key, item, sent = uuid.uuid4(), next_assignment(bob).pk, said(campaign, Overall=4, Why=2)
        assert submit(bob, item, key, sent).pk == submit(bob, item, key, sent).pk and LikertScore.objects.count() == 1

    def test_a_change_of_the_first_answer_takes_the_second_with_it(self, campaign, bob):
        first = answer(bob, Overall=2, Why=1)
        changed = revise(bob, first.assignment_id, uuid.uuid4(), said(campaign, Overall=5, Why=1))
        assert changed.left_out == ["Why"] and stored(bob) == {"Overall": 5}

    def test_the_page_without_scripts(self, campaign, bob, client):
        """All questions are shown with their condition, none with one is required; the server applies it, and says so."""
        client.force_login(bob.user)
        page = client.get("/c/why/annotate/?start=1")
        overall, why, _ = campaign.criteria.all()
        html = text(page)
        assert html.count("only if “Overall” is below 3") == 1 and "only if “Why” is 2" in html
        assert f'data-asked-if="score_{overall.pk}" data-point="3" data-way="below" data-required' in html
        assert re.search(rf'name="score_{overall.pk}"[^>]* required', html)
        assert not re.search(rf'name="score_{why.pk}"[^>]* required', html)
        sent = {f"score_{overall.pk}": "4", f"score_{why.pk}": "1"}
        after = client.post("/c/why/annotate/", hidden(page) | sent, follow=True)
        assert "Not stored, since it was not asked: Why." in text(after) and stored(bob) == {"Overall": 4}
        missing = client.post("/c/why/annotate/", hidden(after) | {f"score_{overall.pk}": "1"})
        assert missing.status_code == 422 and "Please also score: Why" in text(missing)

    def test_the_api_lists_what_it_leaves_out(self, campaign, bob):
        client = APIClient()
        client.force_authenticate(bob.user)
        task = client.get("/api/tasks/why/").json()
        assert [row["asked_if"] for row in task["criteria"]] == [{}, BELOW_3, SURE.asked_if]
        shown = client.post("/api/tasks/why/next/").json()
        sent = {"assignment": shown["assignment"]["id"], "key": str(uuid.uuid4())}
        sent["scores"] = {str(pk): value for pk, value in said(campaign, Overall=3, Why=1)["scores"].items()}
        told = client.post("/api/tasks/why/judgments/", sent, format="json")
        assert (told.status_code, told.json()["left_out"]) == (201, ["Why"]) and stored(bob) == {"Overall": 3}


class TestSettingUp:
    def test_on_the_page(self, client):
        client.force_login(User.objects.create_user("alice", may_create_campaigns=True))
        rows = {"criteria-TOTAL_FORMS": 2}
        for n, name in enumerate(("Overall", "Why")):
            rows |= {f"criteria-{n}-{k}": v for k, v in {"name": name, "kind": "scale", "low": 1, "high": 5}.items()}
        condition = {"criteria-1-asked_if": "Overall", "criteria-1-asked_way": "at_least"}
        refused = client.post("/new/", DESIGN | {"slug": "set"} | rows | condition)
        assert refused.status_code == 422 and "needs a point" in text(refused)
        refused = client.post("/new/", DESIGN | {"slug": "set"} | rows | condition | {"criteria-1-asked_point": 9})
        assert refused.status_code == 422 and "9 is not on the scale" in text(refused)
        made = client.post("/new/", DESIGN | {"slug": "set"} | rows | condition | {"criteria-1-asked_point": 4})
        assert made.status_code == 302
        assert Campaign.objects.get(slug="set").criteria.get(name="Why").asked_if == {"criterion": "Overall", "at_least": 4}
        page = text(client.get("/c/set/design/"))
        assert re.search(r'name="criteria-1-asked_point"[^>]*value="4"|value="4"[^>]*name="criteria-1-asked_point"', page)
        assert "asked only if Overall is at least 4" in text(client.get("/c/set/"))

    def test_by_the_command(self, run_command):
        asked = ["--criterion", "Overall:1:5", "--criterion", "Why:1:4", "--asked-if", "Why", "Overall", "below", "3"]
        asked += ["--criterion", "Whole:1:5", "--asked-if", "Whole", "last", "turn"]
        run_command("create_campaign", "by-command", *asked)
        made = Campaign.objects.get(slug="by-command").criteria
        assert [made.get(name=name).asked_if for name in ("Why", "Whole")] == [BELOW_3, {"turn": "last"}]
        with pytest.raises(CommandError, match="--asked-if Why: a condition is written as"):
            run_command("create_campaign", "wrong", "--criterion", "Why:1:4", "--asked-if", "Why", "Overall", "3")

    def test_it_stays_once_people_have_answered(self, campaign, bob):
        answer(bob, Overall=4)
        specs = [CriterionSpec(c.name, c.low, c.high, cannot_say=c.cannot_say, pk=c.pk) for c in campaign.criteria.all()]
        with pytest.raises(Refused, match="Why: people have answered, so when it is asked can't change"):
            change_campaign(campaign, criteria=specs)

    def test_a_copy_has_it_too(self, campaign):
        copy = duplicate_campaign(campaign, slug="copy")
        assert [c.asked_if for c in copy.criteria.all()] == [{}, BELOW_3, SURE.asked_if]


@pytest.mark.parametrize(
    ("words", "condition"),
    [
        ("Is it fluent at least 4", {"criterion": "Is it fluent", "at_least": 4}),
        ("Very low below 3 below -1", {"criterion": "Very low below 3", "below": -1}),
        ("Overall equal to 2", {"criterion": "Overall", "equal": 2}),
        (" Last turn ", {"turn": "last"}),
        ("turns 1,3", {"turn": [1, 3]}),
        ("turn 2", {"turn": [2]}),
    ],
)
def test_conditions_in_words(words, condition):
    assert conditions.parsed(words) == conditions.shaped(words) == condition


def everybody(campaign):
    """Three people. Overall is below 3 for the first four of six outputs, which Why is answered for."""
    items = list(campaign.items.order_by("context__key", "output__system__name"))
    asked = {criterion.name: criterion for criterion in campaign.criteria.all()}
    for n in range(3):
        person = add_annotator(campaign, User.objects.create_user(f"p{n}"))
        for k, (item, overall) in enumerate(zip(items, (1, 2, 2, 1, 4, 5), strict=True)):
            values = {"Overall": overall} | ({"Why": 1 if (n + k) % 4 else 3} if overall < 3 else {})
            for name, value in values.items():
                LikertScore.objects.create(annotator=person, output=item.output, criterion=asked[name], value=value)


class TestFiles:
    def rows(self, *answers):
        where = {"context_id": "c0", "system": "Hydra-system", "annotator": "ann"}
        return io.BytesIO("".join(json.dumps(where | one) + "\n" for one in answers).encode())

    def test_an_answer_that_was_not_asked_is_left_out_and_listed(self, campaign):
        """The order of the rows does not matter; what waits for what is left out is left out, too."""
        answers = [{"aspect": name, "score": score} for name, score in (("Sure", 1), ("Why", 2), ("Overall", 4))]
        found = import_scores(campaign, self.rows(*answers), "scores.jsonl")
        assert found.left_out == {
            f"'Why' is {ONLY}, which does not hold": 1,
            "'Sure' is asked only if Why is 2, which does not hold": 1,
        }
        assert (found.rows, found.new["scores"], found.repeated, len(found.listed)) == (3, 1, 0, 2)
        assert LikertScore.objects.get().criterion.name == "Overall"

    def test_what_was_asked_is_stored(self, campaign):
        answers = [{"aspect": name, "score": score} for name, score in (("Sure", 1), ("Why", 2), ("Overall", 1))]
        found = import_scores(campaign, self.rows(*answers), "scores.jsonl")
        assert (found.left_out, found.new["scores"]) == ({}, 3)

    def test_without_the_answer_that_decides_it_is_left_out(self, campaign):
        found = import_scores(campaign, self.rows({"aspect": "Why", "score": 2}), "scores.jsonl")
        assert sum(found.left_out.values()) == 1 and not LikertScore.objects.exists()

    def test_what_is_exported_is_imported_again_with_the_same_digest(self, campaign, tmp_path):
        everybody(campaign)
        exported = list(exported_answers(campaign, "scores"))
        assert {row["aspect"]: row["asked_if"] for row in exported} == {"Overall": None, "Why": BELOW_3}
        copy = create_campaign(slug="copy", criteria=[CriterionSpec("Overall", cannot_say=True)])
        import_outputs(copy, write_outputs(tmp_path, 2))
        import_scores(copy, io.BytesIO("".join(as_csv(exported, "scores")).encode()), "scores.csv")
        assert copy.criteria.get(name="Why").asked_if == BELOW_3
        assert list(exported_answers(copy, "scores")) == exported
        assert work_out_assessment(copy).digest == work_out_assessment(campaign).digest

    def test_another_condition_is_refused(self, campaign):
        row = {"aspect": "Why", "score": 2, "asked_if": {"criterion": "Overall", "below": 2}}
        with pytest.raises(Exception, match="is 'asked only if Overall is below 2', but criterion 'Why' is asked only"):
            import_scores(campaign, self.rows({"aspect": "Overall", "score": 1}, row), "scores.jsonl")

    def test_the_archive_brings_it_back(self, campaign):
        everybody(campaign)
        archive = io.BytesIO()
        write_archive(campaign, archive)
        Campaign.objects.filter(pk=campaign.pk).update(slug="before")
        back = admit(archive, "why.zip").campaign
        assert [c.asked_if for c in back.criteria.all()] == [{}, BELOW_3, SURE.asked_if]
        assert work_out_assessment(back).digest == work_out_assessment(campaign).digest


class TestNumbers:
    def test_agreement_counts_what_was_asked_and_says_so(self, campaign):
        """Four of six outputs, of three people each."""
        everybody(campaign)
        snapshot = assess(campaign, mad=None)
        overall, why = as_dict(snapshot)["criteria"]
        assert (overall["units"], why["units"], why["scores"]) == (6, 4, 12)
        assert snapshots.read(snapshot).asked_only("Why") == {"asked_only": ONLY}
        assert [snapshots.read(snapshot).is_conditional(name) for name in ("Overall", "Why")] == [False, True]
        assert ONLY in why["reason"] and "asked only" not in overall["reason"]
        found = queries.board(played(campaign, "people", criterion="Why"))
        board, [said] = exports.as_json(found), [doubt.text for doubt in found.doubts if doubt.kind == "asked of some"]
        assert said.startswith(f"Why is {ONLY}: of 50% (Hydra-system) to 100% (Human-writer) of a")
        assert "adds to every system is taken off whole" in said
        assert board["question"]["asked_only"] == ONLY
        assert f"Why ({ONLY})" in exports.as_csv(queries.board(queries.latest(campaign, "people", "Why")))

    def test_the_pages_say_so(self, campaign, client):
        everybody(campaign)
        client.force_login(User.objects.create_superuser("root"))
        assert text(client.get("/c/why/progress/")).count(ONLY) >= 4
        assess(campaign, mad=None)
        assert ONLY in text(client.get("/c/why/quality/"))
        assert ONLY in text(client.get("/c/why/quality/report/"))

    def test_the_plan_says_so(self, campaign):
        grounds = grounds_of(campaign, Protocol(**protocol_of(campaign) | {"annotators": None}), None)
        assert [ONLY in ground.source for ground in grounds if ground.about == "Why"] == [True, True]
        assert not any("asked only" in ground.source for ground in grounds if ground.about == "Overall")
