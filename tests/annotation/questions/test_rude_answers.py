"""A scale that is upside down, people who can say nothing, one person alone, answers all alike: through the API, the pages,
exports, boards and agreement. Expected values by hand or by the mirror of the same answers."""

import io
import json
import random

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.models import User
from tests.evaluator.fixtures import rows_for_a_module

pytestmark = pytest.mark.django_db
SYSTEMS = {"good": 4.2, "mid": 3.4, "bad": 2.2}
PAGES = ["", "design/", "plan/", "preview/", "progress/", "items/", "people/", "quality/", "quality/annotators/"]
PAGES += [
    "quality/preview/",
    "quality/disagreement/",
    "quality/study/",
    "quality/report/",
    "leaderboard/",
    "systems/",
    "import/",
]


@pytest.fixture
def alice(client):
    return signed_in(client)


def signed_in(client: Client) -> Client:
    client.force_login(User.objects.get_or_create(username="alice", defaults={"may_create_campaigns": True})[0])
    return client


def send(client: Client, method: str, address: str, body=None, expected: int | None = None) -> dict:
    response = client.generic(method, f"/api/{address}", json.dumps(body or {}), content_type="application/json")
    assert response.status_code == expected or (expected is None and response.status_code < 300), response.content.decode()
    return json.loads(response.content) if response.content else {}


def upload(client: Client, slug: str, what: str, rows: list[dict]) -> dict:
    file = io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode())
    file.name = f"{what}.jsonl"
    response = client.post(f"/api/campaigns/{slug}/import/{what}/", {"file": file})
    assert response.status_code == 200, response.content.decode()
    return response.json()


def campaign(client: Client, slug: str, overlap: int = 3, contexts: int = 8, **criterion) -> None:
    body = {"slug": slug, "title": slug, "overlap": overlap, "criteria": [{"name": "Fit", "low": 1, "high": 5} | criterion]}
    send(client, "POST", "campaigns/", body)
    texts = [
        {"context_id": f"c{c}", "context": f"Question {c}", "system": system, "output": f"{system} answers {c}"}
        for c in range(contexts)
        for system in SYSTEMS
    ]
    upload(client, slug, "outputs", texts)


def drawn(turned: bool) -> list[dict]:
    """The same opinions of four people, on a scale whose highest or whose lowest point is best."""
    draw = random.Random(3)
    rows = []
    for c in range(8):
        for system, mean in SYSTEMS.items():
            for n in range(4):
                score = min(5, max(1, round(draw.gauss(mean, 0.7))))
                rows.append({"context_id": f"c{c}", "system": system, "aspect": "Fit", "annotator": f"a{n}"})
                rows[-1]["score"] = 6 - score if turned else score
    return rows


def assessed(client: Client, slug: str) -> dict:
    return send(client, "POST", f"campaigns/{slug}/snapshots/", {"level": "interval"})


def board(slug: str) -> dict:
    out = io.StringIO()
    call_command("run_tournament", slug, "--wait", "--json", *by_people(), "--criterion", "Fit", stdout=out)
    from leaderboard.models import Tournament

    pk = Tournament.objects.filter(campaign__slug=slug).latest("pk").pk
    client = Client()
    client.force_login(User.objects.get(username="alice"))
    return {"pk": pk, "standings": client.get(f"/api/tournaments/{pk}/").json()["standings"]}


def by_people() -> tuple[str, str]:
    return ("--judge", "people")


def preferences(client: Client, slug: str, digest: str) -> list[tuple[str, str]]:
    response = client.get(f"/api/campaigns/{slug}/snapshots/{digest}/export/preferences/jsonl/?margin=1")
    assert response.status_code == 200
    rows = [json.loads(line) for line in b"".join(response).decode().splitlines()]
    return [(text_of(row["chosen"]), text_of(row["rejected"])) for row in rows]


def text_of(value) -> str:
    return value if isinstance(value, str) else value[-1]["content"]


