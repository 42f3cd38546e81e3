"""Learned metrics: their equations by hand, and that each learns a rule which it does not know before."""

import json
import random

import numpy as np
import pytest
import torch
from sklearn.kernel_ridge import KernelRidge

from evaluator.encoders.text_encoder import TextEncoder
from evaluator.judges.texts import Referenced, Text
from evaluator.metaevaluation.correlation import pearson
from evaluator.metrics import adem, aspects, embeddings, ruber
from evaluator.metrics.inputs import MissingInput, Training
from evaluator.metrics.out_of_fold import Features, out_of_fold
from evaluator.metrics.reference_free import Regressor
from evaluator.metrics.registry import METRICS, build
from tests.evaluator.comparator.conftest import WORDS

LEARNED = [name for name, metric in METRICS.items() if metric.module == "learned"]


@pytest.fixture(scope="module")
def encoder(tiny_encoder):
    return TextEncoder.load(tiny_encoder)


@pytest.fixture(scope="module")
def world():
    """60 contexts of one of two topics; people answer with the topic's word, and systems with it (scored 5) or with the other
    (scored 1), among three words that say nothing. -> texts, scores"""
    rng = random.Random(3)
    texts, scores = [], []
    for i in range(60):
        topic, other = ("good", "bad") if i % 2 else ("bad", "good")
        said = lambda word: " ".join([word] * 3 + [rng.choice(WORDS) for _ in range(3)])
        context, reference = (f"{said(topic)} {WORDS[i % 30]} {WORDS[i // 30]}",), (said(topic),)
        for word, score in ((topic, 5.0), (other, 1.0)):
            texts.append(Referenced(context, said(word), reference))
            scores.append(score)
    return texts, scores


def correlation(name, encoder, world, scores=None, seed=0):
    texts, given = world
    training = Training.dealt(texts, given if scores is None else scores, folds=3, seed=seed)
    return pearson(build(name, encoder=encoder, training=training).utilities(texts), given)


@pytest.mark.parametrize("name", ["adem", "reference-free", "ruber-unreferenced", "ruber"])
def test_it_learns_what_goes_with_a_context(name, encoder, world):
    assert correlation(name, encoder, world) > 0.6


# ADEM has no untrained state, for it is the minimum of its loss: what it is without the rule, shuffled scores tell.
@pytest.mark.parametrize("name", ["adem", "reference-free"])
def test_it_learns_nothing_from_scores_without_a_rule(name, encoder, world):
    shuffled = np.random.default_rng(0).permutation(world[1])
    assert abs(correlation(name, encoder, world, shuffled)) < 0.3


@pytest.mark.parametrize("name", ["reference-free", "ruber-unreferenced"])
def test_an_untrained_network_does_not_know_the_rule(name, encoder, world, monkeypatch):
    monkeypatch.setattr("evaluator.metrics.networks.RATE", 0.0)
    untrained = [correlation(name, encoder, world, seed=seed) for seed in range(4)]
    assert np.mean(untrained) < 0.5, untrained
    assert min(untrained) < 0.2, untrained


@pytest.fixture
def written():
    """Systems use the words w0 to w9 and people w10 to w29."""
    rng = random.Random(5)
    texts = []
    for i in range(40):
        context, human = (f"w{i % 30} w{i // 30}",), " ".join(rng.choices(WORDS[10:], k=5))
        texts.append(Referenced(context, human, (), human=True))
        texts.append(Referenced(context, " ".join(rng.choices(WORDS[:10], k=5)), (human,)))
    return texts


def test_the_discriminator_tells_people_from_systems(encoder, written):
    u = build("discriminator", encoder=encoder, training=Training.dealt(written, folds=4)).utilities(written)
    assert np.mean((u > 0) == [text.human for text in written]) > 0.9


def test_an_untrained_discriminator_says_the_same_of_all(encoder, written, monkeypatch):
    monkeypatch.setattr("evaluator.metrics.networks.RATE", 0.0)
    u = build("discriminator", encoder=encoder, training=Training.dealt(written, folds=4)).utilities(written)
    assert u.tolist() == [0.0] * len(written)


def test_aspects_are_learnt_together_and_the_first_judges(encoder, monkeypatch):
    """Good by the first aspect: the output has the reference's word; by the second: it is long. A third nobody scored."""
    rng = random.Random(7)
    texts, scores = [], []
    for i in range(60):
        word, other = rng.sample(["good", "bad"], 2)
        for said, length in ((word, 2), (other, 6), (word, 6), (other, 2)):
            output = " ".join([said] * 2 + rng.choices(WORDS, k=length))
            texts.append(Referenced((f"w{i % 30} w{i // 30}",), output, (f"{word} {word} {rng.choice(WORDS)}",)))
            scores.append([6.0 if said == word else 2.0, float(length), np.nan])
    scores = np.array(scores)
    for first in (0, 1):
        order = [first, 1 - first, 2]
        u = build("aspects", encoder=encoder, training=Training.dealt(texts, scores[:, order], folds=3)).utilities(texts)
        assert pearson(u, scores[:, first]) > 0.6 and abs(pearson(u, scores[:, 1 - first])) < 0.3
    monkeypatch.setattr("evaluator.metrics.networks.RATE", 0.0)  # untrained, it knows neither
    untrained = build("aspects", encoder=encoder, training=Training.dealt(texts, scores, folds=3)).utilities(texts)
    assert max(abs(pearson(untrained, scores[:, k])) for k in (0, 1)) < 0.4


