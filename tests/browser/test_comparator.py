"""The comparators' page and a comparator's card in a browser, with every section that a card can have."""

import pytest

from evaluator.models import ComparatorVersion
from tests.browser.axe import assert_axe_clean
from tests.browser.conftest import sign_in

PAIRWISE = {"accuracy": 0.6, "low": 0.52, "high": 0.68, "pairs": 310}
CORRELATION = {
    "pearson": 0.41,
    "pearson_interval": [0.3, 0.5],
    "spearman": 0.4,
    "spearman_interval": [0.29, 0.5],
    "outputs": 360,
    "contexts": 60,
}
JUDGE = {"pairwise": PAIRWISE, "correlation": CORRELATION}
CALIBRATION = {"error": 0.031, "low": 0.02, "high": 0.06, "pairs": 812}
METRICS = {
    "heldout_pairwise_accuracy": 0.755,
    "heldout_pairwise_interval": [0.709, 0.803],
    "heldout_three_way_accuracy": 0.61,
    "longer_is_better_accuracy": 0.662,
    "pairs": 812,
    "contexts": 60,
    "texts": 360,
    "seconds": 300.0,
    "tie_threshold": 0.2,
    "sources": {"scores": 863, "judgments": 0},
    "cut_contexts": 12,
    "cut_outputs": 3,
    "longer": PAIRWISE,
    "ceilings": {
        "scored": {
            "scores": {
                "pairwise_accuracy": 0.83,
                "pairwise_interval": [0.8, 0.86],
                "pairs": 2000,
                "pearson": 0.71,
                "spearman": 0.7,
            }
        }
    },
    "ties": {
        "macro_f1": 0.42,
        "rate": 0.07,
        "above_never": [0.05, 0.01, 0.1],
        "above_majority": [0.16, 0.1, 0.22],
        "above_random": [0.04, 0.0, 0.09],
    },
    "calibration": CALIBRATION,
    "calibration_error": 0.031,
    "correlations": [{"campaign": "scored", **CORRELATION}],
    "reliability": [{"said": 0.55, "right": 0.52, "n": 200}, {"said": 0.72, "right": 0.7, "n": 90}],
    "flips": {"share": 0.0, "low": 0.0, "high": 0.0, "n": 200},
    "peak_memory": 1_410_000_000,
    "measuring_seconds": 71.0,
    "criteria": [
        {"name": "Overall", "accuracy": 0.755, "low": 0.709, "high": 0.803, "clear_pairs": 310, "longer": 0.662, "scale": 1.8},
        {"name": "Relevance", "accuracy": 0.731, "low": 0.68, "high": 0.78, "clear_pairs": 290, "longer": 0.64, "scale": 1.7},
    ],
    "attacks": [
        {"attack": "parroted", "other_words": words, "share": 0.9, "low": 0.84, "high": 0.95, "n": 120, "answers": 100}
        for words in (False, True)
    ],
    "transfer": [
        {
            "campaign": "elsewhere",
            "title": "Other talk",
            "criterion": "Overall",
            "snapshot": "0a1b2c3d4e5f",
            "similarity": 0.31,
            "simulated": True,
            "outputs": 300,
            "of_outputs": 900,
            "contexts": 60,
            "pairs": 310,
            "calibration": CALIBRATION,
            "comparator": JUDGE,
            "longer": {"pairwise": PAIRWISE, "correlation": None},
            "cosine": JUDGE,
        }
    ],
    "not_measured": [{"campaign": "more", "title": "More talk", "why": "The scores of Overall are not accepted."}],
}
HERE = {
    "confidence": {"kind": "here", "as_it_came": CALIBRATION | {"error": 0.204, "high": 0.25}, **CALIBRATION},
    "refit": {"scale": 0.4371, "theta": 0.2, "tie_threshold": 0.1, "snapshot": "0a1b2c3d4e5f", "pairs": 812},
    "attacks": METRICS["attacks"],
}
EMPTY = {k: v for k, v in METRICS.items() if k in ("heldout_pairwise_accuracy", "heldout_pairwise_interval", "seconds")}


@pytest.fixture
def version(scores):
    version = ComparatorVersion.objects.create(
        name="scored-overall-0a1b2c3d",
        criterion="Overall",
        settings={"epochs": 3, "sources": {}},
        seed=1,
        code="0.1",
        snapshots=["0" * 64],
        metrics=METRICS,
        measured_here={scores.campaign.slug: HERE},
        warning="The scores of Overall are not accepted: alpha is 0.55.",
        gates={scores.campaign.slug: [{"question": "Better than chance?", "passed": False, "answer": "Hardly: 51%."}]},
    )
    version.campaigns.add(scores.campaign)
    return version


@pytest.fixture
def old(version):
    """A card from before anything but accuracy was measured."""
    old = ComparatorVersion.objects.create(
        name="scored-old", settings={}, seed=0, code="0", snapshots=[], metrics=EMPTY, criterion=""
    )
    old.campaigns.add(version.campaigns.get())
    return old


@pytest.mark.parametrize("width", [360, 1280])
def test_the_pages_are_clean_and_nothing_hangs_over_the_side(open_page, scores, version, old, width):
    page = open_page(viewport={"width": width, "height": 900})
    sign_in(page, "alice")
    for path in ("", f"{version.name}/", f"{old.name}/"):
        page.goto(f"/c/{scores.campaign.slug}/comparator/{path}")
        assert_axe_clean(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_promoting_against_the_gate_asks_why(open_page, scores, version):
    page = open_page()
    sign_in(page, "alice")
    page.goto(f"/c/{scores.campaign.slug}/comparator/")
    page.get_by_role("link", name=version.name).click()
    page.get_by_label("Reason for promoting it although it failed the gate").fill("It is all we have.")
    page.get_by_role("button", name="Promote").click()
    page.get_by_text("is now in use in this campaign").wait_for()
    assert page.get_by_text("It is all we have.").is_visible()
    page.get_by_role("button", name="Retire").click()
    page.get_by_text("is retired").wait_for()
    assert page.get_by_role("button", name="Promote").count() == 0
