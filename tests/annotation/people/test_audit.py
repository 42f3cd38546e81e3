"""The audit log: what is written into it, and that nothing written is changed or deleted, by whatever way."""

from datetime import timedelta
from importlib import import_module

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction

from annotation.campaigns.lifecycle import create_campaign
from annotation.models import AuditEvent, User
from annotation.people import audit
from annotation.people.tokens import make_token
from annotation.snapshots import latest_snapshot
from annotation.views import audit as audit_views
from leaderboard.management.commands import backup
from tests.evaluator.fixtures import made_world, models_dir, world  # noqa: F401
from tests.evaluator.world import World

pytestmark = pytest.mark.django_db
PASSWORD = "a-long-password"  # noqa: S105
TABLE = "annotation_auditevent"


def events(*names: str) -> list[tuple]:
    """(action, who did it, whom it is about) of the events of these actions, the oldest first."""
    rows = AuditEvent.objects.filter(action__in=names).order_by("pk")
    return list(rows.values_list("action", "user__username", "subject__username"))


@pytest.fixture
def bob():
    return User.objects.create_user("bob", password=PASSWORD)


@pytest.fixture
def event(bob):
    return AuditEvent.objects.create(action="signed in", user=bob, detail={"a": 1})


@pytest.fixture
def dora(client):
    dora = User.objects.create_superuser("dora", password=PASSWORD)
    client.force_login(dora)
    return dora


class TestNothingIsChanged:
    @pytest.mark.parametrize(
        "statement",
        [
            f"UPDATE {TABLE} SET action = 'x'",
            f"DELETE FROM {TABLE}",
            f"UPDATE {TABLE} SET user_id = NULL",
            f"INSERT OR REPLACE INTO {TABLE} (id, action, detail, request_id, created_at)"
            " VALUES ({pk}, 'x', '{{}}', '', '2026-01-01')",
            f"SET CONSTRAINTS ALL IMMEDIATE; TRUNCATE {TABLE}",
        ],
    )
    def test_by_sql(self, event, statement):
        own = {"INSERT": "sqlite", "SET": "postgresql"}.get(statement.split()[0], connection.vendor)
        if own != connection.vendor:
            pytest.skip(f"a statement of {own}")
        with pytest.raises(DatabaseError, match="only added to"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement.format(pk=event.pk) if "{pk}" in statement else statement)
        event.refresh_from_db()
        assert (event.action, event.detail, event.user.username) == ("signed in", {"a": 1}, "bob")

    @pytest.mark.parametrize("change", [lambda e: e.delete(), lambda e: e.save(), lambda e: e.user.delete()])
    def test_by_the_models(self, event, change):
        with pytest.raises(DatabaseError), transaction.atomic():
            change(event)
        assert AuditEvent.objects.get(pk=event.pk).user.username == "bob"

    def test_a_campaign_that_is_gone_leaves_what_happened_in_it(self, world):  # noqa: F811
        AuditEvent.objects.create(action="exported", campaign=world.campaign)
        pk = world.campaign.pk
        world.campaign.delete()
        assert AuditEvent.objects.filter(campaign_id=pk, action="exported").count() == 1

    def test_names_of_before_become_accounts(self, bob):
        migration = import_module("annotation.migrations.0020_security")
        with connection.schema_editor() if connection.vendor == "postgresql" else _editor() as editor:
            migration.unguard(apps, editor)
            of_bob = AuditEvent.objects.create(action="researcher added", detail={"username": "bob", "more": 1})
            of_nobody = AuditEvent.objects.create(action="researcher added", detail={"username": "gone"})
            migration.name_people_by_account(apps, editor)
            migration.guard(apps, editor)
        of_bob.refresh_from_db(), of_nobody.refresh_from_db()
        assert (of_bob.subject, of_bob.detail) == (bob, {"more": 1})
        assert (of_nobody.subject, of_nobody.detail) == (None, {"username": "gone"})
        with pytest.raises(DatabaseError), transaction.atomic():
            AuditEvent.objects.all().delete()


class _editor:
    """SQLite's own editor of schemas wants no transaction around it; these statements do not mind."""

    connection = connection

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def execute(self, statement):
        with connection.cursor() as cursor:
            cursor.execute(statement)


