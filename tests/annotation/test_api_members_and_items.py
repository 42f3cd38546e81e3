"""What researchers do by program that they do on pages too: members, items, reports, pictures, disagreement, files; and that
there is no page whose action the API lacks."""

import io
import json

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from annotation.models import Annotator, Item, ItemReport, Membership, Output, PairwiseJudgment, User
from tests.annotation import test_api
from tests.annotation.data.test_other_tools import zipped
from tests.annotation.pages import PNG
from tests.annotation.test_api import Caller

pytestmark = pytest.mark.django_db
alice, campaign, users = test_api.alice, test_api.campaign, test_api.users

# Pages with an action or a file of their own, and the API's route that does the same; a sentence where there is none.
SAME = {
    "campaign_status": "api_campaign-status",
    "design": "api_campaign-detail",
    "show_as_markdown": "api_campaign-detail",
    "duplicate": "api_campaign-duplicate",
    "delete": "api_campaign-detail",
    "campaign_new": "api_campaign-list",
    "annotate": "api_task-next",
    "undo": "api_task-undo",
    "skip": "api_task-skip",
    "flag": "api_task-flag",
    "ask": "api_task-ask",
    "answer": "api_task-revise",
    "consent": "api_task-consent",
    "withdraw": "api_task-withdraw",
    "import_data": "api_campaign-import",
    "upload": "api_campaign-import",
    "upload_store": "api_campaign-import",
    "upload_discard": "The API keeps no file that it did not import.",
    "images": "api_campaign-images",
    "export": "api_campaign-export",
    "item": "api_campaign-item_known",
    "unmark": "api_campaign-item_known",
    "resolve": "api_campaign-resolve",
    "reply": "api_campaign-reply",
    "people": "api_campaign-researchers",
    "revoke": "api_campaign-invitation",
    "release_worker": "api_campaign-release",
    "returned_worker": "api_campaign-returned",
    "prolific": "Prolific says it, signed. A researcher says it by api_campaign-returned.",
    "remove_researcher": "api_campaign-researcher",
    "quality": "api_campaign-snapshots",
    "quality_settle": "api_campaign-quality_disagreement",
    "datasheet": "api_campaign-datasheet",
    "quality_study": "api_campaign-quality_study",
    "quality_report_file": "api_campaign-quality_report",
    "overrule": "api_campaign-overrule",
    "snapshot_difference": "api_campaign-snapshot_difference",
    "snapshot_export": "api_campaign-snapshot_export",
    "snapshot_file": "api_campaign-snapshot_content",
    "join": "api_join",
    "job_cancel": "api_job-cancel",
    "job_retry": "api_job-retry",
    "accounts": "Accounts are made by an admin who is signed in, with their second factor.",
    "person": "Accounts are changed and erased by an admin who is signed in, with their second factor.",
    "revoke_token": "Tokens are made and revoked by somebody who is signed in.",
    "quality_aim": "api_campaign-quality_aims",
    "quality_group": "api_campaign-quality_groups",
    "comparator": "api_trainings",
    "comparator_upload": "api_upload",
    "retraining": "api_retraining",
    "dialogues_import": "api_dialogues",
    "judge": "api_judges",
    "judges": "api_judges",
    "judge_again": "api_ask_again",
    "judges_file": "api_judges_file",
    "comparator_promote": "api_promote",
    "comparator_retire": "api_retire",
    "comparator_download": "api_file",
    "play": "api_tournaments",
    "ask_where_unsure": "api_ask",
    "board_settings": "api_campaign-detail",
    "system_describe": "api_system",
    "system_replace": "api_system_outputs",
    "system_retire": "api_system",
    "systems": "api_systems",
    "tournament_file": "api_tournament_file",
    "runs": "api_runs",
    "run": "api_run",
    "run_choose": "api_choose",
    "run_close": "api_close",
    "run_csv": "api_run_file",
    "make_archive": "api_archive",
    "archive": "api_archive",
    "bring_back": "api_archives",
    "published": "api_published",
}
# Pages to look at, or about a browser's session.
LOOKED_AT = set(
    """
    account answer_list answers audit backups beside board_embed breakdown campaign comparator_card elsewhere endpoints feedback
    first_admin guidelines healthz history home image items job jobs leaderboard leave live login logout metrics
    password_change password_change_done password_reset password_reset_complete password_reset_confirm
    password_reset_done plan preview public_boards quality_annotators quality_disagreement quality_preview
    quality_report readyz resume sample samples second_factor second_factor_code set_language snapshot status
    system tournament ways_out
    """.split()
)


def route_names(patterns, prefix="") -> dict[str, str]:
    names = {}
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            names |= route_names(pattern.url_patterns, path) if not path.startswith("admin/") else {}
        elif isinstance(pattern, URLPattern) and pattern.name:
            names[pattern.name] = path
    return names


