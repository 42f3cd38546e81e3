"""docs/judges/metrics.md has the metrics that the registry has."""

import re
from pathlib import Path

from evaluator.metrics.registry import METRICS

PAGE = Path(__file__).resolve().parents[3] / "docs/judges/metrics.md"


def rows() -> dict[str, tuple[str, str, str]]:
    return {name: (", ".join(sorted(metric.needs)), metric.describe, metric.source) for name, metric in METRICS.items()}


def test_the_page_has_every_metric_as_the_registry_describes_it():
    listed = re.findall(r"^\| `([^`]+)` \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$", PAGE.read_text(encoding="utf-8"), re.M)
    assert {name: tuple(cells) for name, *cells in listed} == rows()
