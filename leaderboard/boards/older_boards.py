"""Boards of before, made of what was stored then: `findings`, `settings`, `head_to_head` and the ratings. Every number is as
it was; what was not stored is None."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from leaderboard.boards import row_facts
from leaderboard.boards.basis import AnswersLeftOut, BoardBasis, BoardPeople, BoardWorth, JudgeUsage, Variance
from leaderboard.boards.board import SCHEMA, Board, Doubt, Method, Narrow, Population
from leaderboard.boards.estimates import Difference, Estimate, Forecast, Joining, Name, Standing, rough
from leaderboard.boards.panels import (
    Alternative,
    Category,
    CategoryCell,
    CategoryRow,
    CategoryValue,
    Closeness,
    LengthPanel,
    LengthRow,
    OrderFitPanel,
    Sides,
    ThreeScores,
    WinRate,
)
from leaderboard.boards.tree import hints
from leaderboard.models import SystemRating, Tournament
from leaderboard.rating import ranking
from leaderboard.rating.prediction_powered import worth_by_chance

Json = Mapping[str, Any]
OF_PAIRS = ("bradley-terry-mixed-model", "plackett-luce")  # methods whose own estimates are chances to be preferred


def older_board(tournament: Tournament) -> Board:
    """The board of a tournament that ended before boards were stored."""
    return upgraded(replace(_Older(tournament).board(), schema=0))


def upgraded(board: Board) -> Board:
    """A board as it was stored, in today's schema."""
    if board.schema >= SCHEMA:
        return board
    name, kind = board.method.name, board.basis.people and board.basis.people.kind
    of_pairs = name in OF_PAIRS or (name == "corrected-mixed-model" and kind == "pairs")
    if board.question.unit == "points" and of_pairs and any(row.own for row in board.standings):
        board = replace(board, question=board.question.of_shares())
    if name in ("joint-mixed-model", "corrected-mixed-model") and kind == "both":  # distances from the mean were kept as scores
        narrow = board.narrow and replace(board.narrow, standings=_without_own(board.narrow.standings))
        board = replace(board, standings=_without_own(board.standings), narrow=narrow)
    silent = _silent(board) if board.schema < 2 else ""
    doubts = (*board.doubts, Doubt("unjudged", silent)) if silent else board.doubts
    return replace(board, schema=SCHEMA, doubts=doubts)


def _without_own(rows: Sequence[Standing]) -> tuple[Standing, ...]:
    return tuple(replace(row, own=None) for row in rows)


def _silent(board: Board) -> str:
    """What is known of outputs of which the judge said nothing, from before they were counted by system."""
    judge = board.basis.judge
    if judge is None or judge.kind == "comparator" or judge.used or any(one.kind == "unjudged" for one in board.doubts):
        return ""
    older = "This board is from before that was counted."
    if judge.unjudged:
        count = f"{judge.name} says nothing of {judge.unjudged:,} outputs, which do not play."
        return f"{count} Of which systems is not known. {older}"
    if not judge.reads:
        return f"It is not known of how many outputs {judge.name} says nothing, which do not play. {older}"
    return ""


