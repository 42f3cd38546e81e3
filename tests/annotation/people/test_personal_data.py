"""A person's data is handed out whole, and erased so that what rests on their answers stays as it was."""

import io
import json
import uuid
import zipfile

import pytest
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from annotation import snapshots
from annotation.annotating import assignment
from annotation.annotating.reports import flag
from annotation.annotating.submissions import submit
from annotation.assessment import snapshot_contents
from annotation.assessment.assess import assess
from annotation.models import AuditEvent, LikertScore, Submission, User
from annotation.people.personal_data import erase
from annotation.people.tokens import make_token
from core.errors import Refused
from tests.annotation.pages import World

pytestmark = pytest.mark.django_db
WORDS = "As Bob Smith I find it odd."
PID = "5f9d-prolific"


@pytest.fixture
def world(tmp_path, client):
    """Bob has answered everything, with a comment each, and reported an item; a snapshot rests on it."""
    world = World(tmp_path, client, asks_reason=True)
    User.objects.filter(pk=world.bob.pk).update(email="bob@example.org", last_name="Smith")
    world.bob.refresh_from_db()
    world.annotator.source = {"PROLIFIC_PID": PID}
    world.annotator.save()
    overall, fluency = world.campaign.criteria.all()
    flag(world.annotator, assignment.next_assignment(world.annotator).pk, WORDS)
    while given := assignment.next_assignment(world.annotator):
        answer = {"scores": {overall.pk: 3, fluency.pk: 1}, "reason": WORDS}
        submit(world.annotator, given.pk, uuid.uuid4(), answer)
    make_token(world.bob, "Bob's laptop")
    world.snapshot = assess(world.campaign, level="interval")
    Client().force_login(world.bob)
    world.dora = User.objects.create_superuser("dora")
    return world.sign_in(world.dora)


def page(world) -> str:
    return f"/people/{world.bob.pk}/"


def whole_database() -> str:
    """Every row of every table as text, binary fields unpacked."""
    found = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')  # names of tables
            found += [str(row) for row in cursor.fetchall()]
    return "\n".join(found)


def test_the_zip_has_everything(world):
    answer = world.client.post(page(world), {"do": "export"})
    with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
        person = json.loads(packed.read("person.json"))
    assert person["account"]["email"] == "bob@example.org" and person["account"]["last_name"] == "Smith"
    (own,) = person["annotates"]
    assert own["pseudonym"] == world.annotator.name and own["from_crowd_platform"] == {"PROLIFIC_PID": PID}
    assert len(own["scores"]) == 12 and {row["payload"]["reason"] for row in own["as_sent"]} == {WORDS}
    assert own["reports"][0]["reason"] == WORDS and person["tokens"][0]["name"] == "Bob's laptop"
    assert {"signed in", "token made"} <= {event["action"] for event in person["events"]}
    assert AuditEvent.objects.get(action="personal data exported", subject=world.bob).user == world.dora


def test_erasing_leaves_no_trace_of_who_it_was(world):
    assert all(trace in whole_database() for trace in ("bob@example.org", "Smith", PID, "Bob's laptop"))
    answer = world.client.post(page(world), {"do": "erase", "username": "bob"})
    assert answer.status_code == 302
    left = whole_database()
    for trace in ("bob@example.org", "Smith", PID, "Bob's laptop", WORDS, "'bob'"):
        assert trace not in left, trace
    assert {s.get_decoded()["_auth_user_id"] for s in Session.objects.all()} == {str(world.dora.pk)}
    user = User.objects.get(pk=world.bob.pk)
    assert not user.is_active and not user.has_usable_password() and user.username.startswith("erased-")
    assert AuditEvent.objects.get(action="personal data erased").subject == user
    assert "<h1>erased-" in world.client.get(page(world)).content.decode()


def test_what_was_judged_and_frozen_stays(world):
    digest, before = world.snapshot.digest, list(snapshot_contents.rows(world.snapshot, "scores"))
    erase(world.bob)
    world.snapshot.refresh_from_db()
    assert LikertScore.objects.filter(annotator=world.annotator).count() == 12 and Submission.objects.count() == 6
    snapshots.lines(world.snapshot)  # raises where content and digest no longer fit
    assert world.snapshot.digest == digest
    after = list(snapshot_contents.rows(world.snapshot, "scores"))
    assert after == [row | {"reason": None} for row in before] and {row["reason"] for row in before} == {WORDS}
    assert assess(world.campaign, level="interval").digest == digest


def test_others_keep_their_words(world):
    judgment = Submission.objects.first()
    other = User.objects.create_user("ann")
    erase(other)
    judgment.refresh_from_db()
    assert judgment.payload["reason"] == WORDS and WORDS in whole_database()


@pytest.mark.parametrize("typed", ["", "Bob", "alice"])
def test_it_asks_for_the_name_again(world, typed):
    assert world.client.post(page(world), {"do": "erase", "username": typed}).status_code == 422
    assert User.objects.get(pk=world.bob.pk).username == "bob"


def test_the_last_admin_stays(world):
    with pytest.raises(Refused, match="last admin"):
        erase(world.dora)


def test_by_command(world, tmp_path, capsys):
    call_command("personal_data", "export", "bob", "--file", str(tmp_path / "bob.zip"))
    assert zipfile.is_zipfile(tmp_path / "bob.zip")
    with pytest.raises(CommandError, match="Name a new file"):
        call_command("personal_data", "export", "bob", "--file", str(tmp_path / "bob.zip"))
    call_command("personal_data", "erase", "bob")
    assert "erased: bob" in capsys.readouterr().out
    with pytest.raises(CommandError, match="no account"):
        call_command("personal_data", "erase", "bob")
