"""What is said of a board, on pages, in files and by commands: each sentence a function of the board. `cautions` has its
warnings, `diagnoses` what its diagnostics say."""

from __future__ import annotations

from collections.abc import Iterator

from leaderboard.boards.board import Board
from leaderboard.boards.estimates import Difference, Forecast, Standing

METHODS = {
    "mixed-model": "a mixed model of all answers",
    "bradley-terry-mixed-model": "a Bradley-Terry model of all answers, with people and contexts as random effects",
    "plackett-luce": "a Plackett-Luce model of people's rankings, with people and contexts as random effects in its variances",
    "joint-mixed-model": "a mixed model of scores and a Bradley-Terry model of pairs, joined by generalised least squares",
    "corrected-mixed-model": "prediction-powered inference: the mixed model of people's answers, corrected by the judge's",
    "prediction-powered": "prediction-powered inference: people's games, corrected by the judge's",
    "glicko2": "Glicko-2 on all games at once",
    "glicko2-by-game": "Glicko-2, game by game",
    "bradley-terry": "a Bradley-Terry model of the games",
}
RULES = {
    "agreement": "agreement of single answers",
    "reliability": "reliability of the systems' means, since the question asks for taste",
    "zhao-2020": "alpha after the filter, as Zhao et al. (2020)",
}
KINDS = {"scores": "scores", "pairs": "judgments of pairs", "both": "scores and judgments of pairs"}
LEVEL = 1e-6  # of a share or a point: what sums in another order may differ by
ENDINGS = {
    "settled": "by its rule",
    "asked": "after the requested number of games",
    "all": "every pair was compared on every context",
    "limit": "at the limit, before the stopping rule was met",
}


def question(board: Board) -> str:
    """What was asked, as a name; with when it was asked, and that the lowest point is best."""
    name = board.question.criterion or ("rankings" if board.method.name == "plackett-luce" else "judgments of pairs")
    beside = [*(["lowest is best"] if board.question.best == "low" else []), *filter(None, [board.question.asked_only])]
    return f"{name} ({'; '.join(beside)})" if beside else name


def judged_by(board: Board) -> str:
    """Who judged; simulated annotators are not called people."""
    people = "annotators (some or all simulated)" if board.basis.simulated else "people"
    judge = judge_name(board)
    return {"people": people, "corrected": f"{people} and {judge} together"}.get(board.basis.kind, judge)


def judge_name(board: Board) -> str:
    judge = board.basis.judge
    return "the comparator" if judge is None or judge.kind == "comparator" else judge.name


def method(board: Board) -> str:
    """What made the numbers, the rule of games with it."""
    said, rules = METHODS[board.method.name], board.method
    if rules.name == "prediction-powered":
        said += f", rated by {rules.rating}"
    if rules.ties:
        ties = {"half": "a tie is half a win", "drop": "ties are left out", "davidson": "ties are fitted"}
        said += f"; {ties.get(rules.ties, rules.ties)}"
    return said


def error_name(board: Board) -> str:
    """The head of the column of errors: Glicko-2 has its own measure, which is no standard error."""
    return "RD" if board.method.name.startswith("glicko2") or board.method.rating == "glicko2" else "SE"


def error_meaning(board: Board) -> str:
    if error_name(board) == "RD":
        return "RD is Glicko-2's rating deviation."
    return "SE is the standard error of the rating."


def by_answers(board: Board) -> bool:
    """Does it rest on answers, and not on games?"""
    return any(row.answers is not None for row in board.standings)


def counted(board: Board) -> str:
    """The head of the column that says how much each system rests on."""
    return "Answers" if by_answers(board) else "Games"


def count(row: Standing) -> int:
    return row.games if row.answers is None else row.answers


def contexts(board: Board) -> str:
    return "groups of contexts" if board.population.groups else "contexts"


def population(board: Board) -> str:
    """Whom the intervals speak of, in short."""
    spoken_of, n = board.population.kind, board.population.annotators
    if spoken_of == "contexts":
        return f"{contexts(board)} like these"
    if spoken_of == "people":
        return f"{contexts(board)} and people like these (annotators: {n})"
    return f"{contexts(board)} like these, these {'' if n is None else f'{n} '}annotators"


