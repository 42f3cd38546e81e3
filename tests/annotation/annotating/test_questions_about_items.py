"""An annotator asks about an item, a researcher replies, and nobody else among the annotators reads either."""

import io
import json

import pytest

from annotation.annotating import assignment
from annotation.annotating.consent import withdraw_annotator
from annotation.annotating.reports import ask
from annotation.campaigns.item_reports import reply
from annotation.campaigns.lifecycle import create_campaign
from annotation.models import Annotator, Item, ItemReport, User
from annotation.people import personal_data
from annotation.people.accounts import add_annotator
from core.errors import Refused
from leaderboard.archive.admission import admit
from leaderboard.archive.export import write_archive
from leaderboard.archive.row_reader import read_row
from leaderboard.archive.tables import TABLES
from tests.annotation.pages import text

pytestmark = pytest.mark.django_db
QUESTION, REPLY = "Does <b>irony</b> count?", "Yes & no."


@pytest.fixture
def asked(world):
    held = assignment.next_assignment(world.annotator)
    ask(world.annotator, held.pk, QUESTION)
    world.report = ItemReport.objects.get()
    return world


def test_a_question_gets_its_reply(world):
    world.sign_in(world.bob)
    held = assignment.next_assignment(world.annotator)
    assert "Ask the researchers" in text(world.get("annotate/?start=1"))
    sent = world.post("ask/", {"assignment": held.pk, "why": QUESTION})
    assert sent.status_code in (302, 303) and "Sent." in text(world.get("annotate/?start=1"))
    report = ItemReport.objects.get()
    assert (report.kind, report.reason) == ("ask", QUESTION)
    assert "No reply yet." in text(world.get("answers/"))
    world.sign_in(world.alice)
    assert "1 open" in text(world.get("progress/"))
    page = text(world.get(f"items/{report.item_id}/"))
    assert "asked about it" in page and "Does &lt;b&gt;irony&lt;/b&gt; count?" in page
    assert world.post(f"reports/{report.pk}/reply/", {"reply": REPLY}).status_code == 302
    assert "1 open" not in text(world.get("progress/"))
    world.sign_in(world.bob)
    assert "new reply" in text(world.get("annotate/?start=1"))
    own = text(world.get("answers/"))
    assert "Yes &amp; no." in own and "Does &lt;b&gt;irony&lt;/b&gt; count?" in own
    assert "new reply" not in text(world.get("annotate/?start=1"))


def test_no_other_annotator_reads_it(asked):
    other = add_annotator(asked.campaign, asked.charlie)
    reply(asked.report, asked.alice, REPLY)
    asked.sign_in(asked.charlie)
    for path in ("annotate/?start=1", "answers/"):
        page = text(asked.get(path))
        assert "irony" not in page and "Yes &amp; no." not in page and "new reply" not in page
    assert asked.client.get("/api/tasks/talk/reports/").json()["results"] == []
    assert not Annotator.objects.get(pk=other.pk).unread_replies
    for user in (asked.bob, asked.charlie):
        asked.sign_in(user)
        assert asked.post(f"reports/{asked.report.pk}/reply/", {"reply": "Mine"}).status_code == 404
    held = assignment.next_assignment(asked.annotator)
    asked.post("ask/", {"assignment": held.pk, "why": "In Bob's name"})
    assert ItemReport.objects.count() == 1


def test_what_is_refused(asked):
    held = assignment.next_assignment(asked.annotator)
    for words in ("", "  ", "x" * 501):
        with pytest.raises(Refused):
            ask(asked.annotator, held.pk, words)
    for words in (" ", "x" * 1001):
        with pytest.raises(Refused):
            reply(asked.report, asked.alice, words)
    withdraw_annotator(asked.annotator)
    with pytest.raises(Refused, match="would not read it"):
        reply(ItemReport.objects.get(), asked.alice, REPLY)
    with pytest.raises(Refused):
        ask(Annotator.objects.get(pk=asked.annotator.pk), held.pk, "Again?")
    asked.sign_in(asked.alice)
    assert "Reply to" not in text(asked.get(f"items/{asked.report.item_id}/"))


