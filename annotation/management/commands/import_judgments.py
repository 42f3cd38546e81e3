from annotation.management.import_command import AnswersCommand


class Command(AnswersCommand):
    help = "Import people's judgments of pairs from a file: JSON lines, a JSON array, CSV, Excel, or another tool's."
    kind = "judgments"
