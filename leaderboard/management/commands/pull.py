from pathlib import Path
from tempfile import TemporaryDirectory

from annotation.data.fields import kinds_of_files
from annotation.management.import_command import ImportCommand
from leaderboard import hub


class Command(ImportCommand):
    help = "Import a file of a data set on the Hugging Face Hub, as import_outputs and the like import one that is here."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.description = f"{self.help} FILE is hf://datasets/OWNER/NAME[@REVISION][/FILE]."
        parser.add_argument("--as", dest="what", choices=kinds_of_files(), default="outputs", help="default: %(default)s")
        human = {"action": "append", "default": [], "metavar": "NAME", "dest": "human_systems"}
        parser.add_argument("--human-system", **human, help="this system is human-written")
        parser.add_argument("--system", metavar="NAME", help="the system of all outputs, if no column names it")
        parser.add_argument("--judge", metavar="NAME", help="who gave all judges' scores, if no column names it")
        parser.add_argument("--simulated", action="store_true", help="the annotators are simulated, not people")

    def run(self, slug, file, dry_run, column, constant, **options):
        self.kind = options.pop("what")
        address = hub.address_of(file)
        with TemporaryDirectory() as folder:
            path = hub.download(address, Path(folder))
            return super().run(slug, str(path), dry_run, column, constant, **options) | {"from": file}
