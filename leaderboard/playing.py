"""Playing a tournament and recording it: once, in one transaction, never changed afterwards."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from annotation import snapshots
from annotation.errors import Refused
from annotation.models import Output
from annotation.snapshots import SnapshotContent
from evaluator.models import ComparatorVersion, Utility
from leaderboard import answers
from leaderboard.field import Field, field_of
from leaderboard.models import Tournament
from leaderboard.rating import bootstrap
from leaderboard.rating import tournament as paper
from leaderboard.rating.games import Games, Standings
from leaderboard.recording import Found, record
from leaderboard.shares import shares

REPLICATES = 200
RESAMPLING_SEED = 0  # one for all boards, so that any two on the same contexts are replayed on the same draws
CHUNK = 500  # SQLite takes a limited number of parameters

Report = Callable[[float, str], None]
Judging = Callable[[ComparatorVersion, Iterable[Output], Report], object]  # evaluator.runner.verdicts


@dataclass(frozen=True)
class Played:
    """Games between outputs, and for a comparator's (games, 3) probabilities and what it says of everything."""

    between: Games
    settled: bool | None = None
    chances: np.ndarray | None = None
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
    report(0.8, f"Rating {len(played.between)} games, and {REPLICATES} times on resampled contexts")
    games, standings, replicates = _rate(field, played.between)
    report(0.95, "Recording")
    found = Found(
        played, games, standings, replicates, RESAMPLING_SEED,
        means=answers.human_means(field, content, tournament.criterion),
        shares=shares(field, answers.people_games(field, content, tournament.criterion, 0), played.verdicts),
    )  # fmt: skip
    return record(tournament, field, found)


def _rate(field: Field, between: Games) -> tuple[Games, Standings, np.ndarray]:
    """Games between systems, their standings, and ratings (replicates, systems) on resampled contexts."""
    n = len(field.systems)
    games = Games(field.system_of[between.first], field.system_of[between.second], between.outcome, between.context)
    draws = bootstrap.context_draws(len(field.contexts), REPLICATES, RESAMPLING_SEED)
    return games, paper.rate(n, games), bootstrap.replay(n, games, draws, RESAMPLING_SEED)


def _people_play(tournament: Tournament, field: Field, content: SnapshotContent) -> Played:
    games = answers.people_games(field, content, tournament.criterion, tournament.seed)
    about = f"the scores of {tournament.criterion!r}" if tournament.criterion else "the judgments of pairs"
    if not len(games):
        raise Refused(f"No game follows from {about}: nobody judged two systems on one context.")
    wanted = tournament.wanted_games
    if wanted is not None and wanted > len(games):
        raise Refused(f"Only {len(games)} games follow from {about}; {wanted} were asked for.")
    return Played(games.take(slice(wanted)))


def _comparator_plays(tournament: Tournament, field: Field, report: Report, judging: Judging) -> Played:
    """The paper's tournament, between outputs."""
    if not any(field.contexts_by_pair().values()):
        slug = tournament.campaign.slug
        raise Refused(f"No two systems of campaign {slug!r} have answered the same context; nothing can play.")
    verdicts = judging(
        tournament.version, _with_texts(field.outputs, tournament.version),
        lambda done, message: report(0.6 * done, message),
    )  # fmt: skip
    ids = [output.pk for output in field.outputs]
    sides: list[tuple[int, int]] = []

    def judge(first: int, second: int, context: int, rng: np.random.Generator) -> int:
        a, b = (there[rng.integers(len(there))] for there in (field.answers[first, context], field.answers[second, context]))
        sides.append((a, b))
        return int(verdicts.outcomes([ids[a]], [ids[b]])[0])

    try:
        games, _, settled = paper.play(
            len(field.systems), field.contexts_by_pair(), judge, tournament.seed, tournament.wanted_games,
            on_progress=lambda played, most: report(0.6 + 0.2 * played / most, f"{played} games played"),
        )  # fmt: skip
    except ValueError as error:
        raise Refused(str(error)) from error
    a, b = np.array(sides, dtype=np.int64).reshape(-1, 2).T
    chances = verdicts.probabilities([ids[i] for i in a], [ids[i] for i in b])
    return Played(Games(a, b, games.outcome, games.context), settled, chances, verdicts)


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
