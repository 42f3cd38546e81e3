"""A board with something in every field, made up: people's scores corrected by a judge, two groups that never met."""

from dataclasses import replace

from leaderboard.boards.basis import (
    AnswersLeftOut,
    BoardBasis,
    BoardJudge,
    BoardPeople,
    BoardRefit,
    BoardSetting,
    BoardVerdict,
    BoardWorth,
    Calibration,
    Gate,
    JudgeUsage,
    Transport,
    Variance,
)
from leaderboard.boards.board import Board, BoardQuestion, Doubt, Method, Narrow, Population, Provenance
from leaderboard.boards.estimates import Difference, Estimate, Forecast, Joining, Name, Standing
from leaderboard.boards.panels import (
    AgreementPanel,
    Alternative,
    Category,
    CategoryCell,
    CategoryRow,
    CategoryValue,
    Closeness,
    Correlation,
    CostPanel,
    LengthPanel,
    LengthRow,
    OrderFitPanel,
    Sides,
    SystemCost,
    ThreeScores,
    WinRate,
)

ANT, BEE, CAT = Name("Ant & Co_50%"), Name("=bee()"), Name("Cat")
SIGNATURE = "judge:people/Overall|comparator:none|snapshot:9f2c|seed:7"


def standing(pk: int, system: Name, rating: float, **more) -> Standing:
    return Standing(
        id=pk,
        system=system,
        human_written=pk == 2,
        rank_low=pk,
        rank_high=pk + 1,
        rating=rating,
        low=rating - 50.4,
        high=rating + 50.2,
        error=30.0 + pk,
        volatility=0.06,
        own=Estimate(rating / 500, rating / 500 - 0.11, rating / 500 + 0.12),
        best=0.62 / pk,
        answers=35 + pk,
        games=12,
        wins=9,
        ties=1,
        losses=2,
        human_mean=4.5,
        **{"cluster": pk, "group": 1, **more},
    )


def correlation(systems: int) -> Correlation:
    ends = Estimate(0.91, 0.52, 0.99), Estimate(0.92, 0.53, 0.98), Estimate(0.88, 0.41, 0.97)
    return Correlation(systems, 0.8, 0.31, 0.95, *ends, reason="")


def example() -> Board:
    rows = standing(1, ANT, 1600.4), standing(2, BEE, 1500.0), standing(3, CAT, 1400.0, group=2)
    pairs = (
        Difference(ANT, BEE, False, 100.4, 120.0, Estimate(0.2, -0.04, 0.44), 9, 1, 2, Forecast("contexts", 120, 80, 210)),
        Difference(ANT, CAT, False, 200.4),
        Difference(BEE, CAT, False, 100.0),
    )
    cells = CategoryCell(1520.0, 1480.0, 1560.0, 1, 2)
    rate = WinRate(0.7917, Estimate(0.71, 0.6, 0.8))
    return Board(
        question=BoardQuestion("Overall", "scale", "points", 1.0, 5.0, "high"),
        basis=BoardBasis(
            "corrected",
            BoardJudge(
                name="v3",
                kind="comparator",
                reads="pointwise",
                settings=(BoardSetting("model", "tiny"),),
                unjudged=12,
                refit=BoardRefit("9f2c", 72, 0.437, 0.215, 0.0981),
                calibration=Calibration(72, Estimate(0.2, 0.1, 0.3), Estimate(0.08, 0.05, 0.12)),
                used=JudgeUsage(10, 2, 3000, 400, 0.25, 3, 72, 1, 4, "It refused. 4", "Cat 4", "tiny-2 5", "max_tokens 300"),
                gate=Gate(False, ("The most successful attack is padded text: the honest output wins in 0%.",)),
            ),
            BoardPeople(
                annotators=7,
                kind="scores",
                answers=108,
                rankings=12,
                verdict=BoardVerdict("collect more", False, 0.26, "Alpha is 0.26, below 0.667.", "agreement", 0.55),
                left_out=(AnswersLeftOut("outputs", 26, 134), AnswersLeftOut("filter", 256, 900)),
                variances=(Variance("taste", 0.12),),
                worth=BoardWorth(0.5, 144, 300, 156, 600, 164.2, (Transport(ANT, "PASS"), Transport(BEE, "FAIL"))),
            ),
            simulated=True,
        ),
        method=Method("prediction-powered", "glicko2", "half", "once", 173.7, 0.95, 2, 3),
        population=Population("people", 7, 44, 11),
        standings=rows,
        differences=pairs,
        provenance=Provenance(
            "talk", 7, "/tournaments/7/", SIGNATURE, "9f2c", 7, "system", "2026-01-02T03:04:05+00:00", 144, "all", True
        ),
        narrow=Narrow(rows, (replace(pairs[0], known=True), *pairs[1:])),
        groups=((ANT, BEE), (CAT,)),
        absent=(Name("Dew"),),
        joining=(Joining(ANT, CAT, 44),),
        doubts=(Doubt("start", "A comparator chose which pairs people judged."),),
        stability=(Alternative("Plain mean scores", (ANT, CAT, BEE), 0.333, (BEE, CAT)),),
        categories=(Category("topic", (CategoryValue("sport", 20),), (CategoryRow(ANT, (cells,)),)),),
        three_scores=(ThreeScores(ANT, 1533.0, 1.5, 1600.4),),
        length=LengthPanel(Estimate(1.31, 1.02, 1.7), 24.0, (LengthRow(ANT, 0.7917, rate.controlled, 81.5, (None, rate)),)),
        order_fit=OrderFitPanel(10, 2, 0.4, 0.031, 0.2, (Closeness(40, 0.5, 0.6, 0.2, 0.21, 0.11, 0.32),)),
        sides=Sides(120, Estimate(0.66, 0.55, 0.75)),
        since=("Outputs of Bee were replaced after it was frozen.",),
        newer_than="2026-11-28",
        retired=(CAT,),
        costs=CostPanel("US dollars per 1,000 outputs", tuple(map(SystemCost, (ANT, BEE, CAT), (0.25, 3.0, 12.0)))),
        agreement=AgreementPanel(3, "judge:people|seed:0", False, "people", correlation(3), correlation(2)),
    )
