"""What a tournament found, and the board that is made of it, once, when it ends."""

from dataclasses import dataclass, field, replace

import numpy as np

from evaluator.judges.protocol import Verdicts
from leaderboard.boards import row_facts
from leaderboard.boards.basis import BoardBasis, BoardPeople, JudgeUsage
from leaderboard.boards.board import Board, BoardQuestion, Doubt, Method, MethodName, Population
from leaderboard.boards.panels import Alternative, Category, ThreeScores
from leaderboard.models import Tournament
from leaderboard.rating.games import Games, Standings
from leaderboard.rating.people_board import Reading
from leaderboard.rating.rankings.board import RankingsReading
from leaderboard.tournaments import rate, standings
from leaderboard.tournaments.diagnostics import Diagnostics, in_order
from leaderboard.tournaments.entrants import Entrants
from leaderboard.tournaments.own_unit import PreferenceShare
from leaderboard.tournaments.rate import Rated

CORRECTED: MethodName = "corrected-mixed-model"
JOINED: MethodName = "joint-mixed-model"
RANKED: MethodName = "plackett-luce"


@dataclass(frozen=True)
class Played:
    """Games between outputs; ending and looks as in `rating.tournament.Played`; verdicts: a comparator's, on everything;
    unjudged: (system, how many of its games could not be played, since the judge said nothing), where there are any."""

    games: Games
    ending: str = "all"
    looks: int = 1
    verdicts: Verdicts | None = None
    unjudged: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Found:
    """people: what is known of them, where they had a part; reading: of their answers; outputs: standings, where outputs play;
    points: (outputs,) mean points against common references."""

    played: Played
    rated: Rated
    people: BoardPeople | None = None
    reading: Reading | None = None
    used: JudgeUsage | None = None
    categories: tuple[Category, ...] = ()
    stability: tuple[Alternative, ...] = ()
    three_scores: tuple[ThreeScores, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    beside: Diagnostics = field(default_factory=Diagnostics)
    outputs: Standings | None = None
    points: np.ndarray | None = None

    def speaks_of(self, tournament: Tournament) -> str:
        """The population of its intervals."""
        if row_facts.basis_kind(tournament) == "judge":
            return "contexts"
        return "people" if self.rated.narrow else "annotators"


def assembled(tournament: Tournament, entrants: Entrants, found: Found, means: list[float | None]) -> Board:
    """The board. means: people's mean score of each system. The tournament's row has everything but the board."""
    rated, name = found.rated, rate.names(entrants)
    rows = standings.standings(entrants, rated, rated.known, means)
    of_pairs = row_facts.basis_kind(tournament) == "people" and not tournament.criterion
    length, reading = found.beside.length, found.reading
    rankings = reading.rankings if isinstance(reading, RankingsReading) and not rated.is_corrected else 0
    board = Board(
        question=question(tournament, found),
        basis=basis(tournament, found),
        method=replace(method(tournament, found), campaign_looks=row_facts.campaign_looks(tournament)),
        population=population(tournament, found),
        standings=rows,
        differences=standings.differences(entrants, rated, rated.known, standings.forecasts(rated, of_pairs, rankings)),
        provenance=row_facts.provenance(tournament),
        narrow=standings.narrow(entrants, rated, means),
        groups=tuple(tuple(name[i] for i in group) for group in standings.groups(rated)),
        joining=standings.joining(entrants, rated),
        doubts=(*(Doubt("start", text) for text in [tournament.settings.get("warning", "")] if text), *found.doubts),
        stability=found.stability,
        categories=found.categories,
        three_scores=tuple(sorted(found.three_scores, key=lambda row: -row.sample_rating)),
        length=length and in_order(length, rows),
        order_fit=found.beside.order_fit,
        sides=found.beside.sides,
    )
    return board.of_those_present()


def question(tournament: Tournament, found: Found) -> BoardQuestion:
    """What was asked, in the unit that its estimates are in: of a criterion's scores and judgments of pairs, the latter may
    have been read alone."""
    asked = row_facts.question(tournament)
    return asked.of_shares() if isinstance(found.rated.own, PreferenceShare) else asked


def method(tournament: Tournament, found: Found) -> Method:
    """What made the numbers."""
    kind = found.people.kind if found.people else None
    model: MethodName | None = None
    if found.rated.is_corrected:
        model = CORRECTED
    elif kind == "both" and found.reading is not None and found.reading.scores:
        model = JOINED
    elif isinstance(found.reading, RankingsReading):
        model = RANKED
    return row_facts.method(tournament, kind, _scale(found), model)


def basis(tournament: Tournament, found: Found) -> BoardBasis:
    kind = row_facts.basis_kind(tournament)
    asked = tournament.version.gates.get(tournament.campaign.slug, []) if tournament.version else None
    people = None
    if kind != "judge":
        people = replace(found.people or BoardPeople(), verdict=row_facts.verdict(tournament))
    judge = row_facts.judge(tournament, asked, found.used)
    return BoardBasis(kind, judge, people, tournament.is_simulated)


def population(tournament: Tournament, found: Found) -> Population:
    rated, annotators = found.rated, found.people.annotators if found.people else None
    groups = rated.units if rated.units < rated.contexts else None
    return Population(found.speaks_of(tournament), annotators, rated.contexts, groups)  # type: ignore[arg-type]


def _scale(found: Found) -> float | None:
    return found.reading.scale if found.reading is not None and found.reading.scores else None
