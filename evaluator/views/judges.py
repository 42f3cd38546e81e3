"""The judges' page: which judge agrees with these people, and which may stand in for one of them; and a page for each judge."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotation import jobs
from annotation.access import campaign_for_researcher
from annotation.models import Campaign, Job
from annotation.snapshots import latest_snapshot
from core.errors import Refused
from evaluator import model_settings
from evaluator.judge_tables import anchors, exports, tables, transfer_exports
from evaluator.judge_tables.cautions import as_of_now, cautions
from evaluator.judge_tables.text_tables import NEGATIVE
from evaluator.models import AnchorAsking, AnchorSet, Judge
from evaluator.offers import offers, set_up_model
from evaluator.roster import set_up_jury
from evaluator.versions import selectors
from evaluator.views.curves import scatter_plot
from evaluator.views.judge_forms import EvaluateForm, JuryForm, ModelForm, ScheduleForm

FILES = {"csv": ("text/csv", exports.as_csv), "tex": ("application/x-tex", exports.as_latex)}

TRANSFER = (
    "Each judge learnt on one campaign, and was tested on another. On its own campaign it was tested out of fold. Ties are"
    " those of the people it learnt from. In brackets: 95% intervals over contexts."
)
FEWER = (
    "Judges that learn from people's scores, with scores of only some contexts; tested out of fold. Means of three draws of the"
    " contexts; in brackets the lowest and highest."
)


@login_required
def judges(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    snapshot = latest_snapshot(campaign)
    endpoints, warning = _endpoints()
    sent = {field: request.POST if field in request.POST else None for field in ("model-model", "jury-by")}
    sets_up = any(sent.values())
    model_form = ModelForm(sent["model-model"], campaign=campaign, endpoints=endpoints) if endpoints else None
    jury_form = JuryForm(sent["jury-by"], campaign=campaign)
    if sets_up and (_set_up(request, campaign, model_form, set_up_model) or _set_up(request, campaign, jury_form, set_up_jury)):
        return redirect(f"{reverse('judges', args=[slug])}#evaluate")
    table, open_jobs = tables.shown(campaign)
    offered = offers(campaign, snapshot)
    form = EvaluateForm(
        request.POST if request.method == "POST" and not sets_up else None,
        criteria=selectors.criteria(snapshot),
        offers=offered,
        initial={"judges": table.judges if table else []},
    )
    if request.method == "POST" and not sets_up and form.is_valid() and _start(request, campaign, form):
        return redirect("judges", slug)
    context = {
        "campaign": campaign,
        "snapshot": snapshot,
        "form": form,
        "model_form": model_form,
        "jury_form": jury_form,
        "endpoints_warning": warning,
        "offers": offered,
        "jobs": open_jobs,
        "worker_alive": jobs.worker_alive(),
        "table": table,
    } | (_in_words(as_of_now(table.record)) if table else {})
    return render(request, "evaluator/judges.html", context, status=422 if request.method == "POST" else 200)


def _endpoints() -> tuple[dict[str, model_settings.ConfiguredEndpoint], str]:
    """(those that are configured, what is wrong with the configuration)"""
    try:
        return model_settings.configured(), ""
    except Refused as refused:
        return {}, str(refused)


def _start(request, campaign, form: EvaluateForm) -> bool:
    try:
        _, started = tables.start(campaign, **form.cleaned_data, user=request.user)
    except Refused as refused:
        form.add_error(None, str(refused))
        return False
    said = "The evaluation is in the queue. This page shows its progress." if started else ""
    messages.success(request, said or "This evaluation is already done or running.")
    return True


def _set_up(request, campaign, form: ModelForm | JuryForm | None, service: Callable[..., Judge]) -> bool:
    """Where this form was sent and is right."""
    if form is None or not form.is_valid():
        return False
    try:
        row = service(campaign, user=request.user, **form.cleaned_data)
    except Refused as refused:
        form.add_error(None, str(refused))
        return False
    messages.success(request, f"{row.name} is set up. Nothing was asked yet: read below what it is asked and what that costs.")
    return True


@login_required
def judge(request, slug, key):
    """One judge of the newest table: its figures, a scatter plot, its settings."""
    campaign = campaign_for_researcher(request.user, slug)
    table, _ = tables.shown(campaign)
    record = as_of_now(get_object_or_404(campaign.judges_tables, pk=table and table.pk).record)
    found = {scope: row for scope, one in record["tables"].items() for row in one["rows"] if key_of(row["name"]) == key}
    if "all" not in found:
        raise Http404
    row = found["all"]
    name, others = row["name"], record["tables"]["all"]["differences"]
    attacks = next((one for one in record.get("attacks", []) if one["judge"] == name), None)
    context = {
        "campaign": campaign,
        "record": record,
        "cautions": cautions(record),
        "row": _shown(row),
        "scopes": [(exports.SCOPES[scope], _figures(one), _shown(one)) for scope, one in found.items()],
        "plot": scatter_plot((row.get("profile") or {}).get("points") or []),
        "differences": [_seen_from(name, d) for d in others if name in (d["first"], d["second"]) and d["corrected"] < 0.05],
        "attacks": attacks,
        "anchors": _anchors(campaign, name),
        "worker_alive": jobs.worker_alive(),
        "settings": _as_json({name: value for name, value in (row["settings"] or {}).items() if name != "asked"}),
        "signature": exports.signature(record),
        "again": exports.again(record),
    }
    return render(request, "evaluator/judge.html", context)


def _anchors(campaign: Campaign, name: str) -> dict | None:
    """Of a language model: the times that it was asked again, newest first, and jobs that are shown. None of another judge."""
    judge = campaign.judges.filter(name=name, kind=Judge.Kind.LANGUAGE_MODEL).select_related("anchor_set").first()
    if judge is None:
        return None
    of = getattr(judge, "anchor_set", None)
    every = list(of.askings.select_related("job")) if of else []
    last = every[-1:]
    shown = [one.job for one in every if not one.job.is_finished or (one in last and one.job.status == Job.Status.FAILED)]
    form = ScheduleForm(initial={"every_days": of.every_days}) if of else None
    times = [(one, _unjudged(of, one)) for one in every if one.choices is not None][::-1]
    return {"of": of, "times": times, "jobs": shown, "pairs": anchors.PAIRS, "form": form}


def _unjudged(of: AnchorSet, asking: AnchorAsking) -> dict:
    """How many of the pairs, of which systems most, and how long it took."""
    missing = [pair for pair, choice in zip(of.pairs, asking.choices or [], strict=True) if not choice]
    systems = Counter(output[1] for pair in missing for output in pair)
    job = asking.job
    seconds = (job.finished_at - job.started_at).total_seconds() if job.finished_at and job.started_at else None
    return {"pairs": len(missing), "systems": systems.most_common(3), "seconds": seconds}


@login_required
@require_POST
def ask_again(request, slug, key):
    """Ask a language model again about its anchor set; the first time draws the set. Or say when that happens by itself."""
    campaign = campaign_for_researcher(request.user, slug)
    names = campaign.judges.filter(kind=Judge.Kind.LANGUAGE_MODEL).values_list("name", flat=True)
    name = next((name for name in names if key_of(name) == key), None)
    if name is None:
        raise Http404
    form = ScheduleForm(request.POST) if "every_days" in request.POST else None
    try:
        if form is None:
            anchors.start(campaign, name, user=request.user)
        elif form.is_valid():
            days = anchors.set_schedule(campaign, name, form.cleaned_data["every_days"], user=request.user).every_days
            when = f"{days} day{'s' if days > 1 else ''} after each time" if days else "only when somebody asks"
            messages.success(request, f"{name} is asked again {when}.")
        else:
            messages.error(request, " ".join(form.errors["every_days"]))
    except Refused as refused:
        messages.error(request, str(refused))
    return redirect(f"{reverse('judge', args=[slug, key])}#again")


def _as_json(settings: dict) -> str:
    return json.dumps(settings, indent=2, ensure_ascii=False, sort_keys=True) if settings else ""


def key_of(name: str) -> str:
    """In an address: a judge's name may hold anything."""
    return hashlib.sha256(name.encode()).hexdigest()[:12]


