from annotation import jobs
from annotation.access import campaign_named
from core.commands import ServiceCommand
from leaderboard import tasks
from leaderboard.tournaments import active_selection


class Command(ServiceCommand):
    help = (
        "Let people judge first, of the pairs that nobody has begun, those that tell most about the order of the systems and of"
        " which the comparator is not sure, or those that would teach the comparator most."
    )

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument(
            "--for", dest="goal", choices=list(active_selection.TASKS), default="systems", help="default: systems"
        )
        parser.add_argument("--wait", action="store_true", help="do it here and now instead of asking a worker")

    def run(self, slug, goal, wait, **options):
        job = active_selection.start(campaign_named(slug), foreground=wait, goal=goal)
        if wait:
            return tasks.order_pairs(job.pk)
        return jobs.queued(job)
