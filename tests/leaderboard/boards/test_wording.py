"""Each sentence about a board."""

from dataclasses import replace
from inspect import isfunction

import pytest

from leaderboard.boards import cautions, diagnoses, wording
from leaderboard.boards.basis import HELD_BACK, AnswersLeftOut, BoardSetting, BoardVerdict
from leaderboard.boards.board import Board, Doubt, Method, Population
from leaderboard.boards.estimates import Estimate, Forecast, Name
from leaderboard.boards.panels import Correlation
from tests.leaderboard.boards.example import example

BOARD = example()
JUDGE, PEOPLE = BOARD.basis.judge, BOARD.basis.people
WHOLE = replace(BOARD, groups=(), absent=())  # all can be compared
OF_PEOPLE = replace(WHOLE, basis=replace(BOARD.basis, kind="people", judge=None), method=Method("mixed-model"))
TRANSPORT = " Does it err on a system as on the others, within 100 rating points? Ant & Co_50%: PASS; =bee(): FAIL."
ALONE = replace(WHOLE, population=Population("annotators", 2, 44), narrow=None)


def by(board: Board, **judge) -> Board:
    return replace(board, basis=replace(board.basis, judge=replace(JUDGE, **judge)))


def of(board: Board, **people) -> Board:
    return replace(board, basis=replace(board.basis, people=replace(PEOPLE, **people)))


def gated(passed, *reasons) -> Board:
    return by(WHOLE, gate=replace(JUDGE.gate, passed=passed, reasons=reasons))


def known_by(own) -> Board:
    return replace(gated(True), differences=tuple(replace(d, known=True, own=own) for d in BOARD.differences))


