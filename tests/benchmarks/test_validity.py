"""`make validity` in short: its figures are right where they can be worked out, and a board that is too sure is caught."""

import ast
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.validity import __main__ as command
from benchmarks.validity import claims, generators, harness, simulation
from benchmarks.validity.claims import Claim, Figure, Row, coverage, mean, oracle_width, row, rows, share_of
from benchmarks.validity.generators import Campaign, draw_answers, population, truth
from benchmarks.validity.report import margins, replaced, summary, table
from benchmarks.validity.simulation import Statement, kendall, ranks_hold, raw_means, simulate, statements_across

CAMPAIGNS = {"scores": Campaign(), "pairs": claims.PAIRS}
RUNS = 12  # of each campaign; the standard error of a share of covered pairs is then about 3%


def measured(campaign: Campaign, bound=(0.93, 1.0), runs=RUNS) -> Row:
    true = truth(population(campaign), 100_000)
    return row(
        Claim("coverage", {}, coverage, lambda c: bound), "", campaign, [simulate(campaign, true, i) for i in range(runs)]
    )


class TestBoard:
    @pytest.mark.parametrize("kind", CAMPAIGNS)
    def test_intervals_hold_the_truth(self, kind):
        assert measured(CAMPAIGNS[kind]).holds in ("yes", "unsure")

    @pytest.mark.parametrize("kind", CAMPAIGNS)
    def test_a_board_that_is_too_sure_is_reported(self, kind, monkeypatch):
        """Intervals of a third of their width hold the truth about half the time: 1.96 / 3 = 0.65 SE, 49% of a normal."""
        right = simulation.stated

        def too_sure(board):
            stated = right(board)
            return replace(stated, half_width=stated.half_width / 3)

        monkeypatch.setattr(simulation, "stated", too_sure)
        found = measured(CAMPAIGNS[kind])
        assert found.holds == "no" and 0.2 < found.figure.value < 0.8

    def test_a_board_that_always_claims_is_reported(self, monkeypatch):
        """Equal systems of which one is always called better: a false statement in each campaign."""
        right = simulation.stated
        above = np.eye(5, k=1, dtype=bool)
        monkeypatch.setattr(simulation, "stated", lambda board: replace(right(board), above=above, rank_low=np.arange(5) + 2))
        campaign = replace(Campaign(), strengths=claims.EQUAL)
        record = simulate(campaign, np.full(5, 3.0), 0)
        assert record["false"] is True and record["ranks"] is False
        (claim,) = (claim for claim in claims.claims() if claim.name == "false")
        assert row(claim, "", campaign, [record, record]).holds == "no"

    def test_a_seed_gives_the_same_record(self):
        true = truth(population(Campaign()), 1_000)
        assert simulate(Campaign(), true, 3) == simulate(Campaign(), true, 3) != simulate(Campaign(), true, 4)

    @pytest.mark.parametrize("name", claims.apart())
    def test_nothing_is_stated_of_systems_that_never_met(self, name):
        campaign = claims.apart()[name]
        assert simulate(campaign, np.zeros(5), 1)["across"] == 0

    def test_the_difference_is_in_points_of_the_scale(self):
        """Where everybody scores the second system 1 higher, the difference is 1 point."""
        campaign = Campaign((0.0, 1.0), contexts=40, severity=0.3, use=0, taste=0, luck=0, noise_scale=1e-3, k=4)
        answers = draw_answers(campaign, 1)
        answers = replace(answers, value=1.0 * answers.value)
        stated = simulation.stated(simulation.board_of(campaign, answers))
        raw = raw_means(answers, 2)
        assert stated.difference[1, 0] == pytest.approx(raw[1] - raw[0], abs=0.15)
        assert stated.difference[1, 0] == pytest.approx(1, abs=0.15)


def statement(above, rank_low, rank_high, component) -> Statement:
    nothing = np.zeros((len(component), len(component)))
    return Statement(nothing, nothing, np.array(above, dtype=bool), *map(np.array, (rank_low, rank_high, component)))


