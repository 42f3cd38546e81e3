"""Similarities by hand on vectors of two numbers, and the path from texts to vectors with a tiny encoder."""

import json

import numpy as np
import pytest
import torch

from evaluator.encoders import text_encoder
from evaluator.encoders.hidden_states import batches
from evaluator.encoders.text_encoder import KeptEncodings, TextEncoder
from evaluator.judges.texts import Referenced, Text
from evaluator.metrics import embeddings
from evaluator.metrics.registry import METRICS, build

# Three words and two: one points east, one north, one north-east; their lengths differ, which cosines do not see.
OUTPUT, REFERENCE = np.array([[2.0, 0.0], [0.0, 1.0], [3.0, 3.0]]), np.array([[1.0, 0.0], [0.0, -5.0]])
HALF = np.sqrt(0.5)  # cosine of 45 degrees


def test_average_by_hand():
    # Means (5/3, 4/3) and (1/2, -5/2): (5 * 1 - 4 * 5) / (sqrt(41) * sqrt(26))
    assert embeddings.average(OUTPUT, REFERENCE) == pytest.approx(-15 / np.sqrt(41 * 26))


def test_extrema_by_hand():
    # The farthest from zero: (3, 3) and (1, -5), with their signs.
    assert embeddings.extrema(OUTPUT, REFERENCE) == pytest.approx((3 - 15) / (np.sqrt(18) * np.sqrt(26)))


def test_matching_by_hand():
    # East is matched by east (1), north by east (0), north-east by east (45 degrees); south by east (0).
    precision, recall = (1 + 0 + HALF) / 3, (1 + 0) / 2
    assert embeddings.matches(OUTPUT, REFERENCE) == pytest.approx((precision, recall))
    assert embeddings.greedy(OUTPUT, REFERENCE) == pytest.approx((precision + recall) / 2)
    assert embeddings.bertscore_f1(OUTPUT, REFERENCE) == pytest.approx(2 * precision * recall / (precision + recall))


def test_bertscore_of_the_papers_figure():
    """Zhang et al. (2020), figure 1: the largest cosines of the reference's words "the weather is cold today" are 0.713, 0.515,
    0.858, 0.796 and 0.913; without their idf weights recall is the mean. Vectors are made that have these cosines."""
    largest = np.array([0.713, 0.515, 0.858, 0.796, 0.913])
    output = np.eye(6)[:5]
    reference = np.hstack([np.diag(largest), np.sqrt(1 - largest**2)[:, None]])
    assert embeddings.matches(output, reference)[1] == pytest.approx(largest.mean())


def test_nothing_is_similar_to_a_zero_vector():
    zero = np.zeros((1, 2))
    assert embeddings.average(OUTPUT, zero) == embeddings.extrema(zero, OUTPUT) == 0
    assert embeddings.matches(zero, OUTPUT) == (0, 0) and embeddings.bertscore_f1(zero, OUTPUT) == 0


@pytest.fixture(scope="module")
def encoder(tiny_encoder):
    return TextEncoder.load(tiny_encoder)


def outputs_of(encoder, ids):
    """The last layer of one sequence, asked of transformers alone."""
    with torch.inference_mode():
        return encoder.model(input_ids=torch.tensor([ids])).last_hidden_state[0].numpy()


def test_tokens_are_the_last_layers_without_the_marks(encoder):
    cls, sep, good, w1 = 2, 3, 5, 8  # places in the vocabulary of conftest.py
    one, two, none = encoder.tokens(["good w1", "w1", ""])
    assert one == pytest.approx(outputs_of(encoder, [cls, good, w1, sep])[1:-1], abs=1e-5)
    assert two == pytest.approx(outputs_of(encoder, [cls, w1, sep])[1:-1], abs=1e-5)
    assert none.shape == (0, 32)
    table = encoder.model.embeddings.word_embeddings.weight.detach().numpy()
    assert encoder.words(["good w1"])[0] == pytest.approx(table[[good, w1]])


