"""Looked-up references: what people answered in similar contexts. Expected values by hand."""

import math
import zlib
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer

from evaluator.comparator import predict, references, storage
from evaluator.comparator.architectures import load
from evaluator.comparator.examples import Examples, Exchange
from evaluator.comparator.references import References, beside_pairs, remember
from evaluator.comparator.supervision.self_supervision import Conversations
from evaluator.comparator.training.train import fit
from evaluator.comparator.untrained import cosines
from evaluator.encoders import hidden_states, pretrained
from evaluator.encoders.encoding import Encoder
from evaluator.encoders.pretrained import BadCheckpoint
from evaluator.judges.texts import Text
from tests.evaluator.comparator.test_pretraining import talk

EAST, NORTH, BETWEEN = (1.0, 0.0), (0.0, 1.0), (0.6, 0.8)  # of length 1; BETWEEN's cosines with the others are 0.6 and 0.8
TEXT = Text(("east",), "north")


@pytest.fixture
def known() -> References:
    """To the east people answered EAST and BETWEEN, to the north NORTH."""
    return References(torch.tensor([EAST, NORTH]), torch.tensor([EAST, BETWEEN, NORTH]), torch.tensor([2, 1]))


@pytest.fixture
def wide(monkeypatch):
    """Kernels whose values can be told by hand."""
    monkeypatch.setattr(references, "NEAR", 1 / math.log(3))
    monkeypatch.setattr(references, "ALIKE", 10.0)
    monkeypatch.setattr(references, "ANYWHERE", 0.5)
    monkeypatch.setattr(references, "NEIGHBOURS", 10)


def test_replies_count_by_how_near_their_context_is(known, wide):
    """By hand: from the east, the exchange to the east weighs 3 to 1. The output to the north is alike 0.8 (BETWEEN) there and
    1 to the north; how likely it is in any context, with both weighing the same, counts against it by a half."""
    _, found = known.beside([TEXT], torch.tensor([EAST]), torch.tensor([NORTH]))
    given = math.log(0.75 * math.exp(8.0) + 0.25 * math.exp(10.0)) / 10
    anywhere = math.log(0.5 * math.exp(8.0) + 0.5 * math.exp(10.0)) / 10
    assert found.tolist() == pytest.approx([given - 0.5 * anywhere], abs=1e-6)


def test_a_cosine_counts_from_those_of_the_neighbours(known, wide):
    """Conneau et al. 2018 (section 2.3), halved: BETWEEN's cosine with the east is 0.6. Its nearest context is the north (0.8),
    and the reply that is nearest to the east lies there (1); of two neighbours the means are 0.7 and 0.8."""
    look = lambda: known.beside([TEXT], torch.tensor([EAST]), torch.tensor([BETWEEN]))[0].tolist()
    references.NEIGHBOURS = 1
    assert look() == pytest.approx([0.6 - 0.8 / 2 - 1.0 / 2])
    references.NEIGHBOURS = 2
    assert look() == pytest.approx([0.6 - 0.7 / 2 - 0.8 / 2])


def test_a_hidden_exchange_is_not_looked_at(known, wide):
    """Then the other one says it alone: its kernel less a half of itself. Of NORTH and BETWEEN the cosines with the east are 0
    and 0.6, with the context to the north 1 and 0.8, and the one reply there has none with the east. Plain cosines, and
    nothing of references, where none is left."""
    contexts, outputs = torch.tensor([EAST, EAST]), torch.tensor([NORTH, BETWEEN])
    texts = [TEXT, Text(("east",), "between")]
    cosines, found = known.beside(texts, contexts, outputs, [[0], [0]])
    assert found.tolist() == pytest.approx([1.0 - 0.5, 0.8 - 0.4])
    assert cosines.tolist() == pytest.approx([0.0 - 1.0 / 2, 0.6 - 0.8 / 2])
    cosines, found = known.beside(texts, contexts, outputs, [[0, 1], [0, 1]])
    assert (cosines.tolist(), found.tolist()) == (pytest.approx([0.0, 0.6]), [0.0, 0.0])
    together = np.stack(known.beside(texts, contexts, outputs), axis=1)
    one_by_one = [known.beside([t], contexts[:1], outputs[i : i + 1]) for i, t in enumerate(texts)]
    assert together == pytest.approx(np.array(one_by_one)[..., 0], abs=1e-6)


def test_what_shares_a_dialogue_with_a_text_is_hidden_from_it():
    said = [
        Exchange(("Hello !",), ("Hi .",), "a"),
        Exchange(("Hi .", "And ?"), ("Well .",), "a"),
        Exchange(("Bye .",), ("Yes .",), "b"),
    ]
    known = Conversations.of(said, said[:2])
    assert [hidden.tolist() for hidden in known.hidden_from([("hello!",), ("bye",), ("new",)])] == [[0, 1], [], []]
    assert [known.around(context).tolist() for context in (("hi", "and"), ("bye",), ("new",))] == [[0], [1], []]


def test_more_exchanges_than_are_remembered_are_drawn_by_the_seed(monkeypatch):
    monkeypatch.setattr(references, "MOST", 10)
    many = talk(40, 0)
    chosen = references.kept(many, 1)
    assert len(chosen) == 10 and chosen == references.kept(many, 1) != references.kept(many, 2)
    assert chosen == [exchange for exchange in many if exchange in chosen]


