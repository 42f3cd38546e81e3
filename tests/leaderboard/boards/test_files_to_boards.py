"""Small files with right values, from every door to what is said at the end: agreement, verdict, board.

Each right value has its source: another package, arithmetic by hand, or a test of the same numbers. The files: data/samples.
The doors store the same rows (`everywhere`), so that the board of the page's campaign is the board of all.
"""

import csv
import io
import re

import numpy as np
import pytest
from scipy import stats

from annotation.assessment.assess import as_dict, assess
from annotation.assessment.dependence import notes
from annotation.data.importer import import_scores
from annotation.models import Campaign
from leaderboard.boards import exports
from leaderboard.boards.board import Board
from leaderboard.boards.queries import alone
from tests.annotation.data.doors import SAMPLES, everywhere, installation, judgments, scores
from tests.leaderboard.played import by_people

__all__ = ["installation"]
pytestmark = pytest.mark.django_db


def agreement(campaign: Campaign, **how) -> dict:
    """Of the one question that was asked."""
    found = as_dict(assess(campaign, **how))
    return found["pairwise"] or found["criteria"][0]


def board(campaign: Campaign, criterion: str, **how) -> Board:
    assess(campaign, **how)
    return alone(by_people(campaign, criterion=criterion))


def page() -> Campaign:
    return Campaign.objects.get(slug="page")


def test_people_who_answered_once_each_get_the_verdict_of_three_who_answered_all(installation, tmp_path):
    """600 people with one score each, or the same numbers by three raters: alpha .9551 (package krippendorff), Fleiss .803;
    the mean of three raters' kappas is .803, and of two who share nothing there is none."""
    case = "14_one_item_per_worker"
    rows, people, _ = everywhere(installation, "scores", f"{case}.scores.csv", scores, on=f"{case}.outputs.jsonl")
    assert len(rows) == len(people) == 600
    once = agreement(page())
    with (SAMPLES / f"{case}.scores.csv").open() as file:
        cells = [row | {"annotator": f"r{n % 3}"} for n, row in enumerate(csv.DictReader(file))]
    three = tmp_path / "three.csv"
    with three.open("w") as file:
        writer = csv.DictWriter(file, list(cells[0]))
        writer.writeheader()
        writer.writerows(cells)
    campaign = installation.campaign("three", outputs=f"{case}.outputs.jsonl")
    import_scores(campaign, three)
    by_three = agreement(campaign)
    for report in (once, by_three):
        assert report["alpha_before"] == pytest.approx(0.9551, abs=5e-5)
        assert report["fleiss_kappa"] == pytest.approx(0.803, abs=5e-4) and report["verdict"] == "accepted"
        assert report["chance_p"] < 0.05
    assert once["cohen_kappa_mean"] is None and by_three["cohen_kappa_mean"] == pytest.approx(0.803, abs=5e-4)


def test_points_that_nobody_used_are_points(installation):
    """Over the scale's five points AC1 is .7662 and AC2 .9348 or .9830 (irrCAC 0.4.4 with all five categories; by hand P = 7/9,
    pi = (8/9, 1/9), P_e = .0494)."""
    case = "24_unused_scale_points"
    everywhere(installation, "scores", f"{case}.scores.csv", scores, on=f"{case}.outputs.jsonl")
    linear, quadratic = agreement(page()), agreement(page(), level="interval")
    assert linear["ac1"] == pytest.approx(0.7662, abs=5e-5)
    assert (linear["ac2_weights"], linear["ac2"]) == ("linear", pytest.approx(0.9348, abs=5e-5))
    assert (quadratic["ac2_weights"], quadratic["ac2"]) == ("quadratic", pytest.approx(0.9830, abs=5e-5))


def test_ranks_whose_first_is_the_best(installation):
    """Mean ranks 1.05, 1.95 and 3.00, by what the systems are called."""
    case = "16_rank_1_is_best"
    how = {"criterion": ("Rank", 1, 3), "on": f"{case}.outputs.jsonl", "constants": {"best": "low"}}
    rows, _, _ = everywhere(installation, "scores", f"{case}.scores.csv", scores, **how)
    means = {name: np.mean([row[-1] for row in rows if row[1] == name]) for name in ("good", "mid", "bad")}
    shown = board(page(), "Rank", mad=None)
    assert [row.system for row in shown.standings] == ["good", "mid", "bad"]
    assert [row.human_mean for row in shown.standings] == pytest.approx([*means.values()], abs=5e-5)
    assert shown.standings[0].best > 0.99 and "lowest is best" in exports.as_json(shown)["said"]["question"]


