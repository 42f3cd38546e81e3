"""Playing a tournament: what people's answers give, or what a comparator decides, and then the ratings."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from annotation.models import Output
from annotation.outcome import Outcome
from core.errors import Refused
from evaluator.judges.profile import Profile
from evaluator.judges.protocol import AskedVerdicts, PairwiseVerdicts, PointwiseVerdicts, Verdicts
from evaluator.models import ComparatorVersion, Utility
from evaluator.versions.selectors import architecture
from leaderboard.boards import row_facts
from leaderboard.boards.basis import AnswersLeftOut, BoardPeople, JudgeUsage, Variance
from leaderboard.boards.board import Doubt
from leaderboard.boards.tree import hints
from leaderboard.models import Game, Tournament
from leaderboard.rating import tournament as playing
from leaderboard.rating.games import Games
from leaderboard.rating.people_board import Reading
from leaderboard.rating.rankings.board import RankingsReading
from leaderboard.rating.rules import Rules
from leaderboard.rating.tournament import PlayedGames
from leaderboard.tournaments import context_groups, people_games, rate
from leaderboard.tournaments.assembly import Found, Played
from leaderboard.tournaments.context_results import shares
from leaderboard.tournaments.diagnostics import diagnostics
from leaderboard.tournaments.entrants import Entrants, entrants_of
from leaderboard.tournaments.people_games import PeopleAnswers
from leaderboard.tournaments.prediction_powered import Taught, calibrated
from leaderboard.tournaments.record import record
from leaderboard.tournaments.samples import drawn_ids, sampled, three_scores

CHUNK = 500  # SQLite takes a limited number of parameters

Report = Callable[[float, str], None]
Judging = Callable[..., Verdicts]  # evaluator.worker.comparators.verdicts, or of another judge `leaderboard.tasks` makes one


def play(tournament: Tournament, report: Report, judging: Judging | None = None, taught: Taught | None = None) -> Tournament:
    """Play and record. judging: evaluator.worker.comparators.verdicts, handed in because only a task body may load torch;
    taught: whether every member of the comparator learned from a text's context or group (evaluator.worker.comparators.taught).

    What plays was fixed when the tournament was recorded and every draw comes from its seed, so a tournament that was
    cancelled and is started again plays the games it would have played; outputs that were judged are not judged again.
    """
    if tournament.finished_at:
        return tournament
    report(0.0, "Gathering the outputs")
    entrants, verdicts = entrants_of(tournament), None
    everyone = entrants
    if tournament.basis != Tournament.Basis.PEOPLE:
        assert judging is not None, "the task hands in who judges"
        verdicts = _verdicts(tournament, entrants, report, judging)
        entrants = _judged(tournament, entrants, verdicts)
    answers = people_games.answers_of(tournament, entrants)
    people = people_games.games_of(entrants, answers, tournament.seed)
    if row_facts.reads_answers(tournament):
        entrants, found = _of_people(tournament, entrants, answers, people, report)
    else:
        found = _found(tournament, entrants, answers, people, verdicts, taught, report)
    if tournament.level == Tournament.Level.SYSTEM:
        games = found.played.games
        found = replace(found, beside=diagnostics(tournament, entrants, games, answers, found.speaks_of(tournament)))
    if used := _used(verdicts, found.played, everyone):
        found = replace(found, used=used)
    if not (used and used.unjudged) and (silent := _silent(tournament.judge_name, entrants, everyone)):
        found = replace(found, doubts=(*found.doubts, Doubt("unjudged", silent)))
    report(0.95, "Recording")
    means = people_games.human_means(entrants, answers)
    return record(tournament, entrants, found, means, shares(entrants, people, verdicts))


def _silent(judge: str, entrants: Entrants, everyone: Entrants) -> str:
    """What must be said where a judge says nothing of some outputs of systems that play; empty where it speaks of all."""
    there, play = {system.pk for system in entrants.systems}, {output.pk for output in entrants.outputs}
    of_system = [everyone.systems[i] for i in everyone.system_of.tolist()]
    theirs = [(output, system) for output, system in zip(everyone.outputs, of_system, strict=True) if system.pk in there]
    missing = Counter(system.name for output, system in theirs if output.pk not in play)
    by = "; ".join(f"{name} {count:,}" for name, count in sorted(missing.items()))
    return f"{judge} says nothing of {missing.total():,} of {len(theirs):,} outputs, which do not play: {by}." if by else ""


def _used(verdicts: Verdicts | None, played: Played, everyone: Entrants) -> JudgeUsage | None:
    """What a judge took whose answers cost something; None of one whose answers do not. everyone: those it was asked about."""
    if isinstance(verdicts, AskedVerdicts):
        used, unjudged = dict(getattr(verdicts.judge, "used", {})), played.unjudged
    elif isinstance(verdicts, PointwiseVerdicts) and (used := dict(verdicts.used)):
        of_system = zip(everyone.outputs, everyone.system_of.tolist(), strict=True)
        missing = Counter(everyone.systems[i].name for output, i in of_system if output.pk not in verdicts.utility)
        unjudged = tuple(sorted(missing.items()))
    else:
        return None
    said = {name: used[name] for name in hints(JudgeUsage) if name in used}
    listed = lambda counts: "; ".join(f"{name} {count:,}" for name, count in counts)
    said |= {name: listed(used[name].items()) for name in ("why_unjudged", "other_models") if name in used}
    if "server" in used:
        said["server"] = str(Profile.of(used["server"], 0, {}))
    return JudgeUsage(**said, unjudged_systems=listed(unjudged))


def _found(
    tournament: Tournament,
    entrants: Entrants,
    answers: PeopleAnswers,
    people: Games,
    verdicts: Verdicts | None,
    taught: Taught | None,
    report: Report,
) -> Found:
    """What the tournament finds, by who judges and who plays."""
    if verdicts is None:
        return _rated(tournament, entrants, _people_play(tournament, people), report)
    if tournament.level == Tournament.Level.SAMPLE:
        games, board, outputs, points = sampled(tournament, entrants, verdicts)
        scores = three_scores(tournament, entrants, board, points)
        played = Played(games, "asked" if tournament.wanted_games else "all", verdicts=verdicts)
        return Found(played, board, three_scores=scores, outputs=outputs, points=points)
    if tournament.basis == Tournament.Basis.CORRECTED:
        corrected = calibrated(tournament, entrants, answers, verdicts, taught)
        return Found(Played(corrected.games), corrected.rated, people=corrected.people, doubts=corrected.doubts)
    return _rated(tournament, entrants, _comparator_plays(tournament, entrants, verdicts, report), report)


def _of_people(
    tournament: Tournament, entrants: Entrants, answers: PeopleAnswers, people: Games, report: Report
) -> tuple[Entrants, Found]:
    """The board that follows from all of people's answers (`rating.people_board`), and the entrants in the groups that they
    show."""
    look = row_facts.campaign_looks(tournament) or 1
    reading = people_games.reading_of(tournament, entrants, _some(tournament, answers))
    entrants, doubts = context_groups.grouped(entrants, reading)
    if doubts:
        reading = people_games.reading_of(tournament, entrants, answers)
    reading = replace(reading, look=look)
    if not (np.bincount(reading.component) > 1).any():
        raise Refused(
            f"No rating follows from {_about(tournament)}: no two systems were judged on the same context, or all answers are"
            " equal."
        )
    population = "people" if reading.speaks_of_people() and not tournament.only_kept else "annotators"
    report(0.8, f"Rating from {len(answers)} answers")
    draws = rate.draws_of(entrants)
    board = rate.rate_people(entrants, answers, reading, draws, population)
    other = people_games.other_answers(tournament, entrants)
    doubts += context_groups.own_conversations(entrants, answers.contexts(entrants))
    return entrants, Found(
        played=Played(people, looks=look),
        rated=board,
        people=_who(answers, reading),
        reading=reading,
        categories=rate.people_categories(entrants, answers, reading, draws, population),
        stability=rate.people_stability(entrants, board, answers, reading, other),
        doubts=(
            *doubts,
            *context_groups.dependent(tournament),
            *context_groups.leaning(tournament),
            *context_groups.asked_of_some(tournament),
        ),
    )


def _who(answers: PeopleAnswers, reading: Reading) -> BoardPeople:
    whole = len(answers) + answers.left_out + answers.dropped
    counts = {"outputs": answers.left_out, "filter": answers.dropped, "wider": reading.omitted}
    return BoardPeople(
        annotators=reading.annotators,
        kind=("scores" if reading.scores else "pairs") if reading.omitted else answers.kind,  # type: ignore[arg-type]
        answers=len(answers) - reading.omitted,
        left_out=tuple(AnswersLeftOut(why, count, whole) for why, count in counts.items() if count),  # type: ignore[arg-type]
        variances=tuple(Variance(name, round(value, 4)) for name, value in reading.variances.items()),
        rankings=reading.rankings if isinstance(reading, RankingsReading) else None,
    )


def _some(tournament: Tournament, answers: PeopleAnswers) -> PeopleAnswers:
    if not len(answers):
        raise Refused(f"No rating follows from {_about(tournament)}: none of them is about the outputs that take part.")
    return answers


def _about(tournament: Tournament) -> str:
    return f"the scores of {tournament.criterion!r}" if tournament.criterion else "the judgments of pairs"


def _rated(tournament: Tournament, entrants: Entrants, played: Played, report: Report) -> Found:
    """The board that follows from games between systems."""
    report(0.8, f"Rating {len(played.games)} games, and {rate.REPLICATES} times on resampled contexts")
    games, draws = rate.between_systems(entrants, played.games), rate.draws_of(entrants)
    board = rate.rate(entrants, games, draws, tournament.rules(), played.looks)
    others = _other_games(tournament, entrants, played, report)
    return Found(
        played,
        board,
        categories=rate.categories(entrants, games, draws),
        stability=rate.stability(entrants, board, tournament.rules(), others),
    )


def _other_games(tournament: Tournament, entrants: Entrants, played: Played, report: Report) -> dict[str, Games]:
    """Games that another choice would have given, for the panel on rank stability."""
    if tournament.basis == Tournament.Basis.PEOPLE:
        name, answers = people_games.other_answers(tournament, entrants)
        others = people_games.games_of(entrants, answers, tournament.seed)
        return {name: rate.between_systems(entrants, others)} if len(others) else {}
    if played.verdicts is None or played.ending == "all" or tournament.extends_id:  # another seed plays the same games
        return {}
    if isinstance(played.verdicts, AskedVerdicts):  # other games would cost as much again
        return {}
    pairs, seed = entrants.contexts_by_pair(), tournament.seed + 1
    rules, wanted, verdicts = tournament.rules(), tournament.wanted_games, played.verdicts
    _, again, _ = _with_what_is_judged(pairs, lambda those: _run(rules, seed, wanted, entrants, those, verdicts, report))
    return {f"Another seed ({seed})": rate.between_systems(entrants, again)}


def _people_play(tournament: Tournament, games: Games) -> Played:
    about = _about(tournament)
    if not len(games):
        raise Refused(f"No game follows from {about}: nobody judged two systems on the same context.")
    wanted = tournament.wanted_games
    if wanted is not None and wanted > len(games):
        raise Refused(f"Only {len(games)} games follow from {about}; {wanted} were asked for.")
    return Played(games.take(slice(wanted)), "all" if wanted is None else "asked")


def _verdicts(tournament: Tournament, entrants: Entrants, report: Report, judging: Judging) -> Verdicts:
    """What the judge says of everything that plays."""
    if not any(entrants.contexts_by_pair().values()):
        slug = tournament.campaign.slug
        raise Refused(f"No two systems of campaign {slug!r} have answered the same context, so no game is possible.")
    outputs = _with_texts(entrants.outputs, tournament.version)
    watch = lambda done, message: report(0.6 * done, message)
    version = tournament.version
    if tournament.level == Tournament.Level.SAMPLE and version and architecture(version) == "joint":
        return judging(tournament.version, outputs, watch, across=drawn_ids(tournament, entrants))
    return judging(tournament.version, outputs, watch)


def _judged(tournament: Tournament, entrants: Entrants, verdicts: Verdicts) -> Entrants:
    """Without the outputs that a judge says nothing of: a metric that needs references does not judge human-written ones.
    Raises Refused where fewer than two systems are left."""
    if tournament.version or not isinstance(verdicts, PointwiseVerdicts):
        return entrants
    left = entrants.only(verdicts.utility.keys())
    if not any(left.contexts_by_pair().values()):
        raise Refused(f"{tournament.judge_name!r} judges no two systems on one context; nothing can play.")
    return left


def _comparator_plays(tournament: Tournament, entrants: Entrants, verdicts: Verdicts, report: Report) -> Played:
    """A tournament between outputs; where it extends a board, that board's games and those of the newcomers."""
    before, pairs, wanted = _taken_over(tournament, entrants), entrants.contexts_by_pair(), tournament.wanted_games
    if len(before):
        pairs, wanted = _newcomers(entrants, before, pairs)
    pairs = _compared(entrants, pairs, verdicts)
    if not any(pairs.values()):  # nobody is new
        return Played(before, "all", tournament.extends.settings.get("looks", 1), verdicts)
    played, games, left_out = _with_what_is_judged(
        pairs, lambda those: _run(tournament.rules(), tournament.seed, wanted, entrants, those, verdicts, report)
    )
    if isinstance(verdicts, AskedVerdicts):
        verdicts.check()
    unjudged = Counter(entrants.systems[i].name for pair, _ in left_out for i in pair)
    return Played(before.then(games), played.ending, played.looks, verdicts, tuple(sorted(unjudged.items())))


