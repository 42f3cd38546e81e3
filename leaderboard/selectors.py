"""Boards as they are shown, printed and served."""

import numpy as np
from django.db.models import Q

from annotation.assessment import latest_snapshot
from annotation.errors import Refused
from annotation.models import Campaign
from evaluator.metaevaluation.correlation import UndefinedCorrelation, spearman, spearman_interval
from evaluator.selectors import basis
from leaderboard.models import Tournament

MIN_SYSTEMS = 3  # fewer have no rank correlation worth the name
PEOPLE, COMPARATOR, CALIBRATED = Tournament.Judge.PEOPLE, Tournament.Judge.COMPARATOR, Tournament.Judge.CALIBRATED
JUDGES = {PEOPLE: "people", COMPARATOR: "a comparator", CALIBRATED: "people and a comparator together"}


def finished(campaign: Campaign):
    found = Tournament.objects.filter(campaign=campaign, finished_at__isnull=False)
    return found.select_related("campaign", "version", "snapshot").defer("snapshot__content").order_by("-finished_at", "-pk")


def latest(campaign: Campaign, judge: str = COMPARATOR, criterion: str | None = None, until: Tournament | None = None):
    """The newest board of a judge, or None; without a criterion that of the campaign's default criterion, else of any.

    until: no board that was finished after this one, so that what stands beside a permalink never changes."""
    boards = finished(campaign).filter(judge=judge, level=Tournament.Level.SYSTEM)
    if until is not None:
        boards = boards.filter(Q(finished_at__lt=until.finished_at) | Q(pk=until.pk))
    if criterion is not None:
        return boards.filter(criterion=criterion).first()
    snapshot = latest_snapshot(campaign)
    usual = boards.filter(criterion=basis(snapshot).criterion).first() if snapshot else None
    return usual or boards.first()


def latest_or_refuse(campaign: Campaign, judge: str, criterion: str | None) -> Tournament:
    if judge not in Tournament.Judge.values:
        raise Refused(unknown_judge(judge))
    found = latest(campaign, judge, criterion)
    if found is None:
        about = "" if criterion is None else " on judgments of pairs" if criterion == "" else f" on {criterion!r}"
        raise Refused(
            f"No tournament judged by {JUDGES[judge]}{about} is finished in campaign {campaign.slug!r}; run_tournament "
            "plays one."
        )
    return found


def unknown_judge(judge: str) -> str:
    return f"The judge is 'comparator', 'people' or 'calibrated', not {judge!r}."


def board(tournament: Tournament, people: Tournament | None = None) -> dict:
    """A finished tournament as JSON. people: their board to compare it with; by default the newest that was finished
    before this one, so that the same tournament always gives the same JSON."""
    people = people or latest(tournament.campaign, PEOPLE, tournament.criterion, until=tournament)
    return {
        "signature": tournament.signature,
        "campaign": tournament.campaign.slug,
        "tournament": tournament.pk,
        "permalink": tournament.get_absolute_url(),
        "judge": tournament.judge,
        "comparator": tournament.version.name if tournament.version else None,
        "criterion": tournament.criterion,
        "snapshot": tournament.snapshot.name if tournament.snapshot else None,
        "seed": tournament.seed,
        "level": tournament.level,
        "rating": tournament.rating,
        "pairing": tournament.pairing,
        "ties": tournament.ties,
        "games": tournament.played,
        "settled": tournament.settled,
        "simulated": tournament.is_simulated,
        "warning": tournament.settings.get("warning", ""),
        "finished_at": tournament.finished_at.isoformat(),
        "standings": [_standing(rating) for rating in tournament.ratings.all()],
        "agreement_with_people": agreement(tournament, people),
    }


def _standing(rating) -> dict:
    return {
        "system": rating.name, "human_written": rating.is_human,
        "rank_low": rating.rank_low, "rank_high": rating.rank_high,
        "rating": round(rating.rating, 2), "rd": round(rating.rd, 2), "volatility": round(rating.volatility, 6),
        "low": round(rating.low, 2), "high": round(rating.high, 2), "games": rating.games,
        "wins": rating.wins, "ties": rating.ties, "losses": rating.losses,
        "human_mean": None if rating.human_mean is None else round(rating.human_mean, 4),
    }  # fmt: skip


def agreement(tournament: Tournament, people: Tournament | None) -> dict | None:
    """Spearman's correlation of a board with people's, for all systems and for those not written by people. None where
    there is no people's board. The intervals are paired: both were rated on the same draws of contexts."""
    if people is None or tournament.judge == PEOPLE:
        return None
    ours, theirs = _by_system(tournament), _by_system(people)
    shared = [pk for pk in ours if pk in theirs]
    generated = [pk for pk in shared if not ours[pk][2]]
    paired = tournament.settings["contexts"] == people.settings["contexts"]
    return {
        "people": {"tournament": people.pk, "signature": people.signature, "simulated": people.is_simulated},
        "all": _correlation(ours, theirs, shared, paired),
        "generated": _correlation(ours, theirs, generated, paired),
    }


def _by_system(tournament: Tournament) -> dict[int, tuple]:
    """System id -> (rating, ratings in the replicates, is it human-written), of those that played."""
    column = {pk: i for i, pk in enumerate(tournament.settings["systems"])}
    replicates = np.array(tournament.replicates, dtype=float)  # (replicates, systems)
    ratings = tournament.ratings.filter(games__gt=0).order_by("system_id")
    return {r.system_id: (r.rating, replicates[:, column[r.system_id]], r.is_human) for r in ratings}


def _correlation(ours: dict, theirs: dict, systems: list[int], paired: bool) -> dict:
    found = {"spearman": None, "low": None, "high": None, "systems": len(systems), "reason": ""}
    if len(systems) < MIN_SYSTEMS:
        return found | {"reason": f"A rank correlation needs at least {MIN_SYSTEMS} systems; {len(systems)} played on both."}
    try:
        found["spearman"] = round(spearman([ours[pk][0] for pk in systems], [theirs[pk][0] for pk in systems]), 4)
        if not paired:
            return found | {"reason": "Contexts were added between the two tournaments; play both again for an interval."}
        low, high = spearman_interval(*(np.column_stack([board[pk][1] for pk in systems]) for board in (ours, theirs)))
    except UndefinedCorrelation as error:
        return found | {"reason": str(error)}
    return found | {"low": round(low, 4), "high": round(high, 4)}


def head_to_head(tournament: Tournament) -> list[dict]:
    """Rows by rating: {system, cells}, a cell [won, tied, lost] against each system in the same order, None for itself."""
    order = list(tournament.ratings.all())
    place = {pk: i for i, pk in enumerate(tournament.settings["systems"])}
    table = tournament.head_to_head

    def cell(row, other):
        return None if row.system_id == other.system_id else table[place[row.system_id]][place[other.system_id]]

    return [{"system": row.name, "cells": [cell(row, other) for other in order]} for row in order]


def choices(campaign: Campaign) -> list[tuple[str, str]]:
    """(judge, criterion) of every board there is."""
    found = Tournament.objects.filter(campaign=campaign, finished_at__isnull=False)
    return sorted(set(found.order_by().values_list("judge", "criterion").distinct()))


def open_tournaments(campaign: Campaign) -> list[Tournament]:
    """Tournaments that a page follows: those under way, and the newest where it failed or was cancelled."""
    light = ("replicates", "head_to_head")
    newest = list(campaign.tournaments.select_related("job", "version").defer(*light)[:20])
    return [t for i, t in enumerate(newest) if not t.job.is_finished or (i == 0 and t.finished_at is None)]
