"""The paper's architecture on a tiny encoder: it must learn, and both orders must give one answer."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from evaluator.comparator.encoding import Encoder
from evaluator.comparator.examples import Text
from evaluator.comparator.joint import JointComparator, JointModel, train_joint, triples
from evaluator.comparator.loop import State


@pytest.fixture(scope="module")
def encoder(tiny_encoder):
    return Encoder(AutoTokenizer.from_pretrained(tiny_encoder), 24)


@pytest.fixture(scope="module", params=[True, False], ids=["ties", "no ties"])
def joint(request, judged, settings, tiny_encoder, encoder, tmp_path_factory):
    """Trained on the first 40 contexts, three outputs each."""
    torch.manual_seed(0)
    model = JointModel(AutoModel.from_pretrained(tiny_encoder), ties=request.param)
    texts, pairs, _ = judged
    recipe = replace(settings, epochs=20, learning_rate=3e-3, train_embeddings=True)
    shown = [pair for pair in pairs if pair.a < 120]
    train_joint(model, encoder, texts, shown, recipe, 0, State(tmp_path_factory.mktemp("joint") / "state", "it"))
    return JointComparator(model, encoder, bf16=False)


def test_context_and_both_outputs_are_read_together(encoder):
    sequences = triples(encoder, [Text(("w1", "w2"), "w3")], [Text(("w1", "w2"), "w4 w5")])
    words = encoder.tokenizer.convert_ids_to_tokens(sequences.ids[0])
    assert words == ["[CLS]", "w1", "[SEP]", "w2", "[SEP]", "w3", "[SEP]", "w4", "w5", "[SEP]"]
    assert sequences.segments[0] == [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]


def test_it_learns_and_scores_correlate_with_people(joint, judged):
    texts, _, scores = judged
    u = joint.score(texts[120:])
    assert np.corrcoef(u, scores[120:])[0, 1] > 0.8


def test_swapping_the_sides_swaps_the_answer(joint, judged):
    a, b = judged[0][120::3], judged[0][121::3]
    there, back = joint.compare(a, b), joint.compare(b, a)
    assert there.probabilities == pytest.approx(back.probabilities[:, ::-1], abs=1e-6)
    assert there.probabilities.sum(-1) == pytest.approx(1)
    swapped = {"A": "B", "tie": "tie", "B": "A"}
    assert there.choices.tolist() == [swapped[choice] for choice in back.choices]
    if not joint.model.ties:
        assert there.probabilities[:, 1] == pytest.approx(0)
        assert "tie" not in there.choices


def test_an_output_alone_has_nobody_to_beat(joint):
    assert joint.score([Text(("w1",), "w2")]).tolist() == [0.5]


def test_outputs_of_different_contexts_are_refused(joint):
    with pytest.raises(ValueError, match="one context"):
        joint.compare([Text(("w1",), "w2")], [Text(("w2",), "w2")])
