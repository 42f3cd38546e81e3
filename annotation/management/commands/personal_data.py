from pathlib import Path

from annotation.models import User
from annotation.people import personal_data
from core.commands import ServiceCommand
from core.errors import Refused


class Command(ServiceCommand):
    help = "Export or erase the data of one person. Erasing keeps what they judged, under a pseudonym."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("what", choices=["export", "erase"])
        parser.add_argument("username", help="log-in name")
        parser.add_argument("--file", type=Path, help="the new zip file to export to")

    def run(self, what, username, file, **options):
        user = User.objects.filter(username=username).first()
        if user is None:
            raise Refused(f"There is no account {username!r}.")
        if what == "export":
            if file is None or file.exists():
                raise Refused("Name a new file: --file FILE.zip.")
            file.write_bytes(personal_data.as_zip(user))
            return {"file": str(file), **personal_data.counts(user)}
        personal_data.erase(user)
        return {"erased": username}