def test_nobody_replies_from_another_campaign_or_to_an_erased_account(asked):
    other = create_campaign(slug="other")
    other.memberships.create(user=asked.charlie)
    asked.sign_in(asked.charlie)
    for door in ("/c/other/reports/{}/reply/", "/api/campaigns/other/reports/{}/reply/"):
        assert asked.client.post(door.format(asked.report.pk), {"reply": "Mine"}).status_code == 404
    personal_data.erase(asked.bob)
    with pytest.raises(Refused, match="would not read it"):
        reply(ItemReport.objects.get(), asked.alice, REPLY)
    assert ItemReport.objects.get().reply == ""


def test_a_reply_sent_twice_is_one_and_an_item_that_is_gone_leaves_no_mark(asked):
    for _ in range(2):
        reply(ItemReport.objects.get(), asked.alice, REPLY)
    asked.sign_in(asked.bob)
    assert text(asked.get("answers/")).count("Yes &amp; no.") == 1
    reply(ItemReport.objects.get(), asked.alice, "Rather no.", seen=ItemReport.objects.get().replied_at)
    ItemReport.objects.all().delete()  # as where its item is removed
    assert "Rather no." not in text(asked.get("answers/"))
    assert "new reply" not in text(asked.get("annotate/?start=1"))


def field(page: str, name: str) -> str:
    """A hidden field's value."""
    return page.split(f'name="{name}" value="')[1].split('"')[0]


def test_a_reply_takes_the_place_of_no_other_that_its_writer_did_not_see(asked):
    """Alice and Charlie open the item's page at once; Alice sends first."""
    asked.campaign.memberships.create(user=asked.charlie)
    door, item = f"reports/{asked.report.pk}/reply/", f"items/{asked.report.item_id}/"
    asked.sign_in(asked.alice)
    seen = field(text(asked.get(item)), "seen")
    assert asked.post(door, {"reply": REPLY, "seen": seen}).status_code == 302
    asked.sign_in(asked.charlie)
    refused = asked.post(door, {"reply": "No: <i>it</i>\ndoes not.", "seen": seen})
    assert refused.status_code == 422 and ItemReport.objects.get().reply == REPLY
    page = text(refused)
    assert "There is a reply by alice that you had not seen" in page and "Yes &amp; no." in page
    assert "No: &lt;i&gt;it&lt;/i&gt;\ndoes not.</textarea>" in page  # what was typed
    assert Annotator.objects.get(pk=asked.annotator.pk).unread_replies == 1
    assert asked.post(door, {"reply": "No.", "seen": "yesterday"}).status_code == 422
    assert asked.post(door, {"reply": "No."}).status_code == 422
    assert asked.post(door, {"reply": "No.", "seen": field(page, "seen")}).status_code == 302
    now = ItemReport.objects.get()
    assert (now.reply, now.replied_by, now.resolved_by) == ("No.", asked.charlie, asked.alice)
    too_long = asked.post(door, {"reply": "x" * 1001, "seen": field(text(asked.get(item)), "seen")})
    assert too_long.status_code == 422 and "x" * 1001 in text(too_long)  # kept too
    with pytest.raises(Refused, match="by charlie"):
        reply(asked.report, asked.alice, "From an old page", seen=None)


def test_nor_by_the_api(asked):
    door = f"/api/campaigns/talk/reports/{asked.report.pk}/reply/"
    asked.sign_in(asked.alice)

    def send(**body):
        return asked.client.post(door, body, content_type="application/json")

    first = send(reply=REPLY).json()["replied_at"]
    for body in ({"reply": "No."}, {"reply": "No.", "replied_at": None}, {"reply": "No.", "replied_at": "2026-01-01T00:00Z"}):
        refused = send(**body)
        assert refused.status_code == 422 and "There is a reply by alice" in refused.json()["message"]
    assert ItemReport.objects.get().reply == REPLY
    assert send(reply="No.", replied_at="now").status_code == 400
    assert send(reply="No.", replied_at=first).json()["reply"] == "No."


