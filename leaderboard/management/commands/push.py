from annotation.access import campaign_named
from annotation.people.audit import exported
from core.commands import ServiceCommand
from leaderboard import hub
from leaderboard.publication.contents import contents, snapshot_named


class Command(ServiceCommand):
    help = "Put a snapshot's files, with a card that carries its warnings, into a data set of the Hugging Face Hub."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument("dataset", help="OWNER/NAME on the Hub; a new one is private")
        parser.add_argument("--snapshot", default="", metavar="DIGEST", help="default: the one that was accepted last")
        parser.add_argument(
            "--public", action="store_true", help="everybody may see the data set, a new one or one that is there"
        )
        parser.add_argument("--dry-run", action="store_true", help="list what would be sent, and send nothing")

    def run(self, slug, dataset, snapshot, public, dry_run, **options):
        campaign = campaign_named(slug)
        chosen = snapshot_named(campaign, snapshot)
        files = contents(chosen, dataset)
        told = {"dataset": dataset, "snapshot": chosen.digest, "simulated": chosen.is_simulated}
        if dry_run:
            return told | {"dry_run": True, "bytes": {name: len(content) for name, content in files.items()}}
        done = hub.upload(dataset, files, public)
        exported(f"the files of {chosen.name} to the Hub, {dataset}", campaign, None)
        return told | {"address": done.address, "public": done.is_public, "files": len(files)}
