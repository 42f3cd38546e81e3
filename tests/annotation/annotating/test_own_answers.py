"""An annotator's own answers: listed page by page, and changed while the campaign is open."""

import pytest

from annotation.campaigns.lifecycle import set_status
from annotation.models import Assignment, LikertScore, PairwiseJudgment, Submission
from tests.annotation.pages import World, hidden, text

pytestmark = pytest.mark.django_db
START = "annotate/?start=1"


@pytest.fixture
def pairs(tmp_path, client):
    return World(tmp_path, client, likert=False, pairwise=True, asks_reason=True)


def answer(world, times=1, **fields):
    for _ in range(times):
        page = world.get(START)
        fields = fields or {f"score_{c.pk}": v for c, v in zip(world.campaign.criteria.all(), (4, 1))}
        assert world.post("annotate/", hidden(page) | fields).status_code == 303
    return Assignment.objects.filter(status="done").latest("completed_at")


class TestTheList:
    def test_without_answers_it_says_so(self, world):
        assert "No answers yet" in text(world.sign_in(world.bob).get("answers/"))

    def test_it_shows_texts_and_answers_in_words(self, world):
        done = answer(world.sign_in(world.bob))
        page = text(world.get("answers/"))
        assert "<dt><bdi>Overall</bdi></dt><dd><bdi>4</bdi></dd>" in page
        assert done.item.output.text in page and f"answers/{done.pk}/" in page

    def test_a_pair_stands_as_it_was_shown(self, pairs):
        done = answer(pairs.sign_in(pairs.bob), choice="left", reason="It <answers>.")
        page = text(pairs.get("answers/"))
        left, right = (done.item.other, done.item.output) if done.swapped else (done.item.output, done.item.other)
        assert page.index(left.text) < page.index(right.text)
        assert "A is better" in page and "It &lt;answers&gt;." in page

    def test_many_answers_are_paged_at_the_same_cost(self, tmp_path, client, django_assert_num_queries):
        world = World(tmp_path, client, contexts=8)
        answer(world.sign_in(world.bob), 21)
        assert text(world.get("answers/")).count(">Change<") == 20
        with django_assert_num_queries(5):  # session; user, annotator and criteria; how many; the page; how many questions
            page = text(world.get("answers/?page=2"))
        assert page.count(">Change<") == 1 and "Page 2 of 2" in page

    def test_nobody_sees_anothers(self, world):
        done = answer(world.sign_in(world.bob))
        assert world.sign_in(world.charlie).get("answers/").status_code == 404
        assert world.sign_in(world.alice).get(f"answers/{done.pk}/").status_code == 404


class TestChanging:
    def test_the_form_comes_filled_in_and_the_new_answer_replaces_the_old(self, world):
        first = answer(world.sign_in(world.bob))
        answer(world)
        form = world.get(f"answers/{first.pk}/")
        assert 'value="4" required checked' in text(form) and first.item.output.text in text(form)
        overall, fluency = world.campaign.criteria.all()
        sent = world.post(f"answers/{first.pk}/", hidden(form) | {f"score_{overall.pk}": 2, f"score_{fluency.pk}": 0})
        assert sent.status_code == 303 and sent.url == "/c/talk/answers/"
        live = LikertScore.objects.counted().filter(output=first.item.output)
        assert sorted(live.values_list("value", flat=True)) == [0, 2]
        assert "Your answer was changed" in text(world.get("answers/"))

    def test_a_pair_with_its_reason(self, pairs):
        done = answer(pairs.sign_in(pairs.bob), choice="left", reason="Shorter.")
        form = pairs.get(f"answers/{done.pk}/")
        assert 'value="left" required checked' in text(form) and 'value="Shorter."' in text(form)
        pairs.post(f"answers/{done.pk}/", hidden(form) | {"choice": "tie", "reason": ""})
        assert PairwiseJudgment.objects.counted().values_list("choice", "reason").get() == ("tie", "")

    def test_what_is_missing_is_asked_for_and_nothing_changed(self, world):
        done = answer(world.sign_in(world.bob))
        form = world.get(f"answers/{done.pk}/")
        sent = world.post(f"answers/{done.pk}/", hidden(form))
        assert sent.status_code == 422 and "Please also score" in text(sent) and hidden(sent) == hidden(form)
        assert Submission.objects.count() == 1

    def test_once_closed_it_is_shown_but_not_changed(self, world):
        done = answer(world.sign_in(world.bob))
        form = world.get(f"answers/{done.pk}/")
        set_status(world.campaign, "closed")
        assert "You can no longer change this answer" in text(world.get(f"answers/{done.pk}/"))
        assert ">Change<" not in text(world.get("answers/"))
        overall, fluency = world.campaign.criteria.all()
        sent = world.post(f"answers/{done.pk}/", hidden(form) | {f"score_{overall.pk}": 2, f"score_{fluency.pk}": 0})
        assert sent.status_code == 422 and sorted(LikertScore.objects.counted().values_list("value", flat=True)) == [1, 4]
