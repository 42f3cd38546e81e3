"""A campaign is designed in the browser, changed as far as answers leave it free, copied, put away."""

import pytest

from annotation.annotating.assignment import next_assignment, progress
from annotation.annotating.submissions import submit
from annotation.campaigns.known_answers import mark_known
from annotation.campaigns.lifecycle import create_campaign, duplicate_campaign
from annotation.campaigns.protocol import CriterionSpec, change_campaign
from annotation.models import AuditEvent, Campaign, Criterion, Item, LikertScore, Output, Submission, User
from core.errors import Refused
from tests.annotation.pages import CRITERIA, text

pytestmark = pytest.mark.django_db
PROTOCOL = {
    "likert": "on",
    "overlap": "2",
    "overlap_percent": "100",
    "pair_design": "ring",
    "seed": "0",
    "gold_percent": "0",
    "repeat_percent": "0",
    "guidelines": "Laugh.",
    "consent": "",
}


def rows(*criteria, initial=0):
    """What the browser sends for the rows of criteria."""
    sent = {"criteria-TOTAL_FORMS": str(max(len(criteria), initial)), "criteria-INITIAL_FORMS": str(initial)}
    for n, row in enumerate(criteria):
        sent |= {f"criteria-{n}-{name}": value for name, value in row.items()}
    return sent


class TestNewCampaign:
    FIELDS = {"title": "Jokes, good & bad", "slug": "", **PROTOCOL} | rows(
        {"name": "Funny", "low": "1", "high": "7", "high_label": "hilarious", "anchors": "1 no smile\n4: a smile\n7 = tears"}
    )

    def test_it_is_made_with_its_criteria_and_researcher(self, world):
        answer = world.sign_in(world.alice).client.post("/new/", self.FIELDS)
        campaign = Campaign.objects.get(slug="jokes-good-bad")
        assert answer.url == "/c/jokes-good-bad/import/" and campaign.overlap == 2
        funny = campaign.criteria.get()
        assert funny.high_label == "hilarious" and funny.anchors == {"1": "no smile", "4": "a smile", "7": "tears"}
        assert campaign.memberships.get().user == world.alice

    def test_the_whole_protocol_is_kept(self, world):
        chosen = {
            "pairwise": "on",
            "pairwise_by_criterion": "on",
            "asks_reason": "on",
            "overlap_percent": "20",
            "quota": "50",
            "pair_design": "number",
            "pairs": "300",
            "in_file_order": "on",
            "seed": "7",
            "gold_percent": "10",
            "gold_is_loud": "on",
            "repeat_percent": "5",
            "pass_mark": "80",
            "completion_code": "C0DE",
            "completion_url": "https://app.prolific.com/submissions/complete?cc=C0DE",
            "board_is_public": "on",
            "consent": "I agree.",
        }
        world.sign_in(world.alice).client.post("/new/", self.FIELDS | chosen)
        campaign = Campaign.objects.get(slug="jokes-good-bad")
        kept = {name: getattr(campaign, name) for name in chosen if name != "consent"}
        assert kept == {
            name: True if v == "on" else int(v) if v.isdecimal() else v for name, v in chosen.items() if name != "consent"
        }
        assert campaign.plays_new_comparators is False and campaign.consent_texts.get().text == "I agree."

    @pytest.mark.parametrize(
        "change, message",
        [
            ({"slug": "talk"}, "already a campaign"),
            ({"likert": ""}, "Choose scores, pairs or both."),
            ({"criteria-0-high": "1"}, "must be above"),
            ({"criteria-0-name": ""}, "needs a name"),
            ({"criteria-0-anchors": "8 too far"}, "8 is no point"),
            ({"criteria-0-anchors": "fine"}, "start with a point"),
            ({"title": ""}, "required"),
            ({"gold_percent": "101"}, "less than or equal to 100"),
            ({"pairwise": "on", "pair_design": "number"}, "Enter the number of pairs"),
            ({"quota": "0"}, "1 or more"),
        ],
    )
    def test_what_is_wrong_is_said_and_what_was_typed_stays(self, world, change, message):
        answer = world.sign_in(world.alice).client.post("/new/", self.FIELDS | change)
        assert answer.status_code == 422 and message in text(answer) and "Laugh." in text(answer)
        assert Campaign.objects.count() == 1

    def test_not_everybody_may(self, world):
        assert world.sign_in(world.bob).client.get("/new/").status_code == 403


@pytest.fixture
def answered(world):
    """Bob has scored one output."""
    assignment = next_assignment(world.annotator)
    scores = {c.pk: c.high for c in world.campaign.criteria.all()}
    submit(world.annotator, assignment.pk, "0b5bd2d8-35c4-4b5e-9d6c-6a4f7a4b1c01", {"scores": scores})
    return world


