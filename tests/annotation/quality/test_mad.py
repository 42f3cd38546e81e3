import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from annotation.quality.mad import keep_mask

NAN = np.nan


def column(*values):
    return np.array(values, dtype=float)[:, None]


def test_the_worked_example_of_leys():
    # Leys et al. 2013, section 2.1: median 7, MAD 5.1891; with threshold 3 only 1000 is an outlier.
    scores = column(1, 3, 3, 6, 8, 10, 10, 1000)
    assert keep_mask(scores, threshold=3).ravel().tolist() == [True] * 7 + [False]
    # |x - 7| <= 5.1891 holds for all but 1 (6 away) and 1000.
    assert keep_mask(scores, threshold=1).ravel().tolist() == [False] + [True] * 6 + [False]


def test_each_unit_has_its_own_median():
    # Unit 1: median 2, MAD 1, limit 1.4826 keeps 1, 2, 3. Unit 2: median 4, MAD 1 (of 0, 3, 1) keeps 4, 5.
    scores = np.array([[1, 4], [2, 1], [3, 5]], dtype=float)
    assert keep_mask(scores).tolist() == [[True, True], [True, False], [True, True]]


def test_zero_mad_drops_what_is_off_the_median_or_keeps_all():
    scores = column(4, 4, 5)
    assert keep_mask(scores, on_zero_mad="drop").ravel().tolist() == [True, True, False]
    assert keep_mask(scores, on_zero_mad="keep").ravel().tolist() == [True, True, True]


def test_missing_scores_are_never_kept_and_never_count():
    scores = np.array([[1, NAN, NAN], [NAN, NAN, 5], [2, NAN, 5], [9, NAN, 1]])
    for choice in ("drop", "keep"):
        assert keep_mask(scores, on_zero_mad=choice)[:, 1].tolist() == [False] * 4
        assert not keep_mask(scores, on_zero_mad=choice)[1, 0]
    # Unit 1: median 2, MAD 1 (of 1, 0, 7); unit 3: median 5, MAD 0.
    assert keep_mask(scores).tolist() == [[True, False, False], [False, False, True], [True, False, True], [False] * 3]


def test_a_lone_score_is_kept():
    assert keep_mask([[3.0, NAN]]).tolist() == [[True, False]]


@pytest.mark.parametrize("threshold", [0, -1, NAN, np.inf])
def test_a_threshold_is_a_positive_number(threshold):
    with pytest.raises(ValueError, match="positive number"):
        keep_mask([[1.0]], threshold=threshold)


def test_other_bad_input_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match="drop, keep"):
        keep_mask([[1.0]], on_zero_mad="ignore")
    with pytest.raises(ValueError, match="finite"):
        keep_mask([[np.inf]])
    with pytest.raises(ValueError, match="raters by units"):
        keep_mask([1.0, 2.0])


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_no_scores_give_an_empty_mask(shape):
    assert keep_mask(np.empty(shape)).shape == shape


LIKERT = st.sampled_from([NAN, 1.0, 2.0, 3.0, 4.0, 5.0])


@given(arrays(float, array_shapes(min_dims=2, max_dims=2, max_side=8), elements=LIKERT))
def test_it_is_the_formula_of_leys_unit_by_unit(scores):
    keep = keep_mask(scores)
    for unit, mask in zip(scores.T, keep.T, strict=True):
        given_scores = unit[~np.isnan(unit)]
        if len(given_scores) == 0:
            assert not mask.any()
            continue
        median = np.median(given_scores)
        limit = 1.4826 * np.median(np.abs(given_scores - median))
        assert mask.tolist() == [bool(abs(score - median) <= limit) for score in unit]


@given(arrays(float, array_shapes(min_dims=2, max_dims=2, max_side=8), elements=LIKERT), st.randoms())
def test_the_raters_names_do_not_matter(scores, random):
    order = list(range(len(scores)))
    random.shuffle(order)
    assert (keep_mask(scores[order]) == keep_mask(scores)[order]).all()


def test_raters_who_gave_a_unit_no_score_change_nothing_of_it():
    scores = np.random.default_rng(0).integers(1, 6, (9, 40)).astype(float)
    scores[np.random.default_rng(1).random(scores.shape) < 0.6] = NAN
    for choice in ("drop", "keep"):
        for unit, keep in zip(scores.T, keep_mask(scores, on_zero_mad=choice).T):
            given = ~np.isnan(unit)
            assert not keep[~given].any()
            assert keep[given].tolist() == keep_mask(column(*unit[given]), on_zero_mad=choice).ravel().tolist()
