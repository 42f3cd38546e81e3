"""The REST API: tokens, who may do what, and a campaign from its making to its snapshot through it alone."""

import io
import json
from datetime import timedelta

import pytest
from django.apps import apps
from django.test import Client
from django.utils import timezone

from annotation import tasks
from annotation.campaigns.lifecycle import create_campaign
from annotation.data import uploads
from annotation.models import ApiToken, Campaign, Invitation, KeptResponse, LikertScore, User
from annotation.people.accounts import add_annotator
from annotation.people.invitations import invite
from annotation.people.tokens import make_token
from core.errors import Refused
from tests.annotation.pages import CRITERIA, write_outputs

pytestmark = pytest.mark.django_db
SCALE = {"name": "Overall", "low": 1, "high": 5, "anchors": {"3": "would do"}}


class Caller:
    """A program with a user's token."""

    def __init__(self, user: User | None):
        self.client = Client(headers={"Authorization": f"Bearer {make_token(user, 'test')[1]}"} if user else {})

    def get(self, path, **query):
        return self.client.get(f"/api/{path}", query)

    def send(self, method, path, body=None):
        return self.client.generic(method, f"/api/{path}", json.dumps(body), content_type="application/json")

    def post(self, path, body=None):
        return self.send("POST", path, body)

    def upload(self, path, file, **fields):
        return self.client.post(f"/api/{path}", {"file": file, **fields})


@pytest.fixture
def users():
    alice = User.objects.create_user("alice", may_create_campaigns=True)
    return {"alice": alice, **{name: User.objects.create_user(name) for name in ("bob", "charlie", "anna")}}


@pytest.fixture
def alice(users):
    return Caller(users["alice"])


@pytest.fixture
def campaign(users, alice, tmp_path):
    """Alice's campaign of two contexts by three systems, which Bob researches too and Anna annotates."""
    campaign = create_campaign(slug="talk", title="Small talk", criteria=CRITERIA, overlap=1, user=users["alice"])
    campaign.memberships.create(user=users["bob"])
    with write_outputs(tmp_path).open("rb") as file:
        assert alice.upload("campaigns/talk/import/outputs/", file).status_code == 200
    add_annotator(campaign, users["anna"])
    return campaign


class TestScopes:
    """What each scope opens, URL by URL, is in tests/access."""

    def with_scopes(self, user, *scopes):
        return Client(headers={"Authorization": f"Bearer {make_token(user, 'test', scopes)[1]}"})

    def test_a_token_that_may_not_is_told_what_it_may(self, users, campaign):
        answer = self.with_scopes(users["alice"], "read", "annotate").delete("/api/campaigns/talk/")
        assert answer.status_code == 403
        assert answer.json()["message"] == "This token may read, annotate; this needs the scope research."

    def test_an_admin_s_token_has_an_admin_s_rights_only_if_it_says_so(self, users, campaign):
        admin = User.objects.create_user("dora", is_staff=True)
        assert self.with_scopes(admin, "read", "research").get("/api/campaigns/talk/").status_code == 404
        assert self.with_scopes(admin, "admin").get("/api/campaigns/talk/").status_code == 200
        assert User.objects.get(pk=admin.pk).is_admin

    def test_a_guest_s_token_annotates_and_no_more(self, campaign, client):
        joined = client.post(f"/api/join/{invite(campaign).token}/", {"name": "Gus"}, content_type="application/json")
        guest = {"Authorization": f"Bearer {joined.json()['token']}"}
        assert client.get("/api/tasks/talk/", headers=guest).status_code == 200
        assert client.get("/api/campaigns/", headers=guest).status_code == 403

    def test_the_page_offers_the_scope_admin_to_admins_alone(self, users, client):
        client.force_login(users["bob"])
        assert 'value="admin"' not in client.get("/account/").content.decode()
        refused = client.post("/account/", {"name": "laptop", "scopes": ["admin"], "days": 7})
        assert refused.status_code == 422 and not ApiToken.objects.exists()

    def test_without_a_scope_or_for_too_long_none_is_made(self, users):
        for scopes, days in ([], 7), (["read"], 91), (["read"], 0):
            with pytest.raises(Refused):
                make_token(users["bob"], "test", scopes, timedelta(days=days))