class _Older:
    """One tournament's row and ratings, best first."""

    def __init__(self, tournament: Tournament):
        self.tournament, self.findings = tournament, tournament.findings
        self.rows: list[SystemRating] = list(tournament.ratings.all())
        self.place = {pk: i for i, pk in enumerate(tournament.settings["systems"])}
        self.name = {row.system_id: Name(row.name) for row in self.rows}
        self.people: Json = self.findings.get("people") or {}
        self.spoken_of: Json = self.people or self.findings.get("calibrated") or {}

    def board(self) -> Board:
        tournament, findings, only = self.tournament, self.findings, self.spoken_of.get("only")
        warning = tournament.settings.get("warning", "")
        return Board(
            question=row_facts.question(tournament),
            basis=self.basis(),
            method=self.method(),
            population=self.population(),
            standings=self.standings(findings),
            differences=self.differences(findings),
            provenance=row_facts.provenance(tournament),
            narrow=Narrow(self.standings(only), self.differences(only)) if only else None,
            groups=tuple(self.named(group) for group in self.people.get("groups", [])),
            joining=tuple(
                Joining(self.name[row["one"]], self.name[row["other"]], row["contexts"])
                for row in self.people.get("joining", [])
            ),
            doubts=(Doubt("start", warning),) if warning else (),
            stability=tuple(
                Alternative(row["name"], self.named(row["order"]), row["tau"], self.named(row["moved"]))
                for row in findings.get("stability", [])
            ),
            categories=tuple(self.category(row) for row in findings.get("categories", [])),
            three_scores=self.three_scores(),
            length=self.length(),
            order_fit=_order_fit(findings.get("order_fit")),
            sides=_sides(findings.get("sides")),
        )

    def named(self, ids: Sequence[int]) -> tuple[Name, ...]:
        return tuple(self.name[pk] for pk in ids)

    def basis(self) -> BoardBasis:
        tournament, kind = self.tournament, row_facts.basis_kind(self.tournament)
        gates = tournament.version.gates.get(tournament.campaign.slug, []) if tournament.version else []
        used = self.findings.get("used")
        usage = JudgeUsage(**{name: used[name] for name in hints(JudgeUsage) if name in used}) if used else None
        judge = row_facts.judge(tournament, self.findings.get("gate", gates), usage)
        return BoardBasis(kind, judge, None if kind == "judge" else self.whose(), tournament.is_simulated)

    def whose(self) -> BoardPeople:
        found, people = self.findings.get("calibrated"), self.people
        left_out = []
        if people.get("left_out"):
            left_out.append(AnswersLeftOut("outputs", people["left_out"], people["left_out"] + people["answers"]))
        if found and found.get("left_out"):
            left_out.append(AnswersLeftOut("learnt", found["left_out"], found["left_out"] + found["judgments"]))
        return BoardPeople(
            annotators=self.spoken_of.get("annotators"),
            kind=people.get("kind"),
            answers=people.get("answers"),
            verdict=row_facts.verdict(self.tournament),
            left_out=tuple(left_out),
            variances=tuple(Variance(name, value) for name, value in people.get("variances", {}).items()),
            worth=self.worth(found) if found else None,
        )

    def worth(self, found: Json) -> BoardWorth:
        units = self.findings.get("groups_played") or self.findings.get("contexts_played", 0)
        kept = {name: found[name] for name in ("weight", "judgments", "worth", "saved", "games")}
        return BoardWorth(**kept, by_chance=round(worth_by_chance(found["judgments"], units), 1))

    def method(self) -> Method:
        """Of people's boards from before all answers were read, the rules of games."""
        if self.people or not row_facts.reads_answers(self.tournament):
            return row_facts.method(self.tournament, self.people.get("kind"))
        looks = self.tournament.settings.get("looks", 1)
        return Method(
            row_facts.BY_GAMES[self.tournament.rating], self.tournament.rating, self.tournament.ties, "once", looks=looks
        )

    def population(self) -> Population:
        findings = self.findings
        played = {"contexts": findings.get("contexts_played"), "groups": findings.get("groups_played")}
        if row_facts.basis_kind(self.tournament) == "judge":
            return Population("contexts", **played)
        kind = self.spoken_of.get("population", "annotators")
        return Population(kind, self.spoken_of.get("annotators"), **played)

    def standings(self, known: Json) -> tuple[Standing, ...]:
        """known: the findings, or what they keep of these annotators only."""
        cluster, best, cells = self.clusters(known), known.get("best"), known.get("systems", {})
        group = {pk: k for k, members in enumerate(self.people.get("groups", []), start=1) for pk in members}

        def standing(row: SystemRating) -> Standing:
            i, games = self.place[row.system_id], row.wins + row.ties + row.losses
            own = {name: getattr(row, name) for name in ("low", "high", "rank_low", "rank_high")} | cells.get(
                str(row.system_id), {}
            )
            return Standing(
                id=row.system_id,
                system=self.name[row.system_id],
                human_written=row.is_human,
                rank_low=own["rank_low"],
                rank_high=own["rank_high"],
                rating=round(row.rating, 2),
                low=round(own["low"], 2),
                high=round(own["high"], 2),
                error=round(row.rd, 2),
                volatility=round(row.volatility, 6),
                cluster=cluster[i],
                group=group.get(row.system_id),
                best=None if best is None or best[i] is None else round(best[i], 2),
                answers=row.games if self.people else None,
                games=games if self.people else row.games,
                wins=row.wins,
                ties=row.ties,
                losses=row.losses,
                human_mean=None if row.human_mean is None else round(row.human_mean, 4),
            )

        return tuple(standing(row) for row in self.rows)

    def clusters(self, known: Json) -> list[int | None]:
        above, n = known.get("above", []), len(self.place)
        if not above:
            return [None] * n
        rating, compared = np.zeros(n), np.zeros(n, dtype=bool)
        for row in self.rows:
            rating[self.place[row.system_id]], compared[self.place[row.system_id]] = row.rating, row.games > 0
        if "best" in self.findings:  # boards still older did not say who could be compared
            compared = np.array([chance is not None for chance in self.findings["best"]])
        elif len([group for group in self.people.get("groups", []) if len(group) > 1]) > 1:
            compared[:] = False
        return [int(number) or None for number in ranking.clusters(rating, above, compared)]

    def differences(self, known: Json) -> tuple[Difference, ...]:
        above, table = known.get("above", []), self.tournament.head_to_head
        next_down = {frozenset((row["upper"], row["lower"])): row for row in known.get("neighbours", [])}

        def difference(upper: SystemRating, lower: SystemRating) -> Difference:
            i, j = self.place[upper.system_id], self.place[lower.system_id]
            near: Json = next_down.get(frozenset((upper.system_id, lower.system_id)), {})
            won, tied, lost = table[i][j] if table else (0, 0, 0)
            return Difference(
                upper=self.name[upper.system_id],
                lower=self.name[lower.system_id],
                known=bool(above and above[i][j]),
                rating=abs(near["difference"]) if near else round(upper.rating - lower.rating, 1),
                margin=near.get("margin"),
                won=won,
                tied=tied,
                lost=lost,
                forecast=self.forecast(near) if near else None,
            )

        return tuple(difference(upper, lower) for k, upper in enumerate(self.rows) for lower in self.rows[k + 1 :])

    def forecast(self, near: Json) -> Forecast | None:
        games = near["more_games"]
        if near.get("more_people"):
            return Forecast("annotators")
        if not games:
            return None
        if row_facts.basis_kind(self.tournament) == "people" and not self.tournament.criterion:
            return Forecast("judgments", rough(games))
        contexts = -(-games * self.findings["contexts_played"] // self.tournament.played)
        return Forecast("contexts", rough(contexts))

    def category(self, found: Json) -> Category:
        def cell(kept: Json | None) -> CategoryCell | None:
            return None if kept is None else CategoryCell(**kept)

        return Category(
            key=found["key"],
            values=tuple(CategoryValue(str(row["value"]), row["contexts"]) for row in found["values"]),
            systems=tuple(
                CategoryRow(name, tuple(cell(kept) for kept in found["systems"][str(pk)])) for pk, name in self.name.items()
            ),
        )

    def three_scores(self) -> tuple[ThreeScores, ...]:
        found = [ThreeScores(**{**row, "system": self.name[row["system"]]}) for row in self.findings.get("three_scores", [])]
        return tuple(sorted(found, key=lambda row: -row.sample_rating))

    def length(self) -> LengthPanel | None:
        found = self.findings.get("length_control")
        if not found:
            return None
        order = [self.place[row.system_id] for row in self.rows]

        def against(i: int, j: int) -> WinRate | None:
            won, tied, lost = self.tournament.head_to_head[i][j]
            cell = found["pairs"][i][j]
            return cell and WinRate(round((won + tied / 2) / (won + tied + lost), 4), Estimate(**cell))

        rows = [
            LengthRow(
                system=self.name[row.system_id],
                plain=found["plain"][i],
                controlled=found["controlled"][i] and Estimate(**found["controlled"][i]),
                length=found["length"][i],
                against=tuple(against(i, j) for j in order),
            )
            for i, row in zip(order, self.rows, strict=True)
        ]
        odds = found["odds"]
        return LengthPanel(None if odds["value"] is None else Estimate(**odds), found["scale"], tuple(rows))


def _order_fit(found: Json | None) -> OrderFitPanel | None:
    if not found:
        return None
    rows = [{**row, "points_low": row["points"][0], "points_high": row["points"][1]} for row in found["by_closeness"]]
    closeness = tuple(Closeness(**{name: row[name] for name in hints(Closeness)}) for row in rows)
    return OrderFitPanel(
        **{name: found[name] for name in ("triples", "circles", "expected", "p", "ties")}, by_closeness=closeness
    )


def _sides(found: Json | None) -> Sides | None:
    return Sides(found["judgments"], Estimate(found["left"], found["low"], found["high"])) if found else None