@pytest.mark.parametrize("settings", [{"most": 3}, {"a\u0000b": 1}, {"a": "\u0000"}])
def test_a_scale_has_no_settings_of_its_own(alice, settings):
    """PostgreSQL stores no NUL in JSON, so one that went unchecked ended in a server error."""
    criterion = {"name": "Fit", "low": 1, "high": 5, "settings": settings}
    answer = send(alice, "POST", "campaigns/", {"slug": "rude", "title": "rude", "criteria": [criterion]}, expected=422)
    assert "Fit: a question of kind scale has no setting" in str(answer)


@pytest.fixture(scope="class")
def both(django_db_setup, django_db_blocker):
    """The same opinions twice: upright, and on a scale that is upside down. {slug: (snapshot, board)}"""
    found = {}
    with rows_for_a_module(django_db_blocker):
        with django_db_blocker.unblock():
            alice = signed_in(Client())
            for slug, best in (("upright", "high"), ("turned", "low")):
                campaign(alice, slug, best=best)
                upload(alice, slug, "scores", drawn(best == "low"))
                found[slug] = (assessed(alice, slug), board(slug))
        yield found


class TestLowestIsBest:
    def test_the_api_says_so(self, both, alice):
        of = lambda slug: send(alice, "GET", f"campaigns/{slug}/")["criteria"][0]["best"]
        assert (of("upright"), of("turned")) == ("high", "low")

    def test_the_board_is_the_same_and_means_stay_in_people_s_unit(self, both):
        upright, turned = (both[slug][1]["standings"] for slug in ("upright", "turned"))
        assert [row["system"] for row in upright] == ["good", "mid", "bad"]
        for a, b in zip(upright, turned, strict=True):
            same = ("system", "rank_low", "rank_high", "cluster", "games", "wins", "ties", "losses")
            assert {key: a.get(key) for key in same} == {key: b.get(key) for key in same}
            assert a["rating"] == pytest.approx(b["rating"], abs=0.02) and a["low"] == pytest.approx(b["low"], abs=0.02)
            assert b["human_mean"] == pytest.approx(6 - a["human_mean"], abs=1e-3)

    def test_agreement_is_the_same(self, both):
        a, b = (dict(numbers_of(both[slug][0])) for slug in ("upright", "turned"))
        figures = [name for name in a if name.startswith(("alpha", "kappa", "scores", "kept"))]
        assert figures and {name: a[name] for name in figures} == pytest.approx({name: b[name] for name in figures}, abs=1e-6)

    def test_the_better_one_is_chosen_in_preference_pairs(self, both, alice):
        upright, turned = (preferences(alice, slug, both[slug][0]["digest"]) for slug in ("upright", "turned"))
        assert len(upright) > 5 and sorted(upright) == sorted(turned)

    def test_no_page_says_that_the_highest_is_best(self, both, alice):
        page = alice.get(f"/tournaments/{both['turned'][1]['pk']}/").content.decode()
        assert "lowest" in page.lower() or "1 is best" in page

    def test_a_score_said_twice_upside_down_is_refused(self, both, alice):
        """A file cannot turn a scale on which people have answered."""
        row = {"context_id": "c0", "system": "good", "aspect": "Fit", "annotator": "new", "score": 1, "best": "high"}
        file = io.BytesIO((json.dumps(row) + "\n").encode())
        file.name = "scores.jsonl"
        response = alice.post("/api/campaigns/turned/import/scores/", {"file": file})
        assert response.status_code in (400, 409, 422) and b"best" in response.content
        assert send(alice, "GET", "campaigns/turned/")["criteria"][0]["best"] == "low"


def numbers_of(tree, name: str = ""):
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from numbers_of(value, key)
    elif isinstance(tree, list):
        for value in tree:
            yield from numbers_of(value, name)
    elif isinstance(tree, (int, float)) and not isinstance(tree, bool):
        yield name, tree


