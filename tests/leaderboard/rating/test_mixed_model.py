"""The mixed model against its definition (V formed and inverted), and against other implementations."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from leaderboard.rating import mixed_model
from leaderboard.rating.mixed_model import Term, fit

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "mixed_models.json").read_text())


def simulated(seed: int = 0, systems: int = 4, contexts: int = 12, annotators: int = 6):
    """Scores (y, x, terms) of a crowd: three annotators on each output."""
    rng = np.random.default_rng(seed)
    rows = [(s, c, a) for c in range(contexts) for s in range(systems) for a in rng.choice(annotators, 3, replace=False)]
    s, c, a = np.array(rows).T
    y = (
        3
        + 0.3 * s
        + rng.normal(0, 0.5, contexts)[c]
        + rng.normal(0, 0.4, (contexts, systems))[c, s]
        + rng.normal(0, 0.7, len(s))
    )
    y += rng.normal(0, 0.8, annotators)[a] + rng.normal(0, 0.4, (annotators, systems))[a, s]
    return y, np.eye(systems)[s], crossed(s, c, a)


def crossed(s, c, a) -> list[Term]:
    cells, output = np.unique(c * (s.max() + 1) + s, return_inverse=True)
    return [
        Term("context", c[:, None], c.max() + 1, inside=np.arange(c.max() + 1)),
        Term("output", output[:, None], len(cells), inside=cells // (s.max() + 1)),
        Term("annotator", a[:, None], a.max() + 1),
        Term("taste", (a * (s.max() + 1) + s)[:, None], (a.max() + 1) * (s.max() + 1)),
    ]


def plainly(fitted, y, x, terms, weights=None):
    """By the definition: (V, the projection P, the covariance of the effects, V_k of each term)"""
    parts = {t.name: t.matrix().toarray() @ t.matrix().toarray().T for t in terms}
    parts["answer"] = np.diag(1 / (np.ones(len(y)) if weights is None else weights))
    v = sum(variance * parts[name] for name, variance in fitted.variances.items())
    inverse = np.linalg.inv(v)
    covariance = np.linalg.inv(x.T @ inverse @ x)
    return v, inverse - inverse @ x @ covariance @ x.T @ inverse, covariance, [parts[name] for name in fitted.variances]


@pytest.fixture(scope="module", params=[None, "weights"])
def case(request):
    y, x, terms = simulated()
    weights = None if request.param is None else np.random.default_rng(5).uniform(0.5, 2, len(y))
    return y, x, terms, weights, fit(y, x, terms, weights)


class TestDefinition:
    def test_effects_and_covariance(self, case):
        y, x, terms, weights, fitted = case
        v, _, covariance, _ = plainly(fitted, y, x, terms, weights)
        assert fitted.effects == pytest.approx(covariance @ x.T @ np.linalg.solve(v, y))
        assert fitted.covariance() == pytest.approx(covariance)
        assert fitted.answers.T @ y == pytest.approx(fitted.effects)

    def test_the_deviance_and_its_smallest_value(self, case):
        y, x, terms, weights, fitted = case
        v, p, covariance, _ = plainly(fitted, y, x, terms, weights)
        deviance = np.linalg.slogdet(v)[1] - np.linalg.slogdet(covariance)[1] + y @ p @ y
        assert fitted.deviance == pytest.approx(deviance)
        for name in ("context", "output", "taste"):
            for factor in (0.9, 1.1):
                other = fitted.variances | {name: fitted.variances[name] * factor}
                assert fit(y, x, terms, weights, variances=other).deviance > fitted.deviance

    @pytest.mark.parametrize("known", [None, 0.6])
    def test_its_slope_by_the_definition(self, case, known):
        """tr(P V_k) - y' P V_k P y, with P = V^-1 - V^-1 X (X' V^-1 X)^-1 X' V^-1 (Searle, Casella & McCulloch 1992, 6.6)"""
        y, x, terms, weights, fitted = case
        ratios = np.array([0.2, 0.0, 0.7, 0.4])
        problem = mixed_model.Problem(y, x, terms, weights)
        value, slope = problem.with_slope(ratios, known, 4)
        assert value == problem.deviance(ratios, known)
        answer = np.diag(1 / (np.ones(len(y)) if weights is None else weights))
        parts = [t.matrix().toarray() @ t.matrix().toarray().T for t in problem.terms]
        v = answer + sum(ratio * part for ratio, part in zip(ratios, parts))
        inverse = np.linalg.inv(v)
        p = inverse - inverse @ x @ np.linalg.inv(x.T @ inverse @ x) @ x.T @ inverse
        s2 = known or y @ p @ y / (len(y) - x.shape[1])
        expected = [np.trace(p @ part) - y @ p @ part @ p @ y / s2 for part in parts]
        assert slope == pytest.approx(expected, rel=1e-8)
        assert problem.with_slope(ratios, known, 2)[1] == pytest.approx(slope[2:])

    def test_expected_information(self, case):
        y, x, terms, weights, fitted = case
        _, p, _, parts = plainly(fitted, y, x, terms, weights)
        wanted = [[np.trace(p @ a @ p @ b) / 2 for b in parts] for a in parts]
        assert fitted.information == pytest.approx(np.array(wanted))

    def test_freedom_by_satterthwaite(self, case):
        y, x, terms, weights, fitted = case
        contrast = np.array([[1.0, -1.0, 0.0, 0.0]])
        v, _, covariance, parts = plainly(fitted, y, x, terms, weights)
        moved = np.linalg.solve(v, x) @ covariance @ contrast[0]  # (n,)
        gradient = np.array([moved @ part @ moved for part in parts])
        variance = float(contrast[0] @ covariance @ contrast[0])
        wanted = 2 * variance**2 / (gradient @ np.linalg.inv(fitted.information) @ gradient)
        assert fitted.freedom(contrast) == pytest.approx([wanted], rel=1e-6)

    def test_the_uncertainty_of_a_variance(self, case):
        y, x, terms, weights, fitted = case
        _, p, _, parts = plainly(fitted, y, x, terms, weights)
        information = np.array([[np.trace(p @ a @ p @ b) / 2 for b in parts] for a in parts])
        covariance = np.linalg.inv(information)
        assert [fitted.uncertainty(name) for name in fitted.variances] == pytest.approx(np.diag(covariance).tolist())

    def test_without_what_annotators_add(self, case):
        y, x, terms, weights, fitted = case
        v, _, covariance, parts = plainly(fitted, y, x, terms, weights)
        moved = np.linalg.solve(v, x) @ covariance
        rest = [name for name in fitted.variances if name not in ("annotator", "taste")]
        index = list(fitted.variances)
        wanted = sum(fitted.variances[name] * moved.T @ parts[index.index(name)] @ moved for name in rest)
        assert fitted.covariance(("annotator", "taste")) == pytest.approx(wanted)