class TestChanging:
    def form(self, world, **changes):
        sent = rows(
            *({"pk": str(c.pk), "name": c.name, "low": str(c.low), "high": str(c.high)} for c in world.campaign.criteria.all()),
            initial=2,
        )
        return {"title": "Small talk", "fixed": "", **PROTOCOL, "overlap": "3", **sent} | changes

    def test_the_form_shows_the_campaign_as_it_is(self, world):
        page = text(world.sign_in(world.alice).get("design/"))
        assert 'value="Small talk"' in page and 'value="Fluency"' in page and "Read **both** lines." in page

    def test_before_anybody_answered_everything_can_change(self, world):
        changes = {
            "title": "Big talk",
            "likert": "",
            "pairwise": "on",
            "pair_design": "all",
            "criteria-1-remove": "on",
            "criteria-0-high": "9",
            "consent": "Yes.",
        }
        answer = world.sign_in(world.alice).post("design/", self.form(world, **changes))
        assert answer.url == "/c/talk/design/"
        world.campaign.refresh_from_db()
        assert world.campaign.title == "Big talk" and world.campaign.criteria.get().high == 9
        assert {item.is_pair for item in world.campaign.items.all()} == {True}
        event = AuditEvent.objects.get(action="campaign changed")
        assert event.user == world.alice and event.detail["changed"]["title"] == ["Small talk", "Big talk"]

    def test_answers_hold_in_place_what_they_answer(self, answered):
        refused = [
            {"likert": False},
            {"seed": 1},
            {"in_file_order": True},
            {"overlap": 2},
            {"criteria": [CriterionSpec("Overall", 1, 5)]},
            {"criteria": [CriterionSpec(c.name, 1, 9, pk=c.pk) for c in answered.campaign.criteria.all()]},
            {
                "criteria": [
                    *(CriterionSpec(c.name, c.low, c.high, pk=c.pk) for c in answered.campaign.criteria.all()),
                    CriterionSpec("New"),
                ]
            },
        ]
        before = list(Campaign.objects.values()), list(Criterion.objects.values()), list(Item.objects.values())
        for change in refused:
            with pytest.raises(Refused, match="ha(ve|s) (already )?answered"):
                change_campaign(answered.campaign, **change)
        assert (list(Campaign.objects.values()), list(Criterion.objects.values()), list(Item.objects.values())) == before

    def test_what_is_free_can_still_change(self, answered):
        items = answered.campaign.items.count()
        changed = change_campaign(answered.campaign, overlap=5, quota=10, pairwise=True, title="Other")
        assert changed == ["overlap", "pairwise", "quota", "title"]
        assert set(answered.campaign.items.filter(other=None).values_list("places", flat=True)) == {5}
        assert answered.campaign.items.count() > items and Submission.objects.count() == 1 and LikertScore.objects.count() == 2

    def test_who_has_an_item_in_hand_goes_on_after_a_new_draw(self, world):
        held = next_assignment(world.annotator)
        change_campaign(world.campaign, likert=False, pairwise=True, pair_design="all")
        world.annotator.refresh_from_db()
        again = next_assignment(world.annotator)
        assert again.item.is_pair and again.pk != held.pk and progress(world.annotator).total == 6

    def test_several_people_for_a_share_can_not_follow_one_for_all(self, answered):
        type(answered.campaign).objects.update(overlap=1, overlap_percent=50)
        with pytest.raises(Refused, match="were not drawn"):
            change_campaign(answered.campaign, overlap=2)

    def test_an_undone_answer_holds_its_item_too(self, answered):
        LikertScore.objects.update(retracted_at="2026-01-01T00:00Z")
        with pytest.raises(Refused):
            change_campaign(answered.campaign, likert=False, pairwise=True)
        assert Submission.objects.count() == 1

    def test_a_page_opened_before_the_first_answer_is_not_taken_for_a_late_one(self, answered):
        answer = answered.sign_in(answered.alice).post("design/", self.form(answered, likert="", pairwise="on", fixed=""))
        assert answer.status_code == 422 and "arrived in the meantime" in text(answer)
        answered.campaign.refresh_from_db()
        assert answered.campaign.likert and not answered.campaign.pairwise

    def test_the_page_says_what_is_fixed(self, answered):
        page = text(answered.sign_in(answered.alice).get("design/"))
        assert "People have already answered, so" in page and 'name="likert"' in page and "disabled" in page

    def test_consent_has_versions(self, world):
        for consent in ("Yes.", "Yes.", "Yes, I do.", ""):
            change_campaign(world.campaign, consent=consent)
        assert list(world.campaign.consent_texts.values_list("version", "text")) == [(1, "Yes."), (2, "Yes, I do."), (3, "")]

    def test_annotators_and_outsiders_change_nothing(self, world):
        for user in (world.bob, world.charlie):
            world.sign_in(user)
            for path in ("design/", "duplicate/", "delete/"):
                assert world.post(path, {"title": "Small talk"}).status_code == 404
        assert Campaign.objects.get().deleted_at is None


