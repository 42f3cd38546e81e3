"""What must travel with each number of a board: uncertainty, whom it speaks of, warnings, and how to get it again."""

from leaderboard.boards import exports, wording
from leaderboard.boards.board import Board
from leaderboard.boards.estimates import Standing


def facts(board: Board) -> dict[str, str]:
    """Of the board as a whole; keys in the order in which they are written."""
    made, judge = board.provenance, board.basis.judge
    said = {
        "question": wording.question(board),
        "judged_by": wording.judged_by(board),
        "method": wording.method(board),
        "population": wording.population(board),
        "intervals": wording.intervals(board),
        "answers": wording.answers(board),
        "verdict": wording.verdict(board),
        "warnings": exports.warnings(board),
        "simulated": "true" if board.basis.simulated else "false",
        "snapshot": made.snapshot or "",
        "judge": judge.name if judge else "",
        "seed": str(made.seed),
        "code": made.signature.rpartition("|code:")[2],
        "signature": made.signature,
    }
    return {name: text for name, text in said.items() if text}


def of_system(board: Board, row: Standing) -> dict[str, str]:
    """Of one system on it."""
    said = {
        "rank": wording.rank(row),
        "rating": f"{row.rating:g} ({row.low:g} to {row.high:g})",
        "games": str(row.games),
        "answers": "" if row.answers is None else str(row.answers),
        "own_estimate": exports.own_estimate(board, row.own) if row.own else "",
    }
    return {name: text for name, text in said.items() if text}
