"""The board's pages: standings, people beside the comparator, who beat whom, and a button to play."""

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from annotation import jobs
from annotation.access import campaign_for_researcher
from annotation.assessment import latest_snapshot
from annotation.errors import Refused
from evaluator.selectors import criteria
from evaluator.services import MAX_SEED
from leaderboard import selectors, services
from leaderboard.api import tournament_for_researcher
from leaderboard.models import Tournament

DEFAULT, PAIRS = "default", "pairs"
PEOPLE, COMPARATOR = Tournament.Judge.PEOPLE, Tournament.Judge.COMPARATOR


class PlayForm(forms.Form):
    """Names are sent behind a colon, so that none can be taken for one of the other choices."""

    judge = forms.ChoiceField(label="Judge")
    criterion = forms.ChoiceField(label="People's criterion")
    seed = forms.IntegerField(min_value=0, max_value=MAX_SEED, initial=0)
    games = forms.IntegerField(
        min_value=1, max_value=services.MAX_GAMES, required=False, label="Games",
        widget=forms.NumberInput(attrs={"placeholder": "until settled"}),
    )  # fmt: skip

    def __init__(self, *args, campaign, **kwargs):
        super().__init__(*args, label_suffix="", **kwargs)
        self.versions = {f":{version.name}": version for version in campaign.comparators.filter(retired_at=None)}
        self.fields["judge"].choices = [(key, version.name) for key, version in self.versions.items()]
        self.fields["judge"].choices += [("people", "people")]
        self.fields["criterion"].choices = [(DEFAULT, "what is accepted (default)")] + [
            (f":{name}", name) if name else (PAIRS, "judgments of pairs") for name in criteria(latest_snapshot(campaign))
        ]

    def request(self) -> dict:
        """The arguments of services.start_tournament."""
        judge, criterion = self.cleaned_data["judge"], self.cleaned_data["criterion"]
        return {
            "judge": PEOPLE if judge == "people" else COMPARATOR,
            "version": self.versions.get(judge),
            "criterion": None if criterion == DEFAULT else "" if criterion == PAIRS else criterion[1:],
            "seed": self.cleaned_data["seed"],
            "games": self.cleaned_data["games"],
        }


@login_required
def leaderboard(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    boards = selectors.choices(campaign)
    judges = [judge for judge, _ in boards]
    judge = request.GET.get("judge") or (COMPARATOR if COMPARATOR in judges or not judges else PEOPLE)
    criterion = request.GET.get("criterion")
    shown = selectors.latest(campaign, judge, criterion)
    context = {
        "campaign": campaign, "active": "leaderboard", "boards": _choices(boards, shown), "asked": (judge, criterion),
        "open": selectors.open_tournaments(campaign), "worker_alive": jobs.worker_alive(),
        "form": PlayForm(campaign=campaign), "snapshot": latest_snapshot(campaign),
    }  # fmt: skip
    if shown:
        context |= _board(shown)
    return render(request, "leaderboard/leaderboard.html", context)


@login_required
def tournament(request, pk):
    """The permalink: this tournament, whatever was played since."""
    found = tournament_for_researcher(request.user, pk)
    context = {
        "campaign": found.campaign, "active": "leaderboard", "tournament": found, "permalink": True,
        "worker_alive": jobs.worker_alive(),
    }  # fmt: skip
    if found.finished_at:
        context |= _board(found)
    return render(request, "leaderboard/tournament.html", context)


@require_POST
@login_required
def play(request, slug):
    campaign = campaign_for_researcher(request.user, slug)
    form = PlayForm(request.POST, campaign=campaign)
    if not form.is_valid():
        messages.error(request, "Choose a judge and a criterion, and whole numbers as seed and games.")
        return redirect("leaderboard", slug)
    try:
        services.start_tournament(campaign, **form.request(), user=request.user)
    except Refused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, "The tournament is in the queue. This page follows it.")
    return redirect("leaderboard", slug)


def _choices(boards, shown) -> list[dict]:
    """What the page can show, as links."""
    return [
        {
            "judge": judge, "criterion": criterion,
            "label": f"{judge}, {criterion or 'judgments of pairs'}",
            "current": bool(shown and (shown.judge, shown.criterion) == (judge, criterion)),
        }
        for judge, criterion in boards
    ]  # fmt: skip


def _board(shown: Tournament) -> dict:
    """A board with the other judge's of the same criterion beside it."""
    other = selectors.latest(shown.campaign, PEOPLE if shown.judge == COMPARATOR else COMPARATOR, shown.criterion)
    board = selectors.board(shown, people=other if shown.judge == COMPARATOR else None)
    beside = selectors.board(other) if other else None
    return {
        "tournament": shown, "board": board, "other": other, "beside": beside,
        "chart": whiskers(board, beside), "head_to_head": selectors.head_to_head(shown),
    }  # fmt: skip


# --- intervals as whiskers, drawn here so that the page needs no script

WIDTH, ROW, TOP, SIDE = 420, 46, 8, 18


def whiskers(board: dict, beside: dict | None) -> dict | None:
    """Geometry of one row per system: the board's interval, and below it the other judge's."""
    others = {row["system"]: row for row in beside["standings"]} if beside else {}
    standings = board["standings"]
    ends = [row[end] for row in [*standings, *others.values()] for end in ("low", "high", "rating")]
    if not ends:
        return None
    step = next(s for s in (25, 50, 100, 200, 500, 1000, 2000) if max(ends) - min(ends) <= 6 * s or s == 2000)
    low, high = int(min(ends) // step * step), int(-(-max(ends) // step) * step)

    def x(rating: float) -> float:
        return round(SIDE + (WIDTH - 2 * SIDE) * (rating - low) / ((high - low) or 1), 1)

    def whisker(row: dict | None, y: int) -> dict | None:
        return row and {"low": x(row["low"]), "high": x(row["high"]), "at": x(row["rating"]), "y": y}

    rows = []
    for i, row in enumerate(standings):
        y = TOP + i * ROW
        name = row["system"] if len(row["system"]) <= 40 else row["system"][:39] + "…"
        rows.append({
            "name": name, "human": row["human_written"], "label_y": y + 14,
            "main": whisker(row, y + 25), "other": whisker(others.get(row["system"]), y + 35),
        })  # fmt: skip
    base = TOP + len(rows) * ROW
    ticks = [(x(value), value) for value in range(low, high + 1, step)]
    return {"width": WIDTH, "height": base + 20, "base": base, "top": TOP, "side": SIDE, "rows": rows, "ticks": ticks}
