"""What a campaign will cost and what it could show, before anybody is asked."""

import re
from dataclasses import replace

import pytest

from annotation.campaigns import plan
from annotation.campaigns.protocol import change_campaign
from annotation.design.plan import Protocol
from annotation.design.power import LOW_VARIANCE, Scale, detectable_difference
from annotation.models import Campaign, LikertScore, Output
from tests.annotation.pages import text

pytestmark = pytest.mark.django_db
WHAT_IF = {
    "systems": 4,
    "contexts": 50,
    "overlap": 2,
    "overlap_percent": 100,
    "quota": "",
    "annotators": "",
    "seconds_per_score": 30,
    "seconds_per_pair": 40,
    "pilot": "",
}


def plan_figures(page) -> dict[str, str]:
    return {label: value for label, value in re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)</dd>", page)}


class TestTheNumbers:
    def test_of_the_campaign_as_it_stands(self, world):
        """Three systems on two contexts, three people each: 18 judgments of 25 seconds by three people."""
        page = text(world.sign_in(world.alice).get("plan/"))
        figures = plan_figures(page)
        assert (figures["judgments"], figures["annotators"], figures["minutes each"]) == (
            "18",
            "3",
            "3",
        )  # 18 * 25 / 60 / 3 = 2.5
        assert "there are no timed answers yet" in page

    def test_of_what_if(self, world):
        """50 contexts x 4 systems x 2 people x 30 s = 400 judgments in 3.3 hours."""
        page = text(world.sign_in(world.alice).get("plan/", data=WHAT_IF))
        assert plan_figures(page)["judgments"] == "400" and plan_figures(page)["hours of work"] == "3.3"
        difference = detectable_difference(LOW_VARIANCE.on(1, 5), 50, 2, [(1, 2)], systems=4).difference
        assert f"{difference:.2f} points" in page and "assumed, low variance" in page
        assert Campaign.objects.get().overlap == 3  # nothing was saved

    def test_partial_overlap_gold_and_repeats_are_counted(self, world):
        change_campaign(world.campaign, likert=False, pairwise=True, gold_percent=20, repeat_percent=10)
        query = WHAT_IF | {"overlap_percent": 50, "annotators": 10}
        page = text(world.sign_in(world.alice).get("plan/", data=query))
        # ring of 4 systems on 50 contexts: 200 pairs; half by two, half by one: 300; 30 repeats; gold 330 / 4 = 82.5
        assert re.search(r"Pairs judged</th><td class=\"num\">300<", page) and 'again</th><td class="num">30<' in page
        assert 'known answer</th><td class="num">82<' in page and "50% ±" in page

    def test_what_can_not_be_is_said(self, world):
        answer = world.sign_in(world.alice).get("plan/", data=WHAT_IF | {"annotators": 1})
        assert answer.status_code == 422 and "2 annotators are needed at least" in text(answer)


class TestThePilot:
    def test_answers_say_how_much_people_vary(self, scored):
        protocol = Protocol(**plan.protocol_of(scored.campaign))
        assumed = plan.grounds_of(scored.campaign, protocol, None)
        assert [ground.source[:7] for ground in assumed] == ["assumed"] * 4
        person = scored.campaign.annotators.create(name="one-more")
        overall = scored.campaign.criteria.get(name="Overall")
        for n, output in enumerate(Output.objects.all()):
            LikertScore.objects.create(annotator=person, output=output, criterion=overall, value=1 + n % 4)
        [ground, *rest] = plan.grounds_of(scored.campaign, protocol, scored.campaign)
        assert ground.source == "pilot, 24 scores" and ground.detectable(replace(protocol, contexts=50), 4).difference > 0
        values = LikertScore.objects.filter(criterion=overall).values_list("value", flat=True)
        assert ground.ends == Scale(1, 5, pytest.approx(sum(values) / 24))
        assert [other.about for other in rest] == ["Fluency"] * 2  # nobody scored it
        Campaign.objects.update(is_simulated=True)
        scored.campaign.refresh_from_db()
        assert plan.grounds_of(scored.campaign, protocol, scored.campaign)[0].source == "pilot, 24 simulated scores"

    def test_others_campaigns_are_no_pilot(self, world):
        other = Campaign.objects.create(slug="secret", title="Secret")
        page = text(world.sign_in(world.alice).get("plan/", data=WHAT_IF | {"pilot": other.slug}))
        assert "Secret" not in page and "Select a valid choice" in page

    def test_the_page_makes_a_fixed_number_of_queries(self, scored, django_assert_max_num_queries):
        for n in range(5):
            scored.campaign.criteria.create(name=f"More {n}", position=9)
        scored.sign_in(scored.alice)
        with django_assert_max_num_queries(11 + 4):  # with what comes next
            assert scored.get("plan/").status_code == 200


def test_researchers_only(world):
    assert world.sign_in(world.bob).get("plan/").status_code == 404
    assert world.sign_in(world.charlie).get("plan/").status_code == 404
