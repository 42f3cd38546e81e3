import json

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from annotation.outcome import Outcome
from annotation.quality.gwet import gwet_ac
from annotation.quality.kappa import fleiss_kappa
from annotation.quality.report import assess_judgments, assess_scores
from annotation.quality.scores import scale_counts, value_counts

NAN = np.nan


def json_of(report):
    return json.loads(json.dumps(report.as_dict(), allow_nan=False))


@pytest.mark.parametrize(
    ("name", "aspect", "choice", "scores", "kept", "before", "after", "null"),
    [  # computed independently with the krippendorff package and Leys' formula; see tests/golden/SOURCES.md
        ("usr_topical_chat", "Overall", "drop", 1080, 863, 0.661, 0.893, 0.69),
        ("usr_topical_chat", "Overall", "keep", 1080, 1053, 0.661, 0.735, None),
        ("grade_dailydialog", "coherence", "drop", 2990, None, 0.084, 0.594, 0.44),
    ],
)
def test_real_scores(shared_scores, name, aspect, choice, scores, kept, before, after, null):
    report = assess_scores(shared_scores(name, aspect), "interval", 1.0, choice)
    assert report.scores == scores
    assert kept is None or report.kept == kept
    assert report.alpha_before == pytest.approx(before, abs=0.002)
    assert report.alpha_after == pytest.approx(after, abs=0.002)
    assert report.alpha_after_low < report.alpha_after < report.alpha_after_high
    if null is not None:
        assert report.alpha_null_mean == pytest.approx(null, abs=0.02)
        assert report.alpha_null_sd == pytest.approx(0.03, abs=0.01)


def test_real_judgments(shared_choices):
    report = assess_judgments(shared_choices("pandalm"))
    assert (report.units, report.raters) == (691, 3)
    assert report.alpha == pytest.approx(0.861, abs=0.002)
    assert report.alpha_low < report.alpha < report.alpha_high
    assert report.verdict == "accepted"


def test_every_field_of_a_report_by_hand():
    # Two raters who differ once in four units. Interval: observed disagreement 2 x 1 / 8, expected 2 x 15 / 56 (values
    # 1, 1, 1, 2, 2, 2, 2, 2: 3 x 5 mixed pairs): alpha = 1 - 0.25 x 56 / 30 = 8/15. Unit 3 has MAD 0.5: none dropped.
    # AC: chance is 2 x 3/8 x 5/8 = 15/32, so it is (3/4 - 15/32) / (17/32) = 9/17; with two points weights change nothing.
    report = assess_scores([[1, 2, 1, 2], [1, 2, 2, 2]], "interval")
    assert json_of(report) == {
        "raters": 2,
        "units": 4,
        "scores": 8,
        "kept": 8,
        "ac1": pytest.approx(9 / 17),
        "ac1_low": report.ac1_low,
        "ac1_high": report.ac1_high,
        "ac2": pytest.approx(9 / 17),
        "ac2_low": report.ac2_low,
        "ac2_high": report.ac2_high,
        "ac2_weights": "quadratic",
        "alpha_before": pytest.approx(8 / 15),
        "alpha_before_low": report.alpha_before_low,
        "alpha_before_high": report.alpha_before_high,
        "chance_p": report.chance_p,
        "alpha_after": pytest.approx(8 / 15),
        "alpha_after_low": report.alpha_after_low,
        "alpha_after_high": report.alpha_after_high,
        "alpha_null_mean": report.alpha_null_mean,
        "alpha_null_sd": report.alpha_null_sd,
        "alpha_corrected": pytest.approx(1 - (7 / 15) / (1 - report.alpha_null_mean)),
        "alpha_corrected_low": report.alpha_corrected_low,
        "alpha_corrected_high": report.alpha_corrected_high,
        "fleiss_kappa": pytest.approx((3 / 4 - 34 / 64) / (1 - 34 / 64)),
        "cohen_kappa_mean": pytest.approx((3 / 4 - 1 / 2) / (1 - 1 / 2)),
        "percent_agreement": 0.75,
        "verdict": "collect more",
        "reason": report.reason,
        "outlook": [one.as_dict() for one in report.outlook],
        "asks": "truth",
        "rule": "agreement",
        "reliability": None,
        "not_reliable": "",
    }
    assert report.keep.all()
    assert report.ac1_low <= report.ac1 <= report.ac1_high and (report.ac1_low, report.ac1_high) == (
        report.ac2_low,
        report.ac2_high,
    )
    assert report.alpha_before_low <= report.alpha_before <= report.alpha_before_high
    assert report.alpha_corrected_low <= report.alpha_corrected <= report.alpha_corrected_high
    assert 0 < report.chance_p < 1


def test_the_outlook_is_that_of_the_alpha_that_decides():
    # Coin flips agree perfectly after the filter, but alpha before it decides: more judgments would not help.
    report = assess_scores(np.random.default_rng(0).integers(0, 2, (3, 200)).astype(float))
    assert [(one.line, one.units) for one in report.outlook] == [(0.667, None), (0.8, None)]
    truth = np.random.default_rng(0).integers(0, 2, 200).astype(float)
    assert [one.units for one in assess_scores(np.tile(truth, (3, 1))).outlook] == [0, 0]
    assert assess_scores([[1.0, 2.0]]).outlook == ()


