"""After which epoch a member stops, by hand."""

import pytest

from evaluator.comparator.training.learning_curve import best_epoch


def records(*losses):
    """One member for each list of held-out losses."""
    return [{"epochs": [{"point": {"heldout_loss": loss}} for loss in member]} for member in losses]


@pytest.mark.parametrize(
    ("others", "best"),
    [
        # The second epoch is better than the last by 0.1 and 0.3: 0.2 on average, with a standard error of 0.1.
        ([[1.0, 0.8, 0.9], [1.0, 0.7, 1.0]], 1),
        # By 0.3 and -0.1: 0.1 on average, with a standard error of 0.2, so that the last is as good.
        ([[1.0, 0.7, 1.0], [1.0, 0.9, 0.8]], 2),
        ([[1.0, 0.9, 0.8], [1.0, 0.9, 0.8]], 2),
        ([[1.0, 0.9, 0.95]], 1),  # one member alone has no standard error
        ([[1.0, 0.8, 0.9], [None, None, None], [1.0, 0.7, 1.0]], 1),  # nobody judged its fold
        ([[None, None, None]], 2),
    ],
)
def test_the_last_epoch_unless_one_before_it_is_surely_better(others, best):
    assert best_epoch(records([0.0, 9.0, 9.0], *others), 0) == best


def test_a_members_own_fold_has_no_say():
    assert best_epoch(records([0.0, 9.0, 9.0], [1.0, 0.8, 0.9], [1.0, 0.7, 1.0]), 0) == 1
    assert best_epoch(records([9.0, 9.0, 0.0], [1.0, 0.8, 0.9], [1.0, 0.7, 1.0]), 0) == 1