class TestFigures:
    def test_mean_and_standard_error(self):
        """1, 0, 1, 0: mean 1/2, SD sqrt(4 / 4 / 3) = 0.5774, standard error 0.2887."""
        assert mean([1, 0, 1, 0]) == pytest.approx((0.5, 0.28868), abs=1e-5)

    def test_the_oracle_knows_how_estimates_vary(self):
        """Two pairs, estimated -1, 1 and -2, 2 in two campaigns: variances 2 and 8, mean 5; 2 * 1.96 * sqrt(5) = 8.765."""
        assert oracle_width([{"difference": [-1, -2]}, {"difference": [1, 2]}]) == pytest.approx(8.765, abs=1e-3)

    def test_ranks(self):
        """True ranks of strengths 2, 1, 0 are 1, 2, 3."""
        strengths = np.array([2.0, 1.0, 0.0])
        assert ranks_hold(statement(np.zeros((3, 3)), [1, 1, 2], [2, 3, 3], [0] * 3), strengths)
        assert not ranks_hold(statement(np.zeros((3, 3)), [2, 1, 2], [2, 3, 3], [0] * 3), strengths)
        assert not ranks_hold(statement(np.zeros((3, 3)), [1, 1, 2], [2, 1, 3], [0] * 3), strengths)

    def test_equal_systems_share_their_ranks(self):
        assert ranks_hold(statement(np.zeros((2, 2)), [1, 2], [1, 2], [0, 0]), np.zeros(2))
        assert not ranks_hold(statement(np.zeros((3, 3)), [1, 3, 1], [3, 3, 3], [0] * 3), np.array([0.0, 0.0, -1.0]))

    def test_statements_across_groups(self):
        """Systems 0, 1 and 2, 3 never met. One is called above another (1), two groups are one (4 pairs), a rank
        is the third of two (1)."""
        together = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]], dtype=bool)
        nothing, one = np.zeros((4, 4)), np.zeros((4, 4))
        one[0, 2] = one[0, 1] = 1
        wide = ([1, 2, 1, 1], [2, 2, 2, 2])
        assert statements_across(statement(nothing, *wide, [0, 0, 1, 1]), together) == 0
        assert statements_across(statement(one, *wide, [0, 0, 1, 1]), together) == 1
        assert statements_across(statement(nothing, *wide, [0, 0, 0, 0]), together) == 4
        assert statements_across(statement(nothing, [1, 2, 1, 1], [3, 2, 2, 2], [0, 0, 1, 1]), together) == 1

    def test_kendall(self):
        """Of the six pairs of four systems one is in the wrong order: (5 - 1) / 6. Where all are equal there is no order."""
        assert kendall(np.array([1.0, 3.0, 2.0, 4.0]), np.arange(4.0)) == pytest.approx(4 / 6)
        assert kendall(np.zeros(4), np.arange(4.0)) == 0.0

    @pytest.mark.parametrize("value, holds", [(0.94, "yes"), (0.93, "yes"), (0.92, "unsure"), (0.90, "no"), (0.99, "no")])
    def test_a_bound_is_kept_or_missed_by_so_much(self, value, holds):
        claim = Claim("", {}, lambda records: Figure(value, 0.006), lambda c: (0.93, 0.96))
        assert row(claim, "", Campaign(), []).holds == holds

    @pytest.mark.parametrize("n, holds", [(100, "unsure"), (400, "no")])
    def test_a_few_campaigns_that_come_out_alike_prove_nothing(self, n, holds):
        """Everything is held where 98% is the most: a share's error at 98% is 1.4% for 100 campaigns, and 0.7% for 400."""
        claim = Claim("", {}, share_of("ranks"), lambda c: (0.93, 0.98))
        assert row(claim, "", Campaign(), [{"ranks": True}] * n).holds == holds

    def test_only_large_crowds_have_an_upper_bound(self):
        (claim,) = (claim for claim in claims.claims() if claim.name == "coverage")
        assert [claim.bounds(Campaign(annotators=n)) for n in (6, 12)] == [(0.93, 1.0), (0.93, 0.98)]

    def test_the_grid_is_all_there(self):
        """2 kinds, 2 numbers of answers, 3 of annotators, 3 tastes, 2 loads; each with the answers that its name says."""
        grid = claims.grid()
        assert len(grid) == len(set(grid.values())) == 72
        sizes = {name: len(draw_answers(campaign, 0).context) for name, campaign in grid.items()}
        assert {(name.split(",")[1] if "3,000" not in name else " 3,000 answers", n) for name, n in sizes.items()} == {
            (" 300 answers", 300),
            (" 3,000 answers", 3000),
        }

    def test_raw_means_find_most_of_the_order(self):
        """The order's campaigns are neither hopeless nor easy: 12 annotators, k = 3, even, a tau of about 0.84."""
        campaign = claims.orders()["12 annotators, k = 3, even"]
        strengths = np.array(campaign.strengths)
        found = [kendall(raw_means(draw_answers(campaign, seed), 5), strengths) for seed in range(200)]
        assert np.mean(found) == pytest.approx(0.84, abs=0.04)