SAID = [
    (wording.question, BOARD, "Overall"),
    (wording.question, replace(BOARD, question=replace(BOARD.question, criterion="")), "judgments of pairs"),
    (wording.question, replace(BOARD, question=replace(BOARD.question, best="low")), "Overall (lowest is best)"),
    (wording.judged_by, BOARD, "annotators (some or all simulated) and the comparator together"),
    (wording.judged_by, replace(BOARD, basis=replace(BOARD.basis, kind="people", simulated=False)), "people"),
    (wording.judged_by, replace(by(BOARD, kind="metric"), basis=replace(by(BOARD, kind="metric").basis, kind="judge")), "v3"),
    (
        wording.method,
        BOARD,
        "prediction-powered inference: people's games, corrected by the judge's, rated by glicko2; a tie is half a win",
    ),
    (wording.method, OF_PEOPLE, "a mixed model of all answers"),
    (
        wording.method,
        replace(BOARD, method=Method("corrected-mixed-model")),
        "prediction-powered inference: the mixed model of people's answers, corrected by the judge's",
    ),
    (wording.error_name, replace(BOARD, method=Method("corrected-mixed-model")), "SE"),
    (
        wording.method,
        replace(OF_PEOPLE, method=Method("joint-mixed-model")),
        "a mixed model of scores and a Bradley-Terry model of pairs, joined by generalised least squares",
    ),
    (wording.error_name, BOARD, "RD"),
    (wording.error_name, OF_PEOPLE, "SE"),
    (wording.error_meaning, OF_PEOPLE, "SE is the standard error of the rating."),
    (wording.error_meaning, BOARD, "RD is Glicko-2's rating deviation."),
    (wording.counted, BOARD, "Answers"),
    (wording.contexts, BOARD, "groups of contexts"),
    (wording.population, BOARD, "groups of contexts and people like these (annotators: 7)"),
    (wording.population, ALONE, "contexts like these, these 2 annotators"),
    (wording.population, replace(BOARD, population=Population("contexts", None, 44)), "contexts like these"),
    (wording.intervals, BOARD, "Intervals hold for people like these 7 annotators, on groups of contexts like these."),
    (wording.intervals, ALONE, "Intervals hold for these 2 annotators only, on contexts like these."),
    (
        wording.intervals,
        replace(BOARD, population=Population("annotators", 1, 9)),
        "Intervals hold for this one annotator only, on contexts like these.",
    ),
    (
        wording.intervals,
        replace(BOARD, population=Population("contexts", None, 44)),
        "Intervals come from resampling the contexts. They hold for contexts like these.",
    ),
    (
        wording.narrowness,
        ALONE,
        "With only 2 annotators, the board cannot generalise to other people. That takes at least four annotators, or"
        " six if there are only two systems.",
    ),
    (wording.narrowness, BOARD, ""),
    (
        wording.headline,
        gated(True),
        "Ant & Co_50% is first so far, but not yet known to be above =bee(): ahead by 0.20 points (-0.04 to 0.44); "
        "about 120 more contexts (80 to 210) might separate them.",
    ),
    (
        wording.headline,
        gated(False, "It fails."),
        "As this comparator sees it, Ant & Co_50% is first so far, but not yet known to be above "
        "=bee(): ahead by 0.20 points (-0.04 to 0.44); about 120 more contexts (80 to 210) might separate them.",
    ),
    (
        wording.headline,
        replace(gated(True), differences=tuple(replace(d, known=True) for d in BOARD.differences)),
        "Ant & Co_50% is first. It is above =bee() by 0.20 points (-0.04 to 0.44), with 95% confidence.",
    ),
    (wording.headline, known_by(None), "Ant & Co_50% is first. It is above =bee() with 95% confidence."),
    (
        wording.headline,
        replace(known_by(Estimate(0.714, 0.642, 0.776)), question=replace(BOARD.question, unit="share")),
        "Ant & Co_50% is first. It is above =bee() in 71% of comparisons (64% to 78%), with 95% confidence.",
    ),
    (  # 0.99 of one system on this board, and less than 95% for all pairs at every look
        wording.headline,
        replace(gated(True), standings=(replace(BOARD.standings[0], best=0.99), *BOARD.standings[1:])),
        "Ant & Co_50% is first so far, but not yet known to be above =bee(): ahead by 0.20 points (-0.04 to 0.44); "
        "about 120 more contexts (80 to 210) might separate them. Its chance to be the best is 99%: that is about one system "
        "on this board, while what is known must hold for all pairs at once and at every look.",
    ),
    (  # a share is the chance to be preferred (tournaments/own_unit.py), not a difference of two shares
        wording.headline,
        replace(
            gated(True),
            question=replace(BOARD.question, unit="share"),
            differences=(replace(BOARD.differences[0], own=Estimate(0.51, 0.28, 0.74), forecast=None),),
        ),
        "Ant & Co_50% is first so far, but not yet known to be above =bee(): ahead in 51% of comparisons (28% to 74%).",
    ),
    (  # all answers are ties
        wording.headline,
        replace(
            gated(True),
            question=replace(BOARD.question, unit="share"),
            differences=(replace(BOARD.differences[0], known=False, own=Estimate(0.5, 0.48, 0.52)),),
        ),
        "Ant & Co_50% and =bee() are level so far.",
    ),
    (  # the lowest is the best
        wording.headline,
        known_by(Estimate(-0.5, -0.7, -0.3)),
        "Ant & Co_50% is first. It is above =bee() by 0.50 points (0.30 to 0.70), with 95% confidence.",
    ),
    (
        wording.headline,
        replace(gated(True), groups=BOARD.groups),
        "Ant & Co_50% is first in its group so far, but not yet known to be above =bee(): ahead by 0.20 points (-0.04"
        " to 0.44); about 120 more contexts (80 to 210) might separate them.",
    ),
    (wording.headline, replace(BOARD, standings=(), differences=(), groups=()), ""),
    (wording.confidence, BOARD, "95%"),
    (
        wording.best_meaning,
        BOARD,
        "Best is the chance that a system is the best of these, given these judgments. It is about one system on this board; "
        "what is known must hold for all pairs at once and at every look, with 95% confidence.",
    ),
    (wording.best_meaning, replace(BOARD, standings=tuple(replace(row, best=None) for row in BOARD.standings)), ""),
    (
        wording.ranks,
        WHOLE,
        "No two systems can be separated with 95% confidence, so every rank is 1–3. Ranks generalise to other people "
        "and other groups of contexts like these. With more than 7 annotators and 11 groups of contexts, more pairs may be"
        " separated."
        " For"
        " these annotators only, 1 more pairs can be separated.",
    ),
    (
        wording.ranks,
        ALONE,
        "No two systems can be separated with 95% confidence, so every rank is 1–3. Ranks generalise to other "
        "contexts like these. With more than 44, more pairs may be separated.",
    ),
    (
        wording.ranks,
        BOARD,
        "No two systems that met can be separated with 95% confidence, so the order in each group is open. Ranks generalise"
        " to other people and other groups of contexts like these. With more than 7 annotators and 11 groups of contexts, more"
        " pairs may be"
        " separated. For these annotators only, 1 more pairs can be separated.",
    ),
    (
        wording.caption,
        OF_PEOPLE,
        "Judged by annotators (some or all simulated), on Overall: 108 kept scores in 12 rankings by 7 annotators. "
        "Intervals hold for people"
        " like these 7 annotators, on groups of contexts like these.",
    ),
    (wording.made, BOARD, "Tournament 7 of talk, 2026-01-02: snapshot 9f2c, seed 7."),
    (
        wording.made,
        replace(BOARD, provenance=replace(BOARD.provenance, snapshot=None, signature="seed:7|code:0.2.0+a1b2")),
        "Tournament 7 of talk, 2026-01-02: seed 7, code 0.2.0+a1b2.",
    ),
    (cautions.since, BOARD, "About its snapshot 9f2c: Outputs of Bee were replaced after it was frozen."),
    (
        cautions.since,
        replace(BOARD, since=tuple(f"Outputs of m{n} were replaced after it was frozen." for n in range(12))),
        "About its snapshot 9f2c: "
        + " ".join(f"Outputs of m{n} were replaced after it was frozen." for n in range(10))
        + " And 2 more of the kind.",
    ),
    (
        wording.worth,
        BOARD,
        "With the comparator, 144 games judged by people carry as much information as 300 without it." + TRANSPORT,
    ),
    (
        wording.worth,
        of(BOARD, worth=replace(PEOPLE.worth, worth=160)),
        "With the comparator, 144 games judged by people carry as much information as 160 without it. The comparator "
        "adds nothing: an uninformative one can reach 164 by chance." + TRANSPORT,
    ),
    (wording.worth, of(BOARD, worth=None), ""),
    (wording.transport, BOARD, TRANSPORT),
    (wording.transport, of(BOARD, worth=replace(PEOPLE.worth, transport=())), ""),
    (
        wording.weight,
        BOARD,
        "The comparator's weight is 0.5. It is chosen to minimise the interval width; at 0 the judge is ignored.",
    ),
    (wording.gate_verdict, gated(True), "Comparator v3 passed its gate."),
    (wording.gate_verdict, gated(None), "The gate was not checked for Comparator v3 in this campaign."),
    (wording.gate, gated(False, "It fails."), "Comparator v3 did not pass its gate. It fails."),
    (wording.gate, OF_PEOPLE, ""),
    (wording.answers, BOARD, "108 kept scores in 12 rankings by 7 annotators"),
    (wording.answers, of(BOARD, left_out=()), "108 scores in 12 rankings by 7 annotators"),
    (wording.ending, BOARD, "every pair was compared on every context"),
    (wording.ending, OF_PEOPLE, "every answer counts"),
    (wording.own_name, BOARD, "Score (1–5)"),
    (wording.own_name, replace(BOARD, question=replace(BOARD.question, best="low")), "Score (1–5, lowest is best)"),
    (wording.own_name, replace(BOARD, question=replace(BOARD.question, low=-3, high=3)), "Score (-3 to 3)"),
    (wording.own_name, replace(BOARD, question=replace(BOARD.question, high=None, best="low")), "Score (lowest is best)"),
    (wording.own_name, replace(BOARD, question=replace(BOARD.question, unit="share")), "Preferred"),
    (wording.own_meaning, BOARD, "Score is the same estimate on the scale of the answers, where the highest is the best."),
    (
        wording.own_meaning,
        replace(BOARD, question=replace(BOARD.question, unit="share")),
        "Preferred is the chance that its output is preferred to that of a system rated 1500.",
    ),
    (
        wording.standings,
        OF_PEOPLE,
        "People, Overall; snapshot 9f2c; seed 7. Rated by a mixed model of all answers. A rank of 3–6 means somewhere"
        " from third to sixth. SE is the standard error of the rating. Won, tied and lost count pairs of outputs that"
        " one annotator judged on the same context. Score is the same estimate on the scale of the answers, where the"
        " highest is the best. People's mean is the mean of the kept scores of Overall. A line separates clusters: "
        "every system above it is known to be better than every system below it. Best is the chance that a system is "
        "the best of these, given these judgments. It is about one system on this board; what is known must hold for all "
        "pairs at once and at every look, with 95% confidence.",
    ),
    (wording.judge_name, BOARD, "the comparator"),
    (wording.chance, 0.004, "<1%"),
    (wording.chance, 0.995, ">99%"),
    (wording.chance, None, "–"),
    (wording.rank, BOARD.standings[0], "1–2"),
    (wording.forecast, Forecast("annotators"), "more annotators"),
    (wording.forecast, Forecast("groups", 9), "about 9 more groups of contexts"),
    (wording.forecast, None, ""),
    (
        diagnoses.length,
        BOARD,
        "An output that is 24 characters longer than the other, a typical difference here, has 1.31 times the odds of"
        " winning that it has at equal length (95% interval 1.02 to 1.70).",
    ),
    (
        diagnoses.length,
        replace(BOARD, length=replace(BOARD.length, scale=0.0)),
        "All outputs that were compared have the same length.",
    ),
    (diagnoses.costs, BOARD, "Costs are as researchers gave them."),
    (
        diagnoses.costs,
        replace(BOARD, costs=replace(BOARD.costs, systems=BOARD.costs.systems[:1])),
        "Costs are as researchers gave them. None is known of =bee(), Cat.",
    ),
    (
        diagnoses.circles,
        BOARD,
        "2 of 10 groups of three systems form a circle: the first beats the second more often than not, the second "
        "beats the third, and the third beats the first. If one order held for all systems, chance alone would give "
        "0.4 (p = 0.031). There are more circles than chance explains, so one rating for each system does not "
        "describe these judgments fully.",
    ),
    (
        diagnoses.side,
        BOARD,
        "Of 120 judgments that are not ties, 66% prefer the output on the left (95% interval 55% to 75%; the side had"
        " an effect).",
    ),
    (diagnoses.side, replace(OF_PEOPLE, sides=None), "Outputs were scored one at a time, so there are no sides."),
    (diagnoses.correlation, Correlation(4, 0.8, 0.31, 0.95), "0.80 (0.31 to 0.95)"),
    (diagnoses.correlation, Correlation(2, reason="Two systems."), "Two systems."),
    (cautions.failed_gate, gated(True), ""),
    (
        cautions.failed_gate,
        gated(False, "It fails."),
        "Comparator v3 did not pass its gate. It fails. Do not rely on its judgments alone.",
    ),
    (
        cautions.unjudged,
        BOARD,
        "The judge says nothing of 4 of 76 pairs, which do not count. Why: It refused. 4. Games of these systems could not be"
        " played: Cat 4.",
    ),
    (cautions.unjudged, by(BOARD, used=replace(JUDGE.used, unjudged=0)), ""),
    (cautions.other_models, BOARD, "The server says that other models than v3 gave these replies: tiny-2 5."),
    (cautions.other_models, by(BOARD, used=None), ""),
    (cautions.verdict, BOARD, "The scores of Overall are not accepted: Alpha is 0.26, below 0.667."),
    (cautions.verdict, of(BOARD, verdict=BoardVerdict("tentative", True)), ""),
    (cautions.absent, BOARD, "No game was played by Dew, so it has no rating here."),
    (
        cautions.absent,
        replace(OF_PEOPLE, absent=tuple(Name(f"s{n}") for n in range(12))),
        "No answer of people counts for s0, s1, s2, s3, s4, s5, s6, s7, s8, s9 and 2 more, so they have no rating here.",
    ),
    (cautions.absent, WHOLE, ""),
    (
        cautions.groups,
        BOARD,
        "No annotator judged these groups of systems on a common context. So each group has its own scale, and the "
        "groups cannot be compared: Ant & Co_50%, =bee(); Cat. Judging Ant & Co_50% and Cat on some of the 44 "
        "contexts that both answered would join them.",
    ),
    (cautions.groups, WHOLE, ""),
    (
        cautions.joining,
        replace(BOARD.joining[0], contexts=0),
        "Ant & Co_50% and Cat answered no common context; import outputs for the same contexts to join them.",
    ),
    (cautions.newer, BOARD, "Newer answers have come since its snapshot was frozen on 2026-11-28. They are not in this board."),
    (cautions.newer, replace(BOARD, newer_than=""), ""),
    (cautions.retired, BOARD, "Cat is retired now. A board that is played today is without it."),
    (cautions.retired, replace(BOARD, retired=()), ""),
    (
        cautions.retired,
        replace(BOARD, retired=tuple(f"m{n}" for n in range(12))),
        f"{', '.join(f'm{n}' for n in range(10))} and 2 more are retired now. A board that is played today is without them.",
    ),
    (
        cautions.looks,
        BOARD,
        "This is board 3 of this question, each on newer answers. Its margins do not allow for the earlier looks, so "
        "a difference may be called known by chance more often than the confidence says.",
    ),
    (
        cautions.looks,
        replace(BOARD, method=replace(BOARD.method, looks=3)),
        "This is board 3 of this question, each on newer answers. Its margins allow for the earlier looks, so they are wider "
        "than a first board's of the same answers would be.",
    ),
    (cautions.looks, OF_PEOPLE, ""),
]


