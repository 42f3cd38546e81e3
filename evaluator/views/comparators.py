"""The comparators' page: which serves, which were trained, what is being trained now."""

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from annotation import jobs
from annotation.access import campaign_for_researcher
from annotation.assessment import latest_snapshot
from annotation.errors import Refused
from evaluator import registry, selectors, services
from evaluator.views.curves import learning_curves

DEFAULT, PAIRS = "default", "pairs"
SWITCHES = ("next_utterance", "strong", "weak")


class TrainForm(forms.Form):
    """Criterion names are sent behind a colon, so that none can be taken for the two other choices."""

    criterion = forms.ChoiceField(label="Learn from")
    others = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    seed = forms.IntegerField(min_value=0, max_value=services.MAX_SEED, initial=0)

    next_utterance = forms.BooleanField(required=False, initial=True, label="Conversations between people, first")
    strong = forms.BooleanField(required=False, label="Human-written text is better than generated")
    weak = forms.BooleanField(required=False, label="A later checkpoint is better than an earlier one")

    def __init__(self, *args, snapshot, **kwargs):
        super().__init__(*args, label_suffix="", **kwargs)
        names = selectors.criteria(snapshot)
        self.fields["criterion"].choices = [(DEFAULT, "what is accepted (default)")] + [
            (f":{name}", f"scores of {name}") if name else (PAIRS, "judgments of pairs alone") for name in names
        ]
        self.fields["others"].choices = [(name, name) for name in names if name]

    def clean_criterion(self) -> str | None:
        choice = self.cleaned_data["criterion"]
        return None if choice == DEFAULT else "" if choice == PAIRS else choice[1:]

    @property
    def recipe(self) -> dict:
        return services.recipe(**{name: self.cleaned_data[name] for name in SWITCHES})


@login_required
def comparator(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    snapshot = latest_snapshot(campaign)
    versions = list(selectors.versions(campaign))
    runs = selectors.open_runs(campaign)
    stages = registry.stages(campaign, versions)
    running = next((run for run in runs if run.curve), None)
    context = {
        "campaign": campaign, "snapshot": snapshot, "runs": runs, "worker_alive": jobs.worker_alive(),
        "versions": [(version, stages[version.pk], selectors.ceiling(version)) for version in versions],
        "form": TrainForm(snapshot=snapshot) if snapshot else None,
        "curve": running.curve if running else [], "charts": learning_curves(running.curve) if running else [],
        "dialogues": campaign.dialogues.count(), "uploads": selectors.open_uploads(campaign),
    }  # fmt: skip
    return render(request, "evaluator/comparators.html", context)


@require_POST
@login_required
def train(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    form = TrainForm(request.POST, snapshot=latest_snapshot(campaign))
    if not form.is_valid():
        messages.error(request, "Choose one of the criteria, and a whole number as seed.")
        return redirect("comparator", slug)
    try:
        asked = {name: form.cleaned_data[name] for name in ("criterion", "seed", "others")}
        services.start_training([campaign], **asked, recipe=form.recipe, user=request.user)
    except Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, "The training is in the queue. This page follows it.")
    return redirect("comparator", slug)