def test_no_page_does_what_the_api_does_not():
    routes = route_names(get_resolver().url_patterns)
    own = {name for name, path in routes.items() if not path.startswith(("api/", "^api/"))}
    assert own - SAME.keys() - LOOKED_AT == set()  # a new page: say which route does the same
    assert SAME.keys() | LOOKED_AT <= own
    assert {route for route in SAME.values() if " " not in route} <= routes.keys()


class TestMembers:
    def test_researchers_come_and_go(self, alice, users, campaign):
        User.objects.filter(username="anna").update(password="x")  # an account that can sign in
        made = alice.post("campaigns/talk/researchers/", {"username": "anna"})
        assert made.status_code == 201 and made.json()["username"] == "anna"
        listed = alice.get("campaigns/talk/researchers/").json()["results"]
        assert [row["username"] for row in listed] == ["alice", "anna", "bob"]
        assert alice.send("DELETE", f"campaigns/talk/researchers/{made.json()['id']}/").status_code == 204
        assert not Membership.objects.filter(user=users["anna"]).exists()
        nobody = alice.post("campaigns/talk/researchers/", {"username": "nobody"})
        assert nobody.status_code == 422 and "There is no account 'nobody'" in nobody.json()["message"]

    def test_an_account_is_made_once_for_one_key(self, alice, campaign):
        send = lambda: alice.client.post(
            "/api/campaigns/talk/accounts/", {"email": "dan@example.org"}, "application/json", headers={"Idempotency-Key": "k"}
        )
        first, second = send(), send()
        assert first.status_code == second.status_code == 201 and first.json() == second.json()
        assert first.json()["password"] and User.objects.filter(username="dan@example.org").count() == 1

    def test_a_worker_is_released(self, alice, campaign):
        Annotator.objects.filter(name="annotator-1").update(browser="x")
        assert alice.post("campaigns/talk/annotators/annotator-1/release/").status_code == 204
        assert Annotator.objects.get(name="annotator-1").browser == ""

    def test_outsiders_get_404(self, users, campaign):
        outsider = Caller(users["charlie"])
        for path in (
            "researchers/",
            "reports/",
            "images/",
            "quality/disagreement/",
            "tournaments/",
            "trainings/",
            "judges/",
            "retraining/",
        ):
            assert outsider.get(f"campaigns/talk/{path}").status_code == 404
        for path in ("accounts/", "annotators/annotator-1/release/", "reports/1/resolve/", "quality/study/", "ask/"):
            body = {"email": "x@example.org", "outputs": 2}
            assert outsider.post(f"campaigns/talk/{path}", body).status_code == 404


class TestItems:
    def test_a_known_answer_is_set_and_taken_back(self, alice, campaign):
        item = Item.objects.filter(campaign=campaign).first()
        shown = alice.get(f"campaigns/talk/items/{item.pk}/").json()
        assert shown["turns"] == item.output.context.turns and shown["outputs"] == [item.output.text]
        assert shown["expected"] is None
        known = {"purpose": "gold", "expected": {"scores": {"Overall": [4, 5]}}}
        answer = alice.send("PUT", f"campaigns/talk/items/{item.pk}/known/", known).json()
        assert (answer["purpose"], answer["expected"]["scores"]) == ("gold", {"Overall": [4, 5]})
        assert alice.send("DELETE", f"campaigns/talk/items/{item.pk}/known/").json()["purpose"] == "evaluation"
        wrong = {"purpose": "gold", "expected": {"scores": {"Wit": [4]}}}
        assert alice.send("PUT", f"campaigns/talk/items/{item.pk}/known/", wrong).status_code == 422
        assert alice.get("campaigns/talk/items/999999/").status_code == 404

    def test_reports_are_listed_and_resolved(self, alice, campaign):
        report = ItemReport.objects.create(
            item=Item.objects.first(), annotator=Annotator.objects.first(), kind="flag", reason="?"
        )
        assert alice.get("campaigns/talk/reports/").json()["results"][0]["reason"] == "?"
        assert alice.post(f"campaigns/talk/reports/{report.pk}/resolve/").json()["resolved_at"]

    def test_pictures(self, alice, campaign, settings, tmp_path):
        settings.IMAGES_DIR = tmp_path / "images"
        file = io.BytesIO(PNG)
        file.name = "cat.png"
        made = alice.client.post("/api/campaigns/talk/images/", {"images": [file]})
        assert made.status_code == 201 and made.json() == alice.get("campaigns/talk/images/").json() == {"names": ["cat.png"]}