def test_the_aspects_loss_by_hand():
    """Equation 1 with beta 0.3: p = 1/2 for a good one and sigmoid(2) for one that is not; unknown ones count for nothing."""
    logits, good = torch.tensor([[0.0, 9.0], [2.0, 9.0]]), torch.tensor([[1.0, np.nan], [0.0, np.nan]])
    expected = (0.3 * np.log(2) + 0.7 * np.log(1 + np.exp(2))) / 2
    loss = aspects.balanced_loss(logits.requires_grad_(), good, torch.tensor([0.3, np.nan]))
    assert loss.item() == pytest.approx(expected, abs=1e-6)
    loss.backward()
    assert logits.grad[:, 1].tolist() == [0, 0] and logits.grad[:, 0].isfinite().all()


@pytest.mark.parametrize("name", LEARNED)
def test_it_is_the_same_twice_and_its_settings_are_json(name, encoder, world):
    texts, scores = world[0][:48], world[1][:48]
    training = Training.dealt(texts, scores, folds=2, seed=4)
    first, second = (build(name, encoder=encoder, training=training) for _ in range(2))
    odd = [Referenced(texts[0].context, "", texts[0].references), Referenced(("never seen",), "w1", ("w2",))]
    u = first.utilities([*texts, *odd])
    assert np.isfinite(u).all() and u.tolist() == second.utilities([*texts, *odd]).tolist()
    assert json.loads(json.dumps(first.settings)) == first.settings
    assert (first.settings["folds"], first.settings["texts"], first.settings["seed"]) == (2, 48, 4)


def test_each_context_is_judged_by_the_model_that_did_not_see_it():
    texts = [Text((f"c{i}",), "o") for i in range(6)]
    seen = {}

    def fit(given, scores, seed):
        name = len(seen)
        seen[name] = {text.context for text in given}
        return lambda asked: np.array([float(name)] * len(asked))

    measure = out_of_fold(fit, Training(texts, [0, 1, 2, 0, 1, 2]))
    asked = [*texts, Text(("new",), "o")]
    u = measure(asked, None)
    assert u.tolist() == [0, 1, 2, 0, 1, 2, 1]  # a new context by the mean of all three
    assert all(text.context not in seen[int(fold)] for text, fold in zip(texts, u))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("adem", "no different scores of texts that have"),
        ("reference-free", "no different scores of texts in"),
        ("ruber", "Fewer"),
    ],
)
def test_what_cannot_be_learnt_is_said(name, why, encoder):
    texts = [Text((f"w{i}",), "w1") for i in range(6)]
    with pytest.raises(MissingInput, match=why):
        build(name, encoder=encoder, training=Training.dealt(texts, [3.0] * 6, folds=2))


def test_a_discriminator_needs_outputs_of_both_kinds(encoder):
    texts = [Referenced((f"w{i}",), "w1", (), human=True) for i in range(6)]
    with pytest.raises(MissingInput, match="no generated outputs"):
        build("discriminator", encoder=encoder, training=Training.dealt(texts, folds=2))


def test_adems_kernel_is_the_product_of_its_features():
    """Zhao et al. (2020), equations 1 and 2: what weighs M is c o^T and what weighs N is r o^T, in a row."""
    rng = np.random.default_rng(0)
    a, b = ([rng.normal(size=(n, 3)) for _ in range(3)] for n in (4, 5))
    features = [np.hstack([np.einsum("ni,nj->nij", x, o).reshape(len(o), -1) for x in (c, r)]) for c, r, o in (a, b)]
    assert adem.bilinear_kernel(a, b) == pytest.approx(features[0] @ features[1].T)


def test_kernel_ridge_is_scikit_learns():
    rng = np.random.default_rng(1)
    x, groups = rng.normal(size=(40, 6)), np.arange(40) % 4
    y = x @ rng.normal(size=6) + 3 + rng.normal(size=40)
    weights, intercept = adem.kernel_ridge(x @ x.T, y, groups)
    scale = np.mean((x**2).sum(1))
    errors, found = [], []
    for penalty in adem.PENALTIES:
        model = lambda rows, alpha=penalty * scale: KernelRidge(alpha=alpha).fit(x[rows], y[rows] - y[rows].mean())
        left = [(model(groups != g).predict(x[groups == g]) + y[groups != g].mean() - y[groups == g]) for g in range(4)]
        errors.append(sum((e**2).sum() for e in left))
        found.append(model(np.full(40, True)).dual_coef_)
    assert weights == pytest.approx(found[int(np.argmin(errors))]) and intercept == y.mean()