def test_one_person_has_so_many_open_questions(asked, monkeypatch):
    """Bob has asked one; those that are resolved count no more, and others have their own."""
    monkeypatch.setattr("annotation.annotating.reports.MOST_OPEN", 3)
    held = assignment.next_assignment(asked.annotator)
    asked.sign_in(asked.bob)
    for n in range(2):
        ask(asked.annotator, held.pk, f"Question {n}?")
    asked.post("ask/", {"assignment": held.pk, "why": "One more?"})
    assert "You have 3 open questions." in text(asked.get("annotate/?start=1"))
    body = {"assignment": held.pk, "reason": "One more?"}
    refused = asked.client.post("/api/tasks/talk/ask/", body, content_type="application/json")
    assert refused.status_code == 422 and "You have 3 open questions." in refused.json()["message"]
    ask(asked.annotator, held.pk, "Question 1?")  # sent twice
    assert ItemReport.objects.count() == 3
    other = add_annotator(asked.campaign, asked.charlie)
    ask(other, assignment.next_assignment(other).pk, "Mine?")
    reply(asked.report, asked.alice, REPLY)
    ask(asked.annotator, held.pk, "One more?")
    assert asked.annotator.reports.count() == 4


def test_questions_are_kept_and_a_new_reply_is_seen_once(asked):
    held = assignment.next_assignment(asked.annotator)
    for question in ("And sarcasm?", " And sarcasm? "):  # sent twice: one
        ask(asked.annotator, held.pk, question)
    assert ItemReport.objects.count() == 2
    reply(asked.report, asked.alice, "a\r\n" * 333 + "bcd")  # 1,002 characters as sent, 669 as a browser counts
    for campaign_rests in (False, True):
        if campaign_rests:
            type(asked.campaign).objects.filter(pk=asked.campaign.pk).update(status="paused")
        asked.sign_in(asked.bob)
        assert "new reply" in text(asked.get("annotate/?start=1"))
    page = text(asked.get("answers/"))
    assert page.index("irony") < page.index("sarcasm") and "a<br>a<br>" in page  # the one with the new reply first
    assert "new reply" not in text(asked.get("annotate/?start=1"))


def test_the_api_has_the_same(asked):
    door = f"/api/campaigns/talk/reports/{asked.report.pk}/reply/"
    asked.sign_in(asked.alice)
    sent = asked.client.post(door, {"reply": REPLY}, content_type="application/json")
    assert sent.status_code == 200 and sent.json()["reply"] == REPLY and sent.json()["resolved_at"]
    asked.sign_in(asked.bob)
    (row,) = asked.client.get("/api/tasks/talk/reports/").json()["results"]
    assert (row["kind"], row["reason"], row["reply"]) == ("ask", QUESTION, REPLY)
    held = assignment.next_assignment(asked.annotator)
    body = {"assignment": held.pk, "reason": "And sarcasm?"}
    assert asked.client.post("/api/tasks/talk/ask/", body, content_type="application/json").status_code == 204
    assert ItemReport.objects.count() == 2  # the first is resolved, and stays


def test_it_goes_where_its_person_goes(asked):
    reply(asked.report, asked.alice, REPLY)
    (sent,) = personal_data._everything(asked.alice)["replied"]
    assert (sent["item__campaign__slug"], sent["reply"]) == ("talk", REPLY)
    (said,) = personal_data._everything(asked.bob)["annotates"][0]["reports"]
    assert (said["reason"], said["reply"]) == (QUESTION, REPLY)
    archive = io.BytesIO()
    write_archive(asked.campaign, archive)
    again = ItemReport.objects.get(item__campaign=admit(archive, "talk.zip", slug="again").campaign)
    assert (again.kind, again.reason, again.reply, again.replied_by) == ("ask", QUESTION, REPLY, None)
    (table,) = [table for table in TABLES if table.model is ItemReport]
    older = {"item": 1, "annotator": 1, "kind": "flag", "reason": "Cut.", "created_at": "2026-01-01T00:00Z"}
    of_before = read_row(
        table, json.dumps(older | {"resolved_at": None}).encode(), {Item: [again.item_id], Annotator: [again.annotator_id]}, {}
    )
    assert (of_before.reason, of_before.reply, of_before.replied_at) == ("Cut.", "", None)
    personal_data.erase(User.objects.get(pk=asked.bob.pk))
    report = ItemReport.objects.get(pk=asked.report.pk)
    assert (report.reason, report.reply) == ("", "")
