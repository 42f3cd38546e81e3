"""People's accepted answers about what plays: as games, and as mean scores, from the snapshot."""

import numpy as np

from annotation.models import LikertScore
from annotation.outcome import Outcome
from annotation.snapshots import SnapshotContent
from leaderboard.models import Tournament
from leaderboard.rating.games import Games
from leaderboard.rating.games_from_answers import games_from_judgments, games_from_scores
from leaderboard.tournaments.entrants import Entrants


def people_games(field: Entrants, content: SnapshotContent | None, criterion: str, seed: int) -> Games:
    """Every game that people's accepted answers give, once, in seeded random order; its players are outputs."""
    content = content or SnapshotContent()
    if criterion:
        judged = [row for row in content.criterion_judgments if row["criterion"] == criterion]
        games = _games_from_scores(field, content, criterion).then(_games_from_judgments(field, judged))
    else:
        games = _games_from_judgments(field, content.judgments)
    apart = field.system_of[games.first] != field.system_of[games.second]  # two samples of one system play no game
    return games.take(apart).shuffled(seed)


def unfiltered_games(tournament: Tournament, field: Entrants) -> Games:
    """People's games had no score of the criterion been filtered out, by what counts now and was there by the snapshot."""
    scores = LikertScore.objects.counted().filter(
        criterion__campaign=tournament.campaign,
        criterion__name=tournament.criterion,
        created_at__lte=tournament.snapshot.created_at,
    )
    number = {output.pk: i for i, output in enumerate(field.outputs)}
    rows = scores.order_by("pk").values_list("output_id", "annotator_id", "value")
    found = [(number[output], annotator, value) for output, annotator, value in rows if output in number]
    outputs = np.array([output for output, _, _ in found], dtype=np.int64)
    games = games_from_scores(
        outputs, field.context_of[outputs], [annotator for _, annotator, _ in found], [value for _, _, value in found]
    )
    return games.take(field.system_of[games.first] != field.system_of[games.second])


def _games_from_scores(field: Entrants, content: SnapshotContent, criterion: str) -> Games:
    rows = scored(field, content, criterion)
    outputs = np.array([output for output, _, _ in rows], dtype=np.int64)
    numbers: dict[str, int] = {}
    annotators = [numbers.setdefault(annotator, len(numbers)) for _, annotator, _ in rows]
    return games_from_scores(outputs, field.context_of[outputs], annotators, [value for _, _, value in rows])


def _games_from_judgments(field: Entrants, judged: list[dict]) -> Games:
    rows = []
    for row in judged:
        a, b = (field.number_of.get((row["context"], *row[side])) for side in "ab")
        if a is not None and b is not None:
            rows.append((a, b, Outcome(row["choice"]).code))
    first, second, choice = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return games_from_judgments(first, second, field.context_of[first], choice)


def scored(field: Entrants, content: SnapshotContent, criterion: str) -> list[tuple[int, str, float]]:
    """(output number, annotator, value) of the kept scores of the outputs that play."""
    found = []
    for row in content.scores:
        if row["criterion"] == criterion:
            number = field.number_of.get((row["context"], row["system"], row["checkpoint"], row["sample"]))
            if number is not None:
                found.append((number, row["annotator"], row["value"]))
    return found


def human_means(field: Entrants, content: SnapshotContent | None, criterion: str) -> list[float | None]:
    """Each system's mean kept score of the criterion; None where nobody scored it."""
    values: list[list[float]] = [[] for _ in field.systems]
    for output, _, value in scored(field, content, criterion) if content and criterion else []:
        values[field.system_of[output]].append(value)
    return [sum(v) / len(v) if v else None for v in values]
