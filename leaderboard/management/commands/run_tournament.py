import time

from django.conf import settings

from annotation import jobs
from annotation.access import campaign_named
from annotation.checkpoints import of_newest_checkpoints
from annotation.models import Campaign, Output, Reference
from annotation.snapshots import latest_snapshot
from core.commands import ServiceCommand
from core.errors import Refused
from evaluator.judges.language_model import LanguageModelJudge
from evaluator.judges.protocol import Judge, meetings
from evaluator.management import named_judges
from evaluator.management.progress import ProgressBar
from evaluator.versions.selectors import architecture, basis, version_named
from leaderboard import tasks
from leaderboard.boards.queries import named_judge
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
        parser.add_argument(
            "--named", default="", metavar="JUDGE", help="with --judge other or calibrated: a metric, or imported scores"
        )
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
        named_judges.add_arguments(parser)

    def run(self, slug, judge, comparator, named, criterion, seed, games, rating, ties, pairing, stop, level, wait, **options):
        version, campaign = version_named(comparator) if comparator else None, campaign_named(slug)
        rules = rules_named(rating, ties, pairing, stop)
        brought = _brought(options, campaign, criterion, seed, wait)
        if options["forecast"]:
            return _forecast(campaign, brought)
        if brought:
            named = named or brought[0]
        tournament = start_tournament(
            campaign, judge, version, criterion, seed, games, foreground=wait, rules=rules, level=level, named=named
        )
        if warning := tournament.settings["warning"]:
            self.progress(f"Warning: {warning}")
        if level == Tournament.Level.SAMPLE and tournament.version and architecture(tournament.version) == "joint":
            self.progress(f"The joint comparator reads at most {readings(tournament.campaign, games):,} pairs of outputs.")
        if not wait:
            return {"tournament": tournament.pk, **jobs.queued(tournament.job)}
        start = time.monotonic()
        try:
            with ProgressBar() as bar:
                tournament = tasks.run(tournament.job_id, watch=bar, brought=brought and brought[1])
        except jobs.Cancelled:
            raise Refused("The tournament was cancelled.") from None
        return {
            "tournament": tournament.pk,
            "permalink": tournament.get_absolute_url(),
            "signature": tournament.signature,
            "judge": tournament.judge,
            "level": tournament.level,
            "comparator": tournament.version.name if tournament.version else None,
            "named_judge": named_judge(tournament),
            "criterion": tournament.criterion,
            "games": tournament.played,
            "settled": tournament.settled,
            "ending": tournament.settings["ending"],
            "seconds": round(time.monotonic() - start, 1),
            "simulated": tournament.is_simulated,
            "warning": tournament.settings["warning"],
        }


def _brought(options: dict, campaign: Campaign, criterion: str | None, seed: int, wait: bool) -> tuple[str, Judge] | None:
    """(name, judge) of a program or a language model that the options name."""
    snapshot = latest_snapshot(campaign)
    about = basis(snapshot, criterion).criterion if snapshot else criterion or ""
    references: dict[tuple[str, ...], list[str]] = {}
    for reference in Reference.objects.filter(context__campaign=campaign).select_related("context"):
        references.setdefault(tuple(reference.context.turns), []).append(reference.text)
    found = named_judges.judges(options, campaign, about, references, seed, settings.REPLIES_DIR / f"{campaign.slug}.jsonl")
    if len(found) > 1:
        raise Refused(f"A tournament has one judge. You named: {', '.join(name for name, _ in found)}.")
    if found and not (wait or options["forecast"]):
        raise Refused("Programs and language models play only in this process: add --wait.")
    return found[0] if found else None


def _forecast(campaign: Campaign, brought: tuple[str, Judge] | None) -> dict:
    """What a language model would cost if every two systems met on every context."""
    name, judge = brought or ("", None)
    if not isinstance(judge, LanguageModelJudge):
        raise Refused("--forecast needs a language model. Other judges cost nothing.")
    from evaluator.worker.judge import text_of

    outputs = of_newest_checkpoints(
        Output.objects.filter(context__campaign=campaign, replaced_at=None, system__retired_at=None).select_related(
            "context", "system", "checkpoint"
        )
    )
    a, b = meetings([output.context_id for output in outputs])
    forecast = judge.forecast([text_of(outputs[i]) for i in a], [text_of(outputs[i]) for i in b])
    return {"judge": name, "calls": forecast.calls, "cost": forecast.cost, "forecast": str(forecast)}