def test_what_the_filter_alone_made_is_not_accepted():
    # Coin flips of three raters: after the filter everyone agrees, and so do shuffled scores.
    report = assess_scores(np.random.default_rng(0).integers(0, 2, (3, 200)).astype(float))
    assert (report.alpha_after, report.alpha_null_mean) == (1.0, 1.0)
    assert report.verdict == "collect more"
    assert report.reason.startswith("Alpha is 0.050 before the filter") and "1.000 if scores are shuffled" in report.reason


def test_raters_who_agree_without_the_filter_are_accepted():
    truth = np.random.default_rng(0).integers(0, 2, 200).astype(float)
    report = assess_scores(np.tile(truth, (3, 1)))
    assert (report.alpha_before, report.verdict) == (1.0, "accepted")


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [
        (np.empty((0, 0)), "There are no scores."),
        ([[1.0, 2.0, 3.0]], "Only one rater gave scores, so there is nobody to agree with."),
        (np.full((3, 5), 4.0), "All scores are equal, so agreement beyond chance is not defined."),
        ([[1.0, NAN], [NAN, 2.0]], "No unit has scores from two raters."),
        ([[3.0, NAN], [NAN, NAN]], "Only one rater gave scores, so there is nobody to agree with."),
    ],
)
def test_degenerate_scores_and_choices_give_a_sentence(scores, sentence):
    report = assess_scores(scores)
    assert (report.verdict, report.reason, report.alpha_after) == ("undefined", sentence, None)
    assert json_of(report)["alpha_null_mean"] is None
    choices = assess_judgments(np.minimum(scores, 1))  # all ties, where they are all equal
    assert (choices.verdict, choices.alpha) == ("undefined", None)
    json_of(choices)


def test_zero_mad_everywhere():
    scores = np.array([[1, 2, 3, 4], [1, 2, 3, 4], [2, 2, 3, 5]], dtype=float)
    dropped, kept = assess_scores(scores), assess_scores(scores, on_zero_mad="keep")
    assert (dropped.kept, dropped.alpha_after) == (10, 1.0)
    assert (kept.kept, kept.alpha_after) == (12, kept.alpha_before)


@settings(max_examples=40, deadline=None)
@given(arrays(float, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.sampled_from([NAN, 1.0, 2.0, 5.0])))
def test_any_scores_give_a_report_that_is_json(scores):
    report = assess_scores(scores, draws=5, replicates=10)
    assert report.verdict in ("accepted", "tentative", "collect more", "undefined")
    assert json_of(report)["reason"].endswith(".")
    assert (report.alpha_after is None) == (report.verdict == "undefined")


def test_unknown_choices_are_refused():
    with pytest.raises(ValueError, match="0, 1, 2"):
        assess_judgments([[0.0, 3.0]])


def test_pairs_count_in_both_orders():
    """As other implementations have it for the judgments and the same judgments with their sides exchanged, so that no figure
    depends on which system of a pair is called the first."""
    rng = np.random.default_rng(7)
    wins = rng.random(80) < 0.9  # nearly always the same system, of the pairs that it is in
    choices = np.where(rng.random((3, 80)) < 0.8, np.where(wins, 0.0, 2.0), 1.0)
    choices[rng.random(choices.shape) < 0.1] = NAN
    report, doubled = assess_judgments(choices), np.hstack([choices, 2 - choices])
    assert report.alpha == pytest.approx(krippendorff.alpha(doubled, level_of_measurement="nominal", value_domain=[0, 1, 2]))
    assert report.ac1 == pytest.approx(gwet_ac(*scale_counts(doubled, [0, 1, 2])))
    assert report.fleiss_kappa == pytest.approx(fleiss_kappa(value_counts(doubled)[0]))
    exchanged = np.where(rng.random(80) < 0.5, choices, 2 - choices)  # half of the systems' names change their order
    before, after = json_of(report), json_of(assess_judgments(exchanged))
    assert before.pop("outlook") == after.pop("outlook")
    assert before == pytest.approx(after)
    one = assess_judgments(np.zeros((2, 9)))
    assert (one.alpha, one.cohen_kappa_mean) == (1.0, 1.0)  # who agree on the better one agree, whatever it is called


def test_swapping_sides_changes_no_agreement():
    choices = np.random.default_rng(0).integers(0, 3, (3, 60)).astype(float)
    swapped, straight = json_of(assess_judgments(2 - choices)), json_of(assess_judgments(choices))
    assert swapped.pop("outlook") == straight.pop("outlook")
    assert swapped == pytest.approx(straight)


def test_outcomes_swap_and_have_codes():
    assert [outcome.swap() for outcome in Outcome] == [Outcome.B, Outcome.TIE, Outcome.A]
    assert [outcome.points for outcome in Outcome] == [1.0, 0.5, 0.0]
    assert [outcome.code for outcome in Outcome] == [0, 1, 2]
    assert all(outcome.points + outcome.swap().points == 1 for outcome in Outcome)
    assert Outcome("tie") is Outcome.TIE
