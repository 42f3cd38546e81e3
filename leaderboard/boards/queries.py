"""Boards as they are shown, printed and served."""

import numpy as np
from django.db.models import Q

from annotation.models import Campaign
from annotation.snapshots import latest_snapshot
from core.errors import Refused
from evaluator.models import Judge
from evaluator.roster import judge_named
from evaluator.versions.selectors import basis as what_counts
from leaderboard.asked import Asked
from leaderboard.boards.agreement import agreement_with_people
from leaderboard.models import Tournament
from leaderboard.rating import ranking
from leaderboard.rating.prediction_powered import worth_by_chance

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
    snapshot = latest_snapshot(campaign)
    usual = boards.filter(criterion=what_counts(snapshot).criterion).first() if snapshot else None
    return usual or boards.first()


def of_judge(boards, basis: str, judge: str = ""):
    """Those on this basis by the judge of this name; empty: by people alone, or by any comparator."""
    if basis == PEOPLE:
        return boards.filter(basis=basis)
    by = {"judge__name": judge} if judge else {"judge__kind": Judge.Kind.COMPARATOR}
    return boards.filter(basis=basis, **by)


def default_board(campaign: Campaign, criterion: str | None = None) -> Tournament | None:
    """What a leaderboard opens on: people's board; the one of people and comparator together where the comparator passed its
    gate and people have said nothing since. A comparator's own only where nobody else's is there."""
    people, together = (latest(campaign, basis, criterion) for basis in (PEOPLE, CORRECTED))
    if together and (asked := gate(together)) and asked["passed"] and (people is None or _as_new(together, people)):
        return together
    return people or together or latest(campaign, JUDGE, criterion)


def _as_new(board: Tournament, other: Tournament) -> bool:
    """Is it about the same criterion, from the same or a later snapshot?"""
    return board.criterion == other.criterion and (board.snapshot_id or 0) >= (other.snapshot_id or 0)


def asked_board(campaign: Campaign, asked: Asked = ANY, criterion: str | None = None) -> Tournament | None:
    """The newest board of what is asked for, or the one that a leaderboard opens on. Raises Refused for a judge that nobody
    knows."""
    if asked.judge and not campaign.judges.filter(name=asked.judge).exists():
        judge_named(campaign, asked.judge)
    if not asked.basis:
        return default_board(campaign, criterion)
    return latest(campaign, asked.basis, criterion, judge=asked.judge)


def gate(tournament: Tournament) -> dict | None:
    """What its comparator was asked before it might serve the campaign, as it stood when the tournament ended: {passed (None
    where it was not asked), verdict, reasons: answers to what it failed}; None where people alone judged."""
    if tournament.version is None:
        return None
    asked = tournament.findings.get("gate")
    if asked is None:  # boards of before did not keep it
        asked = tournament.version.gates.get(tournament.campaign.slug, [])
    name = f"Comparator {tournament.version.name}"
    if not asked:
        return {"passed": None, "verdict": f"The gate was not checked for {name} in this campaign.", "reasons": []}
    reasons = [question["answer"] for question in asked if not question["passed"]]
    return {"passed": not reasons, "verdict": f"{name} {'did not pass' if reasons else 'passed'} its gate.", "reasons": reasons}


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


def judge_label(tournament: Tournament) -> str:
    """Who judged, in words; simulated annotators are not called people."""
    people = "annotators (some or all simulated)" if tournament.is_simulated else "people"
    judge = "the comparator" if tournament.version else tournament.judge_name
    by_basis: dict[str, str] = {PEOPLE: people, CORRECTED: f"{people} and {judge} together"}
    return by_basis.get(tournament.basis, judge)


def link_label(basis: str, judge: str) -> str:
    """Who judged, where it links to a board; judge: as `asked_by` names it."""
    by_basis: dict[str, str] = {PEOPLE: "people", CORRECTED: f"people and {judge or 'comparator'}"}
    return by_basis.get(basis, judge or "comparator")


def asked_by(tournament: Tournament) -> tuple[str, str]:
    """(basis, judge) that ask for the newest board like this one; empty: people alone, or any comparator."""
    return tournament.basis, "" if tournament.version else tournament.judge_name