def test_components_keep_what_varies():
    """Points on a plane in five dimensions have two components, whose scores keep all distances."""
    rng = np.random.default_rng(2)
    points = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 5)) + 7
    reduced = adem.PrincipalComponents(points)(points)
    assert reduced.shape == (30, 2)
    assert np.linalg.norm(reduced[3] - reduced[8]) == pytest.approx(np.linalg.norm(points[3] - points[8]))


def test_rubers_referenced_metric_by_hand():
    """Equation 3 on the largest values (2, 1) and (1, 0): cosine 2 / sqrt(5), moved from -1..1 to 0..1."""
    output, reference = np.array([[2.0, -3.0], [0.0, 1.0]]), np.array([[1.0, -5.0], [-4.0, 0.0]])
    assert embeddings.ruber(output, reference) == pytest.approx((1 + 2 / np.sqrt(5)) / 2)


def test_rubers_unreferenced_metric_by_hand():
    """Equation 4 with M the identity, and an MLP whose hidden units all read c^T M o alone."""
    model = ruber.Unreferenced(2)
    with torch.inference_mode():
        for parameter in model.mlp.parameters():
            parameter.zero_()
        model.mlp[0].weight[:, -1] = 1
        model.mlp[2].weight[:] = 1 / ruber.HIDDEN
        s = model(torch.tensor([[1.0, 2.0]]), torch.tensor([[0.5, -1.0]])).item()
    assert s == pytest.approx(1 / (1 + np.exp(-np.tanh(1 * 0.5 - 2 * 1))), abs=1e-6)


def test_rubers_loss_is_the_margin_that_is_missing():
    """0.5 - 0.9 + 0.1 < 0 costs nothing; 0.5 - 0.6 + 0.4 = 0.3 (Tao et al. 2018, section 3.2)."""
    loss = ruber.ranking_loss(torch.tensor([0.9, 0.6]), torch.tensor([0.1, 0.4]))
    assert loss.item() == pytest.approx(0.15)


def test_wrong_replies_come_from_other_contexts():
    replies = [Text((f"c{i // 2}",), f"o{i}") for i in range(8)]
    rows = np.repeat(np.arange(8), 50)
    drawn = ruber.OtherReplies(replies).drawn(rows, np.random.default_rng(0))
    assert (drawn // 2 != rows // 2).all() and set(drawn) == set(range(8))


def test_ruber_is_the_mean_of_both_from_one_to_five(encoder, world):
    texts, scores = world[0][:40], world[1][:40]
    training = Training.dealt(texts, scores, folds=2)
    both = [
        build(f"ruber-{kind}", encoder=encoder, training=training).utilities(texts) for kind in ("referenced", "unreferenced")
    ]
    full = build("ruber", encoder=encoder, training=training).utilities(texts)
    assert full == pytest.approx(4 * (both[0] + both[1]) / 2 + 1)


def test_the_regression_is_from_one_to_five():
    """Zhao et al. (2020), equation 6: 4 sigmoid(0) + 1 = 3."""
    model = Regressor(3)
    with torch.inference_mode():
        for parameter in model.parameters():
            parameter.zero_()
        assert model(torch.randn(2, 3)).tolist() == [3, 3]
        model.mlp[2].bias.fill_(100)
        assert model(torch.randn(1, 3)).item() == pytest.approx(5)


def test_beta_is_the_best_of_the_grid_and_the_nearest_to_the_share():
    """From 25% less to 25% more than .4: with F1 rising, .5; with F1 the same everywhere, .4; with its top at .375, .38."""
    assert aspects.best_beta(lambda beta: beta, 0.4) == pytest.approx(0.5)
    assert aspects.best_beta(lambda beta: 0.7, 0.4) == pytest.approx(0.4)
    assert aspects.best_beta(lambda beta: -abs(beta - 0.375), 0.4) == pytest.approx(0.38)
    logits, good = np.array([1.0, 2.0, 0.5, -1.0]), np.array([1.0, 1.0, 0.0, 1.0])
    assert aspects.f1_of_good(logits, good) == pytest.approx(2 / 3)  # two of three, and two of three found


def test_beta_is_searched_by_contexts_that_the_head_did_not_learn(encoder, monkeypatch):
    texts = [Text((f"c{i % 20}",), f"o {i}") for i in range(60)]
    good, contexts, learnt, asked = np.array([1.0, 0.0, 1.0] * 20), [text.context for text in texts], [], []

    def on_features(network, features, read, wanted, loss, seed, kin):
        learnt.append({text.context for text in read})

        def said(others):
            asked.append({text.context for text in others})
            return np.ones((len(others), 1))

        return said

    monkeypatch.setattr(aspects, "on_features", on_features)
    beta = aspects.searched_beta(Features(encoder), texts, good, contexts, 0)
    assert len(learnt) == 11 and len(learnt[0]) == 18 and not learnt[0] & asked[0] and beta == pytest.approx(1 / 3)
    assert aspects.searched_beta(Features(encoder), texts[:3], good[:3], contexts[:3], 0) == pytest.approx(1 / 3)
    assert len(learnt) == 11  # three contexts are too few
