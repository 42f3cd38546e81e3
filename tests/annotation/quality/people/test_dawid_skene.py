import numpy as np
import pytest

from annotation.quality.errors import UndefinedAgreement
from annotation.quality.people.dawid_skene import dawid_skene

# Dawid & Skene 1979, table 1: 45 patients, five anaesthetists, the first of whom classified each patient three times.
ANAESTHETISTS = """
111 1 1 1 1|333 4 3 3 4|112 2 1 2 2|222 3 1 2 1|222 3 2 2 2|222 3 3 2 2|122 2 1 1 1|333 3 4 3 3|222 2 2 2 3|232 2 2 2 3|
444 4 4 4 4|222 3 3 4 3|111 1 1 1 1|222 3 2 1 2|121 1 1 1 1|111 2 1 1 1|111 1 1 1 1|111 1 1 1 1|222 2 2 2 1|222 1 3 2 2|
222 2 2 2 2|222 2 2 2 1|222 3 2 2 2|221 2 2 2 2|111 1 1 1 1|111 1 1 1 1|232 2 2 2 2|111 1 1 1 1|111 1 1 1 1|112 1 1 2 1|
111 1 1 1 1|333 3 2 3 3|111 1 1 1 1|222 2 2 2 2|222 3 2 3 2|433 4 3 4 3|221 2 2 3 2|232 3 2 3 3|333 3 4 3 2|111 1 1 1 1|
111 1 1 1 1|121 2 1 1 1|232 2 2 2 2|121 1 1 1 1|222 2 2 2 2""".replace("\n", "").split("|")


@pytest.fixture
def anaesthetists():
    rows = [
        (who, patient, int(code))
        for patient, row in enumerate(ANAESTHETISTS)
        for who, codes in enumerate(row.split())
        for code in codes
    ]
    return np.array(rows).T


def test_the_anaesthetists_of_dawid_and_skene(anaesthetists):
    found = dawid_skene(*anaesthetists)
    assert found.values.tolist() == [1, 2, 3, 4]
    assert found.shares == pytest.approx([0.40, 0.42, 0.11, 0.07], abs=0.005)  # the paper's table 3
    first = [[0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0], [0, 0.34, 0.66, 0], [0, 0, 0.56, 0.44]]  # and its first observer
    assert found.errors[0] == pytest.approx(np.array(first), abs=0.006)


def test_it_is_crowd_kits(anaesthetists):
    # crowd-kit 1.4.2, DawidSkene: priors_, errors_ of worker 1, priors_ x diagonal of errors_. It stops after four steps.
    found = dawid_skene(*anaesthetists)
    assert found.shares == pytest.approx([0.399732, 0.422382, 0.111219, 0.066667], abs=1e-3)
    theirs = [[0.8338, 0.1662, 0, 0], [0.0527, 0.6319, 0.3154, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    assert found.errors[1] == pytest.approx(np.array(theirs), abs=2e-3)
    assert found.accuracy == pytest.approx([0.829362, 0.778119, 0.776472, 0.866698, 0.841821], abs=1e-3)


def test_who_guesses_is_told_from_who_knows():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 300)
    right = rng.random((5, 300)) < np.array([0.9, 0.9, 0.8, 0.7, 0.0])[:, None]
    said = np.where(right, truth, rng.integers(0, 3, (5, 300)))
    annotator, unit = np.indices(said.shape)
    accuracy = dawid_skene(annotator.ravel(), unit.ravel(), said.ravel()).accuracy
    # Who knows a share q and guesses the rest among three names the right one in q + (1 - q) / 3.
    assert accuracy == pytest.approx([0.93, 0.93, 0.87, 0.80, 0.33], abs=0.07)


def test_who_said_nothing_has_no_accuracy():
    accuracy = dawid_skene([0, 2, 0, 2], [0, 0, 1, 1], [1.0, 1.0, 2.0, 2.0]).accuracy
    assert np.isnan(accuracy[1]) and accuracy[[0, 2]] == pytest.approx([1, 1])


def test_a_sentence_where_all_answers_are_equal():
    with pytest.raises(UndefinedAgreement, match="All answers are equal"):
        dawid_skene([0, 1], [0, 0], [3.0, 3.0])
