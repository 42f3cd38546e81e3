"""What judging a checkpoint takes, in seconds for 1,000 outputs."""

from evaluator.selection.evaluation_cost import cost


def test_what_was_measured_here_counts_before_what_was_measured_elsewhere():
    found = cost([(100, 2.0), (50, 0.5), (0, 9.0)], reads_pairs=False, architecture="utility")
    assert (found.low, found.high, found.evaluations) == (10.0, 20.0, 2)  # 1,000 / 50 times 0.5, 1,000 / 100 times 2
    assert found.said == "1,000 outputs of a checkpoint take 10 to 20 seconds with it (by its newest 2 evaluations here)."


def test_of_pairs_five_of_each_output_are_read():
    """The previous two, one ten checkpoints back, the best so far and the first (docs/judges/training-runs.md)."""
    found = cost([(200, 2.0)], reads_pairs=True, architecture="joint")
    assert (found.low, found.high, found.evaluations) == (50.0, 50.0, 1)  # 5,000 pairs, 200 of them in 2 seconds
    assert "take 50 seconds with it (by its newest 1 evaluation here)" in found.said


def test_the_newest_ten_evaluations_count():
    found = cost([(1000, float(n)) for n in range(1, 20)], reads_pairs=False)
    assert (found.low, found.high, found.evaluations) == (1.0, 10.0, 10)


def test_without_an_evaluation_the_figures_are_the_documented_ones_or_none():
    """docs/judges/training-runs.md: a joint comparator 37 to 56 seconds, another one 3.5 to 11.7."""
    joint, utility, unknown = (cost([], pairs, name) for pairs, name in ((True, "joint"), (False, "utility"), (False, "")))
    assert (joint.low, joint.high, joint.evaluations) == (37.0, 56.0, 0) and "37 to 56 seconds" in joint.said
    assert (utility.low, utility.high) == (3.5, 11.7) and "3.5 to 12 seconds" in utility.said
    assert "measured elsewhere" in joint.said and "quiet machine" in joint.said
    assert unknown.low is None and unknown.said.endswith("is not known before it has judged some here.")
