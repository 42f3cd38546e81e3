"""The annotator's pages, as plain forms: what works without JavaScript."""

import re
import uuid
from datetime import timedelta

import pytest
from django.conf import settings
from django.core import signing

from annotation.annotating.item_page import SHOWN
from annotation.annotating.submissions import submit
from annotation.annotating.undo import undo_last
from annotation.campaigns.items import summarize
from annotation.campaigns.lifecycle import set_status
from annotation.models import (
    Assignment,
    Campaign,
    Context,
    Criterion,
    Item,
    ItemReport,
    LikertScore,
    PairwiseJudgment,
    Submission,
)
from annotation.people.accounts import add_annotator
from tests.annotation.pages import SYSTEMS, World, hidden, text

pytestmark = pytest.mark.django_db
START = "annotate/?start=1"
BASE = settings.BASE_DIR / "static"
PAGE_QUERIES = 8
ANSWER_QUERIES = 13  # the answer stored and the next item on its page, in one request


@pytest.fixture
def world(tmp_path, client):
    return World(tmp_path, client)


@pytest.fixture
def pairs(tmp_path, client):
    return World(tmp_path, client, likert=False, pairwise=True)


def scored(world, overall=4, fluency=1):
    values = zip(world.campaign.criteria.all(), (overall, fluency))
    return {f"score_{criterion.pk}": value for criterion, value in values if value is not None}


def in_hand(world):
    """The undo button's field on the page that is shown now."""
    return {"in_hand": hidden(world.get(START))["assignment"]}


class TestReading:
    def test_guidelines_come_before_the_first_item(self, world):
        assert world.sign_in(world.bob).get("annotate/").url == "/c/talk/guidelines/"
        assert Assignment.objects.count() == 0
        page = text(world.get("guidelines/"))
        assert "Read <strong>both</strong> lines." in page and ">Start</a>" in page

    def test_guidelines_are_sanitised_and_below_the_page_heading(self, world):
        page = text(world.sign_in(world.bob).get("guidelines/"))
        assert "<script>x" not in page and "<h2>Be kind</h2>" in page

    def test_the_item_shows_dialogue_text_and_named_scales(self, world):
        page = text(world.sign_in(world.bob).get(START))
        assert "Hello" in page and "Hi there" in page and "Reply" in page
        assert '<legend><bdi lang="">Overall</bdi></legend>' in page and "excellent" in page and "Be kind" in page
        assert "0 of 6 judged" in page

    def test_no_system_is_named_to_an_annotator(self, world):
        page = text(world.sign_in(world.bob).get(START))
        assert not any(system in page for system in SYSTEMS)

    def test_no_system_is_named_on_a_pair(self, pairs):
        page = text(pairs.sign_in(pairs.bob).get(START))
        assert "Which is better?" in page and not any(system in page for system in SYSTEMS)

    def test_page_and_scripts_are_small(self, world):
        page = world.sign_in(world.bob).get(START)
        of_kinds = {BASE / f"js/annotate/{name}.js" for name in ("spans", "ranked")}  # fetched where they are asked
        scripts = {*(BASE / "js/annotate").glob("*.js")} - of_kinds
        css = BASE / "comparena.css"
        assert len(scripts) == 8 and len(page.content) < 20_000
        assert len(page.content) + sum(path.stat().st_size for path in [css, *scripts]) < 100_000
        assert "no-store" in page["Cache-Control"] and "default-src 'self'" in page["Content-Security-Policy"]

    def test_the_database_is_asked_little(self, world, django_assert_max_num_queries):
        world.sign_in(world.bob)
        for _ in range(2):  # the first ones also sum up what there is to do
            world.post("annotate/", hidden(world.get(START)) | scored(world), headers={"X-Swap": "1"})
        with django_assert_max_num_queries(PAGE_QUERIES):
            page = world.get(START)
        answer = hidden(page) | scored(world)
        with django_assert_max_num_queries(ANSWER_QUERIES):
            assert "data-answer" in text(world.post("annotate/", answer, headers={"X-Swap": "1"}))

    def test_what_is_kept_of_a_page_follows_its_campaign(self, world):
        """A form is rendered once for campaign and questions; a change of them, and a refused answer, are seen at once."""
        page = world.sign_in(world.bob).get(START)
        assert text(world.get(START)).count("Is it a good reply?") == 1 and "asks_reason" not in text(page)
        world.campaign.criteria.filter(name="Overall").update(description="Is it kind?", cannot_say=True)
        changed = text(world.get(START))
        assert "Is it kind?" in changed and "Is it a good reply?" not in changed and 'data-key="n"' in changed
        refused = text(world.post("annotate/", hidden(page) | scored(world, fluency=None)))
        assert " checked" in refused and "scale missing" in refused
        Campaign.objects.update(asks_reason=True)
        asked = text(world.get(START))
        assert 'name="reason"' in asked and " checked" not in asked.partition("data-use-keys")[0] and "missing" not in asked

    @pytest.mark.parametrize("likert", [True, False])
    def test_a_page_that_is_kept_says_what_one_made_anew_says(self, tmp_path, client, monkeypatch, likert):
        world = World(tmp_path, client, likert=likert, pairwise=not likert)
        add_annotator(world.campaign, world.charlie)
        looks = [(user, swap) for _ in range(2) for user in (world.bob, world.charlie) for swap in ({}, {"X-Swap": "1"})]

        def pages():
            shown = (text(world.sign_in(user).get(START, headers=swap)) for user, swap in looks)
            return [re.sub(r'(name="(?:csrfmiddlewaretoken|key|shown)" value=)"[^"]+"', r"\1", page) for page in shown]

        kept = pages()
        monkeypatch.setattr("annotation.views.annotating.item.page_key", lambda *of: None)
        assert kept == pages() and len(set(kept)) == 4 and not any("\0" in page for page in kept)
        assert ["Bob" in page for page in kept] == [True, False, False, False] * 2

    def test_nothing_is_inline(self, world):
        page = text(world.sign_in(world.bob).get(START))
        assert "<style" not in page and ' style="' not in page and "onclick" not in page and "<script>" not in page


