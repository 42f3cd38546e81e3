"""What was measured on campaigns that a version did not learn from is of an earlier kind: it names the most similar campaign, and
has no refit. It is measured anew before the next board."""

from django.db import migrations


def forget(apps, schema_editor):
    apps.get_model("evaluator", "ComparatorVersion").objects.exclude(measured_here={}).update(measured_here={})


class Migration(migrations.Migration):
    dependencies = [("evaluator", "0004_measured_here")]

    operations = [migrations.RunPython(forget, migrations.RunPython.noop)]
