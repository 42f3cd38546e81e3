"""Boards that an earlier version stored are read with every number as it was shown then. tests/golden/boards_of_before.json
has the rows, and what that version showed of them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from django.utils import timezone

from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.models import Job, System
from evaluator.models import ComparatorVersion, Judge, TrainingRun
from leaderboard.boards import queries, wording
from leaderboard.boards.basis import BoardBasis, BoardJudge
from leaderboard.boards.board import Board
from leaderboard.boards.cautions import cautions
from leaderboard.boards.older_boards import upgraded
from leaderboard.boards.tree import to_json
from leaderboard.models import SystemRating, Tournament
from leaderboard.signature import parse
from leaderboard.templatetags.boards import known
from tests.leaderboard.boards.example import example

pytestmark = pytest.mark.django_db
GOLDEN = Path(__file__).parents[2] / "golden" / "boards_of_before.json"
BOARDS = json.loads(GOLDEN.read_text(encoding="utf-8"))["boards"]
SAME = ("id", "system", "human_written", "rank_low", "rank_high", "rating", "low", "high", "volatility", "cluster", "best")
COUNTS = ("wins", "ties", "losses", "human_mean")


def stored(of: dict) -> Tournament:
    """The example's rows, in a campaign of today."""
    criteria = [CriterionSpec(of["row"]["criterion"])] if of["row"]["criterion"] else []
    campaign = create_campaign(slug=of["campaign"], title="Before", criteria=criteria, pairwise=not criteria)
    System.objects.bulk_create(System(pk=row["system_id"], campaign=campaign, name=row["name"]) for row in of["ratings"])
    judge, row = None, dict(of["row"])
    who, named, settings = row.pop("judge"), row.pop("named_judge"), dict(row["settings"])
    if record := settings.pop("named_judge", None):  # as the migration of the tournaments does
        settings["judge_record"] = {**record, "reads": record["kind"]}
    if named:
        judge = Judge.objects.create(campaign=campaign, name=named, kind=Judge.Kind.METRIC, settings={}, digest="0")
    if of["comparator"]:
        run = TrainingRun.objects.create(job=Job.objects.create(task="t", title="t"), criterion="Overall")
        fields = {"run": run, "criterion": "Overall", "snapshots": [], "settings": {}, "seed": 0, "code": "1", "metrics": {}}
        version = ComparatorVersion.objects.create(name=of["comparator"], **fields)
        kind = Judge.Kind.COMPARATOR
        judge = Judge.objects.create(campaign=campaign, name=version.name, kind=kind, settings={}, digest="0", version=version)
    job = Job.objects.create(task="t", title="t", campaign=campaign)
    basis = {"people": "people", "calibrated": "corrected"}.get(who, "judge")
    asked = {**row, "basis": basis, "judge": judge, "settings": settings}
    tournament = Tournament.objects.create(campaign=campaign, job=job, **asked)
    SystemRating.objects.bulk_create(SystemRating(tournament=tournament, **row) for row in of["ratings"])
    tournament.finished_at = timezone.now()
    tournament.save()
    return Tournament.objects.get(pk=tournament.pk)


@pytest.fixture(params=range(len(BOARDS)), ids=[f"{of['campaign']}-{of['row']['judge']}-{i}" for i, of in enumerate(BOARDS)])
def both(request) -> tuple[dict, Tournament]:
    return BOARDS[request.param], stored(BOARDS[request.param])


def in_groups(said: str, board: Board) -> str:
    """What was said of contexts, of their groups, which are counted since."""
    if not board.population.groups:
        return said
    said = said.replace("other contexts", "other groups of contexts")
    return said.replace(f"more than {board.population.contexts}", f"more than {board.population.groups}")


def check_standings(shown: dict, board: Board) -> None:
    assert len(shown["standings"]) == len(board.standings)
    for was, row in zip(shown["standings"], board.standings, strict=True):
        assert {name: was[name] for name in (*SAME, *COUNTS)} == {name: getattr(row, name) for name in (*SAME, *COUNTS)}
        assert (was["rd"], was["games"]) == (row.error, wording.count(row))
    assert shown["known"] == known(board)
    if not board.is_split:  # groups are told apart since
        assert in_groups(shown["ranks_said"], board) == wording.ranks(board)
        for was, pair in zip(shown["neighbours"], board.neighbours, strict=True):
            assert (was["upper"], was["lower"], was["above"]) == (pair.upper, pair.lower, pair.known)
            assert (was["difference"], was["margin"]) == (pair.rating, pair.margin)
            assert was["forecast"] == wording.forecast(pair.forecast)


