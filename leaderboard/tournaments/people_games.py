"""People's accepted answers about what plays: as games, and as mean scores, from the snapshot."""

import numpy as np

from annotation.models import LikertScore
from annotation.outcome import Outcome
from annotation.snapshots import SnapshotContent
from leaderboard.models import Tournament
from leaderboard.rating.games import Games
from leaderboard.rating.games_from_answers import games_from_judgments, games_from_scores
from leaderboard.tournaments.entrants import Entrants


def people_games(entrants: Entrants, content: SnapshotContent | None, criterion: str, seed: int) -> Games:
    """Every game that people's accepted answers give, once, in seeded random order; its players are outputs."""
    content = content or SnapshotContent()
    if criterion:
        judged = [row for row in content.criterion_judgments if row["criterion"] == criterion]
        games = _games_from_scores(entrants, content, criterion).then(_games_from_judgments(entrants, judged))
    else:
        games = _games_from_judgments(entrants, content.judgments)
    apart = entrants.system_of[games.first] != entrants.system_of[games.second]  # two samples of one system play no game
    return games.take(apart).shuffled(seed)


def unfiltered_games(tournament: Tournament, entrants: Entrants) -> Games:
    """People's games had no score of the criterion been filtered out, by what counts now and was there by the snapshot."""
    scores = LikertScore.objects.counted().filter(
        criterion__campaign=tournament.campaign,
        criterion__name=tournament.criterion,
        created_at__lte=tournament.snapshot.created_at,
    )
    number = {output.pk: i for i, output in enumerate(entrants.outputs)}
    rows = scores.order_by("pk").values_list("output_id", "annotator_id", "value")
    found = [(number[output], annotator, value) for output, annotator, value in rows if output in number]
    outputs = np.array([output for output, _, _ in found], dtype=np.int64)
    games = games_from_scores(
        outputs, entrants.context_of[outputs], [annotator for _, annotator, _ in found], [value for _, _, value in found]
    )
    return games.take(entrants.system_of[games.first] != entrants.system_of[games.second])


def _games_from_scores(entrants: Entrants, content: SnapshotContent, criterion: str) -> Games:
    rows = scored(entrants, content, criterion)
    outputs = np.array([output for output, _, _ in rows], dtype=np.int64)
    numbers: dict[str, int] = {}
    annotators = [numbers.setdefault(annotator, len(numbers)) for _, annotator, _ in rows]
    return games_from_scores(outputs, entrants.context_of[outputs], annotators, [value for _, _, value in rows])


def _games_from_judgments(entrants: Entrants, judged: list[dict]) -> Games:
    rows = []
    for row in judged:
        a, b = (entrants.number_of.get((row["context"], *row[side])) for side in "ab")
        if a is not None and b is not None:
            rows.append((a, b, Outcome(row["choice"]).code))
    first, second, choice = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return games_from_judgments(first, second, entrants.context_of[first], choice)


def scored(entrants: Entrants, content: SnapshotContent, criterion: str) -> list[tuple[int, str, float]]:
    """(output number, annotator, value) of the kept scores of the outputs that play."""
    found = []
    for row in content.scores:
        if row["criterion"] == criterion:
            number = entrants.number_of.get((row["context"], row["system"], row["checkpoint"], row["sample"]))
            if number is not None:
                found.append((number, row["annotator"], row["value"]))
    return found


def human_means(entrants: Entrants, content: SnapshotContent | None, criterion: str) -> list[float | None]:
    """Each system's mean kept score of the criterion; None where nobody scored it."""
    values: list[list[float]] = [[] for _ in entrants.systems]
    for output, _, value in scored(entrants, content, criterion) if content and criterion else []:
        values[entrants.system_of[output]].append(value)
    return [sum(v) / len(v) if v else None for v in values]