class TestTokens:
    def test_only_the_digest_is_kept(self, users):
        token, key = make_token(users["bob"], "laptop")
        assert key not in json.dumps(list(ApiToken.objects.values()), default=str)
        assert len(token.digest) == 64

    def test_an_unknown_or_revoked_token_is_refused(self, users):
        caller = Caller(users["bob"])
        assert caller.get("campaigns/").status_code == 200
        ApiToken.objects.all().delete()
        answer = caller.get("campaigns/")
        assert answer.status_code == 401
        assert answer.json()["message"] == "This token is not known here; it may have expired or been revoked."

    def test_a_closed_account_s_token_is_refused(self, users):
        caller = Caller(users["bob"])
        User.objects.update(is_active=False)
        assert caller.get("campaigns/").status_code == 401

    def test_a_token_ends_after_ninety_days(self, users, client):
        caller = Caller(users["bob"])
        assert caller.get("tasks/").status_code == 200
        token = ApiToken.objects.get()
        assert timedelta(days=89) < token.expires_at - timezone.now() <= timedelta(days=90)
        client.force_login(users["bob"])
        assert f">{token.expires_at:%-d %b %Y}</time>" in client.get("/account/").content.decode()
        ApiToken.objects.update(expires_at=timezone.now())
        assert caller.get("tasks/").status_code == 401
        assert "Expired" in client.get("/account/").content.decode()

    def test_a_new_password_ends_all_tokens_of_its_user(self, users, client):
        users["bob"].set_password("a-long-password")
        users["bob"].save()
        caller, other = Caller(users["bob"]), Caller(users["charlie"])
        users["bob"].email = "bob@example.org"
        users["bob"].save()
        client.post("/login/", {"username": "bob", "password": "a-long-password"})
        assert caller.get("tasks/").status_code == 200  # whatever else is saved
        new = {"old_password": "a-long-password", "new_password1": "Hv9-plum-tree", "new_password2": "Hv9-plum-tree"}
        assert client.post("/password/", new).status_code == 302
        assert caller.get("tasks/").status_code == 401 and other.get("tasks/").status_code == 200

    def test_made_and_revoked_on_the_page_of_the_account(self, users, client):
        client.force_login(users["bob"])
        page = client.post("/account/", {"name": "laptop", "scopes": ["read", "research"], "days": 7}).content.decode()
        key = page.split('id="key" dir="ltr" readonly value="')[1].split('"')[0]
        headers = {"Authorization": f"Bearer {key}"}
        assert Client(headers=headers).get("/api/tasks/").status_code == 200
        assert key not in client.get("/account/").content.decode()
        token = users["bob"].api_tokens.get()
        client.force_login(users["charlie"])
        assert client.post(f"/account/tokens/{token.pk}/revoke/").status_code == 404
        client.force_login(users["bob"])
        client.post(f"/account/tokens/{token.pk}/revoke/")
        assert Client(headers=headers).get("/api/tasks/").status_code == 401


