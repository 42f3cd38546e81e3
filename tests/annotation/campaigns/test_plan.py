"""What a campaign will cost and what it could show, before anybody is asked."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from annotation.annotating.assignment import next_assignment
from annotation.assessment.charts import power_curve
from annotation.campaigns import plan
from annotation.campaigns.protocol import change_campaign
from annotation.design.needed import Way
from annotation.design.plan import Protocol
from annotation.design.power import LOW_VARIANCE, Scale, detectable_difference
from annotation.models import Campaign, LikertScore, Output
from core.errors import Refused
from leaderboard.systems import set_retired
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
        assert (figures["judgments"], figures["annotators"]) == ("18", "3")
        assert (figures["of work"], figures["each"]) == ("8 minutes", "2 minutes")  # 18 * 25 / 60 = 7.5, and a third of it
        assert "there are no timed answers yet" in page

    def test_a_retired_system_is_not_planned_for(self, world):
        """Somebody has begun an output of one of the three, so that its item stays: two systems x two contexts x three."""
        set_retired(next_assignment(world.annotator).item.output.system, True)
        assert plan_figures(text(world.sign_in(world.alice).get("plan/")))["judgments"] == "12"

    def test_of_what_if(self, world):
        """50 contexts x 4 systems x 2 people x 30 s = 400 judgments in 3.3 hours."""
        page = text(world.sign_in(world.alice).get("plan/", data=WHAT_IF))
        assert plan_figures(page)["judgments"] == "400" and plan_figures(page)["of work"] == "3.3 hours"
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

    def test_a_system_over_which_people_divide(self, scored):
        """The named one's leanings are counted; the number that somebody gives stands in place of what the pilot says."""
        overall, rng = scored.campaign.criteria.get(name="Overall"), np.random.default_rng(0)
        LikertScore.objects.all().delete()
        divides, *others = scored.campaign.systems.order_by("name")
        for n in range(6):
            person = scored.campaign.annotators.create(name=f"person {n}")
            for output in Output.objects.all():
                apart = (-1) ** n if output.system == divides else 0
                value = 3 + apart + rng.choice([-1, 0, 1])
                LikertScore.objects.create(annotator=person, output=output, criterion=overall, value=value)
        protocol = Protocol(**plan.protocol_of(scored.campaign))
        grounds = {
            name: plan.grounds_of(scored.campaign, protocol, scored.campaign, name)[0]
            for name in ("", divides.name, others[0].name)
        }
        assert grounds[divides.name].divides > 3 > grounds[others[0].name].divides and grounds[""].divides == 1
        assert f"people's leanings to {divides.name} vary" in grounds[divides.name].source
        [given, *_] = plan.grounds_of(scored.campaign, protocol, scored.campaign, "", 4.0)
        assert given.divides == 4 and "to the system ahead vary 4 times as much" in given.source
        assert given.power(0.5, protocol, 6) < grounds[""].power(0.5, protocol, 6)
        with pytest.raises(Refused, match="no system 'Nobody'"):
            plan.grounds_of(scored.campaign, protocol, scored.campaign, "Nobody")

    def test_page_command_and_api_count_it_alike(self, world, capsys):
        change_campaign(world.campaign, overlap=3)
        asked = {"difference": 0.5, "contexts": 50, "annotators": 10, "divides": 9}
        world.sign_in(world.alice)
        page = text(world.get("plan/", data=WHAT_IF | {"overlap": 3} | asked | {"question": "Overall"}))
        assert "vary 9 times as much as those to others" in page
        assert "people per item × contexts" in page
        call_command(
            "plan", world.campaign.slug, "--difference=0.5", "--contexts=50", "--annotators=10", "--divides=9", "--json"
        )
        searches = json.loads(capsys.readouterr().out)["searches"]
        answer = world.client.get(f"/api/campaigns/{world.campaign.slug}/plan/", asked)
        assert answer.json() == searches and searches[0]["divides"] == 9

    def test_a_question_with_a_condition_is_asked_of_a_share(self, world, capsys):
        """On the page, by the command and the API alike."""
        world.campaign.criteria.filter(name="Fluency").update(asked_if={"criterion": "Overall", "below": 3})
        change_campaign(world.campaign, overlap=3)
        asked = {"difference": 0.5, "contexts": 50, "annotators": 10, "question": "Fluency", "share": 0.25}
        world.sign_in(world.alice)
        said = f"asked only if Overall is below 3, of 25% of outputs, as you say{plan.WITHIN}"
        assert said in text(world.get("plan/", data=WHAT_IF | {"overlap": 3} | asked))
        options = [f"--{name}={value}" for name, value in asked.items()]
        call_command("plan", world.campaign.slug, *options, "--json")
        searches = json.loads(capsys.readouterr().out)["searches"]
        answer = world.client.get(f"/api/campaigns/{world.campaign.slug}/plan/", asked)
        assert answer.json() == searches and said in searches[0]["variance_from"]
        assert plan.GROUPED not in searches[0]["variance_from"]
        call_command("plan", world.campaign.slug, *options)
        assert plan.WITHIN in capsys.readouterr().out
        world.campaign.criteria.filter(name="Fluency").update(asked_if={"turn": "last"})  # which no answer changes
        at_turns = world.client.get(f"/api/campaigns/{world.campaign.slug}/plan/", asked).json()
        assert plan.WITHIN not in at_turns[0]["variance_from"] and "of 25% of outputs" in at_turns[0]["variance_from"]
        world.campaign.criteria.filter(name="Fluency").update(asked_if={"criterion": "Overall", "below": 3})
        world.campaign.contexts.filter(pk=world.campaign.contexts.first().pk).update(group="talk")
        grouped = world.client.get(f"/api/campaigns/{world.campaign.slug}/plan/", asked).json()
        assert [one["variance_from"] for one in grouped] == [one["variance_from"] + plan.GROUPED for one in searches]
        with pytest.raises(CommandError, match="--share must lie between"):
            call_command("plan", world.campaign.slug, "--difference=0.5", "--share=0")

    def test_the_pilot_says_what_share(self, scored, monkeypatch):
        """16 of the 18 outputs; of half of them the plan would know less."""
        monkeypatch.setattr(plan, "LEAST_PILOT", 10)
        overall, fluency = scored.campaign.criteria.order_by("position")[:2]
        given = list(LikertScore.objects.filter(criterion=overall).order_by("annotator", "output"))
        for n, score in enumerate(given):
            score.pk, score.criterion, score.value = None, fluency, 1 + (score.output_id + n // 3) % 5
        LikertScore.objects.bulk_create(given)
        protocol = Protocol(**plan.protocol_of(scored.campaign))
        of_all = {ground.about: ground for ground in plan.grounds_of(scored.campaign, protocol, scored.campaign)}["Fluency"]
        scored.campaign.criteria.filter(name="Fluency").update(asked_if={"criterion": "Overall", "below": 3})
        LikertScore.objects.filter(pk__in=LikertScore.objects.filter(criterion=fluency).values("pk")[:2]).delete()
        known = {ground.about: ground for ground in plan.grounds_of(scored.campaign, protocol, scored.campaign)}
        assert of_all.share == known["Overall"].share == 1 and known["Fluency"].share == pytest.approx(16 / 18)
        assert "of 89% of outputs, as the pilot has" in known["Fluency"].source
        of_all = replace(of_all, ends=None)
        assert replace(of_all, share=0.5).power(2.0, protocol, 6) < of_all.power(2.0, protocol, 6)

    def test_others_campaigns_are_no_pilot(self, world):
        other = Campaign.objects.create(slug="secret", title="Secret")
        page = text(world.sign_in(world.alice).get("plan/", data=WHAT_IF | {"pilot": other.slug}))
        assert "Secret" not in page and "Select a valid choice" in page

    def test_of_many_answers_some_are_drawn(self, monkeypatch):
        monkeypatch.setattr(plan, "MOST_PILOT", 24)
        monkeypatch.setattr(plan, "MOST_PEOPLE", 3)
        rows = [(1, system, context, person) for system in range(4) for context in range(6) for person in range(5)]
        drawn = plan._drawn(rows, seed=1)
        people, contexts = {row[-1] for row in drawn}, {row[-2] for row in drawn}
        assert (len(drawn), len(people), len(contexts)) == (24, 3, 2)  # 4 systems x 3 people: 12 of each context
        assert drawn == [row for row in rows if row[-1] in people and row[-2] in contexts] == plan._drawn(rows, seed=1)
        known = {"count": 120, "read": 24}
        assert plan._source(Campaign(), known, "scores") == "pilot, 24 drawn of 120 scores"

    def test_the_page_makes_a_fixed_number_of_queries(self, scored, django_assert_max_num_queries):
        for n in range(5):
            scored.campaign.criteria.create(name=f"More {n}", position=9)
        scored.sign_in(scored.alice)
        with django_assert_max_num_queries(17 + 4):  # with what comes next; one asks for groups
            assert scored.get("plan/").status_code == 200


def test_researchers_only(world):
    assert world.sign_in(world.bob).get("plan/").status_code == 404
    assert world.sign_in(world.charlie).get("plan/").status_code == 404


def test_the_curve_of_one_number_of_judgments():
    """By hand: 158 points of height, so 80% lies 0.2 of it below the top of 12, and 20% 0.8 of it; 362 - 48 points of width."""
    chart = power_curve([Way(30, 2, 4, 60, 0.8), Way(12, 5, 5, 60, 0.2)])
    assert chart["dots"] == [(68, 43.6), (382, 138.4)] and chart["x_ticks"] == [(68, "2 × 30"), (382, "5 × 12")]
    assert chart["ticks"][2] == (43.6, "80%") and power_curve([Way(30, 2, 4, 60, 0.8)]) is None


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (0.004, "hardly vary, those to others do"),
        (0.5, "vary 0.5 times as much as those to others"),
        (float("inf"), "vary, those to others do not"),
    ],
)
def test_how_much_people_divide_is_said(times, said):
    assert plan._vary(times) == said
