from annotation.management.import_command import ImportCommand


class Command(ImportCommand):
    help = "Import systems, contexts and outputs from a file: JSON lines, a JSON array, CSV, Excel, or another tool's."
    kind = "outputs"

    def add_arguments(self, parser):
        super().add_arguments(parser)
        human = {"action": "append", "default": [], "metavar": "NAME", "dest": "human_systems"}
        parser.add_argument("--human-system", **human, help="this system is human-written")
        parser.add_argument("--system", metavar="NAME", help="the system of all rows, if no column names it")
        columns = {"action": "append", "default": [], "metavar": "COLUMN", "dest": "systems"}
        parser.add_argument("--system-column", **columns, help="this column holds a system's outputs")
        parser.add_argument("--keep-columns", action="store_true", help="store unknown columns as metadata")
