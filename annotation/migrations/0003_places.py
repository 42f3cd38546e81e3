from django.db import migrations


def as_many_places_as_the_overlap(apps, schema_editor):
    for campaign in apps.get_model("annotation", "Campaign").objects.all():
        apps.get_model("annotation", "Item").objects.filter(campaign=campaign).update(places=campaign.overlap)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0002_protocol_and_withdrawal")]
    operations = [migrations.RunPython(as_many_places_as_the_overlap, migrations.RunPython.noop)]
