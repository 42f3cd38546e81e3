import time

from annotation import jobs
from annotation.access import campaign_named
from core.commands import ServiceCommand
from core.errors import Refused
from evaluator.management.progress import ProgressBar
from evaluator.selectors import architecture, version_named
from leaderboard import tasks
from leaderboard.models import Tournament
from leaderboard.rating.rules import PAIRINGS, RATINGS, STOPS
from leaderboard.tournaments.start import readings, rules_named, start_tournament


class Command(ServiceCommand):
    help = "Play a tournament between the systems of a campaign and rate them. The default rating is Glicko-2."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument("--judge", required=True, choices=Tournament.Judge.values)
        parser.add_argument("--comparator", help="name of a version; default: the one promoted for this campaign")
        parser.add_argument("--criterion", help="people's criterion; '' for the judgments of pairs")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument(
            "--games", type=int, help="number of games to play, if there are so many; default: until the stopping rule"
        )
        parser.add_argument(
            "--rating", default="", choices=["", "paper", *RATINGS], help="paper: all rules of Zhou & Xu (2020)"
        )
        parser.add_argument("--ties", default="", help="half, drop, davidson (bradley-terry) or ratio0.1 (by-game)")
        parser.add_argument("--pairing", default="", choices=["", *PAIRINGS], help="again: with repeats, as in the paper")
        parser.add_argument(
            "--stop", default="", choices=["", *STOPS], help="parted: stop when neighbours in rank can be separated"
        )
        parser.add_argument("--level", default="system", choices=Tournament.Level.values, help="sample: single outputs play")
        parser.add_argument("--wait", action="store_true", help="play in this process instead of in a worker")

    def run(self, slug, judge, comparator, criterion, seed, games, rating, ties, pairing, stop, level, wait, **options):
        version = version_named(comparator) if comparator else None
        rules = rules_named(rating, ties, pairing, stop)
        tournament = start_tournament(
            campaign_named(slug), judge, version, criterion, seed, games, foreground=wait, rules=rules, level=level
        )
        if warning := tournament.settings["warning"]:
            self.progress(f"Warning: {warning}")
        if level == Tournament.Level.SAMPLE and architecture(tournament.version) == "joint":
            self.progress(f"The joint comparator reads at most {readings(tournament.campaign, games):,} pairs of outputs.")
        if not wait:
            return {"tournament": tournament.pk, **jobs.queued(tournament.job)}
        start = time.monotonic()
        try:
            with ProgressBar() as bar:
                tournament = tasks.run(tournament.job_id, watch=bar)
        except jobs.Cancelled:
            raise Refused("The tournament was cancelled.") from None
        return {
            "tournament": tournament.pk,
            "permalink": tournament.get_absolute_url(),
            "signature": tournament.signature,
            "judge": tournament.judge,
            "level": tournament.level,
            "comparator": tournament.version.name if tournament.version else None,
            "criterion": tournament.criterion,
            "games": tournament.played,
            "settled": tournament.settled,
            "ending": tournament.settings["ending"],
            "seconds": round(time.monotonic() - start, 1),
            "simulated": tournament.is_simulated,
            "warning": tournament.settings["warning"],
        }