def _compared(entrants: Entrants, pairs: dict, verdicts: Verdicts) -> dict:
    """The pairs with the contexts of which a judge that was read once, as from a file, says something: only these are drawn."""
    if not isinstance(verdicts, PairwiseVerdicts) or verdicts.read.judged.all():
        return pairs
    ids = [output.pk for output in entrants.outputs]

    def is_compared(pair: tuple[int, int], context: int) -> bool:
        first, second = (entrants.answers[system, context] for system in pair)
        meetings = [(ids[i], ids[j]) for i in first for j in second]
        return bool(verdicts.has_read(*zip(*meetings)).all())

    return {pair: [context for context in contexts if is_compared(pair, context)] for pair, contexts in pairs.items()}


Cell = tuple[tuple[int, int], int]  # two systems, the smaller first, and a context


class _Unjudged(Exception):
    """The judge said nothing of these games: ((system, system), context)."""

    def __init__(self, cells: set[Cell]):
        super().__init__(f"{len(cells)} games are unjudged")
        self.cells = cells


def _with_what_is_judged(pairs: dict, run: Callable[[dict], tuple[PlayedGames, Games]]) -> tuple[PlayedGames, Games, set[Cell]]:
    """The tournament of all that the judge says something of: what it turns out to leave unjudged is no game, and the
    tournament is played anew without it, which asks nothing twice. And what was left out."""
    left_out: set[Cell] = set()
    while True:
        try:
            return *run(pairs), left_out
        except _Unjudged as unjudged:
            left_out |= unjudged.cells
        pairs = {pair: [c for c in contexts if (pair, c) not in left_out] for pair, contexts in pairs.items()}
        if not any(pairs.values()):
            raise Refused("The judge said nothing of any pair that may meet.")


