from dataclasses import replace

import numpy as np
import pytest

from annotation.quality.errors import UndefinedAgreement
from annotation.quality.krippendorff import alpha, alpha_interval
from annotation.quality.more_judgments import GROUPED, in_groups, outlook, sentence_of


@pytest.fixture
def scores():
    """Four raters of 60 outputs; alpha is 0.76, its interval from 0.66 to 0.82."""
    rng = np.random.default_rng(0)
    truth = rng.uniform(1, 5, 60)
    return np.clip(np.rint(truth + rng.normal(0, 0.7, (4, 60))), 1, 5)


def test_so_many_more_bring_the_interval_to_the_line_and_fewer_do_not(scores):
    found = outlook(scores, 0.72, draws=1000)
    size = 60 + found.units

    def low_of(units):  # a campaign of that size with the same alpha: every output as often as the rest
        tiled = np.tile(scores, (1, 8))[:, :units]
        return alpha_interval(tiled, replicates=1000)[0] - alpha(tiled) + alpha(scores)

    assert low_of(size) == pytest.approx(0.72, abs=0.01)
    assert low_of(60 + found.units // 3) < 0.72 - 0.005
    assert found.scores == 4 * found.units
    assert found.units_low < found.units and (found.units_high is None or found.units_high > found.units)
    assert f"About {found.units:,} more items" in found.sentence


def test_one_item_is_no_end_of_a_range():
    """Where the interval is below the line at least one item is needed, so "1 to 1,200" says nothing at its low end."""
    said = lambda low, high: sentence_of(0.8, 0.82, [300, low, high], 1200, 0.7)
    assert said(40, 1200) == (
        "About 300 more items (1,200 scores) would bring the interval above 0.8."
        " Because alpha is uncertain, it may take 40 to 1,200 (80% range)."
    )
    assert said(1, 1200).endswith("uncertain, it may take up to 1,200.")
    assert said(40, None).endswith("uncertain, it may take 40 or more, and no number may be enough.")
    assert said(1, None).endswith("uncertain, no number may be enough.")


def test_the_spread_shrinks_with_the_root_of_the_campaign(scores):
    near, far = outlook(scores, 0.70, draws=1000), outlook(scores, 0.73, draws=1000)
    value = alpha(scores)
    assert (60 + far.units) / (60 + near.units) == pytest.approx(((value - 0.70) / (value - 0.73)) ** 2, rel=0.25)


def test_nothing_more_is_needed_above_the_line(scores):
    found = outlook(scores, 0.5)
    assert (found.units, found.scores, found.chance) == (0, 0, 1.0)
    assert found.sentence == "The interval is already above 0.5."


def test_below_the_line_more_judgments_would_not_help(scores):
    found = outlook(scores, 0.8)
    assert (found.units, found.scores, found.units_high) == (None, None, None)
    assert 0 < found.chance < 0.5
    assert found.sentence.startswith("More judgments would not help: alpha is 0.762, below 0.8")


def test_a_hairs_breadth_above_the_line_is_out_of_reach(scores):
    found = outlook(scores, float(alpha(scores)) - 1e-4)
    assert found.units is None
    assert "no campaign of a realistic size" in found.sentence


def test_the_same_seed_gives_the_same_number(scores):
    assert outlook(scores, 0.72, seed=1) == outlook(scores, 0.72, seed=1)


def test_of_contexts_in_groups_it_says_so_where_it_counts():
    reached, more = outlook(np.tile([1.0, 2.0, 3.0], (3, 4)), 0.5), sentence_of(0.7, 0.8, [3, 1, 9], 9, 0.5)
    assert in_groups(reached) == reached
    found = replace(reached, units=3, sentence=more)
    assert in_groups(found).sentence == f"{more} {GROUPED}"


@pytest.mark.parametrize("empty", [np.empty((0, 0)), np.full((3, 5), 4.0), [[1.0, 2.0]]])
def test_a_sentence_where_there_is_no_alpha(empty):
    with pytest.raises(UndefinedAgreement):
        outlook(empty, 0.667)