class TestWhatIsWritten:
    def test_coming_going_and_failing(self, client, bob):
        client.post("/login/", {"username": "bob", "password": "wrong"})
        client.post("/login/", {"username": "my secret password", "password": "x"})
        client.post("/login/", {"username": "bob", "password": PASSWORD})
        client.post("/logout/")
        assert events("sign-in failed", "signed in", "signed out") == [
            ("sign-in failed", None, "bob"),
            ("sign-in failed", None, None),
            ("signed in", "bob", "bob"),
            ("signed out", "bob", "bob"),
        ]
        assert "secret" not in str(list(AuditEvent.objects.values()))

    def test_the_request_that_did_it(self, client, bob):
        client.post("/login/", {"username": "bob", "password": PASSWORD}, headers={"X-Request-ID": "r-17"})
        assert AuditEvent.objects.get(action="signed in").request_id == "r-17"

    def test_rights_and_who_gave_them(self, client, bob, dora):
        form = {"username": "bob", "is_active": "on", "is_staff": "on", "date_joined_0": "2026-01-01", "date_joined_1": "00:00"}
        assert client.post(f"/admin/annotation/user/{bob.pk}/change/", form).status_code == 302
        changed = AuditEvent.objects.get(action="rights changed", subject=bob)
        assert changed.user == dora and changed.detail == {"is_staff": [False, True]}
        assert AuditEvent.objects.filter(action="changed in the admin site", user=dora).exists()

    def test_a_new_admin_of_a_command(self):
        User.objects.create_superuser("eve")
        event = AuditEvent.objects.get(action="rights changed")
        assert (event.user, event.subject.username) == (None, "eve") and set(event.detail) == {"is_staff", "is_superuser"}

    def test_tokens_and_passwords(self, client, bob):
        client.force_login(bob)
        client.post("/account/", {"name": "laptop", "scopes": "read", "days": 7})
        made = AuditEvent.objects.get(action="token made")
        assert made.user == made.subject == bob and made.detail["scopes"] == "read" and "laptop" not in str(made.detail)
        bob.set_password("another-long-one")
        bob.save()
        assert events("token ended", "password changed") == [("token ended", None, "bob"), ("password changed", None, "bob")]

    def test_what_a_program_does_is_its_users(self, client, bob):
        key = make_token(User.objects.create_superuser("dora"), "test")[1]
        client.get("/api/campaigns/", headers={"Authorization": f"Bearer {key}"})
        answer = client.post(
            "/api/campaigns/",
            {"slug": "x", "title": "X", "criteria": [{"name": "Overall"}]},
            content_type="application/json",
            headers={"Authorization": f"Bearer {key}"},
        )
        assert answer.status_code == 201 and AuditEvent.objects.get(action="campaign created").user.username == "dora"

    def test_exports_of_pages_and_of_the_api(self, world: World):  # noqa: F811
        name, alice = latest_snapshot(world.campaign).name, world.alice
        for path in (
            "/c/talk/export/scores.csv",
            f"/c/talk/snapshots/{name}/scores.jsonl",
            f"/c/talk/snapshots/{name}.jsonl",
            "/api/campaigns/talk/export/scores/csv/",
            f"/api/campaigns/talk/snapshots/{name}/content/",
            f"/api/campaigns/talk/snapshots/{name}/export/scores/csv/",
            f"/api/campaigns/talk/snapshots/{name}/export/preferences/jsonl/?margin=1",
        ):
            assert world.get(alice, path).status_code == 200, path
        rows = AuditEvent.objects.filter(action="exported", user=alice, campaign=world.campaign).order_by("pk")
        assert [row.detail["what"] for row in rows] == [
            "scores (csv)",
            f"scores of {name} (jsonl)",
            f"snapshot {name}",
            "scores (csv)",
            f"snapshot {name}",
            f"scores of {name} (csv)",
            f"preferences of {name} (jsonl)",
        ]

    def test_an_export_makes_no_figure_old(self, world):  # noqa: F811
        from annotation.assessment.calculations import _key

        before = _key(world.campaign, "preview", {})
        world.get(world.alice, "/c/talk/export/scores.csv")
        assert AuditEvent.objects.filter(action="exported").exists() and _key(world.campaign, "preview", {}) == before


