from annotation import jobs
from annotation.access import campaign_named
from core.commands import ServiceCommand
from leaderboard import tasks
from leaderboard.tournaments import active_selection


class Command(ServiceCommand):
    help = (
        "Queue the most informative pairs next. Only pairs that nobody has started are reordered. With --for systems, pairs"
        " that help most to order the systems come first, by people's answers so far. With --for"
        " comparator, pairs on which the members of the comparator disagree most come first."
    )

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument(
            "--for", dest="goal", choices=list(active_selection.TASKS), default="systems", help="default: systems"
        )
        parser.add_argument("--wait", action="store_true", help="run it in this process instead of in a worker")

    def run(self, slug, goal, wait, **options):
        job = active_selection.start(campaign_named(slug), foreground=wait, goal=goal)
        if wait:
            return tasks.order_pairs(job.pk)
        return jobs.queued(job)
