"""Which boards there are, and one as it is shown, printed and served."""

from dataclasses import replace
from math import inf
from statistics import median
from typing import Any

from django.db.models import Q

from annotation.models import Campaign
from annotation.snapshots import has_newer_answers, latest_snapshot, since_frozen
from core.errors import Refused
from evaluator.models import Judge
from evaluator.roster import judge_named
from evaluator.versions.selectors import by_default, usual_criterion
from leaderboard.asked import Asked
from leaderboard.boards.agreement import agreement_with_people
from leaderboard.boards.board import Board
from leaderboard.boards.older_boards import older_board, upgraded
from leaderboard.boards.panels import CostPanel, SystemCost
from leaderboard.boards.tree import from_json, renamed
from leaderboard.models import Tournament

PEOPLE, JUDGE, CORRECTED = Tournament.Basis.PEOPLE, Tournament.Basis.JUDGE, Tournament.Basis.CORRECTED
ANY = Asked()


def finished(campaign: Campaign):
    found = Tournament.objects.filter(campaign=campaign, finished_at__isnull=False)
    return (
        found.select_related("campaign", "judge__version", "snapshot")
        .defer("snapshot__content")
        .order_by("-finished_at", "-pk")
    )


def latest(
    campaign: Campaign, basis: str = JUDGE, criterion: str | None = None, until: Tournament | None = None, judge: str = ""
):
    """The newest board on this basis, or None; without a criterion that of the campaign's default criterion, else of any.

    judge: its name; empty is people alone, or any comparator.
    until: no board that was finished after this one, so that what stands beside a permalink never changes."""
    boards = of_judge(finished(campaign), basis, judge).filter(level=Tournament.Level.SYSTEM)
    if until is not None:
        boards = boards.filter(Q(finished_at__lt=until.finished_at) | Q(pk=until.pk))
    if criterion is not None:
        return boards.filter(criterion=criterion).first()
    usual = usual_criterion(latest_snapshot(campaign))
    return (None if usual is None else boards.filter(criterion=usual).first()) or boards.first()


def of_judge(boards, basis: str, judge: str = ""):
    """Those on this basis by the judge of this name; empty: by people alone, or by any comparator."""
    if basis == PEOPLE:
        return boards.filter(basis=basis)
    comparator = Judge.Kind.COMPARATOR.value
    was_one = Q(judge__kind=Judge.Kind.IMPORTED, judge__settings__elsewhere__kind=comparator)  # where an archive comes from
    return boards.filter(Q(judge__name=judge) if judge else Q(judge__kind=comparator) | was_one, basis=basis)


def default_board(campaign: Campaign, criterion: str | None = None) -> Tournament | None:
    """What a leaderboard opens on: people's board; the one of people and comparator together where the comparator passed its
    gate, people have said nothing since, and it is narrower than people's. A comparator's own only where nobody else's is
    there."""
    people, together = (latest(campaign, basis, criterion) for basis in (PEOPLE, CORRECTED))
    if together and _passed_gate(together):
        if people is None or (_as_new(together, people) and _margin(together) < _margin(people)):
            return together
    return people or together or latest(campaign, JUDGE, criterion)


def _passed_gate(tournament: Tournament) -> bool:
    """Had its comparator passed when the tournament ended?"""
    judge = alone(tournament).basis.judge
    return bool(judge and judge.gate and judge.gate.passed)


def _margin(tournament: Tournament) -> float:
    """The median of what differences must exceed to be known."""
    margins = [pair.margin for pair in alone(tournament).differences if pair.margin is not None]
    return median(margins) if margins else inf


def _as_new(board: Tournament, other: Tournament) -> bool:
    """Is it about the same criterion, from the same or a later snapshot?"""
    return board.criterion == other.criterion and (board.snapshot_id or 0) >= (other.snapshot_id or 0)


def opened(campaign: Campaign) -> Board | None:
    """The board itself, as it is said today."""
    found = default_board(campaign)
    return alone(found, live=True, today=True) if found else None


def asked_board(campaign: Campaign, asked: Asked = ANY, criterion: str | None = None) -> Tournament | None:
    """The newest board of what is asked for, or the one that a leaderboard opens on. Raises Refused for a judge that nobody
    knows."""
    if asked.judge and not campaign.judges.filter(name=asked.judge).exists():
        judge_named(campaign, asked.judge)
    if not asked.basis:
        return default_board(campaign, criterion)
    return latest(campaign, asked.basis, criterion, judge=asked.judge)


def latest_of_samples(campaign: Campaign, criterion: str) -> Tournament | None:
    """The newest board on which outputs played, judged by a comparator."""
    return of_judge(finished(campaign), JUDGE).filter(level=Tournament.Level.SAMPLE, criterion=criterion).first()