class TestTheLog:
    def test_it_is_narrowed_by_what_who_where_and_when(self, client, dora, bob):
        talk = create_campaign(slug="talk", user=bob)
        AuditEvent.objects.create(action="exported", user=bob, campaign=talk, detail={"what": "scores (csv)"})
        AuditEvent.objects.create(action="rights changed", user=dora, subject=bob, detail={"is_staff": [False, True]})
        for query, wanted in (
            ("action=exported", {"exported"}),
            ("person=bob&action=rights changed", {"rights changed"}),
            ("campaign=talk", {"campaign created", "exported"}),
            ("person=nobody", set()),
            ("since=2999-01-01", set()),
            ("since=yesterday", set()),
        ):
            page = client.get(f"/audit/?{query}")
            assert {event.action for event in page.context["events"]} == wanted, query
        page = client.get("/audit/").content.decode()
        assert "what: scores (csv)" in page and "is staff: no, yes" in page

    def test_a_page_of_it_asks_as_much_as_one_event(self, client, dora, bob, django_assert_num_queries):
        for n in range(60):
            AuditEvent.objects.create(action=f"exported {n}", user=bob, subject=dora)
        with django_assert_num_queries(5):  # session, user; how many, which; actions to choose from
            page = client.get("/audit/").content.decode()
        assert "1 to 50 of 6" in page and "exported 59" in page and "exported 5<" not in page

    def test_it_is_the_admins(self, client, bob):
        client.force_login(bob)
        assert [client.get(path).status_code for path in ("/audit/", "/backups/")] == [404, 404]


class TestBackups:
    def test_what_was_made_and_what_is_known_to_restore(self, client, dora, tmp_path):
        assert "No backup was made or verified within 90 days." in client.get("/backups/").content.decode()
        audit.backed_up("a.zip", 2048, audit.BACKED_UP)
        assert "but none was verified" in client.get("/backups/").content.decode()
        audit.backed_up("b.zip", 2048, audit.VERIFIED)
        page = client.get("/backups/").content.decode()
        assert 'class="note">The last backup that is known to restore' in page and "<code>b.zip</code>, 2.0\xa0KB" in page

    def test_one_that_is_old_warns(self, client, dora, monkeypatch):
        audit.backed_up("b.zip", 2048, audit.VERIFIED)
        monkeypatch.setattr(audit_views, "OLD", timedelta(0))
        assert 'class="warning">The last backup that is known to restore' in client.get("/backups/").content.decode()

    def test_the_command_notes_it(self, dora, tmp_path, monkeypatch):
        manifest = {"files": {}, "database": "sqlite"}
        monkeypatch.setattr(backup, "back_up", lambda file, with_key: file.write_bytes(b"zip") and manifest)
        monkeypatch.setattr(backup, "verify", lambda file: manifest)
        call_command("backup", str(tmp_path / "x.zip"))
        call_command("backup", str(tmp_path / "x.zip"), "--verify")
        rows = AuditEvent.objects.filter(action__startswith="backup").order_by("pk")
        assert [(row.action, row.detail) for row in rows] == [
            ("backup made", {"file": "x.zip", "bytes": 3}),
            ("backup verified", {"file": "x.zip", "bytes": 3}),
        ]


class TestThePage:
    def test_it_is_searched_and_cannot_be_changed(self, client, dora, event):
        AuditEvent.objects.create(action="exported", user=dora, detail={"what": "scores (csv)"})
        page = client.get("/admin/annotation/auditevent/?q=scores").content.decode()
        assert "scores (csv)" in page and "1 result" in page
        assert client.post(f"/admin/annotation/auditevent/{event.pk}/change/", {"action": "x"}).status_code == 403
        assert client.post(f"/admin/annotation/auditevent/{event.pk}/delete/", {"post": "yes"}).status_code == 403

    def test_accounts_are_not_deleted_there(self, client, dora, event):
        assert client.post(f"/admin/annotation/user/{event.user.pk}/delete/", {"post": "yes"}).status_code == 403
