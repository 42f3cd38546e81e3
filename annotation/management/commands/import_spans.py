from annotation.management.import_command import AnswersCommand


class Command(AnswersCommand):
    help = "Import errors that people marked from a file: JSON lines, a JSON array, CSV, Excel, WMT's MQM, or Appraise's ESA."
    kind = "spans"