class TestScoring:
    def test_an_answer_is_stored_and_the_next_item_follows(self, world):
        first = hidden(world.sign_in(world.bob).get(START))
        answer = world.post("annotate/", first | scored(world))
        assert answer.status_code == 303 and answer.url == "/c/talk/annotate/?start=1"
        submission = Submission.objects.get()
        assert str(submission.key) == first["key"] and 0 <= submission.seconds < 60
        assert sorted(LikertScore.objects.values_list("value", flat=True)) == [1, 4]
        assert hidden(world.get("annotate/"))["assignment"] != first["assignment"]

    def test_the_same_form_twice_is_stored_once(self, world):
        first = hidden(world.sign_in(world.bob).get(START)) | scored(world)
        assert [world.post("annotate/", first).status_code for _ in range(2)] == [303, 303]
        assert Submission.objects.count() == 1 and LikertScore.objects.count() == 2

    def test_a_missing_score_is_asked_for_and_the_other_kept(self, world):
        first = hidden(world.sign_in(world.bob).get(START))
        answer = world.post("annotate/", first | scored(world, fluency=None))
        page = text(answer)
        assert answer.status_code == 422 and "Please also score: Fluency." in page
        assert 'value="4" required checked' in page and page.count("scale missing") == 1
        again = hidden(answer)
        assert again == first
        assert world.post("annotate/", again | scored(world)).status_code == 303
        assert Submission.objects.get().seconds is not None

    @pytest.mark.parametrize("value", ["9", "x", "", "2.5"])
    def test_a_score_off_the_scale_is_refused(self, world, value):
        first = hidden(world.sign_in(world.bob).get(START))
        answer = world.post("annotate/", first | scored(world, overall=value))
        assert answer.status_code == 422 and Submission.objects.count() == 0

    @pytest.mark.parametrize("broken", [{"key": "no-uuid"}, {"assignment": "0"}, {"assignment": ""}, {"key": ""}])
    def test_a_form_that_was_tampered_with_is_refused(self, world, broken):
        first = hidden(world.sign_in(world.bob).get(START)) | scored(world)
        assert world.post("annotate/", first | broken).status_code == 422
        assert Submission.objects.count() == 0

    def test_a_forged_time_is_not_believed(self, world):
        first = hidden(world.sign_in(world.bob).get(START)) | scored(world) | {"shown": "1:2:3"}
        assert world.post("annotate/", first).status_code == 303
        assert Submission.objects.get().seconds is None

    def test_the_end_says_so(self, world):
        world.sign_in(world.bob)
        for _ in range(6):
            world.post("annotate/", hidden(world.get(START)) | scored(world))
        page = text(world.get("annotate/"))
        assert "All done" in page and "You judged 6 items" in page and "Undo last" in page
        assert "You have judged 6 items" in text(world.client.get("/"))

    def test_the_pages_own_script_gets_the_next_item_at_once(self, world):
        first = world.sign_in(world.bob).get(START)
        answer = world.post("annotate/", hidden(first) | scored(world), headers={"X-Swap": "1"})
        assert answer.status_code == 200 and hidden(answer)["assignment"] != hidden(first)["assignment"]
        assert "<main" in text(answer) and "<header" not in text(answer) and "<script" not in text(answer)

    def test_what_remains_is_told_at_the_persons_own_pace(self, world):
        world.sign_in(world.bob)
        for _ in range(3):
            assert "left</span>" not in text(world.get(START))
            world.post("annotate/", hidden(world.get(START)) | scored(world))
        for handed, seconds in zip(Assignment.objects.filter(status="done"), (20, 50, 7200)):
            handed.completed_at = handed.assigned_at + timedelta(seconds=seconds)
            handed.save()
        assert "about 3 min left" in text(world.get(START))  # 3 items at a median of 50 seconds: a pause is left aside

    @pytest.mark.parametrize(("sent", "kept"), [("1500", 1.5), ("-3", 0.0), ("x", None), ("", None), ("99999999", "all")])
    def test_time_without_idling_is_what_the_page_measured_at_most_all(self, world, sent, kept):
        page = world.sign_in(world.bob).get(START)
        shown = signing.loads(hidden(page)["shown"], salt=SHOWN)
        earlier = signing.dumps([shown[0], shown[1] - 60], salt=SHOWN)
        world.post("annotate/", hidden(page) | scored(world) | {"shown": earlier, "active": sent})
        stored = Submission.objects.get()
        assert 60 <= stored.seconds < 90
        assert stored.active_seconds == (stored.seconds if kept == "all" else kept)


