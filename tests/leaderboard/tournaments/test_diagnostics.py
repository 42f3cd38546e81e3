"""What a careful reader asks of a board: clusters, the best, equal length, circles and sides, recorded, shown and written."""

import csv
import io

import numpy as np
import pytest

from annotation.models import Output, PairwiseJudgment
from leaderboard.boards import exports, queries, wording
from leaderboard.boards.board import Board
from leaderboard.boards.estimates import Standing
from leaderboard.rating.rules import PAPER, Rules
from leaderboard.signature import parse
from leaderboard.templatetags.boards import head_to_head
from leaderboard.tournaments import play
from leaderboard.tournaments.start import start_tournament
from tests.evaluator.world import World
from tests.leaderboard.played import by_comparator, by_people, quiet

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
PAGE = "/c/talk/leaderboard/"


class Longer:
    """A judge that prefers the longer text, whoever wrote it."""

    def __init__(self, outputs):
        self.length = dict(Output.objects.filter(pk__in=[o.pk for o in outputs]).values_list("pk", "text"))

    def outcomes(self, a, b):
        return np.sign([len(self.length[i]) - len(self.length[j]) for i, j in zip(a, b)]).astype(int)

    def probabilities(self, a, b):
        return np.array([[0.6, 0.1, 0.3]] * len(a))


def by_length(campaign, **options):
    started = start_tournament(campaign, "judge", foreground=True, rules=Rules(stop="all"), **options)
    return play.play(started, quiet, lambda version, outputs, report: Longer(outputs))


def judged(tmp_path, client, choices) -> World:
    """choices: (context, system a, system b, annotator, choice)"""
    world = World(tmp_path, client, judged=False)
    world.judge(choices)
    return world


def row_of(board: Board, system: str) -> Standing:
    return next(row for row in board.standings if row.system == system)


class TestBest:
    def test_a_boards_chances_and_clusters(self, world):
        """Two annotators who always say 5, 4, 3 and 1: every system is known to be above the next."""
        board = queries.board(by_people(world.campaign))
        assert [(r.system, r.cluster, r.best) for r in board.standings] == [
            ("Person", 1, 1.0),
            ("Fine", 2, 0.0),
            ("Plain", 3, 0.0),
            ("Poor", 4, 0.0),
        ]

    def test_equals_share_a_cluster_and_the_chance(self, world, version):
        """Fine and Plain always tie: below Person, above Poor, and nothing between them."""
        found = by_comparator(world.campaign, rules=Rules(stop="all"))
        board = queries.board(found)
        assert [row.cluster for row in board.standings] == [1, 2, 2, 3]
        assert sum(row.best for row in board.standings) == pytest.approx(1, abs=0.02)
        assert row_of(board, "Person").best > 0.98

    def test_a_system_that_was_not_judged_has_no_place(self, tmp_path, client):
        world = World(tmp_path, client, judged=False)
        world.rows = [row for row in world.rows if row["system"] != "Poor"]
        world.score("Overall", {"Person": 5, "Fine": 4, "Plain": 3})
        world.freeze()
        board = queries.board(by_people(world.campaign))
        assert board.absent == ("Poor",) and "Poor" not in str(board.standings) + str(board.differences)
        assert max(row.rank_high for row in board.standings) == 3
        assert [row_of(board, name).cluster for name in ("Person", "Fine", "Plain")] == [1, 2, 3]

    def test_groups_that_never_met_have_neither(self, tmp_path, client):
        pairs = (("Person", "Fine"), ("Plain", "Poor"))
        choices = [(f"c{c:02}", a, b, f"A{n}", "A") for c in range(12) for a, b in pairs for n in range(4)]
        world = judged(tmp_path, client, choices)
        world.freeze()
        board = queries.board(by_people(world.campaign))
        assert {row.cluster for row in board.standings} == {row.best for row in board.standings} == {None}
        assert board.groups == (("Fine", "Person"), ("Plain", "Poor"))
        html = world.get(world.alice, PAGE + "?judge=people").content.decode()
        assert "Cluster" not in html and "line-above" not in html and ">Best<" not in html

    def test_these_annotators_only_have_their_own(self, tmp_path, client):
        """Whom people in general prefer is less sure than whom these do: eight people, of whom five are of one mind."""
        choices = [(f"c{c:02}", "Fine", "Plain", f"A{n}", "A" if n < 5 else "B") for c in range(12) for n in range(8)] + [
            (f"c{c:02}", "Fine", "Poor", f"A{n}", "A") for c in range(12) for n in range(8)
        ]
        world = judged(tmp_path, client, choices)
        world.freeze()
        played = by_people(world.campaign)
        everybody, only = (queries.board(played, population=who) for who in ("people", "annotators"))
        assert everybody.population.kind == "people" and only.population.kind == "annotators"
        assert 0.5 < row_of(everybody, "Fine").best < row_of(only, "Fine").best


