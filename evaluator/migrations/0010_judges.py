"""A judge is a row, and imported scores and pairs point at it."""

import hashlib
import json

import django.db.models.deletion
from django.db import migrations, models


def digest_of(kind, settings):
    return hashlib.sha256(json.dumps([kind, settings], sort_keys=True).encode()).hexdigest()


def point_at_judges(apps, schema_editor):
    """A row for each name that scores or pairs were imported under."""
    judges = apps.get_model('evaluator', 'Judge').objects
    for model in ('ImportedScore', 'ImportedPair'):
        rows = apps.get_model('evaluator', model).objects
        for campaign, name in sorted(set(rows.values_list('campaign_id', 'named').distinct())):
            judge, _ = judges.get_or_create(
                campaign_id=campaign, name=name, defaults={'kind': 'imported', 'digest': digest_of('imported', {})}
            )
            rows.filter(campaign_id=campaign, named=name).update(judge=judge)


def name_judges(apps, schema_editor):
    for judge in apps.get_model('evaluator', 'Judge').objects.filter(kind='imported'):
        for model in ('ImportedScore', 'ImportedPair'):
            apps.get_model('evaluator', model).objects.filter(judge=judge).update(named=judge.name)


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0021_job_parts'),
        ('evaluator', '0009_retraining_rule'),
    ]

    operations = [
        migrations.CreateModel(
            name='Judge',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('comparator', 'comparator'), ('metric', 'metric'), ('imported', 'imported judgments'), ('program', 'program'), ('reward model', 'reward model'), ('language model', 'language model')], max_length=20)),
                ('name', models.CharField(help_text='What pages, commands, signatures and the API call it.', max_length=100)),
                ('settings', models.JSONField(blank=True, default=dict, help_text="How it is asked; of a key, the variable's name alone.")),
                ('digest', models.CharField(help_text='SHA-256 of kind and settings, without what changes no answer.', max_length=64)),
                ('calls', models.PositiveIntegerField(default=0, help_text='Requests that were sent to its server.')),
                ('tokens_read', models.PositiveBigIntegerField(default=0)),
                ('tokens_written', models.PositiveBigIntegerField(default=0)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judges', to='annotation.campaign')),
                ('version', models.ForeignKey(blank=True, help_text='Of a comparator.', null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='judges', to='evaluator.comparatorversion')),
            ],
            options={'ordering': ['name']},
        ),
        migrations.AddConstraint(
            model_name='judge',
            constraint=models.UniqueConstraint(fields=('campaign', 'name'), name='one_judge_per_name'),
        ),
        migrations.CreateModel(
            name='Reply',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(help_text='SHA-256 of the address and the whole request.', max_length=64)),
                ('reply', models.JSONField()),
                ('is_readable', models.BooleanField(default=True, help_text='False: kept to be looked at, and asked for again.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('judge', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='replies', to='evaluator.judge')),
            ],
        ),
        migrations.AddConstraint(
            model_name='reply',
            constraint=models.UniqueConstraint(fields=('judge', 'key'), name='one_reply_per_question'),
        ),
        migrations.RemoveConstraint(model_name='importedscore', name='one_imported_score_per_judge'),
        migrations.RemoveConstraint(model_name='importedpair', name='one_imported_pair_per_judge'),
        migrations.RemoveIndex(model_name='importedscore', name='imported_scores_of_judge'),
        migrations.RemoveIndex(model_name='importedpair', name='imported_pairs_of_judge'),
        migrations.RenameField('importedscore', 'judge', 'named'),
        migrations.RenameField('importedpair', 'judge', 'named'),
        migrations.AlterField('importedscore', 'named', models.CharField(max_length=100, default='')),
        migrations.AlterField('importedpair', 'named', models.CharField(max_length=100, default='')),
        migrations.AddField(
            'importedscore', 'judge',
            models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='imported_scores', to='evaluator.judge'),
        ),
        migrations.AddField(
            'importedpair', 'judge',
            models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='imported_pairs', to='evaluator.judge'),
        ),
        migrations.RunPython(point_at_judges, name_judges),
    ]
