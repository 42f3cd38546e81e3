"""What the leaderboard's pages share."""

from functools import wraps
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.http import Http404

from annotation.access import campaign_for_researcher
from core.errors import Refused
from evaluator.versions.card_view import confidence
from leaderboard.access import campaign_with_boards, is_member
from leaderboard.asked import Asked, asked_of
from leaderboard.boards import queries
from leaderboard.models import Tournament

PEOPLE, JUDGE = Tournament.Basis.PEOPLE, Tournament.Basis.JUDGE


def sign_in_first(view):
    """Whoever is not signed in and finds nothing here may be a member: ask them, as pages for members do."""

    @login_not_required
    @wraps(view)
    def asked(request, *args, **kwargs):
        try:
            return view(request, *args, **kwargs)
        except Http404:
            if request.user.is_authenticated:
                raise
            return redirect_to_login(request.get_full_path())

    return asked


def public_page(request, slug: str, here: str) -> dict:
    """The context of a page that outsiders may see where the boards are public."""
    campaign = campaign_with_boards(request.user, slug)
    return {"campaign": campaign, "active": "leaderboard", "here": here, "member": is_member(request.user, campaign)}


def member_page(request, slug: str, here: str) -> dict:
    """The context of a page for researchers alone."""
    return {"campaign": campaign_for_researcher(request.user, slug), "active": "leaderboard", "here": here, "member": True}


def asked_board(request, campaign) -> Tournament | None:
    """The board that the address asks for; 404 for a judge or a basis that there is not."""
    try:
        return queries.asked_board(campaign, asked_or_404(request), request.GET.get("criterion"))
    except Refused as refused:
        raise Http404(str(refused)) from None


def asked_or_404(request) -> Asked:
    try:
        return asked_of(request.GET)
    except Refused as refused:
        raise Http404(str(refused)) from None


def confidence_of(board: Tournament) -> dict | None:
    """How far the confidence of a board's comparator may be trusted in its campaign; None where people alone judged."""
    return confidence(board.version, board.campaign) if board.version else None


def board_query(basis: str, judge: str, criterion: str) -> str:
    """What an address says to ask for the newest board of a judge (`queries.asked_by`)."""
    return urlencode({"basis": basis, **({"judge": judge} if judge else {}), "criterion": criterion})


def board_links(campaign, shown: Tournament | None) -> list[dict]:
    """The newest boards there are, as links."""
    return [
        {
            "query": board_query(basis, judge, criterion),
            "label": f"{queries.link_label(basis, judge)}, {criterion or 'judgments of pairs'}",
            "current": bool(shown and (*queries.asked_by(shown), shown.criterion) == (basis, judge, criterion)),
        }
        for basis, judge, criterion in queries.choices(campaign)
    ]