class TestWhoMay:
    READ = ["", "items/", "annotators/", "jobs/", "invitations/", "snapshots/", "export/scores/jsonl/"]

    def test_read_results_researchers_alone(self, users, campaign):
        statuses = {
            name: {Caller(user).get(f"campaigns/talk/{path}").status_code for path in self.READ} for name, user in users.items()
        }
        assert statuses == {"alice": {200}, "bob": {200}, "charlie": {404}, "anna": {404}}
        assert {Caller(None).get(f"campaigns/talk/{path}").status_code for path in self.READ} == {401}

    def test_change_a_campaign_researchers_alone(self, users, campaign):
        for name in ("charlie", "anna"):
            caller = Caller(users[name])
            assert caller.send("PATCH", "campaigns/talk/", {"title": "x"}).status_code == 404
            assert caller.send("PUT", "campaigns/talk/status/", {"status": "closed"}).status_code == 404
            assert caller.send("DELETE", "campaigns/talk/").status_code == 404
            assert caller.post("campaigns/talk/snapshots/", {}).status_code == 404
            assert caller.post("campaigns/talk/invitations/", {}).status_code == 404
            assert caller.upload("campaigns/talk/import/outputs/", io.BytesIO(b"")).status_code == 404
        campaign.refresh_from_db()
        assert (campaign.title, campaign.status, campaign.deleted_at) == ("Small talk", "open", None)

    def test_make_campaigns_only_with_leave(self, users, campaign):
        bob = Caller(users["bob"])
        assert bob.post("campaigns/", {"slug": "own", "title": "Own"}).status_code == 403
        assert bob.post("campaigns/talk/duplicate/", {"slug": "own"}).status_code == 403

    def test_annotate_annotators_alone(self, users, campaign):
        for name in ("alice", "bob", "charlie"):
            assert Caller(users[name]).post("tasks/talk/next/").status_code == 404
            assert Caller(users[name]).get("tasks/").json()["count"] == 0
        assert Caller(users["anna"]).get("tasks/").json()["results"][0]["slug"] == "talk"


