import numpy as np
import pytest

from leaderboard.rating.games import Games
from leaderboard.rating.rules import PAPER, standings
from leaderboard.rating.sample_scores import mean_by_system, reference_pairs, reference_scores, sample_pairs


def test_samples_meet_at_random_but_never_themselves():
    first, second = sample_pairs(30)
    assert len(first) == 10_000  # Zhou & Xu 2020, RQ1
    assert (first != second).all()
    assert np.bincount(np.concatenate([first, second]), minlength=30).min() > 500
    assert (sample_pairs(30)[0] == first).all() and (sample_pairs(30, seed=1)[0] != first).any()
    with pytest.raises(ValueError, match="two outputs"):
        sample_pairs(1)


def test_a_better_output_is_rated_higher_by_either_rule():
    first, second = sample_pairs(20, 2000)
    games = Games(first, second, np.sign(first - second), np.zeros(2000, dtype=int))
    for rules in (PAPER, PAPER.__class__()):
        assert np.corrcoef(standings(20, games, rules).rating, np.arange(20))[0, 1] > 0.95


def test_everybody_meets_the_same_machine_written_references():
    machine = np.arange(200) % 2 == 0
    output, reference = reference_pairs(machine)
    assert len(np.unique(reference)) == 50  # Zhou & Xu 2020, RQ1
    assert machine[reference].all() and (output != reference).all()
    times = np.bincount(output)
    assert (times[np.setdiff1d(np.arange(200), reference)] == 50).all() and (times[np.unique(reference)] == 49).all()


def test_few_machine_written_outputs_are_all_references():
    output, reference = reference_pairs([True, False, True])
    assert sorted(zip(output.tolist(), reference.tolist())) == [(0, 2), (1, 0), (1, 2), (2, 0)]
    with pytest.raises(ValueError, match="machine-written"):
        reference_pairs([False, False])


def test_three_points_one_point_none():
    # Output 0 wins, wins, loses: (3 + 3 + 0) / 3; output 1 draws: 1; output 2 meets nobody.
    scores = reference_scores(3, [0, 0, 0, 1], [1, 1, -1, 0])
    assert scores[:2].tolist() == [2, 1] and np.isnan(scores[2])
    with pytest.raises(ValueError, match="outcome must be"):
        reference_scores(1, [0], [3])


def test_a_system_is_the_mean_of_its_outputs():
    means = mean_by_system(3, [0, 0, 1, 1], [2.0, 4.0, 5.0, np.nan])
    assert means[:2].tolist() == [3, 5] and np.isnan(means[2])
