import argparse

from annotation.access import campaign_named
from annotation.assessment.asked_for import question_named, set_aim
from annotation.assessment.assess import LEVELS, VERDICTS, as_dict, assess
from annotation.assessment.dependence import group_by, notes
from core.commands import ServiceCommand


def threshold(text: str) -> float | None:
    """A number, or none."""
    try:
        return None if text == "none" else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor 'none'") from None


def aim(text: str) -> tuple[str, str]:
    """A question and what it asks for, from QUESTION=truth."""
    name, equals, wanted = text.rpartition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not QUESTION=truth or QUESTION=taste")
    return name, wanted


class Command(ServiceCommand):
    help = "Filter outliers, measure agreement, decide on each criterion, and freeze a snapshot."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("slug")
        parser.add_argument(
            "--mad", type=threshold, default=1.0, help="MAD threshold (Leys et al. 2013), or 'none' for no filter"
        )
        parser.add_argument("--level", default="ordinal", choices=LEVELS, help="level of measurement for alpha")
        parser.add_argument("--on-zero-mad", default="drop", choices=["drop", "keep"], help="scores off the median at MAD 0")

        parser.add_argument(
            "--verdict",
            default="",
            choices=VERDICTS[1:],
            help="zhao-2020: alpha after the filter alone, as Zhao et al. (2020); default: what fits each question",
        )
        parser.add_argument(
            "--asks",
            action="append",
            type=aim,
            default=[],
            metavar="QUESTION=truth|taste",
            help="what a question (a criterion, Pairs, or 'CRITERION (pairs)') asks for, from now on; may be repeated",
        )
        parser.add_argument("--reason", default="", help="why it asks for that")

        parser.add_argument(
            "--group-by",
            dest="grouping",
            default="",
            metavar="text|copies|none|FIELD",
            help="group contexts by their text or a field of their metadata; copies (default): those with the same text and"
            " outputs; none: take back all groups made so",
        )

    def run(self, slug, mad, level, on_zero_mad, verdict, asks, reason, grouping, **options):
        campaign = campaign_named(slug)
        for name, wanted in asks:
            set_aim(campaign, question_named(campaign, name), wanted, None, reason)
        if grouping:
            group_by(campaign, grouping)
        frozen = assess(campaign, mad=mad, level=level, on_zero_mad=on_zero_mad, verdict=verdict)
        found = [note.as_dict() for note in notes(campaign)]
        for note in found:
            self.progress(note["sentence"])
        return {**as_dict(frozen), "dependence": found}

    def show(self, result):
        """A paragraph for each question; all its figures are in --json, and on the page Quality."""
        simulated = " (simulated data)" if result["simulated"] else ""
        self.stdout.write(f"snapshot: {result['snapshot']}{simulated}")
        on_pairs = [{**one, "name": f"{one['name']} (pairs)"} for one in result["pairwise_by_criterion"]]
        whole = [{"name": "Pairs", **result["pairwise"]}] if result["pairwise"] else []
        for found in [*result["criteria"], *whole, *on_pairs]:
            self.stdout.write(f"{found['name']}: {found['verdict']}. {found['reason']}")
            for line in dict.fromkeys(one["sentence"] for one in found.get("outlook") or ()):
                self.stdout.write(f"  {line}")
            if found["overruled"]:
                self.stdout.write(f"  Overruled: {found['overruled']}")
        for mark in result["marks"]:
            self.stdout.write(f"Since then: {mark}")
