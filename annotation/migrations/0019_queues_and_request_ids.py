from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0018_text_format'),
    ]

    operations = [
        migrations.AddField(
            model_name='job',
            name='request_id',
            field=models.CharField(blank=True, default='', help_text='Of the request that asked for it.', max_length=64),
        ),
        migrations.AddField(
            model_name='workerpulse',
            name='queues',
            field=models.JSONField(default=list, help_text='Those that it takes jobs from; none: all.'),
        ),
    ]
