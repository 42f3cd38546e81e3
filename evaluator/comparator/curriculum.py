"""Easy first, hard later: what a training shows as it goes on. `progress` is the share of the training's steps done."""

LARGEST_MARGIN, MARGIN_STEPS = 0.8, 8  # 80%, 70%, ... 10% of the iterations, each for an eighth of the training

# Shares of the kinds of negatives (negatives.KINDS). Hard ones from the start hurt; see docs/comparator.md.
EASY = {"random": 1.0}
HARD = {
    "random": 0.40, "same dialogue": 0.15, "retrieved": 0.15, "generated": 0.10, "replaced": 0.05, "dropped": 0.05,
    "repeated": 0.05, "truncated": 0.05,
}  # fmt: skip


def weak_margin(progress: float) -> float:
    """The smallest distance between two checkpoints that is shown (Zhou & Xu 2020, section 3.1: larger margins first)."""
    step = min(int(progress * MARGIN_STEPS), MARGIN_STEPS - 1)
    return LARGEST_MARGIN - step * 0.1


def negatives(progress: float, staged: bool = True) -> dict[str, float]:
    """Kind -> share. Random replies alone in the first half, harder ones in the second; mixed throughout if not staged."""
    return EASY if staged and progress < 0.5 else HARD
