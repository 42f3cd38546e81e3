"""A board's signature carries every setting that can change a digit. What is walked over is read from the code, so that a
setting that comes later must be given a place here, and then in the signature."""

from dataclasses import fields
from types import SimpleNamespace

import pytest

from annotation.models import Snapshot
from evaluator.models import ComparatorVersion, Judge
from leaderboard.boards.board import Board
from leaderboard.boards.tree import from_json
from leaderboard.models import Tournament
from leaderboard.rating.rules import Rules
from leaderboard.signature import KEYS, parse
from leaderboard.tournaments import record
from leaderboard.tournaments.assembly import Found
from leaderboard.tournaments.diagnostics import Diagnostics
from leaderboard.tournaments.entrants import entrants_of
from tests.leaderboard.played import by_comparator, by_people

pytestmark = pytest.mark.django_db

RULES = {  # another value, with what else it needs
    "rating": {"rating": "bradley-terry"},
    "ties": {"ties": "drop"},
    "pairing": {"pairing": "active"},
    "stop": {"stop": "all"},
    "idle_growth": {"rating": "by-game", "idle_growth": True},
}
FIELDS = {
    "basis": Tournament.Basis.CORRECTED,
    "judge": Judge(name="another", kind="metric"),
    "snapshot": Snapshot(digest="another"),
    "criterion": "Wit",
    "level": Tournament.Level.SAMPLE,
    "rating": "bradley-terry",
    "ties": "drop",
    "pairing": "active",
    "stop": "all",
    "extends_id": 4,
    "seed": 5,
    "wanted_games": 50,
    "played": 51,
    "replicates": [[1500.0]],
}
NO_DIGIT = {  # who, when and where; and what was found
    *("id", "campaign_id", "job_id", "is_simulated", "created_at", "finished_at", "signature"),
    *("settled", "head_to_head", "board", "findings", "settings"),
}
REFIT = {"scale": 0.5, "theta": 0.2, "tie_threshold": 0.1, "snapshot": "0a1b2c3d4e5f", "pairs": 72}
SETTINGS = {"looks": 5, "resampling_seed": 1, "refit": REFIT}
OF_ENTRANTS = {"last_output", "last_context", "systems", "contexts"}  # see below
SETTINGS_NO_DIGIT = {"warning", "ending"}


@pytest.fixture
def board(world, version):
    return by_comparator(world.campaign, games=40)


NO_DIGIT_OF_PEOPLES = {"pairing", "stop"}  # all their answers count, whatever games would be drawn


def signed(tournament: Tournament) -> str:
    """As it was when it was found: the board says what made it."""
    board = from_json(Board, tournament.board)
    rated = SimpleNamespace(narrow=board.narrow, is_corrected=board.method.name == "corrected-mixed-model")
    beside = Diagnostics(order_fit=board.order_fit)
    found = Found(played=None, rated=rated, people=board.basis.people, beside=beside)
    return record._signature(tournament, entrants_of(tournament), found)


def test_each_rule_changes_it(board, monkeypatch):
    assert {field.name for field in fields(Rules)} == set(RULES)
    for name, change in RULES.items():
        without = {key: value for key, value in change.items() if key != name}
        monkeypatch.setattr(Tournament, "rules", lambda self, of=without: Rules(**of))
        before = signed(board)
        monkeypatch.setattr(Tournament, "rules", lambda self, of=change: Rules(**of))
        assert signed(board) != before, name


@pytest.mark.parametrize("judge", ["comparator", "people"])
def test_each_field_of_a_tournament_changes_it(world, version, judge):
    assert {f.attname.removesuffix("_id") for f in Tournament._meta.concrete_fields} == {
        name.removesuffix("_id") for name in {*FIELDS, *NO_DIGIT}
    }
    board = by_people(world.campaign) if judge == "people" else by_comparator(world.campaign, games=40)
    before = signed(board)
    for name, value in FIELDS.items():
        was = getattr(board, name)
        assert was != value, name
        setattr(board, name, value)
        assert (signed(board) != before) == (judge != "people" or name not in NO_DIGIT_OF_PEOPLES), name
        setattr(board, name, was)
    assert signed(board) == before == board.signature


def test_each_of_its_other_settings_changes_it(board):
    board.settings["refit"] = None  # as the task sets it before it plays
    assert set(board.settings) == {*SETTINGS, *OF_ENTRANTS, *SETTINGS_NO_DIGIT}
    before = signed(board)
    for name, value in SETTINGS.items():
        was, board.settings[name] = board.settings[name], value
        assert was != value and signed(board) != before, name
        board.settings[name] = was


def test_each_part_of_a_refit_changes_it(board):
    board.settings["refit"] = REFIT
    before = signed(board)
    assert parse(before)["refit"] == "0a1b2c3d4e5f/72/0.5/0.2/0.1"
    for name, value in {"scale": 0.51, "theta": 0.21, "tie_threshold": 0.2, "snapshot": "b", "pairs": 73}.items():
        board.settings["refit"] = REFIT | {name: value}
        assert signed(board) != before, name


def test_what_plays_changes_it(world, board):
    entrants = entrants_of(board)
    before = board.signature
    assert parse(before)["entrants"].startswith("4x12-")
    board.settings["last_output"] = entrants.outputs[-1].pk - 1
    assert signed(board) != before
    board.settings["last_output"], board.settings["last_context"] = 10**9, entrants.contexts[-1]
    assert signed(board) == before
    world.campaign.contexts.create(key="new", turns=["x"])
    board.settings["last_context"] = 10**9  # a context more is drawn
    assert signed(board) != before


def test_the_confidence_of_its_intervals_changes_it(board, monkeypatch):
    monkeypatch.setattr(record, "CONFIDENCE", 0.9)
    assert parse(signed(board)) == parse(board.signature) | {"confidence": "0.9"}


def test_it_names_all_and_fits_its_field(board):
    assert tuple(parse(board.signature)) == tuple(key for key in KEYS if key not in ("named", "settings", "groups"))
    board.criterion, board.judge = "c" * 100, Judge(name="v" * 60, version=ComparatorVersion(name="v" * 60))
    board.basis, board.seed = Tournament.Basis.CORRECTED, 2**31 - 1
    assert len(signed(board)) < Tournament._meta.get_field("signature").max_length - 200
