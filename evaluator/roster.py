"""Which judges a campaign has, besides people. Reads and writes rows; never needs torch."""

from annotation.models import Campaign
from evaluator.judge_tables.imports import judges_of
from evaluator.metrics.registry import METRICS


def judges_by_name(campaign: Campaign) -> list[str]:
    """Judges that are no comparator and need nothing but their name: metrics, and those whose scores were imported."""
    return [*METRICS, *judges_of(campaign)]
