import annotation.models.job
import annotation.models.people
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

TABLE = "annotation_auditevent"
REFUSED = "the audit log is only added to"

# Every table that a later migration makes anew on SQLite loses its triggers there: such a migration of this table runs
# GUARD again (tests/annotation/people/test_audit.py sees it).
GUARD = {
    "sqlite": [
        f"CREATE TRIGGER audit_no_update BEFORE UPDATE ON {TABLE} BEGIN SELECT RAISE(ABORT, '{REFUSED}'); END",
        f"CREATE TRIGGER audit_no_delete BEFORE DELETE ON {TABLE} BEGIN SELECT RAISE(ABORT, '{REFUSED}'); END",
        # INSERT OR REPLACE deletes without telling the trigger above.
        f"CREATE TRIGGER audit_no_replace BEFORE INSERT ON {TABLE} WHEN EXISTS (SELECT 1 FROM {TABLE} WHERE id = NEW.id)"
        f" BEGIN SELECT RAISE(ABORT, '{REFUSED}'); END",
    ],
    "postgresql": [
        "CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE EXCEPTION '{REFUSED}' USING ERRCODE = 'integrity_constraint_violation'; END $$",
        f"CREATE TRIGGER audit_rows BEFORE UPDATE OR DELETE ON {TABLE} FOR EACH ROW EXECUTE FUNCTION audit_refuse()",
        f"CREATE TRIGGER audit_table BEFORE TRUNCATE ON {TABLE} FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse()",
    ],
}
UNGUARD = {
    "sqlite": [f"DROP TRIGGER IF EXISTS audit_no_{what}" for what in ("update", "delete", "replace")],
    "postgresql": ["DROP FUNCTION IF EXISTS audit_refuse() CASCADE"],
}


def name_people_by_account(apps, editor):
    """Log-in names, often e-mail addresses, stood in the details."""
    events, users = apps.get_model("annotation", "AuditEvent"), apps.get_model("annotation", "User")
    for event in events.objects.filter(detail__has_key="username").iterator():
        if subject := users.objects.filter(username=event.detail["username"]).first():
            del event.detail["username"]
            events.objects.filter(pk=event.pk).update(subject=subject, detail=event.detail)
    if editor.connection.vendor == "postgresql":  # what is still to be checked of these rows, before the table changes
        editor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        editor.execute("SET CONSTRAINTS ALL DEFERRED")


def guard(apps, editor):
    for statement in GUARD[editor.connection.vendor]:
        editor.execute(statement)


def unguard(apps, editor):
    for statement in UNGUARD[editor.connection.vendor]:
        editor.execute(statement)


class Migration(migrations.Migration):
    """Scopes of tokens, second factors, identities of a sign-in provider, and an audit log that is only added to."""

    dependencies = [
        ('annotation', '0019_queues_and_request_ids'),
    ]

    operations = [
        migrations.AddField(
            model_name='apitoken',
            name='scopes',
            field=models.CharField(default=annotation.models.people.all_scopes, help_text='With spaces between, as in RFC 6749, 3.3.', max_length=60),
        ),
        migrations.AddField(
            model_name='auditevent',
            name='request_id',
            field=models.CharField(blank=True, default=annotation.models.job.current_request_id, help_text='As in the server’s log.', max_length=64),
        ),
        migrations.AddField(
            model_name='auditevent',
            name='subject',
            field=models.ForeignKey(blank=True, help_text='Whose account it is about.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='user',
            name='oidc_subject',
            field=models.CharField(blank=True, help_text='What the OpenID Connect provider calls this person (sub); empty: not signed in from there.', max_length=255, null=True, unique=True, verbose_name='identity at the sign-in provider'),
        ),
        migrations.AddField(
            model_name='user',
            name='recovery_codes',
            field=models.JSONField(default=list, editable=False, help_text='The SHA-256 of each that is left.'),
        ),
        migrations.AddField(
            model_name='user',
            name='totp_secret',
            field=models.CharField(blank=True, default='', editable=False, help_text='Base32; empty: none.', max_length=64),
        ),
        migrations.AddField(
            model_name='user',
            name='totp_step',
            field=models.BigIntegerField(default=0, editable=False, help_text='Of the last code: each is good for once.'),
        ),
        migrations.AlterField(
            model_name='auditevent',
            name='campaign',
            field=models.ForeignKey(blank=True, db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='audit_events', to='annotation.campaign'),
        ),
        migrations.AlterField(
            model_name='auditevent',
            name='created_at',
            field=models.DateTimeField(auto_now_add=True, db_index=True),
        ),
        migrations.AlterField(
            model_name='auditevent',
            name='user',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.RunPython(name_people_by_account, migrations.RunPython.noop),
        migrations.RunPython(guard, unguard),
    ]