def intervals(board: Board) -> str:
    """The same as a sentence."""
    spoken_of, n = board.population.kind, board.population.annotators
    if spoken_of == "people":
        return f"Intervals hold for people like these {n} annotators, on {contexts(board)} like these."
    if spoken_of == "annotators" and n is not None:
        whom = "this one annotator" if n == 1 else f"these {n} annotators"
        return f"Intervals hold for {whom} only, on {contexts(board)} like these."
    said = f"Intervals come from resampling the {contexts(board)}. They hold for {contexts(board)} like these"
    return said + (", and for these annotators only." if spoken_of == "annotators" else ".")


def caption(board: Board) -> str:
    """What has to stand below a table or a chart that is pasted elsewhere."""
    said = answers(board)
    return f"Judged by {judged_by(board)}, on {question(board)}{f': {said}' if said else ''}. {intervals(board)}"


def made(board: Board) -> str:
    """Which board it is, for a picture, which has no room for a signature."""
    of = board.provenance
    snapshot = f"snapshot {of.snapshot}, " if of.snapshot else ""
    code = of.signature.partition("|code:")[2]
    said = f"Tournament {of.tournament} of {of.campaign}, {of.finished_at[:10]}: {snapshot}seed {of.seed}"
    return f"{said}, code {code}." if code else f"{said}."


def narrowness(board: Board) -> str:
    """Why it speaks of these annotators alone; empty where it does not, or where that was a reader's choice."""
    n = board.population.annotators
    if board.population.kind != "annotators" or n is None or board.narrow is not None:
        return ""
    return (
        f"With only {_many(n, 'annotator')}, the board cannot generalise to other people. That takes at least four annotators,"
        " or six if there are only two systems."
    )


def headline(board: Board) -> str:
    """Who is first, and how surely; of each group where some never met. Empty where nobody was compared."""
    return " ".join(_first(board, first) for first in _firsts(board))


def _firsts(board: Board) -> Iterator[Difference]:
    """The first and the second of each group of systems that can be compared."""
    for members in board.groups if board.is_split else ((),):
        yield from board.neighbours_within(members)[:1]


def _first(board: Board, first: Difference) -> str:
    gate = board.basis.judge and board.basis.judge.gate
    said = "As this comparator sees it, " if gate and not gate.passed else ""
    if _level(board, first):
        return f"{said}{first.upper} and {first.lower} are level so far."
    said += f"{first.upper} is first{' in its group' if board.is_split else ''}"
    ahead = _by_how_much(board, first)
    if first.known:
        return f"{said}. It is above {first.lower}{f' {ahead},' if ahead else ''} with {confidence(board)} confidence."
    said += f" so far, but not yet known to be above {first.lower}{f': ahead {ahead}' if ahead else ''}"
    said += f"; {forecast(first.forecast)} might separate them." if first.forecast else "."
    return said + _though_likely(board, first)


def _though_likely(board: Board, first: Difference) -> str:
    """Why one that is so likely the best is not known to be; empty where it is not so likely."""
    best = next((row.best for row in board.standings if row.system == first.upper), None)
    if best is None or best < board.method.confidence:
        return ""
    return (
        f" Its chance to be the best is {chance(best)}: that is about one system on this board, while what is known must hold"
        " for all pairs at once and at every look."
    )


def _level(board: Board, pair: Difference) -> bool:
    """Does nothing speak for either of the first two?"""
    middle = 0.5 if board.question.unit == "share" else 0.0
    return not pair.known and pair.own is not None and abs(pair.own.value - middle) < LEVEL


def _by_how_much(board: Board, pair: Difference) -> str:
    """In the question's unit: by 0.42 points (0.21 to 0.63), or in 71% of comparisons (64% to 77%); empty where that is not
    known."""
    own = pair.own
    if own is None or own.low is None or own.high is None:
        return ""
    if board.question.unit == "share":
        return f"in {own.value:.0%} of comparisons ({own.low:.0%} to {own.high:.0%})"
    sign = -1 if own.value < 0 else 1  # where the lowest is the best
    value, (low, high) = sign * own.value, sorted((sign * own.low, sign * own.high))
    return f"by {value:.2f} points ({low:.2f} to {high:.2f})"


def confidence(board: Board) -> str:
    return f"{100 * board.method.confidence:g}%"


