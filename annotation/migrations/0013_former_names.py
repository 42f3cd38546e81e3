import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """What systems were called before, taken over from leaderboard with its rows."""

    dependencies = [
        ('annotation', '0012_snapshot_accepted_at'),
        ('leaderboard', '0007_former_names_are_annotations'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(state_operations=[
            migrations.CreateModel(
                name='FormerName',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=200)),
                    ('changed_at', models.DateTimeField(auto_now_add=True)),
                    ('system', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='former_names', to='annotation.system')),
                ],
                options={
                    'ordering': ['changed_at'],
                    'db_table': 'leaderboard_formername',
                },
            ),
        ]),
        migrations.AlterModelTable(name='formername', table=None),
    ]
