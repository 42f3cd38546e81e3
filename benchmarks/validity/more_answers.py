"""Does it help to ask more? Judgments of pairs beside scores, and a judge beside people, in simulated campaigns: how wide the
median interval becomes, how far the order of systems is from the truth, and whether equal systems are called different.

    python -m benchmarks.validity.more_answers --n 200

Pairs: 60 contexts with scores, and some judgments of pairs. Judges: people score 40 contexts of 120, a judge scores all."""

import numpy as np
from scipy import stats

from benchmarks.tables import head, of_campaigns, options, row, share_error
from benchmarks.validity.texted import Answered, Judge, Texted, draw, ordered
from leaderboard.rating.bootstrap import context_draws
from leaderboard.rating.crossed.joint_board import read_both
from leaderboard.rating.decision import CONFIDENCE
from leaderboard.rating.games import Games
from leaderboard.rating.games_from_answers import games_from_scores
from leaderboard.rating.people_board import Reading, read_pairs, read_scores
from leaderboard.rating.prediction_powered import correct

JUDGES = {
    "r .6": Judge(0.6),
    "r .9": Judge(0.9),
    "r .97": Judge(0.97),
    "r .9, these annotators' taste": Judge(0.9, taste=1.0),
    "r .9, a bias": Judge(0.9, bias=0.5),
}
PAIRS = (50, 200, 600)
SCORED, CONTEXTS = 40, 120  # contexts that people score, and that a judge scores
COLUMNS = {
    "apart": ["systems apart, and more", "N", "median width, times", "wider in", "tau before", "tau", "change", "SE"],
    "equal": ["equal systems, and more", "N", "called different before", "now", "SE", "intervals that hold 0"],
}
STEP = 0.25  # between one system and the next, where they differ


def of_scores(c: Texted, answered: Answered, most: int) -> Reading:
    """Of the first so many contexts."""
    there = answered.context < most
    columns = answered.system, answered.context, answered.person, answered.value
    return read_scores(c.systems, *(column[there] for column in columns))


def with_pairs(c: Texted, answered: Answered, scores: Reading, pairs: int) -> Reading:
    """As the default board reads both kinds."""
    judged = answered.first, answered.second, answered.outcome, answered.pair_context, answered.pair_person
    both = read_both(scores, read_pairs(c.systems, *(column[:pairs] for column in judged)))
    assert both is not None
    return both


def with_judge(c: Texted, answered: Answered, people: Reading, judged: np.ndarray) -> Reading:
    """As the combined board corrects. judged: (contexts, systems)"""
    there = answered.context < SCORED
    columns = answered.system, answered.context, answered.person, answered.value
    games = games_from_scores(*(column[there] for column in columns))
    first, second = np.triu_indices(c.systems, 1)
    context = np.repeat(np.arange(c.contexts), len(first))
    first, second = np.tile(first, c.contexts), np.tile(second, c.contexts)

    def said(one: np.ndarray, other: np.ndarray, where: np.ndarray) -> Games:
        return Games(one, other, np.sign(judged[where, one] - judged[where, other]).astype(np.int64), where)

    everything, imitated = said(first, second, context), said(games.first, games.second, games.context)
    return correct(people, games, imitated, everything, context_draws(c.contexts)).reading


def facts(reading: Reading, strengths: np.ndarray) -> tuple[float, ...]:
    """(median half width, tau, is a system called better than its equal, share of intervals that hold 0)"""
    board, pairs = reading.board(), np.triu_indices(len(strengths), 1)
    reach = (stats.t.ppf((1 + CONFIDENCE) / 2, board.df) * board.se)[pairs]
    tau = stats.kendalltau(board.rating, strengths).statistic if np.ptp(strengths) else 0.0
    wrong = (board.above & (strengths[:, None] <= strengths[None, :])).any()
    return float(np.median(reach)), float(tau), float(wrong), float((np.abs(board.difference[pairs]) <= reach).mean())


def campaigns(kind: str, equal: bool) -> Texted:
    base = Texted(pairs=max(PAIRS)) if kind == "pairs" else Texted(contexts=CONTEXTS, judges=tuple(JUDGES.values()))
    return base if equal else ordered(base, STEP)


def measured(kind: str, equal: bool, seed: int) -> list[tuple[float, ...]]:
    """`facts` without more answers, then with each kind of more."""
    c = campaigns(kind, equal)
    answered, strengths = draw(c, seed), np.asarray(c.strengths)
    if kind == "pairs":
        scores = of_scores(c, answered, c.contexts)
        readings = [scores, *(with_pairs(c, answered, scores, n) for n in PAIRS)]
    else:
        people = of_scores(c, answered, SCORED)
        readings = [people, *(with_judge(c, answered, people, judged) for judged in answered.judged)]
    return [facts(reading, strengths) for reading in readings]


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--kind", choices=["pairs", "judges"], action="append", help="default: both")
    parser.add_argument("--systems", choices=list(COLUMNS), action="append", help="default: both")
    asked = parser.parse_args()
    for kind in asked.kind or ["pairs", "judges"]:
        names = [f"{n} judgments of pairs" for n in PAIRS] if kind == "pairs" else [f"a judge, {name}" for name in JUDGES]
        for systems in asked.systems or list(COLUMNS):
            print()
            head(*COLUMNS[systems])
            found = np.array([measured(kind, systems == "equal", asked.seed + k) for k in range(asked.n)])
            for k, name in enumerate(names, start=1):
                row(name, asked.n, *(of_equal if systems == "equal" else of_apart)(found, k))


def of_apart(found: np.ndarray, k: int) -> list[str]:
    """found: (campaigns, kinds of answers, facts)"""
    times, (better, error) = found[:, k, 0] / found[:, 0, 0], of_campaigns(found[:, k, 1] - found[:, 0, 1])
    taus = [f"{found[:, which, 1].mean():.3f}" for which in (0, k)]
    return [f"{np.median(times):.3f}", f"{(times > 1 + 1e-9).mean():.1%}", *taus, f"{better:+.4f}", f"{error:.4f}"]


def of_equal(found: np.ndarray, k: int) -> list[str]:
    before, now = found[:, 0, 2].mean(), found[:, k, 2].mean()
    return [f"{share:.1%}" for share in (before, now, share_error(now, len(found)), found[:, k, 3].mean())]


if __name__ == "__main__":
    main()