class TestResearch:
    def test_a_campaign_is_made_changed_copied_and_put_away(self, alice):
        created = alice.post("campaigns/", {"slug": "new", "title": "New", "overlap": 2, "criteria": [SCALE]})
        assert created.status_code == 201, created.json()
        criterion = created.json()["criteria"][0]
        assert criterion["anchors"] == {"3": "would do"}
        criteria = [criterion | {"description": "Is it good?"}, {"name": "Fluency", "low": 0, "high": 1}]
        changed = alice.send("PATCH", "campaigns/new/", {"title": "Newer", "criteria": criteria}).json()
        assert (changed["title"], [c["name"] for c in changed["criteria"]]) == ("Newer", ["Overall", "Fluency"])
        assert changed["criteria"][0]["id"] == criterion["id"] and changed["numbers"]["criteria"] == 2
        assert alice.send("PUT", "campaigns/new/status/", {"status": "paused"}).json() == {"status": "paused"}
        copy = alice.post("campaigns/new/duplicate/", {"slug": "copy"}).json()
        assert (copy["title"], copy["overlap"], copy["status"]) == ("Newer", 2, "open")
        assert alice.send("DELETE", "campaigns/new/").status_code == 204
        assert [c["slug"] for c in alice.get("campaigns/").json()["results"]] == ["copy"]

    def test_what_is_wrong_is_said_in_one_sentence_with_its_field(self, alice):
        answer = alice.post("campaigns/", {"slug": "new", "title": "New", "overlap": "many"})
        assert answer.status_code == 400
        assert answer.json()["errors"] == [{"field": "overlap", "line": None, "message": "A valid integer is required."}]
        answer = alice.post("campaigns/", {"slug": "new", "title": "New", "criteria": [SCALE | {"low": "a"}]})
        assert answer.json()["errors"][0]["field"] == "criteria.0.low"
        answer = alice.post("campaigns/", {"slug": "new", "title": "New", "likert": False})
        assert answer.status_code == 422 and "Choose scores, judgments of pairs" in answer.json()["message"]
        assert not Campaign.objects.exists()

    @pytest.mark.usefixtures("campaign")
    def test_an_error_does_not_repeat_a_long_value(self, alice):
        """The framework's own sentence is '"VALUE" is not a valid choice.'"""
        answer = alice.send("PUT", "campaigns/talk/status/", {"status": "x" * 100_000})
        [error] = answer.json()["errors"]
        assert error["field"] == "status" and error["message"].startswith('"xxx') and "…" in error["message"]
        assert error["message"].endswith('" is not a valid choice.') and len(error["message"]) == 300

    @pytest.mark.parametrize(
        ("status", "title", "how"),
        [
            (400, "Bad Request", {"path": "/api/campaigns/", "data": "{", "content_type": "application/json"}),
            (401, "Unauthorized", {"path": "/api/campaigns/", "headers": {"Authorization": ""}}),
            (404, "Not Found", {"path": "/api/campaigns/nothing/"}),
            (405, "Method Not Allowed", {"path": "/api/campaigns/nothing/", "data": "{}", "content_type": "application/json"}),
            (406, "Not Acceptable", {"path": "/api/campaigns/", "headers": {"Accept": "image/png"}}),
            (415, "Unsupported Media Type", {"path": "/api/campaigns/", "data": "x", "content_type": "text/csv"}),
            (
                422,
                "Unprocessable Entity",
                {
                    "path": "/api/campaigns/",
                    "data": '{"slug": "n", "title": "N", "likert": false}',
                    "content_type": "application/json",
                },
            ),
        ],
    )
    def test_every_error_is_a_problem_document(self, alice, status, title, how):
        """The members of RFC 9457, section 3.1, and ours."""
        answer = (alice.client.post if "data" in how else alice.client.get)(**how)
        assert answer.status_code == status and answer["Content-Type"] == "application/problem+json"
        problem = answer.json()
        assert (problem["type"], problem["title"], problem["status"]) == ("about:blank", title, status)
        assert problem["detail"] == problem["message"] == problem["errors"][0]["message"]
        assert problem["request_id"] == answer["X-Request-ID"] and len(problem["request_id"]) > 10

    def test_a_file_with_errors_names_each_line_and_stores_nothing(self, alice, campaign):
        file = io.BytesIO(b'{"context_id": "c0", "system": "nobody", "aspect": "Overall", "score": 9, "annotator": "x"}\n' * 2)
        file.name = "scores.jsonl"
        answer = alice.upload("campaigns/talk/import/scores/", file)
        assert answer.status_code == 422
        assert [(e["line"], e["field"]) for e in answer.json()["errors"]] == [(1, "system"), (2, "system")]
        assert not LikertScore.objects.exists()

    def test_a_long_file_is_a_worker_s(self, alice, campaign, users, monkeypatch):
        monkeypatch.setattr(uploads, "SMALL", 0)

        def send(rows, **fields):
            file = io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode())
            file.name, before = "more.jsonl", campaign.contexts.count()
            answer = alice.upload("campaigns/talk/import/outputs/", file, **fields)
            assert answer.status_code == 202 and answer["Location"] == f"/api/jobs/{answer.json()['id']}/"
            assert answer.json()["status"] == "queued" and campaign.contexts.count() == before
            tasks.import_file(answer.json()["id"])
            return alice.client.get(answer["Location"]).json()

        row = {"context_id": "new", "context": "Hi", "system": "person", "output": "Yes"}
        job = send([row, {**row, "sample": "x"}])
        error = {"field": "sample", "line": 2, "message": 'expected a whole number from 0, found "x"'}
        error |= {"row": None, "file": "more.jsonl"}
        refused = {"state": "refused", "rows": None, "new": {}, "error_count": 1, "errors": [error]}
        assert (job["status"], job["imported"]) == ("done", refused)
        new = {"systems": 1, "contexts": 1, "outputs": 1}
        checked = send([row], dry_run=True)["imported"]
        assert (checked["state"], checked["rows"], checked["new"]) == ("fine", 1, new)
        assert not campaign.contexts.filter(key="new").exists()
        stored = send([row], human_systems="person")["imported"]
        assert (stored["state"], stored["rows"]) == ("stored", 1) and stored["new"] == {**new, "items": 1}
        assert campaign.systems.get(name="person").is_human
        assert send([row])["imported"]["new"] == {}
        path = f"jobs/{campaign.jobs.first().pk}/"
        assert Caller(users["charlie"]).get(path).status_code == 404

    def test_a_group_comes_with_its_context_and_two_are_refused(self, alice, campaign):
        def send(*groups):
            rows = [
                {"context_id": "g", "context": "Hi", "system": f"s{n}", "output": "Yes", "group": group}
                for n, group in enumerate(groups)
            ]
            file = io.BytesIO("".join(json.dumps(row) + "\n" for row in rows).encode())
            file.name = "more.jsonl"
            return alice.upload("campaigns/talk/import/outputs/", file)

        [error] = send("charter", "letters").json()["errors"]
        assert (error["line"], error["field"]) == (2, "group") and "has the group 'charter'" in error["message"]
        assert send("charter", "charter").status_code == 200
        assert campaign.contexts.get(key="g").group == "charter"

    def test_lists_come_in_pages(self, alice, campaign):
        page = alice.get("campaigns/talk/items/").json()
        assert (page["count"], page["next"], len(page["results"])) == (6, None, 6)
        assert page["results"][0].keys() == {"id", "position", "purpose", "context", "systems", "places", "taken"}
        assert alice.get("campaigns/talk/items/", page=2).status_code == 404

    def test_lists_make_a_fixed_number_of_queries(self, alice, campaign, django_assert_max_num_queries):
        for path in ("campaigns/", "campaigns/talk/items/", "campaigns/talk/annotators/"):
            with django_assert_max_num_queries(9):
                response = alice.get(path)
            assert response.status_code == 200 and response.json()["results"], path


