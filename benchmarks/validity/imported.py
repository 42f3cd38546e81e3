"""A simulated campaign the way that people take: files, commands, the default filter, the default board, the plan's page."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management import call_command

from annotation.campaigns.plan import Ground, grounds_of
from annotation.design.plan import Protocol
from annotation.models import Campaign
from benchmarks.validity.crowds import Crowd, Entered
from leaderboard.boards import queries
from leaderboard.models import Tournament


def entered_campaign(folder: Path, crowd: Crowd, entered: Entered) -> Campaign:
    """Its outputs and answers imported; a former one is deleted."""
    Campaign.objects.filter(slug="crowd").delete()
    _command("create_campaign", "crowd", "--criterion", f"Quality:1:{crowd.points or 5}")
    _command("import_outputs", "crowd", lines(folder / "outputs.jsonl", outputs(crowd)))
    if crowd.form == "pairs":
        _command("import_judgments", "crowd", lines(folder / "judgments.jsonl", judgments(entered)))
    else:
        _command("import_scores", "crowd", lines(folder / "scores.jsonl", scores(entered)))
    return Campaign.objects.get(slug="crowd")


def played(folder: Path, crowd: Crowd, entered: Entered, *filters: str) -> Tournament:
    """Assessed, frozen and played by the defaults; filters: others."""
    campaign = entered_campaign(folder, crowd, entered)
    _command("assess_quality", "crowd", *filters)
    about = [] if crowd.form == "pairs" else ["--criterion", "Quality"]
    _command("run_tournament", "crowd", "--basis", "people", *about, "--wait")
    return campaign.tournaments.get()


def ground(folder: Path, pilot: Crowd, entered: Entered, protocol: Protocol, ahead: int | None) -> Ground:
    """What the plan's page says of this protocol, from a pilot's campaign. ahead: the system that will be, where it is told."""
    campaign = entered_campaign(folder, pilot, entered)
    return grounds_of(campaign, protocol, campaign, "" if ahead is None else f"s{ahead}")[-1]


def is_above(tournament: Tournament, upper: int, lower: int) -> bool:
    """Does the board state it of these two systems?"""
    pair = f"s{upper}", f"s{lower}"
    return any((one.upper, one.lower) == pair and one.known for one in queries.board(tournament).differences)


def _command(*arguments: str) -> None:
    call_command(*arguments, stdout=io.StringIO(), stderr=io.StringIO())


def lines(path: Path, rows: Iterator[dict]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def outputs(crowd: Crowd) -> Iterator[dict[str, Any]]:
    for c in range(crowd.contexts):
        for s in range(crowd.systems):
            text = f"output {s} on {c}"
            alone = {"group": f"c{c:03}"}  # the harness has no texts, by which contexts might be grouped
            yield alone | {"context_id": f"c{c:03}", "context": [f"context {c}"], "system": f"s{s}", "output": text}


def scores(entered: Entered) -> Iterator[dict[str, Any]]:
    for c, s, a, value in zip(entered.context, entered.system, entered.person, entered.value):
        place = {"context_id": f"c{c:03}", "system": f"s{s}", "annotator": f"a{a:02}"}
        yield place | {"aspect": "Quality", "score": float(value)}


def judgments(entered: Entered) -> Iterator[dict[str, Any]]:
    columns = entered.pair_context, entered.first, entered.second, entered.pair_person, entered.outcome
    for c, i, j, a, outcome in zip(*columns):
        place = {"context_id": f"c{c:03}", "context": [f"context {c}"], "annotator": f"a{a:02}"}
        sides = {"system_a": f"s{i}", "output_a": f"output {i} on {c}", "system_b": f"s{j}", "output_b": f"output {j} on {c}"}
        yield place | sides | {"choice": {1: "A", 0: "tie", -1: "B"}[int(outcome)]}
