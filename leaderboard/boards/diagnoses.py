"""What a board's diagnostics say, each sentence a function of the board; empty where they have nothing to say."""

from annotation.quality.p_values import p_is
from leaderboard.boards.board import Board
from leaderboard.boards.panels import Correlation


def length(board: Board) -> str:
    """What a longer output has of it."""
    found = board.length
    if found is None:
        return ""
    if not found.scale or found.odds is None:
        return "All outputs that were compared have the same length."
    low, high = found.odds.low, found.odds.high
    between = "" if low is None or high is None else f" (95% interval {low:.2f} to {high:.2f})"
    said = f"An output that is {found.scale:.0f} characters longer than the other, a typical difference here,"
    return f"{said} has {found.odds.value:.2f} times the odds of winning that it has at equal length{between}."


def costs(board: Board) -> str:
    """Whose costs these are, and of which systems none is known."""
    if board.costs is None:
        return ""
    known = {one.system for one in board.costs.systems}
    others = [row.system for row in board.standings if row.system not in known]
    return "Costs are as researchers gave them." + (f" None is known of {', '.join(others)}." if others else "")


def circles(board: Board) -> str:
    """Does one order fit the judgments?"""
    fit = board.order_fit
    if fit is None:
        return ""
    if not fit.triples:
        return "No three systems have all been compared with a winner, so no circle is possible."
    said = (
        f"{fit.circles:,} of {fit.triples:,} groups of three systems form a circle: the first beats the second more often than"
    )
    said += (
        " not, the second beats the third, and the third beats the first. If one order held for all systems, chance alone would"
    )
    said += f" give {fit.expected:.1f} ({p_is(fit.p)})."
    if fit.p > 0.05:
        return f"{said} There are no more circles than chance explains."
    more = "There are more circles than chance explains, so one rating for each system does not describe these judgments fully."
    return f"{said} {more}"


def side(board: Board) -> str:
    """Did it matter which output was on the left?"""
    found, people = board.sides, board.basis.people
    if found is None:
        if board.basis.kind == "judge" and board.basis.judge and board.basis.judge.kind == "comparator":
            return "The comparator's answer does not depend on the side."
        if people and people.kind == "scores":
            return "Outputs were scored one at a time, so there are no sides."
        return "It is not known which output was shown on the left."
    left, low, high = found.left.value, found.left.low, found.left.high
    said = f"Of {found.judgments:,} judgments that are not ties, {left:.0%} prefer the output on the left"
    if low is None or high is None:
        return f"{said}."
    effect = "the side had an effect" if low > 0.5 or high < 0.5 else "no effect of the side is established"
    return f"{said} (95% interval {low:.0%} to {high:.0%}; {effect})."


def correlation(found: Correlation) -> str:
    """With its interval, or with why there is none."""
    if found.spearman is None:
        return found.reason
    if found.low is None or found.high is None:
        return f"{found.spearman:.2f}. {found.reason}"
    return f"{found.spearman:.2f} ({found.low:.2f} to {found.high:.2f})"
