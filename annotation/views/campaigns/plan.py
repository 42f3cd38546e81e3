"""How many judgments a campaign asks for, how long they take, and what they could show."""

from dataclasses import replace

from django.contrib.auth.decorators import login_required
from django.shortcuts import render

from annotation.access import campaign_for_researcher, campaigns_researched_by
from annotation.assessment.calculations import follow
from annotation.assessment.charts import power_curve
from annotation.campaigns.plan import Search, assumed_seconds, grounds_of, protocol_of, questions_of, searches, system_of
from annotation.design.plan import Plan, Protocol, plan
from annotation.forms import PlanForm
from core.errors import Refused

TIMES = (0.5, 1, 2, 4)  # as many contexts
PILOTS = 100
NOTHING_KNOWN = {"scores": {}, "pairs": None}  # of a pilot whose answers a worker has still to read; the page says so


@login_required
def plan_page(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    pilots = list(campaigns_researched_by(request.user)[:PILOTS])
    seconds = assumed_seconds(campaign)
    protocol_fields = protocol_of(campaign)
    asked = request.GET if "contexts" in request.GET else protocol_fields | seconds | {"pilot": slug}
    systems = campaign.systems.order_by("name").values_list("name", flat=True)
    known = {"questions": questions_of(campaign), "systems": systems, "of_rankings": campaign.outputs_at_once > 2}
    has_conditions = campaign.criteria.exclude(asked_if={}).exists()
    form = PlanForm(asked, pilots=pilots, has_conditions=has_conditions, **known)
    context = {"campaign": campaign, "form": form, "is_timed": seconds["is_timed"]}
    if form.is_valid():
        data = form.cleaned_data
        protocol = Protocol(**protocol_fields | form.protocol())
        pilot = next((c for c in pilots if c.slug == data["pilot"]), None)
        try:
            campaign_plan = plan(protocol, data["seconds_per_score"], data["seconds_per_pair"])
            figures = None
            if pilot:
                ahead = system_of(pilot, data["system"])
                context["followed"] = follow(pilot, "pilot", "Variances of answers", request.user, ahead=ahead)
                figures = context["followed"].result or NOTHING_KNOWN
            grounds = grounds_of(campaign, protocol, pilot, data["system"], data["divides"], figures, data.get("share"))
        except (ValueError, Refused) as error:
            form.add_error(None, str(error))
        else:
            context |= {
                "plan": campaign_plan,
                "protocol": protocol,
                "pilot": pilot,
                "grounds": grounds,
                "larger": _larger(protocol, campaign_plan, grounds, data),
            }
            try:
                found = _searches(form, grounds, protocol, campaign_plan)
                context["searches"] = [(search, power_curve(search.at_budget)) for search in found]
            except Refused as refused:
                form.add_error("difference", str(refused))
            context["powers"] = next(row["powers"] for row in context["larger"] if row["is_this"])
    return render(request, "annotation/plan.html", context, status=200 if "plan" in context else 422)


def _searches(form: PlanForm, grounds, protocol: Protocol, campaign_plan: Plan) -> list[Search]:
    """What finds the difference that was entered; nothing where none was."""
    difference, question = form.cleaned_data["difference"], form.cleaned_data["question"]
    if not difference:
        return []
    return searches(grounds, protocol, campaign_plan.annotators, question or grounds[0].about, difference, form.judge())


def _larger(protocol: Protocol, campaign_plan: Plan, grounds, data) -> list[dict]:
    """The same with fewer and more contexts."""
    rows = []
    for times in TIMES:
        other = replace(protocol, contexts=max(1, round(protocol.contexts * times)), annotators=None)
        size = plan(other, data["seconds_per_score"], data["seconds_per_pair"])
        people = max(size.annotators, campaign_plan.annotators)
        is_testable = other.contexts > 1 and people > 1
        powers = [(ground, ground.detectable(other, people) if is_testable else None) for ground in grounds]
        rows.append({"contexts": other.contexts, "plan": size, "people": people, "is_this": times == 1, "powers": powers})
    return rows