class TestScales:
    def test_every_point_has_its_anchor(self, world):
        Criterion.objects.filter(name="Overall").update(anchors={"1": "no reply at all", "3": "a reply, but a dull one"})
        page = text(world.sign_in(world.bob).get(START))
        assert '<b>3</b> <bdi lang="">a reply, but a dull one</bdi>' in page
        assert '<b>1</b> <bdi lang="">no reply at all</bdi>' in page  # instead of the end's name
        assert '<b>5</b> <bdi lang="">excellent</bdi>' in page and "<b>2</b></span>" in page

    def test_no_and_yes_are_buttons_that_say_so(self, world):
        Criterion.objects.filter(name="Fluency").update(low=0, high=1, low_label="no", high_label="yes & how", best="low")
        fluency = Criterion.objects.get(name="Fluency")
        page = text(world.sign_in(world.bob).get(START))
        buttons = re.findall(rf'name="score_{fluency.pk}" value="(\d)"[^>]*><span class="face">(.*?)</span></label>', page)
        assert buttons == [("0", '<bdi lang="">no</bdi>'), ("1", '<bdi lang="">yes &amp; how</bdi>')]
        assert "Here no is the best." in page and "<dt><kbd>1</kbd></dt><dd>yes &amp; how</dd>" in page
        world.post("annotate/", hidden(world.get(START)) | scored(world, overall=3, fluency=1))
        assert LikertScore.objects.get(criterion=fluency).value == 1

    def test_a_long_scale_is_a_number_to_type(self, world):
        Criterion.objects.filter(name="Overall").update(low=0, high=100)
        page = world.sign_in(world.bob).get(START)
        assert '<input type="number"' in text(page) and 'max="100"' in text(page)
        world.post("annotate/", hidden(page) | scored(world, overall=77))
        assert 77 in LikertScore.objects.values_list("value", flat=True)

    def test_a_meaning_representation_is_a_list_of_facts(self, world):
        Context.objects.update(turns=["inform(name='hotel boheme',has_internet=yes)"])
        page = text(world.sign_in(world.bob).get(START))
        assert "<dt>has internet</dt><dd>yes</dd>" in page and "What the text should say" in page


class TestReporting:
    def test_a_skipped_item_does_not_come_back(self, world):
        assignment_id = hidden(world.sign_in(world.bob).get(START))["assignment"]
        skipped = world.post("skip/", {"assignment": assignment_id, "why": "In Finnish."}, follow=True)
        assert "Skipped" in text(skipped) and hidden(skipped)["assignment"] != assignment_id
        assert ItemReport.objects.get().reason == "In Finnish."

    def test_a_report_leaves_the_item_and_a_missing_reason_is_asked_for(self, world):
        assignment_id = hidden(world.sign_in(world.bob).get(START))["assignment"]
        refused = world.post("flag/", {"assignment": assignment_id, "why": " "}, follow=True)
        assert "Please say why" in text(refused) and ItemReport.objects.count() == 0
        flagged = world.post("flag/", {"assignment": assignment_id, "why": "Cut off."}, follow=True)
        assert "Reported" in text(flagged) and hidden(flagged)["assignment"] == assignment_id


