from pathlib import Path

from core.backups import restore
from core.commands import ServiceCommand


class Command(ServiceCommand):
    help = "Restore a backup into an empty installation. Afterwards `migrate` (or serve) updates the database."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("file", type=Path)

    def run(self, file, **options):
        manifest = restore(file)
        return {"file": str(file), "made_at": manifest["made_at"], "code": manifest["code"], "files": len(manifest["files"])}