class TestCopying:
    def test_the_questions_come_along_and_no_answer(self, answered):
        change_campaign(answered.campaign, consent="Yes.", quota=4, completion_code="C0DE")
        campaign = duplicate_campaign(answered.campaign, slug="again", with_texts=True, user=answered.alice)
        assert [(c.name, c.low, c.high, c.low_label) for c in campaign.criteria.all()] == [
            (c.name, c.low, c.high, c.low_label) for c in CRITERIA
        ]
        assert (campaign.quota, campaign.completion_code, campaign.consent_texts.get().text, campaign.guidelines) == (
            4,
            "C0DE",
            "Yes.",
            answered.campaign.guidelines,
        )
        texts = [
            sorted(Output.objects.filter(context__campaign=c).values_list("system__name", "context__key", "text"))
            for c in (answered.campaign, campaign)
        ]
        assert texts[0] == texts[1] and len(texts[0]) == 6
        assert campaign.items.count() == 6 and not campaign.annotators.exists() and answered.campaign.items.count() == 6
        assert LikertScore.objects.count() == 2

    def test_groups_come_along_with_the_texts(self, world):
        world.campaign.contexts.filter(key="c0").update(group="charter")
        campaign = duplicate_campaign(world.campaign, slug="again", with_texts=True)
        assert dict(campaign.contexts.values_list("key", "group"))["c0"] == "charter"

    def test_known_answers_come_along_with_the_texts(self, world):
        item = world.campaign.items.first()
        mark_known(item, "gold", {"scores": {"Overall": 5}})
        campaign = duplicate_campaign(world.campaign, slug="again", with_texts=True)
        copy = campaign.items.get(purpose="gold")
        assert copy.expected == {"scores": {"Overall": [5]}} and copy.output.text == item.output.text
        assert copy.output.context.campaign == campaign and campaign.items.count() == 6

    def test_without_its_texts_it_is_empty(self, world):
        campaign = duplicate_campaign(world.campaign, slug="again")
        assert campaign.criteria.count() == 2 and not campaign.systems.exists()

    def test_in_the_browser_for_who_may_create(self, world):
        world.sign_in(world.alice)
        assert world.post("duplicate/", {"title": "Talk again"}).url == "/c/talk-again/design/"
        assert world.post("duplicate/", {"title": "Talk again"}).url == "/c/talk/design/"
        assert Campaign.objects.count() == 2
        User.objects.filter(pk=world.alice.pk).update(may_create_campaigns=False)
        assert world.post("duplicate/", {"title": "Third"}).status_code == 403


class TestPuttingAway:
    def test_it_is_out_of_sight_and_an_admin_brings_it_back(self, answered):
        answered.sign_in(answered.alice)
        assert answered.post("delete/", {"title": "small"}).url == "/c/talk/design/"
        assert answered.get().status_code == 200
        assert answered.post("delete/", {"title": "Small talk"}).url == "/"
        assert answered.get().status_code == 404 and LikertScore.objects.count() == 2
        for user in (answered.alice, answered.bob):
            assert "/c/talk/" not in text(answered.sign_in(user).client.get("/"))
        with pytest.raises(Refused, match="deleted; an admin can restore it"):
            create_campaign(slug="talk")
        answered.sign_in(User.objects.create_superuser("root"))
        restore = {"action": "restore", "_selected_action": [answered.campaign.pk]}
        answered.client.post("/admin/annotation/campaign/", restore)
        assert answered.sign_in(answered.alice).get().status_code == 200
        events = answered.campaign.audit_events.values_list("action", flat=True)
        assert list(events)[:2] == ["campaign restored", "campaign deleted"]


class TestPreview:
    def test_items_are_seen_as_annotators_see_them_and_nothing_is_stored(self, world):
        before = Item.objects.count(), Submission.objects.count(), world.annotator.assignments.count()
        world.sign_in(world.alice)
        seen = []
        address = "/c/talk/preview/"
        for _ in range(6):
            page = text(world.client.get(address))
            assert "Nothing is stored" in page and "Fluency" in page
            assert not any(system.name in page for system in world.campaign.systems.all())
            seen.append(page.split('<p class="text" lang="" dir="auto">')[-1].split("<")[0])
            address = world.client.post(address, {"score_1": "5"}).url
        assert len(set(seen)) == 6 and address == "/c/talk/preview/?n=1"
        assert (Item.objects.count(), Submission.objects.count(), world.annotator.assignments.count()) == before

    def test_without_items_it_says_what_to_do(self, world):
        create_campaign(slug="bare", user=world.alice)
        assert "Import outputs" in text(world.sign_in(world.alice).client.get("/c/bare/preview/"))

    def test_researchers_only(self, world):
        assert world.sign_in(world.bob).get("preview/").status_code == 404
        assert world.sign_in(world.charlie).get("preview/").status_code == 404
