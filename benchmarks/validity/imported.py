"""A simulated campaign the way that people take: files, commands, the default filter, the default board, the plan's page."""

import io
import json
from pathlib import Path

from django.core.management import call_command

from annotation.campaigns.plan import Ground, grounds_of
from annotation.design.plan import Protocol
from annotation.models import Campaign
from benchmarks.questions.asked import Files, crowded
from benchmarks.validity.crowds import Crowd, Entered
from leaderboard.boards import queries
from leaderboard.models import Tournament


def entered_campaign(folder: Path, crowd: Crowd, entered: Entered) -> Campaign:
    return stored(folder, crowded(crowd, entered))


def stored(folder: Path, files: Files) -> Campaign:
    """What the commands make of these rows; a former campaign is deleted."""
    Campaign.objects.filter(slug="crowd").delete()
    _command("create_campaign", "crowd", *files.options)
    for command, rows in files.rows:
        path = folder / "rows.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        _command(command, "crowd", str(path))
    return Campaign.objects.get(slug="crowd")


def played(folder: Path, crowd: Crowd, entered: Entered, *filters: str) -> Tournament:
    """By the defaults; filters: others."""
    return board_of(entered_campaign(folder, crowd, entered), "" if crowd.form == "pairs" else "Quality", *filters)


def board_of(campaign: Campaign, criterion: str, *filters: str) -> Tournament:
    """Assessed, frozen and played."""
    _command("assess_quality", campaign.slug, *filters)
    about = ["--criterion", criterion] if criterion else []
    _command("run_tournament", campaign.slug, "--basis", "people", *about, "--wait")
    return campaign.tournaments.get()


def ground(campaign: Campaign, protocol: Protocol, ahead: int | None = None) -> Ground:
    """What the plan's page says of this protocol, from a pilot's campaign. ahead: the system that will be, where it is told."""
    return grounds_of(campaign, protocol, campaign, "" if ahead is None else f"s{ahead}")[-1]


def is_above(tournament: Tournament, upper: int, lower: int) -> bool:
    """Does the board state it of these two systems?"""
    pair = f"s{upper}", f"s{lower}"
    return any((one.upper, one.lower) == pair and one.known for one in queries.board(tournament).differences)


def _command(*arguments: str) -> None:
    call_command(*arguments, stdout=io.StringIO(), stderr=io.StringIO())