def test_conjugate_gradients_give_the_same(monkeypatch):
    y, x, terms = simulated(3)
    fitted = fit(y, x, terms)
    monkeypatch.setattr(mixed_model, "MOST_DENSE", 1)
    again = fit(y, x, terms, variances=fitted.variances)
    assert again.effects == pytest.approx(fitted.effects) and again.covariance() == pytest.approx(fitted.covariance())


def test_a_paired_t_test_is_the_model_of_two_systems_by_one_person():
    """Two systems, one answer each on every context: the difference is the paired t-test's, with its degrees of freedom."""
    rng = np.random.default_rng(1)
    context = rng.normal(0, 1, 15)
    one, other = context + rng.normal(0.4, 0.5, 15), context + rng.normal(0, 0.5, 15)
    c = np.tile(np.arange(15), 2)
    fitted = fit(
        np.concatenate([one, other]), np.repeat(np.eye(2), 15, axis=0), [Term("context", c[:, None], 15, inside=np.arange(15))]
    )
    contrast = np.array([[1.0, -1.0]])
    t = (contrast @ fitted.effects) / np.sqrt(contrast @ fitted.covariance() @ contrast.T)
    wanted = stats.ttest_rel(one, other)
    assert t.item() == pytest.approx(wanted.statistic, rel=1e-4) and fitted.freedom(contrast) == pytest.approx([14], rel=1e-3)


@pytest.mark.parametrize("name", GOLDEN)
def test_as_another_implementation(name):
    """lme4 and lmerTest (golden/SOURCES.md). The degrees of freedom there come from the observed information, here from the
    expected one."""
    data = GOLDEN[name]
    s, c, a = (np.array(data[key]) for key in ("system", "context", "annotator"))
    fitted = fit(np.array(data["value"]), np.eye(s.max() + 1)[s], crossed(s, c, a))
    assert fitted.effects == pytest.approx(data["effects"], abs=1e-3)
    assert np.sqrt(np.diag(fitted.covariance())) == pytest.approx(data["errors"], rel=1e-3)
    for key, variance in data["variances"].items():
        assert fitted.variances[key] == pytest.approx(variance, rel=1e-3)
    first, second, *others = np.eye(s.max() + 1)
    contrast = (first - second)[None, :]
    assert np.sqrt(contrast @ fitted.covariance() @ contrast.T) == pytest.approx(data["difference_error"], rel=1e-3)
    assert fitted.freedom(contrast) == pytest.approx([data["df"]], rel=0.15)


def test_with_many_levels_the_information_of_terms_inside_contexts_is_nearly_all_of_it(monkeypatch):
    y, x, terms = simulated(4, contexts=40)
    exact = fit(y, x, terms)
    monkeypatch.setattr(mixed_model, "MOST_EXACT", 1)
    near = fit(y, x, terms)
    inside = slice(0, 2)
    assert np.diag(near.information)[inside] == pytest.approx(np.diag(exact.information)[inside], rel=0.3)
    assert near.information[2:4, 2:4] == pytest.approx(exact.information[2:4, 2:4])
