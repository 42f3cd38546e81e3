from pathlib import Path

from annotation.access import campaign_named
from annotation.people.audit import exported
from core.commands import ServiceCommand
from core.errors import Refused
from leaderboard.publication.contents import as_zip, contents, snapshot_named


class Command(ServiceCommand):
    help = "Write a snapshot's files in the shapes that the field reads into one zip: answers, preferences, boards, datasheet."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument("file", type=Path, help="a new file")
        parser.add_argument("--snapshot", default="", metavar="DIGEST", help="default: the one that was accepted last")

    def run(self, slug, file, snapshot, **options):
        campaign = campaign_named(slug)
        chosen = snapshot_named(campaign, snapshot)
        files = contents(chosen)
        try:
            with file.open("xb") as out:
                out.write(as_zip(files))
        except FileExistsError:
            raise Refused(f"{file} is there already; name a new file.") from None
        except OSError as error:
            raise Refused(f"{file} can't be written ({error.strerror}).") from error
        exported(f"the files of {chosen.name}", campaign, None)
        return {"file": str(file), "snapshot": chosen.digest, "simulated": chosen.is_simulated, "files": len(files)}
