"""Easy first, hard later: what a training shows as it goes on. `progress` is the share of the training's steps done."""

MARGIN_STEPS = 8  # 80%, 70%, ... 10% of the iterations, each for an eighth of the training

# Shares of the kinds of negatives (negatives.Negatives) that the base is shown: at first, and then.
EASY = {"random": 1.0}
HARD = {"random": 0.5, "shuffled": 0.2, "padded": 0.15, "dropped": 0.08, "replaced": 0.07}


def weak_margin(progress: float) -> float:
    """The smallest distance between two checkpoints that is shown (Zhou & Xu 2020, section 3.1: larger margins first)."""
    step = min(int(progress * MARGIN_STEPS), MARGIN_STEPS - 1)
    return (MARGIN_STEPS - step) / 10  # the float nearest to the tenth, as `Pair.margin` is: 0.8 - 0.1 is above 0.7
