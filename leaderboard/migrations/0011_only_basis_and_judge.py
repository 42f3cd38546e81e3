"""What the basis and the judge have replaced goes."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0010_basis_and_judge'),
    ]

    operations = [
        migrations.RemoveField('tournament', 'judged_by'),
        migrations.RemoveField('tournament', 'version'),
        migrations.RemoveField('tournament', 'named_judge'),
        migrations.AddIndex(
            'tournament', models.Index(fields=['campaign', 'basis', 'criterion', '-finished_at'], name='tournament_latest')
        ),
    ]
