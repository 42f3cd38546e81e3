"""Easy first, hard later: what a training shows as it goes on. `progress` is the share of the training's steps done."""

LARGEST_MARGIN, MARGIN_STEPS = 0.8, 8  # 80%, 70%, ... 10% of the iterations, each for an eighth of the training

# Shares of the kinds of negatives (negatives.Negatives) that the base is shown: at first, and then.
EASY = {"random": 1.0}
HARD = {"random": 0.5, "shuffled": 0.2, "padded": 0.15, "dropped": 0.08, "replaced": 0.07}


def weak_margin(progress: float) -> float:
    """The smallest distance between two checkpoints that is shown (Zhou & Xu 2020, section 3.1: larger margins first)."""
    step = min(int(progress * MARGIN_STEPS), MARGIN_STEPS - 1)
    return LARGEST_MARGIN - step * 0.1