@pytest.fixture
def folder(settings, tmp_path):
    pretrained.save_encoder(settings.encoder, tmp_path)
    return tmp_path


@pytest.fixture
def remembered(folder) -> References:
    encoder = Encoder(pretrained.load_tokenizer(folder), 32)
    return remember(talk(20, 0), pretrained.load_encoder(folder), encoder, 0)


def test_they_are_the_same_from_disk(remembered, folder):
    sha256 = storage.save_references(remembered, folder / "references.safetensors")
    again = storage.load_references(folder, sha256)
    assert torch.equal(again.contexts, remembered.contexts) and torch.equal(again.replies, remembered.replies)
    assert again.counts.tolist() == remembered.counts.tolist()
    assert storage.load_references(folder, None) is None


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"counts": torch.tensor([1])}, "replies to its contexts"),
        ({"replies": torch.zeros(20, 7)}, "replies to its contexts"),
        ({"replies": torch.full((20, 32), float("nan"))}, "replies to its contexts|not finite"),
    ],
)
def test_a_file_that_does_not_fit_is_named(remembered, folder, changed, says):
    sha256 = storage.save_references(replace(remembered, **changed), folder / "references.safetensors")
    with pytest.raises(BadCheckpoint, match=says):
        storage.load_references(folder, sha256)


def test_a_comparator_looks_them_up(judged, settings, tmp_path):
    texts, pairs, scores = judged
    quick = replace(settings, folds=2, epochs=1, base_passes=1, base_harder_passes=0.5)
    fit(Examples(texts, pairs, scores=scores, exchanges=talk(20, 0)), quick, 0, tmp_path / "with")
    comparator = load(tmp_path / "with")
    assert len(comparator.references.contexts) == 20
    (tmp_path / "with" / "references.safetensors").write_bytes(b"others")
    with pytest.raises(BadCheckpoint, match="SHA-256"):
        load(tmp_path / "with")
    fit(Examples(texts, pairs, scores=scores, exchanges=talk(20, 0)), replace(quick, references=False), 0, tmp_path / "without")
    assert load(tmp_path / "without").references is None
    assert not (tmp_path / "without" / "references.safetensors").exists()


def test_vectors_of_contexts_are_kept_for_one_way_of_reading(tiny_encoder):
    tokenizer = AutoTokenizer.from_pretrained(tiny_encoder)
    held = predict._vectors("sha", Encoder(tokenizer, 32))
    assert predict._vectors("sha", Encoder(tokenizer, 32)) is held
    cut = predict._vectors("sha", Encoder(tokenizer, 8))  # a longer context is embedded by its last 6 tokens
    rounded = predict._vectors("sha", Encoder(tokenizer, 8, precision="bf16"))
    assert cut is not held and rounded is not cut


def of_the_company(model, encoder, strings, tick=None) -> torch.Tensor:
    """Vectors that follow from all strings that are embedded together, as the last bits of real ones do."""
    together = zlib.crc32("\n".join(strings).encode()) % 1009
    return torch.tensor([[len(string), zlib.crc32(string.encode()) % 97, together] for string in strings], dtype=torch.float32)


WAYS = {
    "matcher": lambda encoder, texts, kept: beside_pairs(None, None, encoder, texts, None, (), kept)[0].tolist(),
    "untrained": lambda encoder, texts, kept: cosines(None, encoder, texts, None, kept).tolist(),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_a_process_read_before_changes_no_bit(monkeypatch, way):
    """A worker that is started again, and one that takes the next part of a job, has read other contexts. Where single contexts
    were kept, 10 of 900 outputs' vectors differed by up to 6e-8 with and without their contexts (a BERT of 32 units)."""
    monkeypatch.setattr(hidden_states, "embeddings", of_the_company)
    encoder, read = SimpleNamespace(shown=lambda output: output), WAYS[way]
    texts = [Text((f"hello {n}", f"and {n % 5}"), f"reply {n} {side}") for n in range(12) for side in "ab"]
    of_first, of_second, kept = texts[:14], texts[10:], {}
    fresh = read(encoder, of_second, {})
    assert read(encoder, of_first, kept) == read(encoder, of_first, {})
    assert read(encoder, of_second, kept) == fresh == read(encoder, of_second, kept)  # and where its contexts are kept
    monkeypatch.setattr(hidden_states, "KEPT", 3)
    assert read(encoder, of_second, {}) == fresh and len(kept) == 2


def test_vectors_are_kept_up_to_a_number_of_strings(monkeypatch):
    monkeypatch.setattr(hidden_states, "embeddings", of_the_company)
    monkeypatch.setattr(hidden_states, "KEPT", 3)
    kept: hidden_states.Kept = {}
    for strings in (["a", "b", "a"], ["c"], ["d"], ["a", "b", "c", "d"]):
        assert [*hidden_states.kept_embeddings(None, None, strings, kept)] == list(dict.fromkeys(strings))
    assert [*kept] == [("d",)]  # the first three made way for it, and the last ones are too many