def _shown(row: dict) -> dict:
    words = {"took": exports.took(row), "worth": exports.worth_in_words(row), "own": exports.own_in_words(row)}
    words |= {"worth_least": exports.worth_least(row), "price": exports.price(row)}
    return {**row, **words, "key": key_of(row["name"])}


def _figures(row: dict) -> list[tuple[str, list]]:
    """[(level, [figure or None of each coefficient])]"""
    return [
        (words.capitalize(), [row["correlations"].get(f"{level}_{name}") for name in exports.MEASURES])
        for level, words in exports.LEVELS.items()
    ]


def _seen_from(name: str, d: dict) -> dict:
    ahead = d["difference"] > 0 if d["first"] == name else d["difference"] < 0
    return {"more": ahead, "other": d["second"] if d["first"] == name else d["first"], "p": d["corrected"]}


@login_required
def judges_file(request, slug, kind):
    campaign = campaign_for_researcher(request.user, slug)
    table, _ = tables.shown(campaign)
    table = get_object_or_404(campaign.judges_tables, pk=table and table.pk)
    content_type, text = FILES[kind]
    response = HttpResponse(text(as_of_now(table.record)), content_type=f"{content_type}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="judges-{campaign.slug}.{kind}"'
    return response


def _in_words(record: dict) -> dict:
    scopes = [
        (
            exports.SCOPES[scope],
            scope,
            [_shown(row) | {"coverage": exports.coverage(row, found["rows"])} for row in found["rows"]],
            [d for d in found["differences"] if d["corrected"] < 0.05],
            [words for words in (exports.brackets(found), exports.together(found), exports.apart(found)) if words],
        )
        for scope, found in record["tables"].items()
    ]
    words = {
        "cautions": cautions(record),
        "missing": exports.absent(record),
        "scopes": scopes,
        "has_scores": any(any(row["correlations"].values()) for _, _, rows, *_ in scopes for row in rows),
        "signature": exports.signature(record),
        "again": exports.again(record),
    }
    return words | (_transfer_in_words(record["transfer"]) if "transfer" in record else {})


def _with_minus(row: list[str]) -> list[str]:
    return [NEGATIVE.sub("−", cell) for cell in row]


def _transfer_in_words(record: dict) -> dict:
    """transfers: [(key, title, caption, number of columns of words, header, rows)]"""
    rows = transfer_exports.cells(record["rows"], transfer_exports.MATRIX)
    tables = [("transfer", "On other campaigns", TRANSFER, 3, rows)]
    if record.get("labels"):
        rows = transfer_exports.cells(record["labels"], transfer_exports.LABELS)
        tables.append(("labels", "With fewer labels", FEWER, 2, rows))
    return {
        "transfer_cautions": cautions(record),
        "transfers": [(*about, header, [_with_minus(row) for row in rows]) for *about, (header, *rows) in tables],
        "transfer_signature": transfer_exports.signature(record),
        "transfer_again": transfer_exports.again(record),
    }