def paired_t(rows: list[tuple]) -> tuple[float, float]:
    """(mean difference, p) of the first system less the second, contexts as units; of scores or judgments."""
    by_context: dict[str, list[float]] = {}
    for context, system, *_, value in rows:
        by_context.setdefault(context, []).append(value if system in ("S0", "Y") else -value)
    differences = [2 * np.mean(values) for values in by_context.values()]
    return float(np.mean(differences)), float(stats.ttest_1samp(differences, 0).pvalue)


@pytest.mark.parametrize("mad", [1.0, 100.0])
def test_ranks_of_two_equal_systems_do_not_part_them(installation, mad):
    """.158 apart with p = .139 over contexts. As two samples, without a filter, the same scores said 98%."""
    case = "25_relative_scores"
    campaign = installation.campaign("page", ("Preference", 1, 2), f"{case}.outputs.jsonl")
    import_scores(campaign, SAMPLES / f"{case}.scores.csv")
    difference, p = paired_t(scores(campaign))
    assert difference == pytest.approx(0.158, abs=5e-4) and p == pytest.approx(0.139, abs=5e-4)
    (pair,) = board(campaign, "Preference", mad=mad, on_zero_mad="keep" if mad > 1 else "drop").differences
    assert not pair.known and pair.own.low < 0 < pair.own.high
    assert pair.own.value == pytest.approx(difference, abs=5e-5)


def test_ranks_that_are_called_quality_are_noticed(installation):
    """Through every door: their sum is always three. This sample's systems lie .283 apart, p = .009 over contexts."""
    how = {"criterion": ("Quality", 1, 2), "on": "25_relative_scores.outputs.jsonl"}
    rows, _, account = everywhere(installation, "scores", "25_ranks_equal_systems.seed0.scores.csv", scores, **how)
    assert account["assumed"] == [
        "The values of 'Quality' are ranks; the highest is taken for the best. Say best: low if it is not."
    ]
    assert paired_t(rows) == pytest.approx((-0.2833, 0.009), abs=5e-5)
    (note,) = notes(page())
    assert note.kind == "relative" and "the same sum in 100% of cases" in note.sentence


@pytest.mark.parametrize("kind", ["scores", "judgments"])
def test_ranks_and_the_same_answers_as_pairs_through_every_door(installation, kind):
    """139 answers to 101, however they are written; not known to differ."""
    case = "25_relative_scores"
    if kind == "scores":
        how = {"criterion": ("Preference", 1, 2), "on": f"{case}.outputs.jsonl"}
        rows, _, account = everywhere(installation, kind, f"{case}.scores.csv", scores, **how)
        assert len(rows) == 480 and "The values of 'Preference' are ranks" in account["assumed"][0]
    else:
        rows, _, _ = everywhere(installation, kind, f"{case}.same_as_pairs.judgments.jsonl", judgments)
        assert len(rows) == 240
    (pair,) = board(page(), "" if kind == "judgments" else "Preference").differences
    assert (pair.upper, pair.won, pair.lost, pair.known) == ("S0", 139, 101, False)


def test_four_prompts_under_twenty_ids_are_four(installation):
    """Their differences are -1.03, .43, -1.96 and .91 of Y less X the other way round: t over prompts has p = .58."""
    case = "26b_four_prompts_twenty_copies"
    rows, _, _ = everywhere(installation, "scores", f"{case}.scores.csv", scores, on=f"{case}.outputs.jsonl")
    by_prompt = [(row[0].partition("_")[0], *row[1:]) for row in rows]
    difference, p = paired_t(by_prompt)
    assert p == pytest.approx(0.58, abs=5e-3)
    shown = board(page(), "Quality")
    (pair,) = shown.differences
    assert not pair.known and pair.own.value == pytest.approx(difference, abs=5e-5) and shown.standings[0].best < 0.95
    assert "groups of contexts" in exports.as_json(shown)["said"]["population"]


def test_groups_that_never_met_are_named_wherever_a_board_goes(installation):
    """m1 was compared with m2 alone, m3 with m4."""
    rows, _, _ = everywhere(installation, "judgments", "28_two_groups_never_met.judgments.jsonl", judgments)
    assert len(rows) == 80
    shown = board(page(), "")
    group = {row.system: row.group for row in shown.standings}
    assert group["m1"] == group["m2"] != group["m3"] == group["m4"]
    assert all((row.rank_low, row.rank_high) == (1, 2) for row in shown.standings)
    in_csv = {row["system"]: row["group"] for row in csv.DictReader(io.StringIO(exports.as_csv(shown)))}
    assert in_csv == {system: str(number) for system, number in group.items()}
    for text in (exports.as_text(shown), exports.as_latex(shown), exports.as_svg(shown)):
        said = " ".join(re.sub(r"<[^>]+>", " ", text).split())
        assert "the groups cannot be compared: m1, m2; m3, m4" in said