class TestFeedback:
    def known(self, world, purpose, expected):
        """Bob holds an item whose answer is known."""
        page = world.sign_in(world.bob).get(START)
        Item.objects.update(purpose=purpose, expected=expected)
        Assignment.objects.update(purpose=purpose)
        summarize(world.campaign)
        return hidden(page)

    def test_practice_tells_what_was_expected_and_why(self, world):
        expected = {"scores": {"Overall": [4, 5], "Fluency": [0]}, "feedback": "It has <no> verb."}
        form = self.known(world, "training", expected)
        assert "Practice item 1 of 6" in text(world.get(START))
        answer = world.post("annotate/", form | scored(world), follow=True)
        page = text(answer)
        assert answer.redirect_chain[0][0] == f"/c/talk/feedback/{form['key']}/"
        assert "It has &lt;no&gt; verb." in page and "It does not count" in page
        assert page.count("as expected</span>") == 1 and page.count("different</span>") == 1 and "4 or 5" in page
        assert LikertScore.objects.counted().count() == 0 and LikertScore.objects.count() == 2

    def test_practice_says_no_where_the_button_said_it(self, world):
        Criterion.objects.filter(name="Fluency").update(low=0, high=1, low_label="no", high_label="yes")
        form = self.known(world, "training", {"scores": {"Fluency": [0]}})
        page = text(world.post("annotate/", form | scored(world, fluency=1), follow=True))
        assert '<td>yes <span class="badge badge-poor">different' in page and "<td>no</td>" in page

    @pytest.mark.parametrize(
        ("loud", "right", "answer_shown"), [(True, False, True), (True, True, False), (False, False, False)]
    )
    def test_gold_is_told_at_once_only_where_it_is_loud_and_missed(self, world, loud, right, answer_shown):
        Campaign.objects.update(gold_is_loud=loud)
        form = self.known(world, "gold", {"scores": {"Overall": [4 if right else 1]}})
        answer = world.post("annotate/", form | scored(world), follow=True)
        assert ("The expected answer" in text(answer)) == answer_shown
        assert world.get(f"feedback/{form['key']}/").status_code == (200 if answer_shown else 404)

    def test_a_pairs_feedback_speaks_of_the_sides_as_shown(self, pairs):
        page = pairs.sign_in(pairs.bob).get(START)
        Item.objects.update(purpose="training", expected={"choice": "A"})
        Assignment.objects.update(purpose="training", swapped=True)
        answer = pairs.post("annotate/", hidden(page) | {"choice": "left"}, follow=True)
        assert "<td>A is better <span" in text(answer) and "<td>B is better</td>" in text(answer)


class TestPairs:
    @pytest.mark.parametrize("choice", ["left", "tie", "right"])
    def test_the_side_that_was_shown_is_what_is_stored(self, pairs, choice):
        page = pairs.sign_in(pairs.bob).get(START)
        assignment = Assignment.objects.get()
        left = assignment.item.other if assignment.swapped else assignment.item.output
        body = text(page)
        assert body.index(left.text) == min(body.index(o.text) for o in (assignment.item.output, assignment.item.other))
        pairs.post("annotate/", hidden(page) | {"choice": choice})
        judgment = PairwiseJudgment.objects.get()
        better = {"A": judgment.output_a, "B": judgment.output_b}.get(judgment.choice)
        if choice == "tie":
            assert judgment.choice == "tie"
        else:
            assert (better == left) == (choice == "left")

    def test_each_criterion_is_a_question_and_the_reason_is_kept_where_one_is_missing(self, pairs):
        Campaign.objects.update(pairwise_by_criterion=True, asks_reason=True)
        overall, fluency = pairs.campaign.criteria.all()
        page = pairs.sign_in(pairs.bob).get(START)
        refused = pairs.post("annotate/", hidden(page) | {f"choice_{overall.pk}": "left", "reason": "Shorter."})
        assert refused.status_code == 422 and "Please also judge: Fluency" in text(refused)
        assert 'value="Shorter."' in text(refused) and text(refused).count("choices missing") == 1
        choices = {f"choice_{overall.pk}": "left", f"choice_{fluency.pk}": "tie", "reason": "Shorter."}
        assert pairs.post("annotate/", hidden(refused) | choices).status_code == 303
        assert PairwiseJudgment.objects.filter(reason="Shorter.").count() == 2

    def test_no_reason_is_asked_unless_the_campaign_wants_one(self, pairs):
        assert 'name="reason"' not in text(pairs.sign_in(pairs.bob).get(START))

    def test_no_choice_is_asked_for(self, pairs):
        answer = pairs.sign_in(pairs.bob).post("annotate/", hidden(pairs.get(START)))
        assert answer.status_code == 422 and "Choose the better text" in text(answer)


