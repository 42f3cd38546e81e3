import argparse
import time

from annotation import jobs
from annotation.access import campaign_named
from annotation.checkpoints import of_newest_checkpoints
from annotation.models import Campaign, Output
from annotation.snapshots import latest_snapshot
from core.commands import ServiceCommand
from core.errors import Refused
from evaluator.judges.pairwise_model import LanguageModelJudge
from evaluator.judges.pointwise_model import LanguageModelScorer
from evaluator.judges.protocol import meetings
from evaluator.management import judge_options
from evaluator.management.progress import ProgressBar
from evaluator.models import ComparatorVersion, Judge
from evaluator.roster import judge_named, judge_of
from evaluator.versions.selectors import architecture, by_default
from evaluator.versions.selectors import basis as what_counts
from leaderboard import tasks
from leaderboard.asked import asked_of
from leaderboard.boards import queries
from leaderboard.boards.tree import to_json
from leaderboard.models import Tournament
from leaderboard.rating.rules import PAIRINGS, RATINGS, STOPS
from leaderboard.tournaments.start import readings, rules_named, start_tournament


class Command(ServiceCommand):
    help = "Play a tournament between the systems of a campaign and rate them. The default rating is Glicko-2."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument(
            "--basis", default="", help="people, judge (default where one is named), or corrected: people by a judge"
        )
        parser.add_argument(
            "--judge",
            default="",
            metavar="NAME",
            help="a comparator, a metric, imported judgments, or what an option below sets up; default: the comparator in use",
        )
        parser.add_argument("--comparator", default="", help=argparse.SUPPRESS)
        parser.add_argument("--named", default="", help=argparse.SUPPRESS)
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
        parser.add_argument("--only-kept", action="store_true", help="with --basis people: only what the filter kept")
        parser.add_argument("--wait", action="store_true", help="play in this process instead of in a worker")
        judge_options.add_arguments(parser)
        judge_options.add_model_arguments(parser)

    def run(self, slug, criterion, seed, games, rating, ties, pairing, stop, level, wait, only_kept, **options):
        campaign = campaign_named(slug)
        rules = rules_named(rating, ties, pairing, stop)
        if options["forecast"]:
            return _forecast(campaign, options, criterion, seed)
        basis, judge = _who_judges(campaign, options)
        asked = dict(foreground=wait, rules=rules, level=level, only_kept=only_kept)
        tournament = start_tournament(campaign, basis, judge, criterion, seed, games, **asked)
        chosen = by_default(tournament.snapshot, tournament.criterion) if criterion is None else ""
        said = {"chosen": chosen} if chosen else {}
        if level == Tournament.Level.SAMPLE and tournament.version and architecture(tournament.version) == "joint":
            self.progress(f"The joint comparator reads at most {readings(tournament.campaign, games):,} pairs of outputs.")
        if not wait:
            return {
                **said,
                "tournament": tournament.pk,
                **jobs.queued(tournament.job),
                "warning": tournament.settings["warning"],
            }
        start = time.monotonic()
        try:
            with ProgressBar() as bar:
                tournament = tasks.run(tournament.job_id, watch=bar)
        except jobs.Cancelled:
            raise Refused("The tournament was cancelled.") from None
        return {
            **said,
            "tournament": tournament.pk,
            "permalink": tournament.get_absolute_url(),
            "signature": tournament.signature,
            "basis": tournament.basis,
            "judge": to_json(queries.alone(tournament).basis.judge),
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


def _who_judges(campaign: Campaign, options: dict) -> tuple[str, Judge | None]:
    """(basis, judge) that the options name; one that they set up plays from then on without them."""
    asked = asked_of(options)
    metrics = judge_options.metrics_of(options, [asked.judge]) if judge_options.models_of(options) else []
    name = "" if metrics or asked.judge in ("", *(o.name for o in judge_options.options_of(options, campaign))) else asked.judge
    brought = judge_options.set_up_judges(options, campaign, name, metrics)
    if len(brought) > 1:
        raise Refused(f"A tournament has one judge. You named: {', '.join(judge.name for judge in brought)}.")
    if brought:
        return asked.basis or Tournament.Basis.JUDGE, brought[0]
    if not asked.basis:
        raise Refused("Say who judges: --basis people, or --judge NAME.")
    if not asked.judge:
        return asked.basis, None
    elsewhere = ComparatorVersion.objects.filter(name=asked.judge, retired_at=None).first()
    if elsewhere and not campaign.judges.filter(name=asked.judge).exists():
        return asked.basis, judge_of(campaign, elsewhere)  # of another campaign too
    return asked.basis, judge_named(campaign, asked.judge)


def _forecast(campaign: Campaign, options: dict, criterion: str | None, seed: int) -> dict:
    """What a language model would cost if every two systems met on every context."""
    snapshot = latest_snapshot(campaign)
    about = what_counts(snapshot, criterion).criterion if snapshot else criterion or ""
    found = judge_options.players(options, campaign, about, seed)
    name, judge = found[0] if len(found) == 1 else ("", None)
    if not isinstance(judge, LanguageModelJudge | LanguageModelScorer):
        raise Refused("--forecast needs a language model. Other judges cost nothing.")
    from evaluator.trainings.sources import referenced_outputs

    outputs = of_newest_checkpoints(
        Output.objects.filter(context__campaign=campaign, replaced_at=None, system__retired_at=None).select_related(
            "context", "system", "checkpoint"
        )
    )
    a, b = meetings([output.context_id for output in outputs])
    texts = referenced_outputs(campaign, list(outputs))
    forecast = judge.forecast_on(texts, list(zip(a.tolist(), b.tolist())))
    return {"judge": name, "calls": forecast.calls, "cost": forecast.cost, "forecast": str(forecast)}
