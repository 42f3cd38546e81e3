from django.core.management.base import BaseCommand

from annotation import jobs, tasks


class Command(BaseCommand):
    help = "Read the uploaded file of a job that waits. Workers start it for large files."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser):
        parser.add_argument("job")

    def handle(self, *args, job, **options):
        jobs.task_body(tasks.read_file)(job)
