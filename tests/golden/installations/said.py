"""What an installation says of its boards: asked of addresses and commands alone, so that it runs in any commit."""

import io
import json
import re
import sqlite3
from html.parser import HTMLParser
from pathlib import Path

from django.core.management import CommandError, call_command
from django.test import Client

FILES = ("csv", "tex", "svg")
RESEARCHER = "researcher"


def researcher() -> Client:
    from annotation.models import User

    client = Client()
    client.force_login(User.objects.get(username=RESEARCHER))
    return client


def boards(database: Path) -> list[dict]:
    """Every finished tournament, as the tables of the old commit have it: {pk, slug, judge, criterion, level, named}."""
    rows = sqlite3.connect(database)
    rows.row_factory = sqlite3.Row
    known = {row["name"] for row in rows.execute("PRAGMA table_info(leaderboard_tournament)")}
    named = "t.named_judge" if "named_judge" in known else "''"
    found = rows.execute(
        f"SELECT t.id AS pk, c.slug, t.judge, t.criterion, t.level, {named} AS named, v.name AS version"
        " FROM leaderboard_tournament t JOIN annotation_campaign c ON c.id = t.campaign_id"
        " LEFT JOIN evaluator_comparatorversion v ON v.id = t.version_id"
        " WHERE t.finished_at IS NOT NULL ORDER BY t.id"
    )
    return [dict(row) for row in found]


def said_of(client: Client, pk: int) -> dict:
    """A board through every door but the command."""
    return {
        "json": json.loads(_get(client, f"/api/tournaments/{pk}/")),
        **{kind: _get(client, f"/tournaments/{pk}.{kind}") for kind in FILES},
        "page": numbers(_get(client, f"/tournaments/{pk}/")),
    }


def campaign_says(client: Client, slug: str) -> dict:
    """The snapshots with their texts, and the figures of quality."""
    return {
        "snapshots": json.loads(_get(client, f"/api/campaigns/{slug}/snapshots/")),
        "quality": json.loads(_get(client, f"/api/campaigns/{slug}/quality/")),
        "scores": _get(client, f"/c/{slug}/export/scores.csv"),
        "judgments": _get(client, f"/c/{slug}/export/judgments.csv"),
    }


def printed(slug: str, *words: str) -> str:
    """What the command `leaderboard` prints, or why it refuses."""
    out = io.StringIO()
    try:
        call_command("leaderboard", slug, *words, stdout=out)
    except CommandError as error:
        return f"refused: {error}"
    return out.getvalue()


def numbers(page: str) -> list[str]:
    """The numbers of the page's tables, in order: what the text of each cell holds."""
    reader = _Cells()
    reader.feed(page)
    return [number for cell in reader.cells for number in re.findall(r"[-−]?\d[\d.,]*%?", cell)]


def _get(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, f"{address}: {response.status_code}"
    body = b"".join(response.streaming_content) if response.streaming else response.content
    return body.decode()


class _Cells(HTMLParser):
    def __init__(self):
        super().__init__()
        self.cells, self.inside = [], 0

    def handle_starttag(self, tag, attributes):
        if tag in ("td", "th"):
            self.inside += 1
            self.cells.append("")

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.inside -= 1

    def handle_data(self, data):
        if self.inside:
            self.cells[-1] += f" {data.strip()}"
