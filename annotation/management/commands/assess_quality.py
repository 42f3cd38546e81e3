import argparse

from annotation.access import campaign_named
from annotation.assessment.assess import LEVELS, as_dict, assess
from core.commands import ServiceCommand


def threshold(text: str) -> float | None:
    """A number, or none."""
    try:
        return None if text == "none" else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor 'none'") from None


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

    def run(self, slug, mad, level, on_zero_mad, **options):
        return as_dict(assess(campaign_named(slug), mad=mad, level=level, on_zero_mad=on_zero_mad))
