"""Secrets of before are sealed: invitations' tokens, second factors and the keys of sessions."""

from django.db import migrations, models

from core.sealed import digest, seal


def seal_secrets(apps, schema_editor):
    user, invitation = apps.get_model('annotation', 'User'), apps.get_model('annotation', 'Invitation')
    session = apps.get_model('sessions', 'Session')
    for pk, secret in list(user.objects.exclude(totp_secret='').values_list('pk', 'totp_secret')):
        user.objects.filter(pk=pk).update(totp_secret=seal(secret))
    for pk, token in list(invitation.objects.values_list('pk', 'token')):
        invitation.objects.filter(pk=pk).update(digest=digest(token), sealed_token=seal(token))
    for key in list(session.objects.values_list('pk', flat=True)):
        session.objects.filter(pk=key).update(session_key=digest(key)[:40])


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0026_asked_for'),
        ('sessions', '0001_initial'),
    ]

    operations = [
        migrations.AlterField(
            model_name='user',
            name='totp_secret',
            field=models.CharField(blank=True, default='', editable=False, help_text='Base32, sealed under SECRET_KEY; empty: none.', max_length=255),
        ),
        migrations.AddField(
            model_name='invitation',
            name='digest',
            field=models.CharField(editable=False, help_text='SHA-256 of the token, by which it is found.', max_length=64, null=True),
        ),
        migrations.AddField(
            model_name='invitation',
            name='sealed_token',
            field=models.CharField(default='', editable=False, help_text='The token, sealed under SECRET_KEY.', max_length=255),
            preserve_default=False,
        ),
        migrations.AlterField(
            model_name='apitoken',
            name='used_at',
            field=models.DateTimeField(blank=True, help_text='To the minute.', null=True),
        ),
        migrations.RunPython(seal_secrets, elidable=False),
        migrations.AlterField(
            model_name='invitation',
            name='digest',
            field=models.CharField(editable=False, help_text='SHA-256 of the token, by which it is found.', max_length=64, unique=True),
        ),
        migrations.RemoveField(
            model_name='invitation',
            name='token',
        ),
    ]
