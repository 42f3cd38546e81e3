"""What was imported belongs to a judge, not to a name. Apart from the migration that moves the rows: PostgreSQL changes no table
that the same transaction has written to."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluator', '0010_judges'),
    ]

    operations = [
        migrations.AlterField(
            'importedscore', 'judge',
            models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='imported_scores', to='evaluator.judge'),
        ),
        migrations.AlterField(
            'importedpair', 'judge',
            models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='imported_pairs', to='evaluator.judge'),
        ),
        migrations.RemoveField('importedscore', 'named'),
        migrations.RemoveField('importedpair', 'named'),
        migrations.AddConstraint(
            'importedscore', models.UniqueConstraint(fields=('output', 'judge'), name='one_imported_score_per_judge')
        ),
        migrations.AddConstraint(
            'importedpair', models.UniqueConstraint(fields=('output_a', 'output_b', 'judge'), name='one_imported_pair_per_judge')
        ),
        migrations.AddIndex('importedscore', models.Index(fields=['campaign', 'judge'], name='imported_scores_of_judge')),
        migrations.AddIndex('importedpair', models.Index(fields=['campaign', 'judge'], name='imported_pairs_of_judge')),
    ]
