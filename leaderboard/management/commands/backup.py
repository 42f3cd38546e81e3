from datetime import UTC, datetime
from pathlib import Path

from annotation.people import audit
from annotation.people.audit import BACKED_UP, VERIFIED
from core.backups import back_up, verify
from core.commands import ServiceCommand
from core.errors import Refused


class Command(ServiceCommand):
    help = "Back up this installation into one file: database, comparators, uploaded files and secret key."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("file", type=Path, nargs="?", help="a new file. Anyone who can read it can sign in as any user")
        parser.add_argument(
            "--verify",
            action="store_true",
            dest="check",
            help="restore an existing backup into an empty place, check it, count its rows, and throw that place away",
        )
        parser.add_argument(
            "--without-key",
            action="store_true",
            help="leave the secret key out: second factors and links can then only be restored where SECRET_KEY is this one",
        )
        parser.add_argument("--into", type=Path, metavar="FOLDER", help="make and verify a backup that is named by the time")
        parser.add_argument("--keep", type=int, default=14, help="how many of --into stay, the newest; default: %(default)s")

    def run(self, file, check, without_key, into, keep, **options):
        if (file is None) == (into is None) or (check and into):
            raise Refused("Name a file, or a folder with --into.")
        if into:
            return self._nightly(into, keep, not without_key)
        manifest = verify(file) if check else back_up(file, not without_key)
        return _told(file, manifest, VERIFIED if check else BACKED_UP) | ({"verified": True} if check else {})

    def _nightly(self, folder: Path, keep: int, with_key: bool) -> dict:
        """Older ones go only when the new one is known to restore."""
        if keep < 1:
            raise Refused("--keep: at least 1.")
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"comparena-{datetime.now(UTC):%Y%m%d-%H%M%S}.zip"
        _told(file, back_up(file, with_key), BACKED_UP)
        manifest = verify(file)
        gone = sorted(folder.glob("comparena-*.zip"))[:-keep]
        for old in gone:
            old.unlink()
        return _told(file, manifest, VERIFIED) | {"verified": True, "deleted": [old.name for old in gone]}


def _told(file: Path, manifest: dict, action: str) -> dict:
    """What was done, noted in the audit log, too."""
    size = file.stat().st_size
    audit.backed_up(file.name, size, action)
    return {"file": str(file), "bytes": size, "files": len(manifest["files"]), "database": manifest["database"]}
