from pathlib import Path

from annotation.models import User
from core.commands import ServiceCommand
from core.errors import Refused
from leaderboard.archive.admission import admit


class Command(ServiceCommand):
    help = "Make a campaign of the zip that export_campaign, the page or the API wrote, with equal hashes, boards and times."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("file", type=Path)
        parser.add_argument("--slug", default="", help="another short name; default: the one that it had")
        parser.add_argument("--user", help="who researches it; default: admins alone see it")
        parser.add_argument("--dry-run", action="store_true", help="check the file and store nothing")

    def run(self, file, slug, user, dry_run, **options):
        owner = User.objects.filter(username=user).first() if user else None
        if user and owner is None:
            raise Refused(f"There is no user {user!r}.")
        try:
            with file.open("rb") as source:
                return admit(source, file.name, slug, owner, dry_run).as_dict()
        except OSError as error:
            raise Refused(f"{file} can't be opened ({error.strerror}).") from error