def _run(by: Rules, seed: int, wanted: int | None, entrants: Entrants, pairs: dict, verdicts: Verdicts, report: Report):
    """(what was played between systems, the same games between outputs)"""
    ids = np.array([output.pk for output in entrants.outputs])
    sides: list[np.ndarray] = []

    def one_of(systems, contexts, rng) -> np.ndarray:
        there = [entrants.answers[place] for place in zip(systems.tolist(), contexts.tolist())]
        return np.array([outputs[rng.integers(len(outputs))] if len(outputs) > 1 else outputs[0] for outputs in there])

    def judge(first, second, context, rng):
        a, b = one_of(first, context, rng), one_of(second, context, rng)
        outcome = np.asarray(verdicts.outcomes(ids[a].tolist(), ids[b].tolist()))
        if (missing := np.isnan(outcome)).any():
            games = zip(first[missing].tolist(), second[missing].tolist(), context[missing].tolist())
            raise _Unjudged({((min(i, j), max(i, j)), c) for i, j, c in games})
        sides.append(np.stack([a, b]))
        return outcome

    def progress(games: Games, most: int) -> None:
        report(0.6 + 0.2 * len(games) / most, f"{len(games)} games played")

    played = playing.run(len(entrants.systems), pairs, judge, by, seed, wanted, on_batch=progress, groups=entrants.groups)
    a, b = np.concatenate(sides, axis=1)[:, : len(played.games)]
    return played, Games(a, b, played.games.outcome, played.games.context)


