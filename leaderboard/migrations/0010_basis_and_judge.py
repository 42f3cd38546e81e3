"""Whose word a board is built on is its basis, and the judge is a row. Finished tournaments keep all that they show, and their
signatures stay as they are."""

import hashlib
import json

import django.db.models.deletion
from django.db import migrations, models

BASIS = {'people': 'people', 'comparator': 'judge', 'other': 'judge', 'calibrated': 'corrected'}


def digest_of(kind, settings):
    return hashlib.sha256(json.dumps([kind, settings], sort_keys=True).encode()).hexdigest()


def kind_of(apps, tournament):
    """Of a judge that was known by its name alone, and how it is asked, as far as its board has kept it."""
    known = tournament.settings.get('named_judge', {}).get('settings') or {}
    if 'imported' in known:
        return 'imported', {}
    if 'reward_model' in known:
        return 'reward model', {'model': known['reward_model']}
    if 'prompt' in known or 'url' in known:
        budget = {'calls': 0, 'money': None}  # a command sets another one
        asked = {'model': known.get('model', tournament.named_judge), 'url': known.get('url', ''), 'free_form': not known.get('constrained', True)}
        return 'language model', {**asked, 'key': 'COMPARENA_JUDGE_API_KEY', 'price': [0.0, 0.0], 'budget': budget}
    if 'comet' in known:
        return 'program', {'comet': known['comet'], 'timeout': 3600.0}
    if 'metric' in known:
        return 'metric', {'metric': known['metric']}
    if apps.get_model('evaluator', 'Judge').objects.filter(campaign=tournament.campaign_id, name=tournament.named_judge, kind='imported').exists():
        return 'imported', {}
    return 'program', {'command': '', 'reads': tournament.settings.get('named_judge', {}).get('kind', 'pointwise'), 'timeout': 3600.0}


def judge_of(apps, tournament):
    judges = apps.get_model('evaluator', 'Judge').objects.filter(campaign=tournament.campaign_id)
    if tournament.version_id:
        known = judges.filter(version=tournament.version_id).first()
        name = tournament.version.name
        if known is None and judges.filter(name=name).exists():
            name = f'{name} (comparator)'
        kind, settings = 'comparator', {'comparator': tournament.version.name}
        return known or judges.create(
            campaign_id=tournament.campaign_id, name=name, kind=kind, settings=settings, digest=digest_of(kind, settings), version_id=tournament.version_id
        )
    name = tournament.named_judge
    kind, settings = kind_of(apps, tournament)
    known = judges.filter(name=name).first()
    if known is not None and known.kind != kind:
        name = f'{name} ({kind})'
        known = judges.filter(name=name).first()
    return known or judges.create(campaign_id=tournament.campaign_id, name=name, kind=kind, settings=settings, digest=digest_of(kind, settings))


def point_at_judges(apps, schema_editor):
    """`update` on the historical model: a finished tournament refuses to be saved by the product alone."""
    rows = apps.get_model('leaderboard', 'Tournament').objects
    light = rows.select_related('version').only('campaign_id', 'judged_by', 'named_judge', 'version', 'settings')
    for tournament in light.order_by('pk').iterator(chunk_size=100):
        fields = {'basis': BASIS[tournament.judged_by]}
        if tournament.judged_by != 'people':
            fields['judge'] = judge_of(apps, tournament)
        if 'named_judge' in tournament.settings:
            record = dict(tournament.settings['named_judge'])
            if 'kind' in record:
                record['reads'] = record.pop('kind')
            kept = {key: value for key, value in tournament.settings.items() if key != 'named_judge'}
            fields['settings'] = {**kept, 'judge_record': record}
        rows.filter(pk=tournament.pk).update(**fields)


class Migration(migrations.Migration):

    dependencies = [
        ('evaluator', '0011_imported_by_a_judge'),
        ('leaderboard', '0009_named_judges'),
    ]

    operations = [
        migrations.RemoveIndex('tournament', 'tournament_latest'),
        migrations.RenameField('tournament', 'judge', 'judged_by'),
        migrations.AddField(
            'tournament', 'basis',
            models.CharField(
                choices=[('people', 'people'), ('judge', 'one judge'), ('corrected', 'people corrected by a judge')],
                default='people', help_text='Whose word the board is built on.', max_length=12,
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            'tournament', 'judge',
            models.ForeignKey(
                blank=True, help_text='Empty: people alone.', null=True, on_delete=django.db.models.deletion.RESTRICT,
                related_name='tournaments', to='evaluator.judge',
            ),
        ),
        migrations.RunPython(point_at_judges),
    ]
