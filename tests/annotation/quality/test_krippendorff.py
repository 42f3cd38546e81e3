import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from annotation.quality.chance_alpha import alpha_null
from annotation.quality.errors import UndefinedAgreement
from annotation.quality.krippendorff import LEVELS, alpha, alpha_from_counts, alpha_interval
from annotation.quality.scores import value_counts

NAN = np.nan
LIKERT = st.sampled_from([NAN, 1.0, 2.0, 3.0, 4.0, 5.0])

# Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", sections C and D: four observers, twelve units.
EXAMPLE = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
)


@pytest.mark.parametrize(("level", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)])
def test_krippendorffs_own_example(level, expected):
    assert alpha(EXAMPLE, level) == pytest.approx(expected, abs=5e-4)
    assert alpha_from_counts(*value_counts(EXAMPLE), level) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("level", LEVELS)
@given(scores=arrays(float, array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=7), elements=LIKERT))
def test_the_fast_formula_is_the_packages(level, scores):
    try:
        expected = alpha(scores, level)
    except UndefinedAgreement:
        return
    assert alpha_from_counts(*value_counts(scores), level) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
def test_drawing_a_unit_twice_is_having_it_twice(level):
    draws = np.random.default_rng(1).multinomial(12, np.full(12, 1 / 12))
    repeated = krippendorff.alpha(np.repeat(EXAMPLE, draws, axis=1), level_of_measurement=level)
    assert alpha_from_counts(*value_counts(EXAMPLE), level, weights=draws) == pytest.approx(repeated, abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
def test_the_interval_is_that_of_resampling_units_with_the_package(level):
    rng = np.random.default_rng(2)
    truth = rng.integers(1, 6, 80)
    scores = np.clip(truth + rng.integers(-1, 2, (4, 80)), 1, 5).astype(float)
    slow = [krippendorff.alpha(scores[:, rng.integers(80, size=80)], level_of_measurement=level) for _ in range(1000)]
    low, high = alpha_interval(scores, level, replicates=1000)
    assert (low, high) == pytest.approx(np.quantile(slow, [0.025, 0.975]), abs=0.03)
    assert low < alpha(scores, level) < high


def test_the_interval_is_the_same_for_the_same_seed():
    assert alpha_interval(EXAMPLE, seed=3) == alpha_interval(EXAMPLE, seed=3)
    assert alpha_interval(EXAMPLE, seed=3) != alpha_interval(EXAMPLE, seed=4)


def test_many_different_values_do_not_need_the_package(monkeypatch):
    expected = alpha(EXAMPLE, "ordinal")
    monkeypatch.setattr("annotation.quality.krippendorff.PACKAGE_CELLS", 0)
    assert alpha(EXAMPLE, "ordinal") == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [
        (np.empty((0, 0)), "There are no scores"),
        (np.full((3, 4), NAN), "There are no scores"),
        ([[1.0, 2.0, 3.0]], "Only one rater"),
        ([[1.0, 2.0], [NAN, NAN]], "Only one rater"),
        ([[1.0, NAN], [NAN, 2.0]], "No unit has scores from two raters"),
        (np.full((3, 4), 2.0), "All scores are equal"),
        ([[1.0, 3.0], [1.0, NAN]], "All scores are equal"),  # the 3 stands alone in its unit and cannot be paired
    ],
)
@pytest.mark.parametrize("measure", [alpha, alpha_interval])
def test_a_sentence_where_there_is_no_alpha(measure, scores, sentence):
    with pytest.raises(UndefinedAgreement, match=sentence):
        measure(scores)


def test_levels_are_checked():
    with pytest.raises(ValueError, match="nominal, ordinal, interval, ratio"):
        alpha(EXAMPLE, "likert")
    with pytest.raises(UndefinedAgreement, match="not negative"):
        alpha(-EXAMPLE, "ratio")


@given(arrays(float, array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=6), elements=LIKERT), st.randoms())
def test_names_of_raters_and_units_and_the_scales_unit_do_not_matter(scores, random):
    raters, units = list(range(scores.shape[0])), list(range(scores.shape[1]))
    random.shuffle(raters)
    random.shuffle(units)
    try:
        expected = alpha(scores, "interval")
    except UndefinedAgreement:
        return
    assert alpha(scores[raters][:, units], "interval") == pytest.approx(expected, abs=1e-9)
    assert alpha(10 * scores + 3, "interval") == pytest.approx(expected, abs=1e-9)


def test_without_outliers_chance_is_zero():
    # A threshold beyond every deviation drops nothing where MAD > 0; alpha of shuffled scores is 0 on average.
    scores = np.random.default_rng(0).permuted(np.tile(np.arange(200.0), (4, 1)), axis=1)
    mean, sd = alpha_null(scores, "interval", threshold=1e6, on_zero_mad="keep")
    assert abs(mean) < 0.02
    assert 0 < sd < 0.1


def test_the_chance_level_is_that_of_shuffling_with_numpy_and_the_package():
    rng = np.random.default_rng(5)
    scores = np.clip(rng.integers(1, 6, 60) + rng.integers(-1, 2, (3, 60)), 1, 5).astype(float)
    scores[1:][rng.random((2, 60)) < 0.2] = NAN
    alphas = []
    for _ in range(300):
        shuffled = np.array([np.where(np.isnan(row), NAN, 0.0) for row in scores])
        for new, row in zip(shuffled, scores):
            new[~np.isnan(row)] = rng.permutation(row[~np.isnan(row)])
        median = np.nanmedian(shuffled, axis=0)
        off = np.abs(shuffled - median)
        shuffled[off > 1.4826 * np.nanmedian(off, axis=0)] = NAN
        alphas.append(krippendorff.alpha(shuffled, level_of_measurement="interval"))
    mean, sd = alpha_null(scores, "interval", draws=300)
    assert mean == pytest.approx(np.mean(alphas), abs=4 * np.std(alphas) * np.sqrt(2 / 300))
    assert sd == pytest.approx(np.std(alphas), rel=0.25)


def test_dropping_what_disagrees_makes_agreement_out_of_nothing():
    # Three raters, two values: the majority is all that stays, so shuffled scores agree perfectly.
    scores = np.random.default_rng(0).integers(0, 2, (3, 100)).astype(float)
    assert alpha_null(scores, "nominal") == (1.0, 0.0)


@pytest.mark.parametrize("scores", [[[1.0, 2.0]], np.full((2, 3), 4.0), np.full((2, 2), NAN)])
def test_a_sentence_where_there_is_no_chance_level(scores):
    with pytest.raises(UndefinedAgreement, match="chance level"):
        alpha_null(scores)
