"""The rule's verdicts, by hand from its three steps (annotation/quality/verdict.py), and on scores of known kinds."""

import numpy as np
import pytest

from annotation.quality.report import assess_scores
from annotation.quality.verdict import Evidence, decide

FILTERED = {"p": 0.01, "after": 0.95, "dropped": 50, "chance": 0.6}


@pytest.mark.parametrize(
    ("evidence", "verdict"),
    [
        (Evidence(0.85, 0.01, 0.85, dropped=0), "accepted"),
        (Evidence(0.70, 0.01, 0.70, dropped=0), "tentative"),
        (Evidence(0.66, 0.01, 0.66, dropped=0), "collect more"),
        (Evidence(0.85, 0.03, 0.85, dropped=0), "collect more"),  # shuffled scores reach it too often
        (Evidence(0.18, corrected=0.82, corrected_low=0.8, corrected_high=0.84, **FILTERED), "collect more"),
        (Evidence(0.70, corrected=0.90, corrected_low=0.8, corrected_high=0.95, **FILTERED), "tentative"),
        (Evidence(0.85, corrected=0.75, corrected_low=0.7, corrected_high=0.79, **FILTERED), "tentative"),  # surely lower
        (Evidence(0.85, corrected=0.75, corrected_low=0.7, corrected_high=0.81, **FILTERED), "accepted"),  # perhaps not
        (Evidence(0.85, 0.01, 1.0, dropped=9, chance=1.0), "accepted"),  # shuffled scores can't disagree either
    ],
)
def test_each_step_of_the_rule(evidence, verdict):
    given, reason = decide(evidence)
    assert given == verdict
    assert f"Alpha is {evidence.before:.3f} before the filter" in reason and reason.endswith(".")


@pytest.mark.long
@pytest.mark.parametrize(("errors", "verdict"), [(1.25, "collect more"), (0.12, "accepted"), (0.35, "tentative")])
def test_a_filter_buys_nothing(errors, verdict):
    """Alpha of a true variance of 1 with independent errors is 1 / (1 + their variance): about .44, .89 and .74. Rounded to
    tenths, which adds 0.1^2 / 12 to the errors, since the time grows with the number of different values."""
    rng = np.random.default_rng(0)
    scores = (rng.normal(size=300) + np.sqrt(errors) * rng.normal(size=(3, 300))).round(1)
    report = assess_scores(scores, "interval")
    assert report.alpha_before == pytest.approx(1 / (1 + errors), abs=0.1)
    assert report.alpha_after > report.alpha_before and report.verdict == verdict


@pytest.mark.long
def test_noise_is_not_accepted():
    """At most 2.5% may be, of campaigns so small that alpha reaches 0.8 by luck: 5 of 200 and three standard errors."""
    lucky = accepted = 0
    for seed in range(200):
        scores = np.random.default_rng(seed).integers(1, 4, (2, 4)).astype(float)
        report = assess_scores(scores, "interval", replicates=20)
        lucky += (report.alpha_before or 0.0) >= 0.8
        accepted += report.verdict == "accepted"
    assert lucky > 0 and accepted <= 5 + 3 * np.sqrt(200 * 0.025 * 0.975)


def test_usr_overall_is_tentative_at_best(shared_scores):
    """Alpha .66 before the filter, .89 after it, of which chance gives .69 (tests/golden/SOURCES.md)."""
    report = assess_scores(shared_scores("usr_topical_chat", "Overall"), "interval")
    assert report.verdict == "collect more" and "0.661 before the filter" in report.reason