@pytest.mark.parametrize(("say", "about", "said"), SAID, ids=[f"{i}-{say.__name__}" for i, (say, *_) in enumerate(SAID)])
def test_it_says(say, about, said):
    assert say(about) == said


def test_which_answers_are_left_out():
    said = (
        "26 of 134 answers are left out, because their outputs no longer take part (retired systems, replaced texts, "
        "older checkpoints)."
    )
    assert cautions.left_out(BOARD, AnswersLeftOut("outputs", 26, 134)) == said
    assert cautions.left_out(BOARD, AnswersLeftOut("filter", 3)) == "3 answers are left out, because a filter dropped them."


def test_what_is_known_twice_is_said_once():
    twice = replace(BOARD, doubts=(Doubt("start", cautions.verdict(BOARD)),))
    assert [one.kind for one in cautions.cautions(twice)] == [
        "gate",
        "unjudged",
        "other model",
        "verdict",
        "absent",
        "groups",
        "left out",
        "left out",
        "since",
        "newer",
        "retired",
        "looks",
        "simulated",
    ]


def test_an_estimate_in_its_own_unit():
    from leaderboard.boards.exports import own_estimate

    assert own_estimate(BOARD, Estimate(3.2, 3.09, 3.31)) == "3.20 (3.09 to 3.31)"
    share = replace(BOARD, question=replace(BOARD.question, unit="share"))
    assert own_estimate(share, Estimate(0.71, 0.64, 0.77)) == "71% (64% to 77%)" and own_estimate(share, None) == "–"


