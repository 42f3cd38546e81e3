from django.db import migrations


def warnings_beside_the_versions(apps, schema_editor):
    for version in apps.get_model("evaluator", "ComparatorVersion").objects.exclude(run__warning="").select_related("run"):
        version.warning = version.run.warning
        version.save(update_fields=["warning"])


class Migration(migrations.Migration):
    dependencies = [("evaluator", "0002_registry_and_dialogues")]
    operations = [migrations.RunPython(warnings_beside_the_versions, migrations.RunPython.noop)]
