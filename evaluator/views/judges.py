"""The judges' page: which judge agrees with these people, and which may stand in for one of them."""

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation import jobs
from annotation.access import campaign_for_researcher
from annotation.snapshots import latest_snapshot
from core.errors import Refused
from evaluator import judge_tables, judges_export, selectors
from evaluator.metaevaluation.alternative_annotator import EPSILON

KINDS = {"crowd": "crowd workers", "skilled": "skilled, for example trained students", "expert": "experts"}
FILES = {"csv": ("text/csv", judges_export.as_csv), "tex": ("application/x-tex", judges_export.as_latex)}


class EvaluateForm(forms.Form):
    criterion = forms.ChoiceField(required=False)
    annotators = forms.ChoiceField(
        label="The annotators are",
        choices=[(kind, f"{words} (epsilon {EPSILON[kind]:g})") for kind, words in KINDS.items()],
        help_text="The test allows a judge to agree a little less than an annotator. The allowance (epsilon) is larger if"
        " annotators are expensive.",
    )

    def __init__(self, *args, criteria: list[str], **kwargs):
        super().__init__(*args, label_suffix="", **kwargs)
        self.fields["criterion"].choices = [
            ("", "an accepted criterion (default)"),
            *((name, name) for name in criteria if name),
        ]


@login_required
def judges(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    snapshot = latest_snapshot(campaign)
    form = EvaluateForm(request.POST or None, criteria=selectors.criteria(snapshot))
    if request.method == "POST" and form.is_valid():
        try:
            _, started = judge_tables.start(campaign, **form.cleaned_data, user=request.user)
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            said = (
                "The evaluation is in the queue. This page shows its progress."
                if started
                else "This evaluation is already done or running."
            )
            messages.success(request, said)
            return redirect("judges", slug)
    table, open_jobs = judge_tables.shown(campaign)
    context = {
        "campaign": campaign,
        "snapshot": snapshot,
        "form": form,
        "jobs": open_jobs,
        "worker_alive": jobs.worker_alive(),
        "table": table,
        "is_old": table and snapshot and table.snapshot_id != snapshot.pk,
    } | (_in_words(table.record) if table else {})
    return render(request, "evaluator/judges.html", context, status=422 if request.method == "POST" else 200)


@login_required
def judges_file(request, slug, kind):
    campaign = campaign_for_researcher(request.user, slug)
    table, _ = judge_tables.shown(campaign)
    table = get_object_or_404(campaign.judges_tables, pk=table and table.pk)
    content_type, text = FILES[kind]
    response = HttpResponse(text(table.record), content_type=f"{content_type}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="judges-{campaign.slug}.{kind}"'
    return response


def _in_words(record: dict) -> dict:
    scopes = [
        (
            judges_export.SCOPES[scope],
            scope,
            [{**row, "took": judges_export.took(row)} for row in found["rows"]],
            [d for d in found["differences"] if d["corrected"] < 0.05],
        )
        for scope, found in record["tables"].items()
    ]
    return {"scopes": scopes, "signature": judges_export.signature(record), "again": judges_export.again(record)}
