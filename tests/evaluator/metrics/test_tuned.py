"""Metrics whose encoder learns along: each learns a rule that its frozen self does not, and its schedule by hand.

The encoder's last layer says the same of every token, so that nothing learns from it as it is; one that learns along can."""

import numpy as np
import pytest
import torch

from evaluator.encoders.text_encoder import TextEncoder
from evaluator.judges.texts import Referenced
from evaluator.metrics import tuned
from evaluator.metrics.aspects import good_of
from evaluator.metrics.inputs import Training
from evaluator.metrics.registry import build
from tests.evaluator.comparator.conftest import WORDS


@pytest.fixture(scope="module")
def encoder(tiny_encoder):
    made = TextEncoder.load(tiny_encoder)
    last = made.model.encoder.layer[-1].output.LayerNorm
    torch.nn.init.zeros_(last.weight)
    torch.nn.init.ones_(last.bias)
    return made


# Of encoder and head: a tiny encoder learns in seconds at these, which were chosen while looking.
RATES = {
    "reference-free-tuned": (3e-2, 1e-3),
    "aspects-tuned": (3e-2, 1e-3),
    "aspects-tuned-apart": (3e-2, 1e-3),
    "discriminator-tuned": (3e-2, 1e-3),
    "ruber-semi-supervised": (1e-2, 1e-2),
}
FROZEN = {"ruber-semi-supervised": "ruber-unreferenced", "aspects-tuned-apart": "aspects"}


@pytest.fixture(scope="module")
def world():
    """30 contexts: people say "good" and systems, whom people dislike, "bad"; one that a person's text stands beside too."""
    texts, scores = [], []
    for i in range(30):
        context, reference = (f"{WORDS[i]} {WORDS[(7 * i) % 30]}",), (f"good {WORDS[(i + 3) % 30]}",)
        for word, score in (("good", 5.0), ("bad", 1.0)):
            texts.append(Referenced(context, f"{word} {WORDS[(i + 5) % 30]}", reference))
            scores.append(score)
    return texts, scores


@pytest.mark.parametrize("name", RATES)
def test_it_learns_what_its_frozen_self_does_not(name, encoder, world, monkeypatch):
    monkeypatch.setattr(tuned, "EPOCHS", 40)
    monkeypatch.setattr(tuned, "RECIPE", tuned.Recipe(*RATES[name]))
    frozen = FROZEN.get(name, name.removesuffix("-tuned"))
    texts, scores = world
    if frozen == "discriminator":  # which reads no scores: who wrote it
        texts = [Referenced(t.context, t.output, (), human=t.output.startswith("good")) for t in texts]
    several = [[score, 6 - score] for score in scores]  # where each aspect has an encoder of its own
    training = Training.dealt(texts, several if name.endswith("apart") else scores, folds=2)
    fold = np.array(training.folds)
    good = np.array(scores) > 3
    ahead = []
    for one in (name, frozen):
        u = build(one, encoder=encoder, training=training).utilities(
            [Referenced(t.context, t.output, t.references) for t in texts]
        )
        ahead.append([u[(fold == f) & good].mean() - u[(fold == f) & ~good].mean() for f in (0, 1)])
    assert min(ahead[0]) > 0.3 and np.abs(ahead[1]).max() < 1e-3, ahead


def test_the_rate_falls_where_the_loss_does_not():
    """Zhao et al. (2020), appendix B: times 0.1 when the loss does not improve; 5e-5 is below 1e-7 after the third."""
    assert [tuned.share_of_rate(losses) for losses in ([], [5], [5, 4], [5, 4, 4], [5, 4, 4, 3], [5, 4, 4, 3, 6])] == (
        pytest.approx([1, 1, 1, 0.1, 0.1, 0.01])
    )
    assert 5e-5 * tuned.share_of_rate([1, 1, 1]) > tuned.LOWEST > 5e-5 * tuned.share_of_rate([1, 1, 1, 1])


def test_good_is_five_of_six_on_the_criterions_scale():
    """The three-head evaluator, 4.1: the median of three, good from 5 on a scale from 1 to 6, though nobody gave a 1."""
    texts = [Referenced((f"c{i}",), "o") for i in range(3)]
    training = Training(texts, [0, 1, 2], [3.0, 4.0, 6.0], scales=[(1.0, 6.0)], medians=[2.0, 5.0, 6.0])
    assert training.on_scale(medians=True)[:, 0] == pytest.approx([0.2, 0.8, 1.0])
    assert good_of(training.on_scale(medians=True))[:, 0].tolist() == [0, 1, 1]
    assert training.on_scale()[:, 0] == pytest.approx([0.4, 0.6, 1.0])


def test_adems_parts_add_up(tiny_encoder, world):
    """Equations 1 and 2 of Zhao et al. (2020): both have the intercept, 3 in either fold, which the full score has once."""
    training = Training.dealt(*world, folds=2)
    encoder = TextEncoder.load(tiny_encoder)
    names = ("adem", "adem-referenced", "adem-unreferenced")
    full, referenced, unreferenced = (build(name, encoder=encoder, training=training).utilities(world[0]) for name in names)
    assert full + 3 == pytest.approx(referenced + unreferenced)
    assert np.ptp(referenced) > 0 and np.ptp(unreferenced) > 0


@pytest.mark.parametrize("reader", [lambda encoder: tuned.PairReader(encoder, 1), tuned.ApartReader], ids=["pair", "apart"])
def test_layers_that_are_computed_again_have_the_same_gradients(reader, encoder, world):
    """Beside a copy that keeps them all, with dropout."""
    texts, gradients = world[0][:8], []
    model = reader(encoder)
    assert model.encoder.is_activation_checkpointing
    for keep in (False, True):
        model.train()
        if keep:
            model.encoder.activation_checkpointing_disable()
        torch.manual_seed(3)
        model(encoder.encoder, model.prepared(encoder.encoder, texts), np.arange(8)).sum().backward()
        gradients.append([p.grad.clone() for p in model.parameters() if p.grad is not None])
        model.zero_grad()
    assert len(gradients[0]) == len(gradients[1]) > 10
    assert all(torch.equal(one, other) for one, other in zip(*gradients))