def latest_or_refuse(campaign: Campaign, asked: Asked, criterion: str | None) -> Tournament:
    found = asked_board(campaign, asked, criterion)
    if found is None:
        by = f" judged by {link_label(asked.basis, asked.judge)}" if asked.basis else ""
        about = "" if criterion is None else " on judgments of pairs" if criterion == "" else f" on {criterion!r}"
        raise Refused(f"No tournament{by}{about} is finished in campaign {campaign.slug!r}; run_tournament plays one.")
    return found


def chosen_by_default(shown: Tournament, criterion: str | None) -> str:
    """What stands first where nobody chose what the board is about; criterion: as it was asked for."""
    return by_default(latest_snapshot(shown.campaign), shown.criterion) if criterion is None else ""


def link_label(basis: str, judge: str) -> str:
    """Who judged, where it links to a board; judge: as `asked_by` names it."""
    by_basis: dict[str, str] = {PEOPLE: "people", CORRECTED: f"people and {judge or 'comparator'}"}
    return by_basis.get(basis, judge or "comparator")


def asked_by(tournament: Tournament) -> tuple[str, str]:
    """(basis, judge) that ask for the newest board like this one; empty: people alone, or any comparator."""
    return tournament.basis, "" if tournament.version else tournament.judge_name


def board(
    tournament: Tournament, people: Tournament | None = None, live: bool = False, population: str = "", today: bool = True
) -> Board:
    """A finished tournament's board. people: theirs, to compare it with; by default the newest that was finished before this
    one, so that the same tournament always gives the same board. live: systems by the names they have now. population:
    "annotators" for what is known of these annotators only, where a board speaks of other people too. today: with a word
    on answers that came later."""
    people = people or latest(tournament.campaign, PEOPLE, tournament.criterion, until=tournament)
    found = replace(alone(tournament, live, today), agreement=agreement_with_people(tournament, people))
    return found.for_annotators() if population == "annotators" else found


def alone(tournament: Tournament, live: bool = False, today: bool = False) -> Board:
    """The same, set beside no other board."""
    found = stored(tournament).within_scale()
    if found.basis.judge:
        found = replace(found, basis=replace(found.basis, judge=found.basis.judge.without_answers()))
    found = replace(found, since=since_frozen(tournament.snapshot), **_of_today(found, tournament.campaign))
    found = _with_newer(found, tournament) if today else found
    if not live:
        return found
    now = {pk: (then, name) for pk, then, name in tournament.ratings.values_list("system_id", "name", "system__name")}
    absent = {then: name for then, name in now.values() if then in found.absent}
    return renamed(found, absent | {row.system: now[row.id][1] for row in found.standings})


def stored(tournament: Tournament) -> Board:
    """As it was when it was finished."""
    return upgraded(from_json(Board, tournament.board)) if tournament.board else older_board(tournament)


def _of_today(board: Board, campaign: Campaign) -> dict[str, Any]:
    """What its systems cost, None where that is known of none, and which are retired."""
    systems = list(campaign.systems.values_list("pk", "cost", "cost_unit", "retired_at"))
    known = {pk: (cost, unit) for pk, cost, unit, _ in systems if cost is not None}
    rows = tuple(SystemCost(row.system, known[row.id][0]) for row in board.standings if row.id in known)
    gone = {pk for pk, *_, retired_at in systems if retired_at}
    return {
        "costs": CostPanel(next(unit for _, unit in known.values()), rows) if rows else None,
        "retired": tuple(row.system for row in board.standings if row.id in gone),
    }


def _with_newer(board: Board, tournament: Tournament) -> Board:
    """Where it rests on people's answers, and newer ones have come: whoever reads it learns that there are some, and not how
    many, since a count would tell day by day how a study goes on."""
    snapshot = tournament.snapshot
    if tournament.basis == JUDGE or snapshot is None or not has_newer_answers(snapshot, tournament.criterion):
        return board
    return replace(board, newer_than=f"{snapshot.accepted_at:%Y-%m-%d}")


def choices(campaign: Campaign) -> list[tuple[str, str, str]]:
    """(basis, judge, criterion) of every board there is; judge as `asked_by` names it."""
    found = Tournament.objects.filter(campaign=campaign, finished_at__isnull=False, level=Tournament.Level.SYSTEM)
    rows = found.order_by().values_list("basis", "judge__kind", "judge__name", "criterion").distinct()
    comparator = Judge.Kind.COMPARATOR
    return sorted({(basis, "" if kind == comparator else name or "", criterion) for basis, kind, name, criterion in rows})


def open_tournaments(campaign: Campaign) -> list[Tournament]:
    """Tournaments that a page follows: those under way, and the newest where it failed or was cancelled."""
    light = ("replicates", "head_to_head", "board")
    newest = list(campaign.tournaments.select_related("job", "judge__version").defer(*light)[:20])
    return [t for i, t in enumerate(newest) if not t.job.is_finished or (i == 0 and t.finished_at is None)]
