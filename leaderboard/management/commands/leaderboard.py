import argparse

from annotation.access import campaign_named
from core.commands import ServiceCommand
from leaderboard.asked import asked_of
from leaderboard.boards.exports import chance_in_percent
from leaderboard.boards.queries import board, latest, latest_or_refuse, with_lines
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
        return board(shown, people=latest(shown.campaign, Tournament.Basis.PEOPLE, shown.criterion))

    def show(self, result):
        print_ = self.stdout.write
        counts = f"{'games':>6}{'W':>6}{'T':>6}{'L':>6}{'people':>8}"
        head = f"{'system':<32}{'rating':>8}{'RD':>6}  {'95% interval':<15}{'best':>6}{counts}"
        print_(f"Judged by {result['judge_label']}, on {result['criterion'] or 'judgments of pairs'}.")
        print_(head)
        for row, line in with_lines(result["standings"]):
            if line:  # between clusters
                print_("-" * len(head))
            mean = "" if row["human_mean"] is None else f"{row['human_mean']:.2f}"
            name = row["system"] + (" (human)" if row["human_written"] else "")
            print_(
                f"{name:<32}{row['rating']:>8.0f}{row['rd']:>6.0f}  {row['low']:>6.0f}–{row['high']:<8.0f}"
                f"{chance_in_percent(row['best']):>6}{row['games']:>6}{row['wins']:>6}{row['ties']:>6}{row['losses']:>6}{mean:>8}"
            )
        agreement = result["agreement_with_people"] or {}
        for who in ("all", "generated"):
            if found := agreement.get(who):
                self.stdout.write(f"Spearman with people, {who} ({found['systems']} systems): {_said(found)}")
                if found["ceiling"]:
                    true, ceiling = _with_interval(found["true_spearman"]), _with_interval(found["ceiling"])
                    print_(f"  without noise {true}; ceiling {ceiling}")
        if worth := result.get("calibrated"):
            print_(worth["said"])
            if left_out := worth.get("left_out"):
                print_(f"{left_out:,} more are left out: the comparator learned from their contexts in other campaigns.")
        if gate := result["gate"]:
            print_(" ".join([gate["verdict"], *gate["reasons"]]))
        if result["ranks_said"]:
            print_(result["ranks_said"])
        if result["simulated"]:
            print_("Simulated data: judgments made by a program, not by people.")
        print_(result["signature"])


def _said(found: dict) -> str:
    if found["spearman"] is None:
        return found["reason"]
    interval = f" ({found['low']:.2f} to {found['high']:.2f})" if found["low"] is not None else f". {found['reason']}"
    return f"{found['spearman']:.2f}{interval}"


def _with_interval(estimate: dict) -> str:
    return f"{estimate['value']:.2f} ({estimate['low']:.2f} to {estimate['high']:.2f})"
