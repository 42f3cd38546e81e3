from django.db import migrations


class Migration(migrations.Migration):
    """The table goes over to annotation as it is; its migration 0013 takes it."""

    dependencies = [
        ('leaderboard', '0006_board_settings_are_the_campaigns'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(state_operations=[migrations.DeleteModel(name='FormerName')]),
    ]
