"""A board with everything wrong at once, through every door: simulated people who disagree, about two groups of systems that
never met, one of them withdrew since, another answered since, and a system retired since. Each door has to say all six."""

import contextlib
import html
import importlib.util
import io
import json
import random
import re
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from annotation.annotating.consent import withdraw_annotator
from annotation.assessment.assess import assess
from annotation.campaigns.lifecycle import create_campaign
from annotation.data.importer import import_judgments
from annotation.models import Campaign, User
from leaderboard.models import Tournament
from leaderboard.publication.contents import contents
from leaderboard.systems import set_retired
from tests.evaluator.world import write

pytestmark = pytest.mark.django_db
PAGES = ["page", "leaderboard", "embed", "breakdown", "history", "system", "systems"]
DOORS = ["json", "api", "csv", "tex", "svg", "index", "text", "client", "card", *PAGES]


@pytest.fixture(scope="module")
def said(django_db_setup, django_db_blocker, tmp_path_factory):
    """{door: what it says}, made once."""
    from tests.evaluator.fixtures import rows_for_a_module

    with rows_for_a_module(django_db_blocker), django_db_blocker.unblock():
        yield through_every_door(tmp_path_factory.mktemp("doors"))


def through_every_door(folder) -> dict[str, str]:
    alice = User.objects.create_user("alice-of-doors")
    campaign = create_campaign(slug="doors", title="Doors", criteria=[], likert=False, pairwise=True, user=alice)
    import_judgments(campaign, write(folder, "judgments.jsonl", disagreeing()), simulated=True)
    assess(Campaign.objects.get(pk=campaign.pk))
    Campaign.objects.filter(pk=campaign.pk).update(board_is_public=True)
    call_command("run_tournament", "doors", "--judge", "people", "--wait", "--json", stdout=io.StringIO())
    tournament = Tournament.objects.get(campaign=campaign)
    pk = tournament.pk
    withdraw_annotator(campaign.annotators.get(name="p0"))
    late = [{**disagreeing()[0], "annotator": "p9"}]
    import_judgments(campaign, write(folder, "late.jsonl", late), simulated=True)
    set_retired(campaign.systems.get(name="m4"), True)
    printed, started = io.StringIO(), io.StringIO()
    call_command("leaderboard", "doors", stdout=printed)
    with contextlib.redirect_stderr(started):
        call_command("run_tournament", "doors", "--judge", "people", stdout=started)
    anybody = Client()  # boards are public, so what is said is said to strangers
    get = lambda address: anybody.get(address).content.decode()
    as_json = get(f"/api/tournaments/{pk}/")
    researcher = Client()
    researcher.force_login(alice)
    return {
        "json": as_json,
        "api": get("/api/campaigns/doors/leaderboard/"),
        **{kind: get(f"/tournaments/{pk}.{kind}") for kind in ("csv", "tex", "svg")},
        "page": get(f"/tournaments/{pk}/"),
        "leaderboard": get("/c/doors/leaderboard/"),
        "embed": get("/c/doors/leaderboard/embed/"),
        **{page: get(f"/c/doors/leaderboard/{page}/") for page in ("breakdown", "history")},
        "system": get(f"/c/doors/systems/{tournament.ratings.first().system_id}/"),
        "systems": researcher.get("/c/doors/systems/").content.decode(),
        "card": contents(tournament.snapshot)["README.md"].decode(),
        "index": get("/boards/"),
        "text": printed.getvalue(),
        "client": str(client_s_board(json.loads(as_json))),
        "started": started.getvalue(),
    }


def client_s_board(answer: dict):
    """What the Python client makes of the API's answer."""
    path = Path(__file__).parents[3] / "clients" / "comparena_client.py"
    spec = importlib.util.spec_from_file_location("client_of_boards", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Board(answer)


def disagreeing() -> list[dict]:
    """Everybody draws lots, so alpha is about 0; m1 meets m2 alone, m3 meets m4."""
    draw = random.Random(0)
    return [
        {"context_id": f"c{c}", "context": "?", "system_a": a, "output_a": f"{a} {c}", "system_b": b, "output_b": f"{b} {c}"}
        | {"annotator": f"p{n}", "choice": draw.choice(["A", "B", "tie"])}
        for c in range(12)
        for a, b in (("m1", "m2"), ("m3", "m4"))
        for n in range(3)
    ]


def test_groups_that_never_met_are_apart_where_they_are_printed(said):
    for door in ("text", "client", "card"):
        assert said[door].index("Group 1") < said[door].index("Group 2"), door


@pytest.mark.parametrize("door", ["page", "leaderboard", "embed", "index", "text", "client", "card"])
def test_who_is_first_and_how_surely_is_said_alike(said, door):
    assert json.loads(said["json"])["said"]["headline"] in words(door, said[door])


def words(door: str, text: str) -> str:
    if door in PAGES:
        text = re.sub(r"<svg.*?</svg>", "", text, flags=re.DOTALL)  # not in the picture alone
    if door == "tex":
        text = re.sub(r"\\([&%$#_{}])", r"\1", text)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


@pytest.mark.parametrize("door", DOORS)
def test_each_door_says_all_that_is_wrong(said, door):
    seen = words(door, said[door]).lower()
    assert "simulated" in seen
    assert "not accepted" in seen or "rejected" in seen
    assert "m1, m2" in seen and "m3, m4" in seen and "cannot be compared" in seen
    assert "1 annotator withdrew" in seen and "p0 withdrew" not in seen
    assert "newer answers have come since its snapshot was frozen on 20" in seen and "p9" not in seen
    assert "m4 is retired now" in seen


@pytest.mark.parametrize("door", ["page", "leaderboard", "embed"])
def test_a_retired_system_is_marked_in_its_row(said, door):
    assert re.findall(r"m\d retired", words(door, said[door])) == ["m4 retired"]


@pytest.mark.parametrize("door", ["system", "systems"])
def test_a_rank_is_one_of_its_group(said, door):
    """Nobody knows which of two is better, and two is all that are in a group."""
    assert "1–2 in group " in words(door, said[door]) and "1–4" not in words(door, said[door])


def test_a_tournament_that_is_started_warns_once(said):
    assert said["started"].count("generalizability coefficient") == 1


@pytest.mark.parametrize("door", ["json", "csv", "tex", "svg", "page", "embed", "text", "client", "card"])
def test_each_door_says_how_many_answers_of_whom_and_when(said, door):
    """72 judgments of 3 annotators on a snapshot; a picture and a table are pasted where no link goes along."""
    seen, made = words(door, said[door]), json.loads(said["json"])["provenance"]
    assert "72 judgments of pairs by 3 annotators" in seen
    assert made["snapshot"] in seen and made["signature"].rpartition("|code:")[2] in seen.replace(" ", "")


@pytest.mark.parametrize("door", DOORS)
def test_each_warning_of_the_json_stands_in_every_door_in_full(said, door):
    warnings = [warning["text"] for warning in json.loads(said["json"])["warnings"]]
    assert len(warnings) >= 3
    seen = words(door, said[door]).replace('\\"', '"')
    assert [warning for warning in warnings if " ".join(warning.split()) not in seen] == []