def test_the_first_layers_alone(encoder, tiny_encoder):
    one = TextEncoder.load(tiny_encoder, layers=1)
    with torch.inference_mode():
        states = encoder.model(input_ids=torch.tensor([[2, 5, 3]]), output_hidden_states=True).hidden_states
    assert one.tokens(["good"])[0] == pytest.approx(states[1][0, 1:-1].numpy(), abs=1e-5)
    assert (one.settings["layers"], encoder.settings["layers"]) == (1, 2)
    assert one.settings["weights"] != encoder.settings["weights"]


def test_cosim_and_esm_are_cosines_of_means(encoder):
    """Zhang et al. (2021), equations 6 and 3, by NumPy from the last layer."""
    mean = lambda *words: outputs_of(encoder, [2, *words, 3]).mean(0)
    cosine = lambda a, b: a @ b / np.linalg.norm(a) / np.linalg.norm(b)
    text = Referenced(("w1", "good"), "w1", ("bad", "w1 w1"))
    (u,) = build("cosim", encoder=encoder).utilities([text])
    assert u == pytest.approx(cosine(mean(8, 5), mean(8)), abs=1e-5)
    (u,) = build("esm", encoder=encoder).utilities([text])
    assert u == pytest.approx(max(cosine(mean(6), mean(8)), cosine(mean(8, 8), mean(8))), abs=1e-5)


NAMES = [name for name, metric in METRICS.items() if metric.module == "embeddings"]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "cosim"])
def test_the_reference_itself_is_most_similar(encoder, name):
    texts = [Referenced(("w1",), output, ("w3 good w2", "bad w5")) for output in ("w3 good w2", "w9", "bad w5", "")]
    u = build(name, encoder=encoder).utilities(texts)
    assert u[[0, 2]] == pytest.approx(1, abs=1e-5) and u[1] < 1 and np.isfinite(u).all()
    if name != "esm":
        assert u[3] == 0


@pytest.mark.parametrize("name", NAMES)
def test_one_text_is_measured_alike_beside_others(encoder, name):
    judge = build(name, encoder=encoder)
    text = Referenced(("w1 w2",), "good w3", ("w4 w3",))
    others = [Referenced(("w1 w2",), "w5 " * n, ("w4 w3", "w6")) for n in range(1, 9)]
    together = judge.utilities([*others, text])
    assert judge.utilities([text])[0] == pytest.approx(together[-1], abs=1e-5)
    assert json.loads(json.dumps(judge.settings)) == judge.settings


def test_cosim_asks_for_no_reference(encoder):
    assert np.isfinite(build("cosim", encoder=encoder).utilities([Text((), "good"), Text(("w1",), "")])).all()


def test_each_text_is_read_once_for_all_metrics(tiny_encoder, monkeypatch):
    """And its numbers are those of reading it anew, within float32's rounding; beyond what may be kept they are read again."""
    texts = [Referenced(("hi",), said, ("so it is", said[:5])) for said in ("good and long", "bad", "no more")]
    names = [
        name for name, metric in METRICS.items() if metric.needs <= {"encoder", "references"} and "encoder" in metric.needs
    ]
    plain, kept = TextEncoder.load(tiny_encoder), KeptEncodings.load(tiny_encoder)
    read = []
    monkeypatch.setattr(
        text_encoder, "batches", lambda model, encoder, rows: read.append(rows) or batches(model, encoder, rows)
    )
    expected = {name: build(name, encoder=plain).utilities(texts) for name in names}
    anew = len(read)
    for name in names:
        np.testing.assert_allclose(build(name, encoder=kept).utilities(texts), expected[name], rtol=1e-5)
    assert anew == 4 and len(read) == 5  # precision, recall, F1 and RUBER's read tokens each; then once
    monkeypatch.setattr(text_encoder, "MOST_KEPT", 0)
    full = KeptEncodings.load(tiny_encoder)
    assert full.tokens(["bad"])[0].shape == full.tokens(["bad"])[0].shape and full.kept["tokens"] == {}
    assert full.settings == plain.settings
