"""What plays, what people's answers give as games, and boards as they are shown, printed and served."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from annotation import snapshots
from annotation.assessment import latest_snapshot
from annotation.errors import Refused
from annotation.models import Campaign, Output, System
from annotation.outcome import Outcome
from annotation.snapshots import SnapshotContent
from evaluator.metaevaluation.correlation import UndefinedCorrelation, spearman, spearman_interval
from evaluator.selectors import basis
from leaderboard.models import Tournament
from leaderboard.rating.games import Games
from leaderboard.rating.people import games_from_judgments, games_from_scores

MIN_SYSTEMS = 3  # fewer have no rank correlation worth the name
PEOPLE, COMPARATOR = Tournament.Judge.PEOPLE, Tournament.Judge.COMPARATOR


@dataclass(frozen=True)
class Field:
    """What plays: systems, contexts and outputs, numbered from 0 by their ids. `contexts` are all the campaign's."""

    systems: list[System]
    contexts: list[int]  # ids
    outputs: list[Output]  # in the order of system, context, sample

    @cached_property
    def system_of(self) -> np.ndarray:
        """(outputs,) the number of each output's system."""
        number = {system.pk: i for i, system in enumerate(self.systems)}
        return np.array([number[output.system_id] for output in self.outputs], dtype=np.int64)

    @cached_property
    def context_of(self) -> np.ndarray:
        """(outputs,) the number of each output's context."""
        number = {pk: i for i, pk in enumerate(self.contexts)}
        return np.array([number[output.context_id] for output in self.outputs], dtype=np.int64)

    @cached_property
    def number_of(self) -> dict[tuple, int]:
        """An output's number by the names that a snapshot uses."""
        return {
            (o.context.key, o.system.name, o.checkpoint.name if o.checkpoint else "", o.sample): i
            for i, o in enumerate(self.outputs)
        }

    @cached_property
    def answers(self) -> dict[tuple[int, int], list[int]]:
        """(system, context) -> numbers of its outputs there; several where they are samples."""
        found: dict[tuple[int, int], list[int]] = {}
        for i, where in enumerate(zip(self.system_of.tolist(), self.context_of.tolist())):
            found.setdefault(where, []).append(i)
        return found

    def contexts_by_pair(self) -> dict[tuple[int, int], list[int]]:
        """(i, j), i < j -> the contexts that both systems answered."""
        answered = [set() for _ in self.systems]
        for system, context in self.answers:
            answered[system].add(context)
        n = len(self.systems)
        return {(i, j): sorted(answered[i] & answered[j]) for i in range(n) for j in range(i + 1, n)}


def field(campaign: Campaign) -> Field:
    """A system that has checkpoints plays with its last one (by iteration); any other with all its outputs."""
    outputs = list(
        Output.objects.filter(context__campaign=campaign, replaced_at=None, system__retired_at=None)
        .select_related("context", "system", "checkpoint")
        .order_by("system_id", "context_id", "sample", "pk")
    )
    last: dict[int, tuple] = {}
    for output in outputs:
        last[output.system_id] = max(last.get(output.system_id, _age(output)), _age(output))
    playing = [output for output in outputs if _age(output) == last[output.system_id]]
    systems = {output.system_id: output.system for output in playing}
    contexts = list(campaign.contexts.order_by("pk").values_list("pk", flat=True))
    return Field([systems[pk] for pk in sorted(systems)], contexts, playing)


def _age(output: Output) -> tuple:
    """No checkpoint, then checkpoints without iteration, then by iteration."""
    if output.checkpoint is None:
        return (-2, 0)
    iteration = output.checkpoint.iteration
    return (-1 if iteration is None else iteration, output.checkpoint_id)


def people_games(field: Field, content: SnapshotContent, criterion: str, seed: int) -> Games:
    """Every game that people's accepted answers give, once, in seeded random order; its players are outputs."""
    games = _games_from_judgments(field, content) if not criterion else _games_from_scores(field, content, criterion)
    apart = field.system_of[games.first] != field.system_of[games.second]  # two samples of one system play no game
    return games.take(apart).shuffled(seed)


def _games_from_scores(field: Field, content: SnapshotContent, criterion: str) -> Games:
    rows = scored(field, content, criterion)
    outputs = np.array([output for output, _, _ in rows], dtype=np.int64)
    numbers: dict[str, int] = {}
    annotators = [numbers.setdefault(annotator, len(numbers)) for _, annotator, _ in rows]
    return games_from_scores(outputs, field.context_of[outputs], annotators, [value for _, _, value in rows])


def _games_from_judgments(field: Field, content: SnapshotContent) -> Games:
    rows = []
    for row in content.judgments:
        a, b = (field.number_of.get((row["context"], *row[side])) for side in "ab")
        if a is not None and b is not None:
            rows.append((a, b, Outcome(row["choice"]).code))
    a, b, choice = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return games_from_judgments(a, b, field.context_of[a], choice)