def forecast(what: Forecast | None) -> str:
    """What might separate two systems; empty where nothing is known of it."""
    if what is None:
        return ""
    if what.more is None:
        return f"more {what.what}"
    named = "groups of contexts" if what.what == "groups" else what.what
    between = "" if what.low is None or what.high is None else f" ({what.low:,} to {what.high:,})"
    return f"about {what.more:,} more {named}{between}"


def ranks(board: Board) -> str:
    """Why ranks are intervals; empty where every two systems are told apart."""
    n, pairs = len(board.standings), board.comparable
    apart, every = sum(pair.known for pair in pairs), len(pairs)
    if apart == every:
        return ""
    these = "pairs of systems that met" if board.is_split else "pairs of systems"
    if apart:
        said = (
            f"{apart} of {every} {these} can be separated with {confidence(board)} confidence; the order of the others is open."
        )
    else:
        two = "two systems that met" if board.is_split else "two systems"
        left = "the order in each group is open" if board.is_split else f"every rank is 1–{n}"
        said = f"No {two} can be separated with {confidence(board)} confidence, so {left}."
    return f"{said} {_generalises(board)}{_more_of_these(board, apart)}"


def _generalises(board: Board) -> str:
    whom, units = board.population, contexts(board)
    played = whom.groups or whom.contexts or 0
    if whom.kind == "people":
        said = "Ranks generalise to other people and other contexts like these.".replace("contexts", units)
        return f"{said} With more than {whom.annotators} annotators and {played} {units}, more pairs may be separated."
    return f"Ranks generalise to other {units} like these. With more than {played}, more pairs may be separated."


def _more_of_these(board: Board, apart: int) -> str:
    if board.narrow is None or board.population.kind != "people":
        return ""
    more = sum(pair.known for pair in board.narrow.differences) - apart
    return f" For these annotators only, {more:,} more pairs can be separated." if more > 0 else ""


def worth(board: Board) -> str:
    """What a judge is worth beside people; empty where the board is not of both."""
    found = board.basis.people and board.basis.people.worth
    if not found:
        return ""
    judge = "comparator" if board.basis.judge and board.basis.judge.kind == "comparator" else "judge"
    said = f"With the {judge}, {found.judgments:,} games judged by people carry as much information"
    said += f" as {found.worth:,} without it"
    if found.worth > found.by_chance:
        return f"{said}.{transport(board)}"
    said += f". The {judge} adds nothing: an uninformative one can reach {int(found.by_chance):,} by chance."
    return said + transport(board)


def transport(board: Board) -> str:
    """Whether the judge errs on each system as on the others; empty where that was not asked."""
    found = board.basis.people and board.basis.people.worth
    if not found or not found.transport:
        return ""
    verdicts = "; ".join(f"{one.system}: {one.verdict}" for one in found.transport)
    return f" Does it err on a system as on the others, within 100 rating points? {verdicts}."


def weight(board: Board) -> str:
    found = board.basis.people and board.basis.people.worth
    if not found:
        return ""
    whose = "The comparator's" if board.basis.judge and board.basis.judge.kind == "comparator" else "The judge's"
    return f"{whose} weight is {found.weight:g}. It is chosen to minimise the interval width; at 0 the judge is ignored."


def gate_verdict(board: Board) -> str:
    """Did the comparator pass? Empty where none judged."""
    judge = board.basis.judge
    if judge is None or judge.gate is None:
        return ""
    name = f"Comparator {judge.name}"
    if judge.gate.passed is None:
        return f"The gate was not checked for {name} in this campaign."
    return f"{name} {'passed' if judge.gate.passed else 'did not pass'} its gate."


def gate(board: Board) -> str:
    """The same with the reasons."""
    judge = board.basis.judge
    return " ".join([gate_verdict(board), *(judge.gate.reasons if judge and judge.gate else ())])


def answers(board: Board) -> str:
    """How many answers it rests on, and whose; empty where nobody knows."""
    people = board.basis.people
    if people is None or people.answers is None:
        return ""
    kind = KINDS[people.kind or "both"]
    of = f" in {_many(people.rankings, 'ranking')}" if people.rankings else ""
    kept = "kept " if _only_kept(board) else ""
    return f"{people.answers:,} {kept}{kind}{of}" + (
        f" by {_many(people.annotators, 'annotator')}" if people.annotators else ""
    )