class TestUndo:
    def test_the_item_comes_back_with_its_answer(self, world):
        first = hidden(world.sign_in(world.bob).get(START))
        world.post("annotate/", first | scored(world, overall=2))
        back = world.post("undo/", in_hand(world))
        assert back.status_code == 303
        page = world.client.get(back.url)
        assert hidden(page)["assignment"] == first["assignment"] and hidden(page)["key"] != first["key"]
        assert 'value="2" required checked' in text(page)
        assert LikertScore.objects.filter(retracted_at=None).count() == 0 and LikertScore.objects.count() == 2

    def test_a_double_click_on_undo_takes_back_one(self, world):
        world.sign_in(world.bob)
        for _ in range(2):
            world.post("annotate/", hidden(world.get(START)) | scored(world))
        shown = in_hand(world)
        for _ in range(2):
            world.post("undo/", shown)
        assert Submission.objects.filter(retracted_at=None).count() == 1

    def test_undoing_twice_keeps_both_undone_answers(self, world):
        world.sign_in(world.bob)
        for _ in range(2):
            world.post("annotate/", hidden(world.get(START)) | scored(world))
        undo_last(world.annotator), undo_last(world.annotator)
        assert Submission.objects.exclude(retracted_at=None).count() == 2 and LikertScore.objects.count() == 4
        for _ in range(6):
            world.post("annotate/", hidden(world.get(START)) | scored(world))
        assert LikertScore.objects.filter(retracted_at=None).count() == 12

    def test_undo_is_not_a_link(self, world):
        assert world.sign_in(world.bob).get("undo/").status_code == 405


class TestRest:
    def test_nothing_to_judge_yet(self, tmp_path, client):
        world = World(tmp_path, client, contexts=0)
        assert "Nothing to judge right now" in text(world.sign_in(world.bob).get(START))

    def test_a_paused_campaign_rests_and_a_closed_one_thanks(self, world):
        set_status(world.campaign, "paused")
        assert "is paused" in text(world.sign_in(world.bob).get("annotate/"))
        set_status(world.campaign, "closed")
        assert "is closed" in text(world.get("annotate/"))

    @pytest.mark.parametrize("headers", [{}, {"X-Swap": "1"}])
    @pytest.mark.parametrize("status", ["paused", "closed"])
    def test_an_answer_under_way_when_it_was_paused_is_stored(self, world, status, headers):
        form = hidden(world.sign_in(world.bob).get(START))
        set_status(world.campaign, status)
        page = world.post("annotate/", form | scored(world), headers=headers, follow=True)
        assert f"is {status}" in text(page) and LikertScore.objects.counted().count() == 2

    def test_undo_in_a_paused_campaign_is_refused_in_words(self, world):
        form = hidden(world.sign_in(world.bob).get(START))
        world.post("annotate/", form | scored(world))
        set_status(world.campaign, "paused")
        refused = world.post("undo/", {"in_hand": 0}, follow=True)
        assert "You cannot change this answer" in text(refused) and LikertScore.objects.counted().count() == 2


class TestOutsiders:
    @pytest.mark.parametrize("path", ["annotate/", "guidelines/", ""])
    def test_charlie_finds_nothing(self, world, path):
        assert world.sign_in(world.charlie).get(path).status_code == 404
        assert world.post("annotate/").status_code == world.post("undo/").status_code == 404

    def test_nobody_answers_for_bob(self, world):
        form = hidden(world.sign_in(world.bob).get(START))
        submit(
            world.annotator,
            int(form["assignment"]),
            uuid.UUID(form["key"]),
            {"scores": {c.pk: v for c, v in zip(world.campaign.criteria.all(), (3, 1))}},
        )
        world.sign_in(world.alice)
        assert world.post("annotate/", form | scored(world)).status_code == 404
        assert Submission.objects.count() == 1

    def test_signed_out_people_are_asked_to_sign_in(self, world):
        assert world.get("annotate/").url == "/login/?next=/c/talk/annotate/"