class TestNobodyCanSay:
    @pytest.fixture
    def unsaid(self, alice):
        """Two people who cannot say anything of anything."""
        campaign(alice, "unsaid", overlap=2, contexts=2, cannot_say=True)
        token = send(alice, "POST", "campaigns/unsaid/invitations/")["token"]
        for name in ("ann", "ben"):
            person = Client()
            person.force_login(User.objects.create_user(name))
            send(person, "POST", f"join/{token}/")
            task = send(person, "GET", "tasks/unsaid/")
            criterion = str(task["criteria"][0]["id"])
            while turn := send(person, "POST", "tasks/unsaid/next/")["assignment"]:
                answer = {"assignment": turn["id"], "key": turn["key"], "shown": turn["shown"]}
                send(person, "POST", "tasks/unsaid/judgments/", answer | {"scores": {criterion: "cannot_say"}})
        return alice

    def test_every_answer_is_exported(self, unsaid):
        response = unsaid.get("/api/campaigns/unsaid/export/scores/jsonl/")
        rows = [json.loads(line) for line in b"".join(response).decode().splitlines()]
        assert len(rows) == 12 and {row["cannot_say"] for row in rows} == {True}
        assert {row.get("score") for row in rows} <= {None, ""}

    def test_pages_open_and_nothing_counts(self, unsaid):
        assert {page: unsaid.get(f"/c/unsaid/{page}").status_code for page in PAGES} == dict.fromkeys(PAGES, 200)

    def test_neither_a_snapshot_nor_a_board_is_made_of_nothing(self, unsaid):
        snapshot = unsaid.post("/api/campaigns/unsaid/snapshots/", {"level": "interval"}, content_type="application/json")
        assert snapshot.status_code < 500
        if snapshot.status_code >= 400:
            assert snapshot.json()["message"]
        with pytest.raises(CommandError):
            board("unsaid")

    def test_cannot_say_is_refused_where_it_was_not_offered(self, alice):
        campaign(alice, "strict", overlap=1, contexts=1)
        token = send(alice, "POST", "campaigns/strict/invitations/")["token"]
        person = Client()
        person.force_login(User.objects.create_user("cem"))
        send(person, "POST", f"join/{token}/")
        criterion = str(send(person, "GET", "tasks/strict/")["criteria"][0]["id"])
        turn = send(person, "POST", "tasks/strict/next/")["assignment"]
        answer = {"assignment": turn["id"], "key": turn["key"], "shown": turn["shown"]}
        for rude in ("cannot_say", "", None, 0, 6, 2.5, "x" * 5000, [1], {"a": 1}, True, 1e300):
            body = json.dumps(answer | {"scores": {criterion: rude}})
            response = person.post("/api/tasks/strict/judgments/", body, content_type="application/json")
            assert response.status_code in (400, 409, 422), (rude, response.status_code, response.content)
        assert send(person, "POST", "tasks/strict/judgments/", answer | {"scores": {criterion: 3}}, 201)


class TestOneAnnotatorWhoSaysAllAlike:
    @pytest.fixture
    def alike(self, alice):
        campaign(alice, "alike")
        rows = [row | {"score": 3} for row in drawn(False) if row["annotator"] == "a0"]
        upload(alice, "alike", "scores", rows)
        return alice

    def test_agreement_is_undefined_in_words_and_pages_open(self, alike):
        said = json.dumps(assessed(alike, "alike"))
        assert "undefined" in said
        assert {page: alike.get(f"/c/alike/{page}").status_code for page in PAGES} == dict.fromkeys(PAGES, 200)

    def test_the_board_separates_nobody_and_no_pair_is_preferred(self, alike):
        digest = assessed(alike, "alike")["digest"]
        try:
            rows = board("alike")["standings"]
        except CommandError as refused:
            assert str(refused)
        else:
            assert {(row["rank_low"], row["rank_high"]) for row in rows} <= {(1, 3), (None, None)}
            assert len({row["rating"] for row in rows}) == 1
        assert preferences(alike, "alike", digest) == []
