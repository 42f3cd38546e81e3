"""What pages and the API answer a researcher, less what differs at each request, so that two places can be compared."""

import itertools
import json
import re
import sys
from datetime import datetime
from unittest import mock

TOKEN = re.compile(r'(csrfmiddlewaretoken" value=")[^"]*')
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # of jobs that a page starts
REQUEST = re.compile(r'("request_id": ?")[0-9a-f]+')
ARGUMENT = re.compile(r"<(\w+)>")
NEW_EACH_TIME = {"account/second-factor/", "healthz", "readyz"}  # a secret; what the machine can do just now
MANY = 4  # of items and contexts, which may be thousands


def bodies(user, paths: list[str], now: datetime) -> dict[str, str]:
    """{path: status, type and body} of what the user gets, as if it were `now`."""
    from django.test import Client

    with mock.patch("django.utils.timezone.now", return_value=now):
        client = Client(raise_request_exception=False, HTTP_HOST="localhost")
        client.force_login(user)
        return {path: _said(client.get(path)) for path in paths}


def _said(response) -> str:
    content = b"".join(response) if response.streaming else response.content
    text = content.decode("utf-8", "backslashreplace")
    for pattern, left in ((TOKEN, r"\1"), (REQUEST, r"\1"), (UUID, "UUID")):
        text = pattern.sub(left, text)
    return f"{response.status_code} {response.get('Content-Type', '')} {response.get('Location', '')}\n{text}"


def paths_of(campaign) -> list[str]:
    """Addresses that a researcher may read (tests/access/table.py), with everything of the campaign in them."""
    from tests.access.table import expectations

    found = []
    for route, methods in expectations().items():
        if "researcher" not in methods.get("GET", ()) or route.startswith("admin/") or route in NEW_EACH_TIME:
            continue
        names = ARGUMENT.findall(route)
        for values in itertools.product(*(_arguments(campaign, route, name) for name in names)):
            path = "/" + route
            for name, value in zip(names, values):
                path = path.replace(f"<{name}>", str(value))
            found += [f"{path}?from={old}" for old in _digests(campaign)] if route.endswith("/difference/") else [path]
    return found


def _digests(campaign) -> list[str]:
    return [snapshot.name for snapshot in campaign.snapshots.order_by("pk")]


def _arguments(campaign, route: str, name: str) -> list:
    """What an argument of a route may be; nothing where the campaign has nothing of the kind."""

    named = {
        "slug": lambda: [campaign.slug],
        "digest": lambda: _digests(campaign),
        "old": lambda: _digests(campaign),
        "name": lambda: (
            list(campaign.comparators.order_by("pk").values_list("name", flat=True)) if "comparator" in route else []
        ),
        "what": lambda: ["scores", "judgments", "preferences"],
        "format": lambda: ["csv", "jsonl", "md", "tex"],
        "kind": lambda: ["csv", "jsonl", "md", "tex"],
    }
    if name in named:
        return named[name]()
    rows = {
        "items/": campaign.items.all()[:MANY],
        "samples/": campaign.contexts.order_by("pk")[:MANY],
        "systems/": campaign.systems.all(),
        "jobs/": campaign.jobs.all(),
        "tournaments/": campaign.tournaments.all(),
    }
    kind = next((kind for kind in rows if kind in route), None)
    return sorted(row.pk for row in rows[kind]) if kind else []


def main() -> None:
    """Of the place that the environment names: {path: body} of the JSON {"user", "now", "paths", or "slug"} on standard input,
    into the file that is named."""
    import django

    django.setup()
    from annotation.models import Campaign, User

    asked = json.load(sys.stdin)
    paths = asked.get("paths") or paths_of(Campaign.objects.get(slug=asked["slug"]))
    found = bodies(User.objects.get(username=asked["user"]), paths, datetime.fromisoformat(asked["now"]))
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main()
