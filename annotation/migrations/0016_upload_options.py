from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0015_context_group'),
    ]

    operations = [
        migrations.AddField(
            model_name='upload',
            name='options',
            field=models.JSONField(default=dict, help_text='What of {system, systems, keep_columns} `import_outputs` is told.'),
        ),
    ]