SMALL = Campaign((0.0, 1.0), contexts=10, annotators=4, k=2)


class TestHarness:
    @pytest.fixture(autouse=True)
    def quick(self, monkeypatch):
        monkeypatch.setattr(generators, "truth", lambda campaign: truth(campaign, 1_000))

    def test_a_run_that_was_cut_goes_on(self, tmp_path):
        store = harness.Store(tmp_path / "store.jsonl")
        assert list(harness.run([SMALL], 2, store, workers=1)) == [1, 0]
        with store.file.open("a") as out:
            out.write('["half a li')
        again = harness.Store(store.file)
        assert again.records(SMALL, 5) == store.records(SMALL, 5) and len(again.records(SMALL, 5)) == 2
        assert list(harness.run([SMALL], 4, again, workers=1)) == [1, 0]
        assert len(harness.Store(store.file).records(SMALL, 5)) == 4

    def test_another_version_of_the_code_starts_anew(self, tmp_path, monkeypatch):
        store = harness.Store(tmp_path / "store.jsonl")
        list(harness.run([SMALL], 2, store, workers=1))
        monkeypatch.setattr(harness, "VERSION", "another")
        assert store.records(SMALL, 2) == []

    def test_comments_do_not_make_another_version(self, tmp_path):
        texts = ('def f():\n    """Old."""\n    return 1\n', "def f():\n    return 1  # new\n", "def f():\n    return 2\n")
        files = [tmp_path / f"{i}.py" for i in range(3)]
        for file, text in zip(files, texts):
            file.write_text(text)
        first, commented, changed = (harness.code_version([file]) for file in files)
        assert first == commented != changed

    def test_campaigns_and_seeds_have_draws_of_their_own(self):
        seeds = {harness.draw_seed(replace(SMALL, k=k), seed) for k in (1, 2) for seed in range(10)}
        assert len(seeds) == 20


