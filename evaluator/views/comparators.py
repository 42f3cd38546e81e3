"""The comparators' page: which is in use, which were trained, what is being trained now."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from annotation import jobs
from annotation.access import campaign_for_researcher
from annotation.models import Snapshot
from annotation.snapshots import latest_snapshot
from core.errors import Refused
from evaluator.comparator.settings import ARCHITECTURES, MAX_SEED, RECIPES, Settings, fields_of
from evaluator.forms import CriterionField
from evaluator.models import RetrainingRule
from evaluator.trainings import services
from evaluator.versions import registry, selectors
from evaluator.views.curves import learning_curves

ASKED = ("architecture", "next_utterance", "strong", "weak", "two_stages", "from_scratch")  # fields of comparator.settings
LEFT_OUT = ("ties", "references", "guards")  # asked as no_NAME
UTILITY, JOINT = ARCHITECTURES


class TrainForm(forms.Form):
    criterion = CriterionField(label="Learn from")
    next_utterance = forms.BooleanField(required=False, initial=True)
    strong = forms.BooleanField(required=False, label="Human-written text is better than generated")
    weak = forms.BooleanField(required=False, label="A later checkpoint is better than an earlier one")
    others = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    beside = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    architecture = forms.ChoiceField(
        widget=forms.RadioSelect,
        initial=UTILITY,
        choices=[
            (UTILITY, "Utility (default): reads each output by itself and gives it one number"),
            (JOINT, "Joint, as in Zhou and Xu: reads two outputs together, in both orders (slower; learns one criterion only)"),
        ],
    )
    base = forms.ChoiceField(required=False, label="Start from")
    two_stages = forms.BooleanField(required=False, label="Two stages: first what needs no judgments, then people’s judgments")
    no_human = forms.BooleanField(required=False, label="People’s judgments (the comparator is then not measured on people)")
    no_ties = forms.BooleanField(required=False, label="The answer “tie”")
    no_references = forms.BooleanField(required=False, label="Similarity to people’s replies in similar contexts")
    no_guards = forms.BooleanField(required=False, label="Lower scores for blank, copied or repeated outputs")
    from_scratch = forms.BooleanField(required=False, label="The encoder’s pretraining (training starts from random weights)")
    recipe = forms.ChoiceField(required=False, choices=[(name, name) for name in RECIPES], widget=forms.HiddenInput)
    seed = forms.IntegerField(min_value=0, max_value=MAX_SEED, initial=0)

    def __init__(self, *args, snapshot: Snapshot | None, lenders: list[Snapshot], named: str = "", **kwargs):
        """named: the recipe that fills it in at first"""
        own: dict[str, Any] = {"label_suffix": "", "initial": _filled_in(named, unjudged=snapshot is None)}
        super().__init__(*args, **(own | kwargs))
        fields: dict[str, Any] = self.fields
        names = selectors.criteria(snapshot)
        fields["criterion"].offer(names, "the first criterion (default)", "judgments of pairs only", "scores of {}")
        fields["others"].choices = [(name, name) for name in names if name]
        fields["base"].choices = [(name, _base(name, made)) for name, made in selectors.bases().items()] + [
            (selectors.NO_BASE, "no base")
        ]
        fields["base"].initial = selectors.base_for({}, None) or selectors.NO_BASE
        self.lenders = {lender.campaign.slug: lender for lender in lenders}
        fields["beside"].choices = [(slug, _described(lender)) for slug, lender in self.lenders.items()]

    def clean_beside(self) -> list:
        return [self.lenders[slug].campaign for slug in self.cleaned_data["beside"]]

    @property
    def asked(self) -> dict:
        """What `services.start_training` is told."""
        given = self.cleaned_data
        switches = {name: given[name] for name in ASKED} | {name: not given[f"no_{name}"] for name in LEFT_OUT}
        recipe = fields_of(given["recipe"], not given["no_human"], **switches)
        base = given["base"] if given["next_utterance"] and not given["from_scratch"] else selectors.NO_BASE
        asked = {name: given[name] for name in ("criterion", "others", "beside", "seed")}
        return asked | {"recipe": recipe, "base": base or None}

    @property
    def left_out(self) -> list:
        """The switches that leave something out, as bound fields."""
        return [self[name] for name in ("no_human", *(f"no_{name}" for name in LEFT_OUT), "from_scratch")]


def _filled_in(named: str, unjudged: bool) -> dict:
    """What the form says at first; unjudged: there are no judgments to learn from."""
    start = Settings(**fields_of(named, human=False if unjudged else None))
    switches = {name: getattr(start, name) for name in ASKED} | {f"no_{name}": not getattr(start, name) for name in LEFT_OUT}
    return switches | {"no_human": unjudged, "recipe": named}


def _base(name: str, made: dict) -> str:
    return f"{name}: learnt from {made['exchanges']:,} replies in general conversations"


def _described(snapshot: Snapshot) -> str:
    """A campaign by its newest snapshot, in one line."""
    held = [(snapshot.scores, "scores"), (snapshot.judgments, "judgments of pairs")]
    parts = [f"{number:,} {what}" for number, what in held if number] + ["simulated data"] * snapshot.is_simulated
    return f"{snapshot.campaign.title} ({snapshot.campaign.slug}): {', '.join(parts)}"


class RetrainingForm(forms.Form):
    after_days = forms.IntegerField(required=False, min_value=1, max_value=3650, label="Days since the last training")
    after_judgments = forms.IntegerField(
        required=False, min_value=1, max_value=1_000_000_000, label="New accepted scores and judgments"
    )


@require_POST
@login_required
def retraining(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    form = RetrainingForm(request.POST)
    if form.is_valid():
        rule = services.set_retraining(campaign, **form.cleaned_data, user=request.user)
        off = rule.after_days is rule.after_judgments is None
        messages.success(request, "Retraining is off." if off else "Retraining is on.")
    else:
        for field, errors in form.errors.items():
            messages.error(request, f"{form.fields[field].label}: {' '.join(errors)}")
    return redirect("comparator", slug)


@login_required
def comparator(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    snapshot = latest_snapshot(campaign)
    named = request.GET.get("recipe", "")
    named = named if named in RECIPES else ""
    lenders = selectors.lenders(campaign, request.user)
    form = TrainForm(request.POST or None, snapshot=snapshot, lenders=lenders, named=named)
    if request.method == "POST" and form.is_valid():
        try:
            run = services.start_training([campaign], **form.asked, user=request.user)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            said = "The same training is already queued or running." if run.was_waiting else "The training is in the queue."
            messages.success(request, f"{said} This page shows its progress.")
            return redirect("comparator", slug)
    can_train = snapshot is not None or selectors.knows_who_wrote_what(campaign)
    context = {"campaign": campaign, "snapshot": snapshot, "can_train": can_train, "form": form} | _shown(campaign)
    return render(request, "evaluator/comparators.html", context, status=422 if request.method == "POST" else 200)


def _shown(campaign) -> dict:
    """The versions and what is going on, for the page."""
    versions = list(selectors.versions(campaign))
    stages = registry.stages(campaign, versions)
    runs = selectors.open_runs(campaign)
    running = next((run for run in runs if run.curve), None)
    return {
        "versions": [
            (version, stages[version.pk], selectors.ceiling(version), registry.gate_doubt(version, campaign))
            for version in versions
        ],
        "runs": runs,
        "worker_alive": jobs.worker_alive(),
        "uploads": selectors.open_uploads(campaign),
        "curve": running.curve if running else [],
        "charts": learning_curves(running.curve) if running else [],
        "dialogues": campaign.dialogues.count(),
        "rule": RetrainingRule.objects.filter(campaign=campaign).select_related("user").first(),
    }
