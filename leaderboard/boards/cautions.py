"""What must be said wherever a board goes, so that nobody takes it for more than it is. Every form of a board prints all of
it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from leaderboard.boards.basis import AnswersLeftOut
from leaderboard.boards.board import Board
from leaderboard.boards.estimates import Joining, Name
from leaderboard.boards.wording import by_answers, gate_verdict, question

ORDER_OF_GAMES = (
    "Ratings game by game depend on the order of the games, which is drawn by the systems' names: the same answers under other"
    " names have other digits. The intervals include what other orders would say."
)
NAMED = 10  # systems that a sentence names
SIMULATED = "Simulated data: judgments made by a program, not by people."


@dataclass(frozen=True)
class Caution:
    """kind: a word for programs; text: one or more sentences."""

    kind: str
    text: str


def cautions(board: Board) -> tuple[Caution, ...]:
    """All that there is, what weighs most first, each once."""
    first: dict[str, Caution] = {}
    for kind, text in _cautions(board):
        first.setdefault(text, Caution(kind, text))
    return tuple(caution for text, caution in first.items() if text)


def _cautions(board: Board) -> Iterator[tuple[str, str]]:
    yield "gate", failed_gate(board)
    yield "unjudged", unjudged(board)
    yield "other model", other_models(board)
    yield "verdict", verdict(board)
    yield "absent", absent(board)
    yield "groups", groups(board)
    yield from ((doubt.kind, doubt.text) for doubt in board.doubts)
    for found in board.basis.people.left_out if board.basis.people else ():
        yield "left out", left_out(board, found)
    yield "since", since(board)
    yield "newer", newer(board)
    yield "retired", retired(board)
    yield "looks", looks(board)
    yield "order", ORDER_OF_GAMES if board.method.name == "glicko2-by-game" else ""
    yield "simulated", SIMULATED if board.basis.simulated else ""


def failed_gate(board: Board) -> str:
    """Where a comparator judged that did not pass its gate, or was not asked."""
    judge = board.basis.judge
    if judge is None or judge.gate is None or judge.gate.passed:
        return ""
    alone = ["Do not rely on its judgments alone."] if judge.gate.reasons else []
    return " ".join([gate_verdict(board), *judge.gate.reasons, *alone])


def unjudged(board: Board) -> str:
    """Where a judge was asked about pairs, or outputs, and said nothing of some."""
    used = board.basis.judge and board.basis.judge.used
    if not used or not used.unjudged:
        return ""
    if not used.pairs:
        by = f" By system: {used.unjudged_systems}." if used.unjudged_systems else ""
        return f"The judge has no score for {used.unjudged:,} outputs, which do not play. Why: {used.why_unjudged}.{by}"
    of = f" Games of these systems could not be played: {used.unjudged_systems}." if used.unjudged_systems else ""
    whole = used.unjudged + used.pairs
    return f"The judge says nothing of {used.unjudged:,} of {whole:,} pairs, which do not count. Why: {used.why_unjudged}.{of}"


def other_models(board: Board) -> str:
    """Where a server answered with another model than was asked for."""
    judge = board.basis.judge
    found = judge and judge.used and judge.used.other_models
    return f"The server says that other models than {judge.name} gave these replies: {found}." if judge and found else ""


def verdict(board: Board) -> str:
    """Where people's answers to the question were not accepted."""
    found = board.basis.people and board.basis.people.verdict
    if not found or found.usable:
        return ""
    what = f"The scores of {question(board)}" if board.question.criterion else "The judgments of pairs"
    return not_accepted(what, found.reason or found.verdict)


def not_accepted(what: str, why: str) -> str:
    return f"{what} are not accepted: {why}"


def absent(board: Board) -> str:
    """Which systems have no rating, since nothing spoke of them."""
    if not board.absent:
        return ""
    nothing = "No answer of people counts for" if board.basis.kind == "people" else "No game was played by"
    return f"{nothing} {_named(board.absent)}, so {'it has' if len(board.absent) == 1 else 'they have'} no rating here."


def _named(systems: Sequence[Name]) -> str:
    more = len(systems) - NAMED
    return ", ".join(systems[:NAMED]) + (f" and {more:,} more" if more > 0 else "")


def groups(board: Board) -> str:
    """Where systems never met."""
    if not board.is_split:
        return ""
    who = "No annotator judged these groups of systems" if board.basis.kind != "judge" else "These groups of systems never met"
    named = "; ".join(", ".join(group) for group in board.groups)
    said = f"{who} on a common context. So each group has its own scale, and the groups cannot be compared: {named}."
    return " ".join([said, *map(joining, board.joining)])


def joining(join: Joining) -> str:
    """What would join two groups."""
    if not join.contexts:
        return f"{join.one} and {join.other} answered no common context; import outputs for the same contexts to join them."
    return f"Judging {join.one} and {join.other} on some of the {join.contexts:,} contexts that both answered would join them."


def left_out(board: Board, found: AnswersLeftOut) -> str:
    """Which answers do not count."""
    thing = "answers" if found.why != "learnt" or by_answers(board) else "games of people"
    of = "" if found.of is None else f" of {found.of:,}"
    why = {
        "outputs": "because their outputs no longer take part (retired systems, replaced texts, older checkpoints)",
        "filter": "because a filter dropped them",
        "learnt": "because the comparator learned from their contexts in other campaigns",
        "wider": "because with them the differences would be known less surely (scores and judgments of pairs are two kinds)",
    }
    return f"{found.count:,}{of} {thing} are left out, {why[found.why]}."


def since(board: Board) -> str:
    """Where people withdrew, or outputs were replaced, after the snapshot was frozen."""
    return became(board.provenance.snapshot, board.since)


def became(snapshot: str | None, since: Sequence[str]) -> str:
    """Of a snapshot; since: as `annotation.snapshots.since_frozen` has it."""
    if not since:
        return ""
    more = len(since) - NAMED
    said = [*since[:NAMED], *([f"And {more:,} more of the kind."] if more > 0 else [])]
    return f"About its snapshot {snapshot}: {' '.join(said)}"


def newer(board: Board) -> str:
    """Where people have answered since."""
    if not board.newer_than:
        return ""
    return f"Newer answers have come since its snapshot was frozen on {board.newer_than}. They are not in this board."


def retired(board: Board) -> str:
    """Which systems on it take part no more."""
    if not board.retired:
        return ""
    are, them = ("is", "it") if len(board.retired) == 1 else ("are", "them")
    return f"{_named(board.retired)} {are} retired now. A board that is played today is without {them}."


def looks(board: Board) -> str:
    """Where earlier boards of the same question had a say in when to stop."""
    n = board.method.campaign_looks
    if n is None or n < 2:
        return ""
    if board.method.looks >= n:
        allowed = (
            "Its margins allow for the earlier looks, so they are wider than a first board's of the same answers would be."
        )
    else:
        allowed = (
            "Its margins do not allow for the earlier looks, so a difference may be called known by chance more often than the"
            " confidence says."
        )
    return f"This is board {n} of this question, each on newer answers. {allowed}"