def board(tournament: Tournament, people: Tournament | None = None, live: bool = False, population: str = "") -> dict:
    """A finished tournament as JSON. people: their board to compare it with; by default the newest that was finished
    before this one, so that the same tournament always gives the same JSON. live: systems by the names they have now.
    population: "annotators" for what is known of these annotators only, where a board speaks of other people too."""
    only = tournament.speaks_of.get("only") if population == "annotators" else None
    named = _named(tournament, live)
    place = _places(tournament)
    cluster, best = clusters(tournament, named, only), (only or tournament.findings).get("best")
    people = people or latest(tournament.campaign, PEOPLE, tournament.criterion, until=tournament)
    pairs = known(tournament, live, only)
    return {
        "signature": tournament.signature,
        "campaign": tournament.campaign.slug,
        "tournament": tournament.pk,
        "permalink": tournament.get_absolute_url(),
        "basis": tournament.basis,
        "judge": judge_record(tournament),
        "judge_label": judge_label(tournament),
        "comparator": tournament.version.name if tournament.version else None,
        "gate": gate(tournament),
        "criterion": tournament.criterion,
        "snapshot": tournament.snapshot.name if tournament.snapshot else None,
        "seed": tournament.seed,
        "level": tournament.level,
        "rating": tournament.rating,
        "pairing": tournament.pairing if tournament.plays_itself else "once",
        "ties": tournament.ties,
        "games": tournament.played,
        "contexts": tournament.findings.get("contexts_played"),
        "groups": tournament.findings.get("groups_played"),
        "settled": tournament.settled,
        "ending": tournament.settings.get("ending"),
        "simulated": tournament.is_simulated,
        "warning": tournament.settings.get("warning", ""),
        "finished_at": tournament.finished_at.isoformat(),
        "speaks_of": speaks_of(tournament, "annotators" if only else ""),
        "people": of_people(tournament, named, "annotators" if only else ""),
        "standings": [
            _standing(rating, name)
            | {"cluster": cluster[place[rating.system_id]], "best": best and _whole_percent(best[place[rating.system_id]])}
            | (only["systems"][str(rating.system_id)] if only else {})
            for rating, name in named
        ],
        "neighbours": neighbours(tournament, live, only),
        "known": pairs,
        "ranks_said": ranks_said(tournament, pairs, "annotators" if only else ""),
        "stability": stability(tournament, live),
        "three_scores": three_scores(tournament, live),
        "calibrated": _calibrated(tournament),
        "length_control": length_control(tournament, named),
        "order_fit": tournament.findings.get("order_fit"),
        "sides": tournament.findings.get("sides"),
        "agreement_with_people": agreement_with_people(tournament, people),
    }


def judge_record(tournament: Tournament) -> dict | None:
    """The judge: {name, kind (of `Judge.Kind`), refit or None}, and of one that is no comparator {reads: pointwise or pairwise,
    settings, unjudged, calibration where it was refitted, used: calls, tokens, cost and flips of one of which each pair costs}.
    None where people alone judge."""
    judge = tournament.judge
    if judge is None:
        return None
    known = {"name": judge.name, "kind": judge.kind, "refit": tournament.settings.get("refit")}
    if tournament.version:
        return known
    return {**tournament.settings.get("judge_record", {}), **known, "used": tournament.findings.get("used")}


def _named(tournament: Tournament, live: bool) -> list[tuple]:
    """(rating row, its system's name), best first."""
    rows = tournament.ratings.select_related("system") if live else tournament.ratings.all()
    return [(row, row.system.name if live else row.name) for row in rows]


def _standing(rating, name: str) -> dict:
    return {
        "id": rating.system_id,
        "system": name,
        "human_written": rating.is_human,
        "rank_low": rating.rank_low,
        "rank_high": rating.rank_high,
        "rating": round(rating.rating, 2),
        "rd": round(rating.rd, 2),
        "volatility": round(rating.volatility, 6),
        "low": round(rating.low, 2),
        "high": round(rating.high, 2),
        "games": rating.games,
        "wins": rating.wins,
        "ties": rating.ties,
        "losses": rating.losses,
        "human_mean": None if rating.human_mean is None else round(rating.human_mean, 4),
    }


def _places(tournament: Tournament) -> dict[int, int]:
    """Where a system stands in what a tournament keeps by number."""
    return {pk: i for i, pk in enumerate(tournament.settings["systems"])}


def _whole_percent(chance: float | None) -> float | None:
    """No digit that the draws do not settle."""
    return None if chance is None else round(chance, 2)


def clusters(tournament: Tournament, named: list[tuple], only: dict | None = None) -> list[int | None]:
    """Of each system by its place: clusters of significance (`ranking.clusters`), 1 is best; None where it was not compared,
    and for all of a board whose systems cannot all be compared."""
    above, place = (only or tournament.findings).get("above", []), _places(tournament)
    if not above:
        return [None] * len(place)
    rating, compared = np.zeros(len(place)), np.zeros(len(place), dtype=bool)
    for row, _ in named:
        rating[place[row.system_id]], compared[place[row.system_id]] = row.rating, row.games > 0
    if "best" in tournament.findings:  # boards of before did not say who could be compared
        compared = np.array([chance is not None for chance in tournament.findings["best"]])
    elif len([group for group in tournament.findings.get("people", {}).get("groups", []) if len(group) > 1]) > 1:
        compared[:] = False
    return [int(number) or None for number in ranking.clusters(rating, above, compared)]


