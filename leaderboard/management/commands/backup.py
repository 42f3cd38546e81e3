from pathlib import Path

from core.backups import back_up
from core.commands import ServiceCommand


class Command(ServiceCommand):
    help = "Back up this installation into one file: database, comparators, uploaded files and secret key."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("file", type=Path, help="a new file. Anyone who can read it can sign in as any user")

    def run(self, file, **options):
        manifest = back_up(file)
        size = file.stat().st_size
        return {"file": str(file), "bytes": size, "files": len(manifest["files"]), "database": manifest["database"]}
