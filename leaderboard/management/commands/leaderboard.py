import argparse

from annotation.access import campaign_named
from core.commands import ServiceCommand
from leaderboard.asked import asked_of
from leaderboard.boards.exports import as_json, as_text
from leaderboard.boards.queries import board, chosen_by_default, latest, latest_or_refuse
from leaderboard.models import Tournament


class Command(ServiceCommand):
    help = "Print the newest board of a campaign."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument(
            "--basis",
            default="",
            help="people, judge, or corrected (people by a judge); default: the board that the page opens on",
        )
        parser.add_argument("--judge", default="", metavar="NAME", help="default: any comparator")
        parser.add_argument("--named", default="", help=argparse.SUPPRESS)  # as before, like this one
        parser.add_argument("--calibrated", dest="basis", action="store_const", const="corrected", help=argparse.SUPPRESS)
        parser.add_argument("--criterion", help="people's criterion; '' for the judgments of pairs")

    def run(self, slug, criterion, **options):
        shown = latest_or_refuse(campaign_named(slug), asked_of(options), criterion)
        self.shown = board(shown, people=latest(shown.campaign, Tournament.Basis.PEOPLE, shown.criterion))
        self.chosen = chosen_by_default(shown, criterion)
        return {"chosen": self.chosen, **as_json(self.shown)} if self.chosen else as_json(self.shown)

    def show(self, result):
        if self.chosen:
            self.stdout.write(self.chosen)
        self.stdout.write(as_text(self.shown))
