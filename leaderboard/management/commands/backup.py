from pathlib import Path

from core.backups import back_up
from core.commands import ServiceCommand


class Command(ServiceCommand):
    help = "Write all that this installation keeps into one file: database, comparators, files sent for import, secret key."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("file", type=Path, help="a new file; whoever reads it can sign in as anybody")

    def run(self, file, **options):
        manifest = back_up(file)
        size = file.stat().st_size
        return {"file": str(file), "bytes": size, "files": len(manifest["files"]), "database": manifest["database"]}
