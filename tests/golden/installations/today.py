"""What today's code makes of an earlier installation: migrates it, asks it what it was asked then, opens its pages, goes on.

DATA_DIR=(a copy) python today.py (what was said then: .json.xz) (what is said today: .json)
"""

import io
import json
import lzma
import os
import re
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[2]), str(HERE)]
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"

import django  # noqa: E402

django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import CommandError, call_command  # noqa: E402

settings.ALLOWED_HOSTS = ["testserver"]
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

import said  # noqa: E402

ALIKE = 2  # pages of one kind that are opened: addresses that differ in campaign, number and value alone
NO_PAGES = re.compile(r"^/(static|admin|logout|api/schema)|\.(csv|jsonl|json|xlsx|zip|tex|svg|md|html|pdf)($|\?)|/download/")
LINK = re.compile(r'href="(/[^"#]*)')


def main(then: Path, now: Path) -> None:
    call_command("migrate", verbosity=0)
    with lzma.open(then) as file:
        asked = json.load(file)
    client = said.researcher()
    told = {
        "boards": [board | {"said": said.said_of(client, board["pk"])} for board in asked["boards"]],
        "campaigns": {slug: said.campaign_says(client, slug) for slug in asked["campaigns"]},
        "printed": [[slug, words, said.printed(slug, *words)] for slug, words, _ in asked["printed"]],
        "pages": pages(client, ["/", *(f"/c/{slug}/" for slug in asked["campaigns"])]),
    }
    told["goes on"] = goes_on(client)
    now.write_text(json.dumps(told))


def pages(client, start: list[str]) -> dict[str, int]:
    """{address: status} of the pages of the campaigns that others link to, a few of each kind."""
    seen: dict[str, int] = {}
    kinds: Counter[str] = Counter()
    waiting = list(start)
    while waiting:
        address = waiting.pop(0)
        kind = re.sub(r"=[^&]*|\d+|[0-9a-f]{12,}|(?<=^/c/)[^/]+", "N", address)
        if address in seen or kinds[kind] == ALIKE:
            continue
        kinds[kind] += 1
        response = client.get(address, follow=True)
        seen[address] = response.status_code
        if not response.streaming and response["Content-Type"].startswith("text/html"):
            links = (link.replace("&amp;", "&") for link in LINK.findall(response.content.decode()))
            waiting += [link for link in links if link not in seen and not NO_PAGES.search(link)]
    return seen


def goes_on(client) -> dict:
    """A new answer, a snapshot with it, and a tournament of people and of each comparator."""
    from annotation.models import User

    campaign, task, as_json = "/api/campaigns/answered/", "/api/tasks/answered/", "application/json"
    _json(client.patch(campaign, {"overlap": 4}, content_type=as_json))  # all places were taken
    token = _json(client.post(f"{campaign}invitations/", {}, content_type=as_json))["token"]
    anna = said.Client()
    anna.force_login(User.objects.create_user("newcomer"))
    _json(anna.post(f"/api/join/{token}/", {}, content_type=as_json))
    consent = _json(anna.get(task))["consent"]
    anna.post(f"{task}consent/", {"version": consent["version"]}, content_type=as_json)
    answers = []
    for _ in range(3):
        turn = _json(anna.post(f"{task}next/"))["assignment"]
        criteria = _json(anna.get(task))["criteria"]
        answer = {"assignment": turn["id"], "key": turn["key"], "shown": turn["shown"]}
        if turn.get("output") is None:
            answer["choices"] = {str(criterion["id"]): "left" for criterion in criteria}
        else:
            answer["scores"] = {str(criterion["id"]): 2 for criterion in criteria}
        answers.append(anna.post(f"{task}judgments/", answer, content_type=as_json).status_code)
    before = _json(client.get(f"{campaign}snapshots/"))
    snapshot = client.post(f"{campaign}snapshots/", {"level": "interval"}, content_type=as_json)
    played = {}
    for name, words in PLAYED.items():
        out = io.StringIO()
        try:
            call_command("run_tournament", *words, "--wait", "--json", stdout=out)
        except CommandError as refused:
            played[name] = str(refused)
            continue
        played[name] = said.said_of(client, json.loads(out.getvalue())["tournament"])["json"]
    return {
        "answers": answers,
        "snapshots": [len(before["results"] if isinstance(before, dict) else before), snapshot.status_code],
        "snapshot": _json(snapshot),
        "played": played,
    }


PLAYED = {
    "people": ("answered", "--judge", "people", "--criterion", "Overall"),
    "people, as before": ("talk", "--judge", "people", "--criterion", "Overall"),
    "comparator": ("talk", "--judge", "comparator"),
    "calibrated": ("talk", "--judge", "calibrated", "--criterion", "Overall"),
}


def _json(response):
    assert response.status_code < 300, f"{response.status_code}: {response.content.decode()[:500]}"
    return json.loads(response.content)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