class TestQuality:
    def test_a_disagreement_is_listed_and_settled(self, alice, campaign):
        a, b = Output.objects.filter(context__key="c0").order_by("system__name")[:2]
        for name, choice in (("x", "A"), ("y", "B")):
            annotator = Annotator.objects.create(campaign=campaign, name=name)
            PairwiseJudgment.objects.create(annotator=annotator, output_a=a, output_b=b, choice=choice)
        [row] = alice.get("campaigns/talk/quality/disagreement/").json()["results"]
        assert row["answers"] == {"x": "A", "y": "B"} and row["options"] == ["A", "B"] and row["criterion"] is None
        assert row["context"] == "c0" and row["systems"] == [a.system.name, b.system.name]
        settled = {"key": row["key"], "believed": "A", "reason": "B copies the question"}
        assert alice.post("campaigns/talk/quality/disagreement/", settled).status_code == 204
        assert alice.get("campaigns/talk/quality/disagreement/").json()["results"] == []
        assert alice.post("campaigns/talk/quality/disagreement/", settled | {"believed": "C"}).status_code == 422

    @pytest.mark.parametrize("rule", ["on_zero_mad=", "mad=", "level=", "level=ordinal&level=Ordinal"])
    def test_a_rule_that_is_none_is_refused_and_never_the_default(self, alice, campaign, rule):
        assert alice.get(f"campaigns/talk/quality/disagreement/?{rule}").status_code == 400
        assert alice.get(f"campaigns/talk/quality/?{rule}").status_code == 400

    def test_a_snapshot_is_exported_compared_and_reported(self, alice, campaign):
        rows = [
            {"context_id": f"c{c}", "system": s, "aspect": "Overall", "annotator": a, "score": n + 1}
            for c in range(2)
            for n, s in enumerate(("Hydra-system", "Kraken-system", "Human-writer"))
            for a in ("x", "y")
        ]
        digests = []
        for part in (rows[:-2], rows):
            file = io.BytesIO("".join(json.dumps(row) + "\n" for row in part).encode())
            file.name = "scores.jsonl"
            assert alice.upload("campaigns/talk/import/scores/", file).status_code == 200
            digests.append(alice.post("campaigns/talk/snapshots/", {}).json()["digest"])
        old, new = digests
        difference = alice.get(f"campaigns/talk/snapshots/{new}/since/{old}/").json()
        assert difference["come"]["scores"] == 2 and difference["people"] == {"x": [0, 1], "y": [0, 1]}
        exported = alice.get(f"campaigns/talk/snapshots/{new}/export/scores/jsonl/")
        assert len(b"".join(exported.streaming_content).splitlines()) == 12
        preferences = alice.get(f"campaigns/talk/snapshots/{new}/export/preferences/jsonl/", margin=1)
        assert b'"chosen"' in b"".join(preferences.streaming_content)
        assert alice.get(f"campaigns/talk/snapshots/{new}/export/preferences/jsonl/", margin="x").status_code == 400
        report = alice.get("campaigns/talk/quality/report/md/")
        assert report.status_code == 200 and new[:12] in report.content.decode()


class TestImport:
    def test_a_zipped_folder_with_the_pages_options(self, alice, campaign):
        file = io.BytesIO(zipped({"emu.csv": "frage,antwort,tag\nHi,Um,a\n"}))
        file.name = "more.zip"
        columns = json.dumps({"context": "frage", "output": "antwort"})
        answer = alice.upload("campaigns/talk/import/outputs/", file, columns=columns, keep_columns="true")
        assert answer.status_code == 200 and answer.json()["new"]["outputs"] == 1
        output = Output.objects.get(system__name="emu")
        assert (output.text, output.context.turns, output.context.metadata) == ("Um", ["Hi"], {"tag": "a"})

    def test_constants_and_errors_with_row_and_file(self, alice, campaign):
        file = io.BytesIO(zipped({"s.json": [{"context_id": "c0", "score": 3}, {"context_id": "c9", "score": 3}]}))
        file.name = "s.zip"
        constants = {"system": "Hydra-system", "aspect": "Overall", "annotator": "ann"}
        answer = alice.upload("campaigns/talk/import/scores/", file, constants=json.dumps(constants), simulated="true")
        assert answer.status_code == 422
        message = "'c9' is no context of this campaign; import its outputs first"
        error = {"field": "context_id", "line": 1, "message": message, "row": 2, "file": "s.zip/s.json"}
        assert answer.json()["errors"] == [error]
        file.seek(0)
        assert alice.upload("campaigns/talk/import/scores/", file, constants="[1]").status_code == 400


def test_page_sizes_are_free_up_to_a_thousand(alice, campaign):
    page = alice.get("campaigns/talk/items/", page_size=4).json()
    assert len(page["results"]) == 4 and page["count"] == 6 and "page_size=4" in page["next"]
    assert len(alice.get("campaigns/talk/items/", page_size=5000).json()["results"]) == 6


@pytest.mark.parametrize("path", ["nothing/", "campaigns/talk/export/scores/x%0Ay/", "%0A", "campaigns/talk/items/x/"])
def test_addresses_that_lead_nowhere_answer_in_json(alice, path):
    answer = alice.client.get(f"/api/{path}")
    assert answer.status_code == 404 and answer["Content-Type"] == "application/problem+json" and answer.json()["detail"]