class TestRepeats:
    """A connection broke after the server had done what was asked: the program sends it again."""

    def invite(self, caller, key="k1", **body):
        headers = {"Idempotency-Key": key} if key else {}
        path = "/api/campaigns/talk/invitations/"
        return caller.client.post(path, json.dumps(body), content_type="application/json", headers=headers)

    def test_one_key_makes_one_invitation(self, alice, campaign):
        first, again = self.invite(alice, label="pilot", cap=3), self.invite(alice, cap=3, label="pilot")
        assert (first.status_code, first.json()) == (again.status_code, again.json()) == (201, first.json())
        assert Invitation.objects.count() == 1
        self.invite(alice, key="k2", label="pilot", cap=3)
        self.invite(alice, key="", label="pilot", cap=3)
        assert Invitation.objects.count() == 3

    def test_a_key_is_for_one_request_and_one_user(self, alice, users, campaign):
        self.invite(alice, label="pilot")
        other = self.invite(alice, label="main")
        assert other.status_code == 422 and "choose a new one" in other.json()["message"]
        assert self.invite(Caller(users["bob"]), label="main").status_code == 201
        assert Invitation.objects.count() == 2

    def test_what_was_refused_may_be_sent_again_under_its_key(self, alice, campaign):
        assert self.invite(alice, cap=0).status_code == 400
        assert self.invite(alice, cap=1).status_code == 201

    def test_a_key_holds_for_a_day(self, alice, campaign):
        self.invite(alice)
        KeptResponse.objects.update(created_at=timezone.now() - timedelta(hours=25))
        self.invite(alice)
        assert Invitation.objects.count() == 2 and KeptResponse.objects.count() == 1

    def test_campaigns_and_copies_too(self, alice, campaign):
        for path, body in (("campaigns/", {"slug": "new", "title": "x"}), ("campaigns/talk/duplicate/", {"slug": "copy"})):
            sent = {"data": json.dumps(body), "content_type": "application/json", "headers": {"Idempotency-Key": path}}
            first, again = (alice.client.post(f"/api/{path}", **sent) for _ in range(2))
            assert (first.status_code, again.status_code) == (201, 201) and first.json() == again.json()


