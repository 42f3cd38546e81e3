from annotation import jobs
from annotation.management.base import ServiceCommand, campaign_named
from leaderboard import asking, tasks


class Command(ServiceCommand):
    help = "Let people judge first the pairs that tell most about the order and that the comparator is unsure of."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument("--wait", action="store_true", help="do it here and now instead of asking a worker")

    def run(self, slug, wait, **options):
        job = asking.start(campaign_named(slug), foreground=wait)
        if wait:
            return tasks.order_pairs(job.pk)
        return {"task": str(job.pk), "status": "queued", "worker_alive": jobs.worker_alive()}
