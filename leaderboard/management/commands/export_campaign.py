import os
from pathlib import Path

from annotation.access import campaign_named
from annotation.people.audit import exported
from core.commands import ServiceCommand
from core.errors import Refused
from leaderboard.archive.export import write_archive


class Command(ServiceCommand):
    help = "Write a whole campaign into one zip: texts, answers, judges' scores, snapshots and boards."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument("file", type=Path, help="a new file")

    def run(self, slug, file, **options):
        campaign = campaign_named(slug)
        if file.exists():
            raise Refused(f"{file} is there already; name a new file.")
        part = file.with_name(f".{file.name}.{os.getpid()}.part")
        try:
            with part.open("wb") as out:
                manifest = write_archive(campaign, out, lambda share, said: self.progress(f"{share:4.0%} {said}"))
            part.replace(file)
        except OSError as error:
            raise Refused(f"{file} can't be written ({error.strerror}).") from error
        finally:
            part.unlink(missing_ok=True)
        exported("the whole campaign", campaign, None)
        about = ("campaign", "simulated", "snapshots", "boards", "not_carried")
        return {"file": str(file), "bytes": file.stat().st_size, **{name: manifest[name] for name in about}}