def length_control(tournament: Tournament, named: list[tuple]) -> dict | None:
    """Win rates at equal length beside the plain ones: {odds, scale, systems: best first {id, system, plain, controlled,
    length, against: a cell for each system in the same order}}; None on boards of before and where outputs play."""
    found = tournament.findings.get("length_control")
    if not found:
        return None
    place = _places(tournament)
    order = [place[row.system_id] for row, _ in named]

    def against(i: int, j: int) -> dict | None:
        won, tied, lost = tournament.head_to_head[i][j]
        cell = found["pairs"][i][j]
        return cell and {**cell, "plain": round((won + tied / 2) / (won + tied + lost), 4)}

    systems = [
        {
            "id": row.system_id,
            "system": name,
            **{key: found[key][i] for key in ("plain", "controlled", "length")},
            "against": [against(i, j) for j in order],
        }
        for i, (row, name) in zip(order, named)
    ]
    return {"odds": found["odds"], "scale": found["scale"], "systems": systems}


def with_lines(standings: list[dict]) -> list[tuple[dict, bool]]:
    """Each row, and whether a new cluster begins with it, so that a line is drawn above."""
    rows, before = [], None
    for row in standings:
        cluster = row.get("cluster")
        rows.append((row, bool(before and cluster and cluster != before)))
        before = cluster or before
    return rows


def head_to_head(tournament: Tournament, live: bool = False) -> list[dict]:
    """Rows by rating: {system, cells}, a cell [won, tied, lost] against each system in the same order, None for itself."""
    named = _named(tournament, live)
    order = [row for row, _ in named]
    place, table = _places(tournament), tournament.head_to_head

    def cell(row, other):
        return None if row.system_id == other.system_id else table[place[row.system_id]][place[other.system_id]]

    return [{"system": name, "cells": [cell(row, other) for other in order]} for row, name in named]


def categories(tournament: Tournament, live: bool = False) -> list[dict]:
    """Ratings within each category of contexts: {key, values: [{value, contexts}], systems: [{name, cells}]}."""
    names = {row.system_id: name for row, name in _named(tournament, live)}
    return [
        {**found, "systems": [{"name": name, "cells": found["systems"][str(pk)]} for pk, name in names.items()]}
        for found in tournament.findings.get("categories", [])
    ]


def speaks_of(tournament: Tournament, population: str = "") -> dict | None:
    """{population, annotators, choice} of a board in which people had a part; choice: may one ask of these annotators only?
    None on other boards, on those of earlier versions, and where people's games are rated by another rule than the default."""
    found = tournament.speaks_of
    if "population" not in found:
        return None
    shown = {"population": population or found["population"], "annotators": found["annotators"]}
    return shown | {"choice": found["only"] is not None}


def _calibrated(tournament: Tournament) -> dict | None:
    """What a calibrated board's comparator was worth, and that in a sentence; adds: more than one that knows nothing may seem
    to add by chance?"""
    found = tournament.findings.get("calibrated")
    if not found:
        return None
    units = tournament.findings.get("groups_played") or tournament.findings.get("contexts_played", 0)
    chance = worth_by_chance(found["judgments"], units)
    adds = found["worth"] > chance
    judge = "comparator" if tournament.version else "judge"
    said = f"With the {judge}, {found['judgments']:,} games judged by people carry as much information"
    said += f" as {found['worth']:,} without it"
    said += "." if adds else f". The {judge} adds nothing: an uninformative one can reach {int(chance):,} by chance."
    shown = {key: value for key, value in found.items() if key not in ("population", "annotators", "only")}
    return shown | {"adds": adds, "said": said}


def of_people(tournament: Tournament, named: list[tuple], population: str = "") -> dict | None:
    """Of a people's board: {population, annotators, kind, answers, left_out, variances, groups, joining, choice}, systems by
    name; choice: may one ask of these annotators only? None on other boards and on those of earlier versions."""
    found = tournament.findings.get("people")
    if not found:
        return None
    names = {row.system_id: name for row, name in named}
    return {
        **{key: found[key] for key in ("annotators", "kind", "answers", "left_out", "variances")},
        "population": population or found["population"],
        "choice": found["only"] is not None,
        "groups": [[names[pk] for pk in group] for group in found["groups"]],
        "joining": [{**row, "one": names[row["one"]], "other": names[row["other"]]} for row in found["joining"]],
    }