def _taken_over(tournament: Tournament, entrants: Entrants) -> Games:
    """The games between outputs of the board that this one extends, as far as their outputs still play."""
    if tournament.extends is None:
        return Games.none()
    number = {output.pk: i for i, output in enumerate(entrants.outputs)}
    rows = Game.objects.filter(tournament=tournament.extends).order_by("number")
    kept = [
        (number[a], number[b], 1 - Outcome(outcome).code)
        for a, b, outcome in rows.values_list("output_a", "output_b", "outcome")
        if a in number and b in number
    ]
    a, b, outcome = np.array(kept, dtype=np.int64).reshape(-1, 3).T
    return Games(a, b, outcome, entrants.context_of[a])


def _newcomers(entrants: Entrants, before: Games, pairs: dict) -> tuple[dict, int]:
    """The pairs with a system that has not played before, and how many games give each as many as the others have."""
    games = np.bincount(entrants.system_of[np.concatenate([before.first, before.second])], minlength=len(entrants.systems))
    new = set(np.flatnonzero(games == 0).tolist())
    each = int(np.ceil(games[games > 0].mean()))
    return {pair: contexts for pair, contexts in pairs.items() if new & set(pair)}, each * max(len(new), 1)


def _with_texts(outputs: list[Output], version: ComparatorVersion | None) -> list[Output]:
    """The same outputs; those that the version has not judged yet with the texts that it will read. None: another judge, of
    which nothing is remembered."""
    ids = [output.pk for output in outputs]
    known: set[int] = set()
    for start in range(0, len(ids), CHUNK):
        part = (
            Utility.objects.filter(version=version, output__in=ids[start : start + CHUNK])
            if version
            else Utility.objects.none()
        )
        known.update(part.values_list("output_id", flat=True))
    new = [pk for pk in ids if pk not in known]
    read = {}
    for start in range(0, len(new), CHUNK):
        read |= Output.objects.select_related("context", "system", "checkpoint").in_bulk(new[start : start + CHUNK])
    return [read.get(output.pk, output) for output in outputs]