def scored(field: Field, content: SnapshotContent, criterion: str) -> list[tuple[int, str, float]]:
    """(output number, annotator, value) of the kept scores of the outputs that play."""
    found = []
    for row in content.scores:
        if row["criterion"] == criterion:
            number = field.number_of.get((row["context"], row["system"], row["checkpoint"], row["sample"]))
            if number is not None:
                found.append((number, row["annotator"], row["value"]))
    return found


def human_means(field: Field, content: SnapshotContent | None, criterion: str) -> list[float | None]:
    """Each system's mean kept score of the criterion; None where nobody scored it."""
    values: list[list[float]] = [[] for _ in field.systems]
    for output, _, value in scored(field, content, criterion) if content and criterion else []:
        values[field.system_of[output]].append(value)
    return [sum(v) / len(v) if v else None for v in values]


# --- boards


def finished(campaign: Campaign):
    found = Tournament.objects.filter(campaign=campaign, finished_at__isnull=False)
    return found.select_related("campaign", "version", "snapshot").defer("snapshot__content").order_by("-finished_at", "-pk")


def latest(campaign: Campaign, judge: str = COMPARATOR, criterion: str | None = None) -> Tournament | None:
    """The newest board of a judge; without a criterion that of the campaign's default criterion, else of any."""
    boards = finished(campaign).filter(judge=judge)
    if criterion is not None:
        return boards.filter(criterion=criterion).first()
    snapshot = latest_snapshot(campaign)
    usual = boards.filter(criterion=basis(snapshot).criterion).first() if snapshot else None
    return usual or boards.first()


def latest_or_refuse(campaign: Campaign, judge: str, criterion: str | None) -> Tournament:
    if judge not in Tournament.Judge.values:
        raise Refused(f"The judge is 'comparator' or 'people', not {judge!r}.")
    found = latest(campaign, judge, criterion)
    if found is None:
        about = "" if criterion is None else " on judgments of pairs" if criterion == "" else f" on {criterion!r}"
        raise Refused(
            f"No tournament judged by {'people' if judge == PEOPLE else 'a comparator'}{about} is finished in campaign "
            f"{campaign.slug!r}; run_tournament plays one."
        )
    return found


def content_of(tournament: Tournament) -> SnapshotContent | None:
    return snapshots.read(tournament.snapshot) if tournament.snapshot else None


def board(tournament: Tournament) -> dict:
    """A finished tournament as JSON."""
    ratings = tournament.ratings.select_related("system").order_by("-rating", "system__name")
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
        "settled": tournament.settled,
        "simulated": tournament.is_simulated,
        "warning": tournament.settings.get("warning", ""),
        "finished_at": tournament.finished_at.isoformat(),
        "standings": [_standing(rating) for rating in ratings],
        "agreement_with_people": agreement_with_people(tournament),
    }


def _standing(rating) -> dict:
    return {
        "system": rating.system.name, "human_written": rating.system.is_human,
        "rating": round(rating.rating, 2), "rd": round(rating.rd, 2), "volatility": round(rating.volatility, 6),
        "low": round(rating.low, 2), "high": round(rating.high, 2), "games": rating.games,
        "wins": rating.wins, "ties": rating.ties, "losses": rating.losses,
        "human_mean": None if rating.human_mean is None else round(rating.human_mean, 4),
    }  # fmt: skip


def agreement_with_people(tournament: Tournament) -> dict | None:
    """Spearman's correlation of a comparator's board with people's newest of the same criterion, for all systems and
    for those not written by people. None where there is no people's board. The intervals are paired: both boards
    were replayed on the same draws of contexts."""
    if tournament.judge == PEOPLE:
        return None
    people = latest(tournament.campaign, PEOPLE, tournament.criterion)
    if people is None:
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
    ratings = tournament.ratings.filter(games__gt=0).select_related("system").order_by("system_id")
    return {r.system_id: (r.rating, replicates[:, column[r.system_id]], r.system.is_human) for r in ratings}


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
    order = list(tournament.ratings.select_related("system").order_by("-rating", "system__name"))
    place = {pk: i for i, pk in enumerate(tournament.settings["systems"])}
    table = tournament.head_to_head
    return [
        {
            "system": row.system,
            "cells": [
                None if row.system_id == other.system_id else table[place[row.system_id]][place[other.system_id]]
                for other in order
            ],
        }
        for row in order
    ]


def choices(campaign: Campaign) -> list[tuple[str, str]]:
    """(judge, criterion) of every board there is."""
    found = Tournament.objects.filter(campaign=campaign, finished_at__isnull=False)
    return sorted(set(found.order_by().values_list("judge", "criterion").distinct()))


def open_tournaments(campaign: Campaign) -> list[Tournament]:
    """Tournaments that a page follows: those under way, and the newest where it failed or was cancelled."""
    light = ("replicates", "head_to_head")
    newest = list(campaign.tournaments.select_related("job", "version").defer(*light)[:20])
    return [t for i, t in enumerate(newest) if not t.job.is_finished or (i == 0 and t.finished_at is None)]