def neighbours(tournament: Tournament, live: bool = False, only: dict | None = None) -> list[dict]:
    """What may be said of each system and the next in rank, with a forecast in words where it is not known yet."""
    names = {row.system_id: name for row, name in _named(tournament, live)}
    return [
        {
            **found,
            "upper": names[found["upper"]],
            "lower": names[found["lower"]],
            "forecast": "more annotators" if found.get("more_people") else _forecast(tournament, found["more_games"]),
        }
        for found in (only or tournament.findings).get("neighbours", [])
    ]


def stability(tournament: Tournament, live: bool = False) -> list[dict]:
    """Does the order hold under another choice? Systems by name."""
    names = {row.system_id: name for row, name in _named(tournament, live)}
    return [
        {**found, "order": [names[pk] for pk in found["order"]], "moved": [names[pk] for pk in found["moved"]]}
        for found in tournament.findings.get("stability", [])
    ]


def three_scores(tournament: Tournament, live: bool = False) -> list[dict]:
    """Where outputs played: the paper's three scores of each system, best mean sample rating first."""
    names = {row.system_id: name for row, name in _named(tournament, live)}
    found = [{**row, "system": names[row["system"]]} for row in tournament.findings.get("three_scores", [])]
    return sorted(found, key=lambda row: -row["sample_rating"])


def known(tournament: Tournament, live: bool = False, only: dict | None = None) -> list[dict]:
    """For each system, best first: {system, above, below, open}, names of those it is known to be above, below, or neither."""
    named, above, place = _named(tournament, live), (only or tournament.findings).get("above", []), _places(tournament)

    def of(row, name) -> dict:
        found = {"system": name, "above": [], "below": [], "open": []}
        for other, other_name in named:
            i, j = place[row.system_id], place[other.system_id]
            if i != j:
                found["above" if above[i][j] else "below" if above[j][i] else "open"].append(other_name)
        return found

    return [of(row, name) for row, name in named] if above else []


def ranks_said(tournament: Tournament, pairs: list[dict], population: str = "") -> str:
    """Why ranks are intervals, in words; empty where every two systems are told apart. pairs: as `known` gives them."""
    n, apart = len(pairs), sum(len(row["above"]) for row in pairs)
    every = n * (n - 1) // 2
    if apart == every:
        return ""
    if apart:
        said = f"{apart} of {every} pairs of systems can be separated with 95% confidence; the order of the others is open."
    else:
        said = f"No two systems can be separated with 95% confidence, so every rank is 1–{n}."
    people, contexts = speaks_of(tournament, population), tournament.findings.get("contexts_played", 0)
    if people and people["population"] == "people":
        said += " Ranks generalise to other people and other contexts like these."
        said += f" With more than {people['annotators']} annotators and {contexts} contexts, more pairs may be separated."
    else:
        said += f" Ranks generalise to other contexts like these. With more than {contexts}, more pairs may be separated."
    only = tournament.speaks_of.get("only")
    if only and not population:
        more = int(np.sum(only["above"])) - apart
        said += f" For these annotators only, {more:,} more pairs can be separated." if more > 0 else ""
    return said


def _forecast(tournament: Tournament, games: int | None) -> str:
    """In what can be collected: judgments of pairs where people judge those; else contexts with all their games."""
    if not games:
        return ""
    if tournament.basis == PEOPLE and not tournament.criterion:
        return f"about {_rough(games):,} more judgments"
    contexts = -(-games * tournament.findings["contexts_played"] // tournament.played)
    return f"about {_rough(contexts):,} more contexts"


def _rough(games: int) -> int:
    """Two significant digits: a forecast is no more than a guess."""
    return round(games, 2 - max(len(str(games)), 2))


def choices(campaign: Campaign) -> list[tuple[str, str, str]]:
    """(basis, judge, criterion) of every board there is; judge as `asked_by` names it."""
    found = Tournament.objects.filter(campaign=campaign, finished_at__isnull=False, level=Tournament.Level.SYSTEM)
    rows = found.order_by().values_list("basis", "judge__kind", "judge__name", "criterion").distinct()
    comparator = Judge.Kind.COMPARATOR
    return sorted({(basis, "" if kind == comparator else name or "", criterion) for basis, kind, name, criterion in rows})


def open_tournaments(campaign: Campaign) -> list[Tournament]:
    """Tournaments that a page follows: those under way, and the newest where it failed or was cancelled."""
    light = ("replicates", "head_to_head")
    newest = list(campaign.tournaments.select_related("job", "judge__version").defer(*light)[:20])
    return [t for i, t in enumerate(newest) if not t.job.is_finished or (i == 0 and t.finished_at is None)]