def test_a_mean_of_all_scores_is_not_called_one_of_the_kept():
    """The filter has no say in a board that reads all answers, nor in the mean that stands on it."""
    people = replace(OF_PEOPLE.basis.people, left_out=())
    said = wording.standings(replace(OF_PEOPLE, basis=replace(OF_PEOPLE.basis, people=people)))
    assert "People's mean is the mean of all assessed scores of Overall." in said


def test_every_sentence_has_a_test():
    """But those that are numbers or truths, and those that a test of its own has."""
    modules = (wording, diagnoses, cautions)
    said = {say.__name__ for m in modules for say in vars(m).values() if isfunction(say) and say.__module__ == m.__name__}
    others = {"count", "by_answers", "cautions", "left_out", "not_accepted", "became"}
    assert {name for name in said if not name.startswith("_")} - others == {say.__name__ for say, *_ in SAID}


def test_peoples_answers_in_a_prompt_stay_with_researchers():
    """Anybody reads a public board; a jury's judges have settings of their own."""
    plain, shown = {"asked": "How good?", "model": "m"}, {"asked": "How good? Ann said 4.", "examples": 2}
    jury = str({"plain": plain, "shown": shown, "both": {"by": "vote", "jurors": {"inner": shown}}})
    given = tuple(BoardSetting(*one) for one in {**shown, "examples": "2", "jurors": jury, "model": "m"}.items())
    told = {one.name: one.value for one in replace(JUDGE, settings=given).without_answers().settings}
    held = shown | {"asked": HELD_BACK}
    inner = {"plain": plain, "shown": held, "both": {"by": "vote", "jurors": {"inner": held}}}
    assert told == {"asked": HELD_BACK, "examples": "2", "jurors": str(inner), "model": "m"}
    without = tuple(BoardSetting(*one) for one in plain.items())
    assert replace(JUDGE, settings=without).without_answers().settings == without