class TestReport:
    CLAIM = Claim("order", {"a": SMALL, "b": SMALL}, coverage, lambda c: (0.0, 1.0))

    def test_table(self):
        """Every column of a row, and the verdicts counted."""
        lines = [
            Row("six people", 200, Figure(0.9412, 0.0061, {"ratio": "1.07"}), "yes"),
            Row("none", 200, Figure(0.5, 0.1, {"ratio": "2.00"}), "no"),
        ]
        text = table(self.CLAIM, lines)
        assert "| scenario | N | figure | SE | ratio | holds |" in text
        assert "| six people | 200 | 94.1% | 0.6% | 1.07 | yes |" in text
        assert text.startswith("Holds in 1 of 2 scenarios, is unsure in 0, fails in 1. Over all 400 simulations: ")
        assert table(self.CLAIM, []) == "Not measured yet."

    def test_the_mean_weighs_scenarios_by_their_simulations(self):
        """(100 * 0.9 + 300 * 0.5) / 400 = 0.6; sqrt((100 * 0.03)^2 + (300 * 0.01)^2) / 400 = 0.0106."""
        lines = [Row("a", 100, Figure(0.9, 0.03), "yes"), Row("b", 300, Figure(0.5, 0.01), "no")]
        assert summary(self.CLAIM, lines).endswith("Over all 400 simulations: 60.0% (SE 1.1%).")

    def test_scenarios_with_a_part_in_common_are_looked_at_together(self):
        """Twelve scenarios, six with scores: (1.0 + ... + 0.5) / 6 = 0.75; SE 0.06 / sqrt(6) = 0.0245."""
        lines = [
            Row(f"{kind}, {i} annotators", 100, Figure(value - i / 10, 0.06), "yes")
            for kind, value in (("scores", 1.0), ("pairs", 0.9))
            for i in range(6)
        ]
        text = margins(self.CLAIM, lines)
        assert "| scores | 600 | 75.0% | 2.4% |" in text and "| pairs | 600 | 65.0% | 2.4% |" in text
        assert "| 5 annotators | 200 | 45.0% | 4.2% |" in text and text in table(self.CLAIM, lines)
        assert margins(self.CLAIM, lines[:11]) == ""

    def test_only_what_is_between_the_marks_is_replaced(self):
        document = "a\n<!-- validity: one -->\nold\n<!-- end -->\nb\n<!-- validity: two -->\nold\n<!-- end -->\n"
        new = replaced(document, "two", r"n\ew")
        assert new == document.replace("two -->\nold", "two -->\nn\\ew")
        with pytest.raises(ValueError, match="three"):
            replaced(document, "three", "")

    def test_rows_need_two_simulations(self):
        record = {"covered": 1.0, "width": 1.0, "difference": [1.0]}
        other = {"covered": 0.5, "width": 2.0, "difference": [0.0]}
        claim = Claim("c", {"once": SMALL, "twice": replace(SMALL, k=1)}, coverage, lambda c: (0.0, 1.0))
        found = rows(claim, lambda c: [record, other] if c.k == 1 else [record])
        assert [(r.scenario, r.n, r.figure.value) for r in found] == [("twice", 2, 0.75)]

    def test_every_claim_has_its_place_in_the_document(self):
        document = command.DOCUMENT.read_text(encoding="utf-8")
        for claim in claims.claims():
            assert replaced(document, claim.name, "") != document

    def test_command(self, tmp_path, monkeypatch, capsys):
        """Two scenarios, two simulations: the table is printed; it is written only where the claim is complete."""
        monkeypatch.setattr(generators, "truth", lambda campaign: truth(campaign, 1_000))
        claim = Claim("mine", {"few": SMALL, "fewer": replace(SMALL, contexts=8)}, coverage, lambda c: (0.0, 1.0))
        monkeypatch.setattr(command, "claims", lambda: [claim])
        document = tmp_path / "validity.md"
        document.write_text("<!-- validity: mine -->\n<!-- end -->\n")
        options = ["--n", "2", "--workers", "1", "--store", str(tmp_path / "s.jsonl"), "--document", str(document)]
        assert command.main([*options, "--only", "fewer"]) == 0
        assert "| fewer | 2 |" in capsys.readouterr().out and "fewer" not in document.read_text()
        assert command.main(options) == 0
        assert "| few | 2 |" in document.read_text() and "| fewer | 2 |" in document.read_text()
        assert len(json.loads((tmp_path / "s.jsonl").read_text().splitlines()[-1])) == 2

    def test_the_command_fails_where_a_claim_does(self, tmp_path, monkeypatch):
        monkeypatch.setattr(generators, "truth", lambda campaign: truth(campaign, 1_000))
        claim = Claim("mine", {"few": SMALL}, lambda records: Figure(0.5, 0.01), lambda c: (0.93, 1.0))
        monkeypatch.setattr(command, "claims", lambda: [claim])
        document = tmp_path / "validity.md"
        document.write_text("<!-- validity: mine -->\n<!-- end -->\n")
        options = ["--n", "2", "--workers", "1", "--store", str(tmp_path / "s.jsonl"), "--document", str(document)]
        assert command.main(options) == 1


def test_the_generators_know_nothing_of_the_product():
    """They import NumPy, SciPy and the standard library alone."""
    tree = ast.parse(Path(generators.__file__).read_text(encoding="utf-8"))
    imported = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    imported |= {alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names}
    assert {str(name).split(".")[0] for name in imported} <= {"dataclasses", "itertools", "numpy", "scipy"}
