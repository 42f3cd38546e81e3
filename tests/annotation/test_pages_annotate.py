"""The annotator's pages, as plain forms: what works without JavaScript."""

import uuid

import pytest

from annotation.models import Assignment, LikertScore, PairwiseJudgment, Submission
from annotation.services import set_status, submit, undo_last
from tests.annotation.pages import SYSTEMS, World, hidden, text

pytestmark = pytest.mark.django_db
START = "annotate/?start=1"


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
        assert "<legend>Overall</legend>" in page and "excellent" in page and "Be kind" in page
        assert "0 of 6 judged" in page

    def test_no_system_is_named_to_an_annotator(self, world):
        page = text(world.sign_in(world.bob).get(START))
        assert not any(system in page for system in SYSTEMS)

    def test_no_system_is_named_on_a_pair(self, pairs):
        page = text(pairs.sign_in(pairs.bob).get(START))
        assert "Which is better?" in page and not any(system in page for system in SYSTEMS)

    def test_the_page_is_small_and_asks_the_database_little(self, world, django_assert_max_num_queries):
        world.sign_in(world.bob).get(START)
        with django_assert_max_num_queries(13):
            page = world.get(START)
        assert len(page.content) < 20_000
        assert "no-store" in page["Cache-Control"] and "default-src 'self'" in page["Content-Security-Policy"]

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
        assert answer.status_code == 422 and "Still to score: Fluency." in page
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
        assert "All done" in text(world.client.get("/"))


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

    def test_no_choice_is_asked_for(self, pairs):
        answer = pairs.sign_in(pairs.bob).post("annotate/", hidden(pairs.get(START)))
        assert answer.status_code == 422 and "Choose the better output" in text(answer)


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

    def test_undo_in_a_paused_campaign_is_refused_in_words(self, world):
        given = hidden(world.sign_in(world.bob).get(START))
        world.post("annotate/", given | scored(world))
        set_status(world.campaign, "paused")
        assert world.post("undo/", {"in_hand": 0}).status_code == 422


class TestOutsiders:
    @pytest.mark.parametrize("path", ["annotate/", "guidelines/", ""])
    def test_charlie_finds_nothing(self, world, path):
        assert world.sign_in(world.charlie).get(path).status_code == 404
        assert world.post("annotate/").status_code == world.post("undo/").status_code == 404

    def test_nobody_answers_for_bob(self, world):
        given = hidden(world.sign_in(world.bob).get(START))
        submit(world.annotator, int(given["assignment"]), uuid.UUID(given["key"]), {"scores": {
            c.pk: v for c, v in zip(world.campaign.criteria.all(), (3, 1))}})  # fmt: skip
        world.sign_in(world.alice)
        assert world.post("annotate/", given | scored(world)).status_code == 404
        assert Submission.objects.count() == 1

    def test_signed_out_people_are_asked_to_sign_in(self, world):
        assert world.get("annotate/").url == "/login/?next=/c/talk/annotate/"