def _only_kept(board: Board) -> bool:
    """Does it rest on what the filter kept alone? Else the filter has no say in it."""
    return bool(board.basis.people and any(one.why == "filter" for one in board.basis.people.left_out))


def verdict(board: Board) -> str:
    """What was decided about people's answers, by what, and both figures; empty where nothing was."""
    found = board.basis.people and board.basis.people.verdict
    if not found:
        return ""
    reliable = [] if found.reliability is None else [f"reliability of the systems' means {found.reliability:.3f}"]
    alpha = [] if found.alpha is None else [f"Krippendorff's alpha of single answers {found.alpha:.3f}"]
    figures = "; ".join(reliable + alpha if found.rule == "reliability" else alpha + reliable)
    return f"{found.verdict}, by {RULES.get(found.rule, found.rule)}" + (f" ({figures})" if figures else "")


def ending(board: Board) -> str:
    """How the tournament came to its end."""
    how, settled = board.provenance.ending, board.provenance.settled
    if board.basis.kind == "people":
        return ENDINGS["asked"] if how == "asked" else "every answer counts" if by_answers(board) else "every game once"
    return ENDINGS.get(how or "", "settled" if settled else "not settled")


def own_name(board: Board) -> str:
    """The head of the column of estimates in the question's unit; empty where there are none."""
    if all(row.own is None for row in board.standings):
        return ""
    if board.question.unit == "share":
        return "Preferred"
    low, high = board.question.low, board.question.high
    ends = [] if low is None or high is None else [f"{low:g}–{high:g}" if low >= 0 else f"{low:g} to {high:g}"]
    said = ", ".join([*ends, *(["lowest is best"] if board.question.best == "low" else [])])
    return f"Score ({said})" if said else "Score"


def own_meaning(board: Board) -> str:
    if not own_name(board):
        return ""
    if board.question.unit == "share":
        return "Preferred is the chance that its output is preferred to that of a system rated 1500."
    best = "highest" if board.question.best == "high" else "lowest"
    return f"Score is the same estimate on the scale of the answers, where the {best} is the best."


def standings(board: Board) -> str:
    """What stands above the table of standings: what made it, and what its columns mean."""
    judge = board.basis.judge
    who = "People" if judge is None else f"Comparator {judge.name}" if judge.kind == "comparator" else f"Judge {judge.name}"
    head = [f"{who}, {question(board)}" if judge is None else who]
    head += [f"snapshot {board.provenance.snapshot}"] if board.provenance.snapshot else []
    said = ["; ".join([*head, f"seed {board.provenance.seed}"]) + "."]
    said.append(f"Rated by {method(board)}.")
    said.append("A rank of 3–6 means somewhere from third to sixth.")
    said.append(error_meaning(board))
    if by_answers(board):
        said.append("Won, tied and lost count pairs of outputs that one annotator judged on the same context.")
    said.append(own_meaning(board))
    if any(row.human_mean is not None for row in board.standings):
        which = "the kept" if _only_kept(board) else "all assessed"  # the filter has no say in other boards
        said.append(f"People's mean is the mean of {which} scores of {question(board)}.")
    if any(row.cluster for row in board.standings):
        said.append("A line separates clusters: every system above it is known to be better than every system below it.")
    said.append(best_meaning(board))
    return " ".join(filter(None, said))


def best_meaning(board: Board) -> str:
    """What the column of chances says, and why a large one is no established difference; empty where there is no column."""
    if all(row.best is None for row in board.standings):
        return ""
    return (
        "Best is the chance that a system is the best of these, given these judgments. It is about one system on this board;"
        f" what is known must hold for all pairs at once and at every look, with {confidence(board)} confidence."
    )


def chance(share: float | None) -> str:
    """Whole percents, as far as the draws settle them; never 0% or 100%, which no sample shows."""
    if share is None:
        return "–"
    return "<1%" if share < 0.01 else ">99%" if share > 0.99 else f"{100 * share:.0f}%"


def rank(row: Standing) -> str:
    """2, or 2–4."""
    if row.rank_low is None:
        return "–"
    return str(row.rank_low) if row.rank_low == row.rank_high else f"{row.rank_low}–{row.rank_high}"


def _many(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
