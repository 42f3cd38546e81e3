"""The comparator's page: what was trained, how good it is, what is being trained now."""

from dataclasses import dataclass

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from annotation import jobs
from annotation.access import campaign_for_researcher
from annotation.assessment import latest_snapshot
from annotation.errors import Refused
from evaluator import selectors, services

DEFAULT, PAIRS = "default", "pairs"


class TrainForm(forms.Form):
    """Criterion names are sent behind a colon, so that none can be taken for the two other choices."""

    criterion = forms.ChoiceField(label="Learn from")
    seed = forms.IntegerField(min_value=0, max_value=services.MAX_SEED, initial=0)

    def __init__(self, *args, snapshot, **kwargs):
        super().__init__(*args, label_suffix="", **kwargs)
        self.fields["criterion"].choices = [(DEFAULT, "what is accepted (default)")] + [
            (f":{name}", f"scores of {name}") if name else (PAIRS, "judgments of pairs alone")
            for name in selectors.criteria(snapshot)
        ]

    def clean_criterion(self) -> str | None:
        choice = self.cleaned_data["criterion"]
        return None if choice == DEFAULT else "" if choice == PAIRS else choice[1:]


@login_required
def comparator(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    snapshot = latest_snapshot(campaign)
    versions = list(selectors.versions(campaign))
    runs = selectors.open_runs(campaign)
    shown = runs[0] if runs else versions[0].run if versions else None
    context = {
        "campaign": campaign, "active": "comparator", "snapshot": snapshot, "versions": versions, "runs": runs,
        "form": TrainForm(snapshot=snapshot) if snapshot else None, "worker_alive": jobs.worker_alive(),
        "curve": shown.curve if shown else [], "curve_run": shown, "charts": learning_curves(shown.curve) if shown else [],
    }  # fmt: skip
    return render(request, "evaluator/comparator.html", context)


@require_POST
@login_required
def train(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    form = TrainForm(request.POST, snapshot=latest_snapshot(campaign))
    if not form.is_valid():
        messages.error(request, "Choose one of the criteria, and a whole number as seed.")
        return redirect("comparator", slug)
    try:
        services.start_training([campaign], **form.cleaned_data, user=request.user)
    except Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, "The training is in the queue. This page follows it.")
    return redirect("comparator", slug)


# --- the learning curve, drawn here so that the page needs no script

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 420, 210, 44, 58, 12, 38


@dataclass(frozen=True)
class Chart:
    title: str
    lines: list[dict]  # css, points "x,y x,y", label, label_y, dots
    y_ticks: list[tuple[float, str]]
    x_ticks: list[tuple[float, str]]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    base: int = HEIGHT - BOTTOM


def learning_curves(curve: list[dict]) -> list[Chart]:
    """Held-out accuracy by member; loss in training and held out, the mean over the members. Empty without points."""
    if not curve:
        return []
    epochs = sorted({p["epoch"] for p in curve})
    folds = sorted({p["fold"] for p in curve})
    accuracy = [
        (f"{fold + 1}", "line", [(p["epoch"], p["heldout_accuracy"]) for p in curve if p["fold"] == fold]) for fold in folds
    ]
    losses = [
        (label, css, [(epoch, _mean(p[name] for p in curve if p["epoch"] == epoch)) for epoch in epochs])
        for label, css, name in (("train", "line-2", "train_loss"), ("held out", "line", "heldout_loss"))
    ]
    return [
        _chart("Held-out pairwise accuracy, by member", accuracy, epochs),
        _chart("Loss, mean of the members", losses, epochs),
    ]


def _mean(values) -> float | None:
    known = [v for v in values if v is not None]
    return sum(known) / len(known) if known else None


def _chart(title: str, series, epochs: list[int]) -> Chart:
    values = [y for _, _, points in series for _, y in points if y is not None] or [0.0, 1.0]
    low, high = min(values), max(values)
    margin = max((high - low) * 0.1, 0.01)
    low, high = low - margin, high + margin
    first, last = 1, max(max(epochs), 2)

    def x(epoch):
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (epoch - first) / (last - first), 1)

    def y(value):
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / (high - low), 1)

    lines, taken = [], []
    for label, css, points in series:
        places = [(x(epoch), y(value)) for epoch, value in points if value is not None]
        if places:
            label_y = _free(places[-1][1] + 4, taken)
            lines.append({
                "css": css, "points": " ".join(f"{px},{py}" for px, py in places), "dots": places,
                "label": label, "label_x": places[-1][0] + 6, "label_y": label_y,
            })  # fmt: skip
    ticks = [low + (high - low) * share for share in (0.1, 0.5, 0.9)]
    return Chart(title, lines, [(y(t), f"{t:.2f}") for t in ticks], [(x(e), str(e)) for e in range(first, last + 1)])


def _free(y: float, taken: list[float]) -> float:
    """A height for a label that does not lie on another's."""
    while any(abs(y - other) < 12 for other in taken):
        y += 3
    taken.append(y)
    return round(y, 1)