class TestEqualLength:
    def test_a_judge_of_length_alone(self, world, version):
        board = queries.board(by_length(world.campaign))
        found = board.length
        assert found.odds.low > 1
        length = {}
        for system, text in Output.objects.values_list("system__name", "text"):
            length.setdefault(system, []).append(len(text))
        for row in found.systems:
            played = row_of(board, row.system)
            assert row.plain == pytest.approx((played.wins + played.ties / 2) / played.games, abs=1e-4)
            assert row.length == pytest.approx(np.mean(length[row.system]), abs=0.06)  # every output met three others
            assert abs(row.controlled.value - 0.5) < abs(row.plain - 0.5)
            assert row.controlled.low <= row.controlled.value <= row.controlled.high

    def test_pairs_stand_in_the_boards_order_with_their_plain_share(self, world, version):
        board = queries.board(by_length(world.campaign))
        rows, table = board.length.systems, head_to_head(board)
        assert [row.system for row in rows] == [row["system"] for row in table]
        for i, row in enumerate(rows):
            assert row.against[i] is None
            for j in range(4):
                if i != j:
                    won, tied, lost = table[i]["cells"][j]
                    assert row.against[j].plain == pytest.approx((won + tied / 2) / (won + tied + lost), abs=1e-4)
                    both = row.against[j].controlled.value + rows[j].against[i].controlled.value
                    assert both == pytest.approx(1, abs=2e-4)

    def test_every_judge_has_them_but_outputs_that_play(self, world, version):
        for played in (by_people(world.campaign), by_comparator(world.campaign, games=100)):
            assert queries.board(played).length.scale > 0
            assert parse(played.signature)["circles"] == 999 and parse(played.signature)["draws"] == 100_000
        samples = by_comparator(world.campaign, level="sample", games=100, rules=PAPER)
        board = queries.board(samples)
        assert (board.length, board.order_fit, board.sides) == (None, None, None)
        assert parse(samples.signature)["circles"] is None and board.standings[0].cluster == 1


class TestOneOrder:
    def test_a_circle_is_said_to_be_one(self, tmp_path, client):
        """Person over Fine over Plain over Person, by everybody, everywhere: chance makes that once in a while."""
        circle = (("Person", "Fine"), ("Fine", "Plain"), ("Plain", "Person"))
        choices = [(f"c{c:02}", a, b, f"A{n}", "A" if n < 4 else "tie") for c in range(12) for a, b in circle for n in range(5)]
        world = judged(tmp_path, client, choices)
        world.freeze()
        fit = queries.board(by_people(world.campaign)).order_fit
        assert (fit.triples, fit.circles, fit.ties) == (1, 1, 0.2)
        html = world.get(world.alice, PAGE + "?judge=people").content.decode()
        assert "1 of 1 groups of three systems form a circle" in html and "20% of the games." in html

    def test_sides_by_hand(self, tmp_path, client):
        """36 judgments: 4 ties, 2 of a side nobody knows; of the other 30 the left output is preferred in 20."""
        choices = [
            (f"c{c:02}", "Person", "Fine", f"A{n}", "tie" if c < 4 and n == 0 else "A") for c in range(12) for n in range(3)
        ]
        world = judged(tmp_path, client, choices)
        for k, judgment in enumerate(PairwiseJudgment.objects.exclude(choice="tie").order_by("pk")):
            left = judgment.choice if k < 20 else {"A": "B", "B": "A"}[judgment.choice]
            judgment.shown_swapped = None if k >= 30 else left == "B"
            judgment.save()
        PairwiseJudgment.objects.filter(choice="tie").update(shown_swapped=True)
        world.freeze()
        sides = queries.board(by_people(world.campaign)).sides
        assert (sides.judgments, sides.left.value) == (30, 0.6667) and sides.left.low < 0.6667 < sides.left.high
        html = world.get(world.alice, PAGE + "?judge=people").content.decode()
        assert "Of 30 judgments that are not ties, 67% prefer the output on the left" in html

    def test_where_no_side_is_known(self, world, version):
        by_people(world.campaign), by_comparator(world.campaign, games=50)
        assert "Outputs were scored one at a time" in world.get(world.alice, PAGE + "?judge=people").content.decode()
        html = world.get(world.alice, PAGE + "?judge=comparator").content.decode()
        assert "answer does not depend on the side" in html.replace("&#x27;", "'")


class TestShown:
    def test_lines_between_clusters_and_folded_tables(self, world, version):
        by_comparator(world.campaign, rules=Rules(stop="all"))
        html = world.get(world.alice, PAGE).content.decode()
        assert html.count('<tr class="line-above">') == 2 and 'class="num of-cluster">Cluster</th>' in html
        assert "&gt;99%" in html and "Win rates at equal length" in html and '<details class="fold" open' not in html

    def test_files(self, world, version):
        played = by_comparator(world.campaign, rules=Rules(stop="all"))
        board = queries.board(played)
        first, *_, last = csv.DictReader(io.StringIO(exports.as_csv(board)))
        rate = next(r for r in board.length.systems if r.system == "Person")
        assert (first["system"], first["cluster"], last["cluster"], float(first["best"])) == ("Person", "1", "3", 1.0)
        assert float(first["win_rate"]) == rate.plain == 1.0 and float(first["mean_length"]) == rate.length
        for column, end in (("", rate.controlled.value), ("_low", rate.controlled.low), ("_high", rate.controlled.high)):
            assert float(first[f"equal_length{column}"]) == end
        lines = exports.as_latex(board).splitlines()
        assert lines[:4] == [
            r"\begin{tabular}{llrrrr}",
            r"\toprule",
            r"Rank & System & Rating & 95\% interval & Best & Games \\",
            r"\midrule",
        ]
        assert [lines.index(line) for line in lines if "Fine" in line or "Plain" in line] == [6, 7]
        assert lines[5] == lines[8] == r"\midrule" and r" & $>$99\% & 36 \\" in lines[4] and r"$<$1\%" in lines[9]
        assert f"% {wording.best_meaning(board)}" in lines
