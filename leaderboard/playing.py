"""Playing a tournament: what people's answers give, or what a comparator decides, and then the ratings."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from annotation import snapshots
from annotation.errors import Refused
from annotation.models import Output
from annotation.outcome import Outcome
from annotation.snapshots import SnapshotContent
from evaluator.models import ComparatorVersion, Utility
from leaderboard import answers, rated
from leaderboard.field import Field, field_of
from leaderboard.models import Game, Tournament
from leaderboard.rating import tournament as playing
from leaderboard.rating.games import Games
from leaderboard.rating.rules import Rules
from leaderboard.recording import Found, record
from leaderboard.shares import shares

CHUNK = 500  # SQLite takes a limited number of parameters

Report = Callable[[float, str], None]
Judging = Callable[[ComparatorVersion, Iterable[Output], Report], object]  # evaluator.runner.verdicts


@dataclass(frozen=True)
class Played:
    """Games between outputs; ending and looks as in `rating.tournament.Played`; verdicts: a comparator's, on everything."""

    games: Games
    ending: str = "all"
    looks: int = 1
    verdicts: object = None


def play(tournament: Tournament, report: Report, judging: Judging | None = None) -> Tournament:
    """Play and record. judging: evaluator.runner.verdicts, handed in because only a task body may load torch.

    What plays was fixed when the tournament was recorded and every draw comes from its seed, so a tournament that was
    cancelled and is started again plays the games it would have played; outputs that were judged are not judged again.
    """
    if tournament.finished_at:
        return tournament
    report(0.0, "Gathering the outputs")
    field = field_of(tournament)
    content = snapshots.read(tournament.snapshot) if tournament.snapshot else None
    if tournament.judge == Tournament.Judge.PEOPLE:
        played = _people_play(tournament, field, content)
    else:
        played = _comparator_plays(tournament, field, report, judging)
    report(0.8, f"Rating {len(played.games)} games, and {rated.REPLICATES} times on resampled contexts")
    games, draws = rated.between_systems(field, played.games), rated.draws_of(field)
    result = rated.rate(len(field.systems), games, draws, tournament.rules(), played.looks)
    report(0.95, "Recording")
    found = Found(
        played, result,
        means=answers.human_means(field, content, tournament.criterion),
        shares=shares(field, answers.people_games(field, content, tournament.criterion, 0), played.verdicts),
        categories=rated.categories(field, games, draws),
    )  # fmt: skip
    return record(tournament, field, found)


def _people_play(tournament: Tournament, field: Field, content: SnapshotContent) -> Played:
    games = answers.people_games(field, content, tournament.criterion, tournament.seed)
    about = f"the scores of {tournament.criterion!r}" if tournament.criterion else "the judgments of pairs"
    if not len(games):
        raise Refused(f"No game follows from {about}: nobody judged two systems on one context.")
    wanted = tournament.wanted_games
    if wanted is not None and wanted > len(games):
        raise Refused(f"Only {len(games)} games follow from {about}; {wanted} were asked for.")
    return Played(games.take(slice(wanted)), "all" if wanted is None else "asked")


def _comparator_plays(tournament: Tournament, field: Field, report: Report, judging: Judging) -> Played:
    """A tournament between outputs; where it extends a board, that board's games and those of the newcomers."""
    before, pairs, wanted = _taken_over(tournament, field), field.contexts_by_pair(), tournament.wanted_games
    if not any(pairs.values()):
        slug = tournament.campaign.slug
        raise Refused(f"No two systems of campaign {slug!r} have answered the same context; nothing can play.")
    if len(before):
        pairs, wanted = _newcomers(field, before, pairs)
    verdicts = judging(
        tournament.version, _with_texts(field.outputs, tournament.version),
        lambda done, message: report(0.6 * done, message),
    )  # fmt: skip
    if not any(pairs.values()):  # nobody is new
        return Played(before, "all", tournament.extends.settings.get("looks", 1), verdicts)
    played, games = _run(tournament.rules(), tournament.seed, wanted, field, pairs, verdicts, report)
    return Played(before.then(games), played.ending, played.looks, verdicts)


def _run(by: Rules, seed: int, wanted: int | None, field: Field, pairs: dict, verdicts, report: Report):
    """(what was played between systems, the same games between outputs)"""
    ids = np.array([output.pk for output in field.outputs])
    sides: list[np.ndarray] = []

    def one_of(systems, contexts, rng) -> np.ndarray:
        there = [field.answers[place] for place in zip(systems.tolist(), contexts.tolist())]
        return np.array([outputs[rng.integers(len(outputs))] if len(outputs) > 1 else outputs[0] for outputs in there])

    def judge(first, second, context, rng):
        a, b = one_of(first, context, rng), one_of(second, context, rng)
        sides.append(np.stack([a, b]))
        return verdicts.outcomes(ids[a].tolist(), ids[b].tolist())

    def progress(games: Games, most: int) -> None:
        report(0.6 + 0.2 * len(games) / most, f"{len(games)} games played")

    played = playing.run(len(field.systems), pairs, judge, by, seed, wanted, on_batch=progress)
    a, b = np.concatenate(sides, axis=1)[:, : len(played.games)]
    return played, Games(a, b, played.games.outcome, played.games.context)


def _taken_over(tournament: Tournament, field: Field) -> Games:
    """The games between outputs of the board that this one extends, as far as their outputs still play."""
    if tournament.extends is None:
        return Games([], [], [], [])
    number = {output.pk: i for i, output in enumerate(field.outputs)}
    rows = Game.objects.filter(tournament=tournament.extends).order_by("number")
    kept = [
        (number[a], number[b], 1 - Outcome(outcome).code)
        for a, b, outcome in rows.values_list("output_a", "output_b", "outcome")
        if a in number and b in number
    ]
    a, b, outcome = np.array(kept, dtype=np.int64).reshape(-1, 3).T
    return Games(a, b, outcome, field.context_of[a])


def _newcomers(field: Field, before: Games, pairs: dict) -> tuple[dict, int]:
    """The pairs with a system that has not played before, and how many games give each as many as the others have."""
    games = np.bincount(field.system_of[np.concatenate([before.first, before.second])], minlength=len(field.systems))
    new = set(np.flatnonzero(games == 0).tolist())
    each = int(np.ceil(games[games > 0].mean()))
    return {pair: contexts for pair, contexts in pairs.items() if new & set(pair)}, each * max(len(new), 1)


def _with_texts(outputs: list[Output], version: ComparatorVersion) -> list[Output]:
    """The same outputs; those that the version has not judged yet with the texts that it will read."""
    ids = [output.pk for output in outputs]
    known: set[int] = set()
    for start in range(0, len(ids), CHUNK):
        part = Utility.objects.filter(version=version, output__in=ids[start : start + CHUNK])
        known.update(part.values_list("output_id", flat=True))
    new = [pk for pk in ids if pk not in known]
    read = {}
    for start in range(0, len(new), CHUNK):
        read |= Output.objects.select_related("context", "system").in_bulk(new[start : start + CHUNK])
    return [read.get(output.pk, output) for output in outputs]