class TestAnnotating:
    def test_a_guest_works_from_the_invitation_to_the_end(self, campaign, alice):
        joined = Caller(None).post(f"join/{invite(campaign).token}/", {"name": "Gast"}).json()
        guest = Caller(None)
        guest.client = Client(headers={"Authorization": f"Bearer {joined['token']}"})
        criteria = {str(c["id"]): c["high"] for c in guest.get("tasks/talk/").json()["criteria"]}
        for done in range(6):
            now = guest.post("tasks/talk/next/").json()
            assert now["progress"]["done"] == done
            answer = {name: now["assignment"][name] for name in ("key", "shown")}
            answer |= {"assignment": now["assignment"]["id"], "scores": criteria}
            first, again = guest.post("tasks/talk/judgments/", answer), guest.post("tasks/talk/judgments/", answer)
            assert first.status_code == again.status_code == 201
            assert first.json() == again.json() == {"key": answer["key"], "is_surplus": False, "feedback": [], "left_out": []}
        assert guest.post("tasks/talk/next/").json()["assignment"] is None
        assert LikertScore.objects.count() == 12
        snapshot = alice.post("campaigns/talk/snapshots/", {"level": "interval"}).json()
        assert [c["name"] for c in snapshot["criteria"]] == ["Overall", "Fluency"]
        lines = alice.get(f"campaigns/talk/snapshots/{snapshot['snapshot']}/content/").streaming_content
        assert b"".join(lines).count(b'"type":"score"') == 12

    def test_an_answer_is_undone_revised_skipped_and_flagged(self, users, campaign):
        anna = Caller(users["anna"])
        criteria = {str(c.pk): c.high for c in campaign.criteria.all()}
        item = anna.post("tasks/talk/next/").json()["assignment"]
        anna.post("tasks/talk/judgments/", {"assignment": item["id"], "key": item["key"], "scores": criteria})
        undone = anna.post("tasks/talk/undo/", {}).json()["assignment"]
        assert undone["id"] == item["id"] and undone["key"] != item["key"]
        anna.post("tasks/talk/judgments/", {"assignment": item["id"], "key": undone["key"], "scores": criteria})
        lower = {pk: value - 1 for pk, value in criteria.items()}
        assert anna.post("tasks/talk/revise/", {"assignment": item["id"], "scores": lower}).status_code == 201
        live = LikertScore.objects.filter(retracted_at=None).order_by("criterion__position")
        assert [score.value for score in live] == [4, 0]
        own_answers = anna.get("tasks/talk/judgments/").json()
        assert [g["answer"]["scores"] for g in own_answers["results"]] == [lower]
        item = anna.post("tasks/talk/next/").json()["assignment"]
        assert anna.post("tasks/talk/flag/", {"assignment": item["id"], "reason": "cut off"}).status_code == 204
        assert anna.post("tasks/talk/skip/", {"assignment": item["id"], "reason": "cut off"}).status_code == 204
        assert anna.post("tasks/talk/next/").json()["assignment"]["id"] != item["id"]

    def test_nothing_shown_names_a_system_or_a_purpose(self, users, campaign):
        shown = json.dumps(Caller(users["anna"]).post("tasks/talk/next/").json())
        assert "Reply" in shown
        assert not any(word in shown for word in ("Hydra", "Kraken", "Human-writer", "purpose", "expected"))

    def test_an_incomplete_answer_is_refused_and_another_s_assignment_too(self, users, campaign):
        anna = Caller(users["anna"])
        item = anna.post("tasks/talk/next/").json()["assignment"]
        refused = anna.post("tasks/talk/judgments/", {"assignment": item["id"], "scores": {}})
        assert refused.status_code == 422 and refused.json()["message"] == "Please also score: Overall, Fluency."
        add_annotator(campaign, users["charlie"])
        other = Caller(users["charlie"]).post("tasks/talk/judgments/", {"assignment": item["id"], "scores": {}})
        assert other.status_code == 422 and "not assigned to you" in other.json()["message"]


class TestReference:
    def test_the_reference_names_every_operation_without_fetching_anything(self, client):
        page = client.get("/api/").content.decode()
        assert "/api/campaigns/{slug}/import/{what}/" in page and "/api/tasks/{slug}/judgments/" in page
        assert page.count("<script") == page.count('<script src="/static/js/times.js"') == 1 and "https://" not in page


def test_what_is_kept_of_a_response_names_no_password(client, db):
    """Nor does any table of the database, of which a backup is made."""
    alice = User.objects.create_user("alice", may_create_campaigns=True)
    campaign = create_campaign(slug="kept", user=alice)
    client.force_login(alice)
    sent = {"email": "newcomer@example.org"}
    headers = {"Idempotency-Key": "one"}
    send = lambda: client.post(f"/api/campaigns/{campaign.slug}/accounts/", sent, "application/json", headers=headers)
    first, again = send(), send()
    assert first.status_code == again.status_code == 201 and first.json() == again.json()
    password = first.json()["password"]
    rows = [str(row) for model in apps.get_models() if model._meta.managed for row in model.objects.all().values()]
    assert password and rows and not any(password in row for row in rows)
