import krippendorff
import numpy as np
import pytest
from scipy.stats import spearmanr

from annotation.quality.errors import UndefinedAgreement
from annotation.quality.kappa import fleiss_kappa
from annotation.quality.protocols import compare_protocols, scores_from_comparisons
from annotation.quality.scores import value_counts

NAN = np.nan


@pytest.fixture
def study():
    """(direct, compared): five raters of 40 outputs; comparisons carry less noise."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=40)
    direct = np.clip(np.rint(3 + truth + rng.normal(0, 0.9, (5, 40))), 1, 5)
    compared = np.clip(np.rint(3 + 1.5 * truth + rng.normal(0, 0.5, (5, 40))), 1, 5)
    return direct, compared


def test_wins_against_four_others_become_one_to_five():
    # Annotator 0: output 0 wins 4 of 4, output 1 none of 4; annotator 1: output 0 wins 2 of 4, output 1 has only 3.
    annotator = [0] * 8 + [1] * 7
    output = [0] * 4 + [1] * 4 + [0] * 4 + [1] * 3
    points = [1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 1, 0, 1, 1, 1]
    assert scores_from_comparisons(annotator, output, points) == pytest.approx(np.array([[5, 1], [3, NAN]]), nan_ok=True)
    assert scores_from_comparisons([], [], [], annotators=2, outputs=3).shape == (2, 3)


def test_each_measure_is_that_of_its_own_package(study):
    found = compare_protocols(*study, replicates=20)
    for which, table in zip(("direct", "compared"), study):
        counts, values = value_counts(table)
        assert found.measures["kappa"][which].value == pytest.approx(fleiss_kappa(counts))
        assert found.measures["kappa_linear"][which].value == pytest.approx(fleiss_kappa(counts, values, "linear"))
        for level in ("ordinal", "interval"):
            expected = krippendorff.alpha(table, level_of_measurement=level)
            assert found.measures[f"alpha_{level}"][which].value == pytest.approx(expected)
    means = [table.mean(axis=0) for table in study]
    assert found.across["spearman"].value == pytest.approx(spearmanr(*means).statistic)
    assert found.across["alpha_interval"].value == pytest.approx(
        krippendorff.alpha(np.stack(means), level_of_measurement="interval")
    )


@pytest.mark.long
def test_the_difference_is_paired_by_output(study):
    direct, compared = study
    found = compare_protocols(direct, compared, replicates=1000).measures["alpha_interval"]
    rng, differences = np.random.default_rng(9), []
    for _ in range(500):
        draw = rng.integers(40, size=40)
        alphas = [krippendorff.alpha(table[:, draw], level_of_measurement="interval") for table in study]
        differences.append(alphas[1] - alphas[0])
    difference = found["difference"]
    assert difference.value == pytest.approx(found["compared"].value - found["direct"].value)
    assert (difference.low, difference.high) == pytest.approx(np.quantile(differences, [0.025, 0.975]), abs=0.04)
    assert difference.low > 0


def test_the_same_answers_in_both_ways_differ_by_nothing(study):
    direct, _ = study
    found = compare_protocols(direct, direct, replicates=50)
    assert all((m["difference"].low, m["difference"].high) == (0, 0) for m in found.measures.values())
    assert found.across["spearman"].value == pytest.approx(1)


def test_swapping_the_protocols_swaps_the_sign(study):
    there, back = (compare_protocols(*pair, replicates=50) for pair in (study, study[::-1]))
    for name, measure in there.measures.items():
        assert measure["difference"].value == pytest.approx(-back.measures[name]["difference"].value)


def test_only_outputs_asked_about_in_both_ways_count(study):
    direct, compared = (table.copy() for table in study)
    direct[1:, :10] = NAN  # one rater is left there
    found = compare_protocols(direct, compared, replicates=10)
    assert found.outputs == 30
    assert found.as_dict()["measures"]["kappa"]["direct"]["value"] == pytest.approx(
        fleiss_kappa(value_counts(direct[:, 10:])[0])
    )


def test_what_is_not_defined_is_none_and_nothing_in_common_is_a_sentence():
    flat = np.full((2, 6), 3.0)
    found = compare_protocols(flat, flat, replicates=10)
    assert found.measures["kappa"]["direct"].value is None
    assert found.across["spearman"].value is None
    with pytest.raises(UndefinedAgreement, match="asked about in both ways"):
        compare_protocols(np.full((2, 3), NAN), flat[:, :3])
    with pytest.raises(ValueError, match="column by column"):
        compare_protocols(flat, flat[:, :3])