def test_standings_and_differences_for_whomever_they_hold(both):
    of, tournament = both
    check_standings(of["shown"], queries.board(tournament))
    check_standings(of["of_annotators"], queries.board(tournament, population="annotators"))


def test_panels(both):
    of, tournament = both
    shown, board = of["shown"], queries.board(tournament)
    moved = [(row.name, row.tau, [*row.order], [*row.moved]) for row in board.stability]
    assert [(row["name"], row["tau"], row["order"], row["moved"]) for row in shown["stability"]] == moved
    assert shown["three_scores"] == [to_json(row) for row in board.three_scores]
    was, sides = shown["sides"], board.sides
    assert (was is None and sides is None) or was == {**_ends("left", sides.left), "judgments": sides.judgments}
    cells = [[row["cells"] for row in category["systems"]] for category in of["categories"]]
    assert cells == [[to_json(row.cells) for row in category.systems] for category in board.categories]
    fit = board.order_fit and to_json(board.order_fit)
    if shown["order_fit"]:
        rows = shown["order_fit"]["by_closeness"]
        ties = [{**row, "points_low": row["points"][0], "points_high": row["points"][1]} for row in rows]
        assert fit["by_closeness"] == [{name: row[name] for name in row if name != "points"} for row in ties]
    assert (fit and {**fit, "by_closeness": 0}) == (shown["order_fit"] and {**shown["order_fit"], "by_closeness": 0})


def _ends(name: str, estimate) -> dict:
    return {name: estimate.value, "low": estimate.low, "high": estimate.high}


def test_win_rates_at_equal_length(both):
    of, tournament = both
    was, now = of["shown"]["length_control"], queries.board(tournament).length
    if was is None:
        assert now is None
        return
    assert (was["odds"], was["scale"]) == (to_json(now.odds), now.scale)
    for row, of_now in zip(was["systems"], now.systems, strict=True):
        assert (row["system"], row["plain"], row["length"]) == (of_now.system, of_now.plain, of_now.length)
        assert row["controlled"] == to_json(of_now.controlled)
        against = [cell and {**to_json(cell.controlled), "plain": cell.plain} for cell in of_now.against]
        assert row["against"] == against


def test_whose_judgments_and_how_sure(both):
    of, tournament = both
    shown, board = of["shown"], queries.board(tournament)
    people = board.basis.people
    assert wording.judged_by(board) == shown["judge_label"]
    assert wording.worth(board) == (shown["calibrated"] or {}).get("said", "")
    assert wording.gate_verdict(board) == (shown["gate"] or {}).get("verdict", "")
    assert (board.population.contexts, board.population.groups) == (shown["contexts"], shown["groups"])
    if was := shown["people"]:
        assert (was["annotators"], was["kind"], was["answers"]) == (people.annotators, people.kind, people.answers)
        assert was["variances"] == {variance.name: variance.value for variance in people.variances}
        assert [tuple(group) for group in was["groups"]] == list(board.groups)
        assert board.method.name == ("mixed-model" if was["kind"] == "scores" else "bradley-terry-mixed-model")


def test_a_signature_stays_byte_for_byte(both):
    of, tournament = both
    kept = queries.board(tournament).provenance.signature
    again = "|".join(f"{key}:{'none' if value is None else value}" for key, value in parse(kept).items())
    assert kept == of["row"]["signature"] == again and "method" not in parse(kept)


def test_its_page_and_its_files(both, client, admin_user):
    of, tournament = both
    client.force_login(admin_user)
    for end in ("/", ".csv", ".tex", ".svg"):
        address = f"/tournaments/{tournament.pk}{end}"
        page = client.get(address)
        assert page.status_code == 200 and of["ratings"][0]["name"] in page.content.decode(), address


@pytest.mark.parametrize(
    "schema, of, said",
    [
        (1, {"unjudged": 12}, ["m says nothing of 12 outputs, which do not play. Of which systems is not known."]),
        (1, {"unjudged": 0, "reads": ""}, ["It is not known of how many outputs m says nothing, which do not play."]),
        (1, {"unjudged": 0}, []),
        (1, {"unjudged": 12, "kind": "comparator"}, []),
        (2, {"unjudged": 12}, []),  # of systems that do not play at all, or it would be a doubt of the board
    ],
)
def test_older_boards_say_what_is_known_of_outputs_without_a_score(schema, of, said):
    judge = BoardJudge(**{"name": "m", "kind": "metric", "reads": "pointwise"} | of)
    board = replace(example(), schema=schema, doubts=(), basis=BoardBasis("judge", judge))
    found = [one.text for one in cautions(upgraded(board)) if one.kind == "unjudged"]
    assert found == [f"{text} This board is from before that was counted." for text in said]
    assert upgraded(upgraded(board)) == upgraded(board)
