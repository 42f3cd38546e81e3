"""What of a text reaches the encoder."""

import numpy as np
import pytest
from transformers import AutoTokenizer

from evaluator.encoders.encoding import Encoder, by_length
from evaluator.judges.texts import Text


@pytest.fixture(scope="module")
def tokenizer(tiny_encoder):
    return AutoTokenizer.from_pretrained(tiny_encoder)


def words(tokenizer, ids):
    return tokenizer.convert_ids_to_tokens(ids)


def test_context_then_output(tokenizer):
    sequences = Encoder(tokenizer, 20).pairs([Text(("w1 w2", "w3"), "w4 w5")])
    assert words(tokenizer, sequences.ids[0]) == ["[CLS]", "w1", "w2", "[SEP]", "w3", "[SEP]", "w4", "w5", "[SEP]"]
    assert sequences.segments[0] == [0, 0, 0, 0, 0, 0, 1, 1, 1]


def test_the_context_loses_its_first_turns_and_the_output_nothing(tokenizer):
    sequences = Encoder(tokenizer, 8).pairs([Text(("w1 w2", "w3"), "w4 w5 w6")])
    assert words(tokenizer, sequences.ids[0]) == ["[CLS]", "[SEP]", "w3", "[SEP]", "w4", "w5", "w6", "[SEP]"]


def test_an_output_that_fills_everything_leaves_no_context_and_is_cut_at_its_end(tokenizer):
    sequences = Encoder(tokenizer, 5).pairs([Text(("w1",), "w4 w5 w6 w7")])
    assert words(tokenizer, sequences.ids[0]) == ["[CLS]", "w4", "w5", "w6", "[SEP]"]


def test_empty_output_empty_context_and_lone_surrogate(tokenizer):
    sequences = Encoder(tokenizer, 9).pairs([Text(("w1",), ""), Text((), "w1"), Text((), ""), Text(("w2",), "\ud800")])
    assert words(tokenizer, sequences.ids[0]) == ["[CLS]", "w1", "[SEP]", "[SEP]"]
    assert words(tokenizer, sequences.ids[1]) == ["[CLS]", "w1", "[SEP]"]
    assert words(tokenizer, sequences.ids[2]) == ["[CLS]", "[SEP]"]
    assert words(tokenizer, sequences.ids[3]) == ["[CLS]", "w2", "[SEP]", "[UNK]", "[SEP]"]


def test_a_single_string_keeps_the_end_that_is_asked_for(tokenizer):
    encoder = Encoder(tokenizer, 4)
    assert words(tokenizer, encoder.singles(["w1 w2 w3"]).ids[0]) == ["[CLS]", "w1", "w2", "[SEP]"]
    assert words(tokenizer, encoder.singles(["w1 w2 w3"], keep_end=True).ids[0]) == ["[CLS]", "w2", "w3", "[SEP]"]


def test_a_batch_is_padded_to_its_longest_text(tokenizer):
    encoder = Encoder(tokenizer, 20)
    batch = encoder.batch(encoder.pairs([Text(("w1",), "w2"), Text((), "w1"), Text((), "w1 w2 w3 w4 w5")]), [1, 0])
    assert batch.ids.shape == (2, 5)
    assert batch.mask.tolist() == [[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]]
    assert batch.segments.tolist() == [[0, 1, 1, 0, 0], [0, 0, 0, 1, 1]]


def test_batches_hold_every_text_once_and_similar_lengths():
    batches = list(by_length(np.array([3, 9, 1, 7, 5]), 2))
    assert [batch.tolist() for batch in batches] == [[1, 3], [4, 0], [2]]


def test_a_context_twice_as_long_as_familiar_counts_a_quarter(tokenizer):
    encoder = Encoder(tokenizer, max_length=8, familiar=6)
    sequences = encoder.pairs([Text(("one two",), "three"), Text(("one two three four five", "six seven eight nine ten"), "a")])
    assert sequences.whole_contexts == (3, 12)  # each turn with its [SEP], before anything is cut
    assert encoder.batch(sequences, [0, 1]).familiarity.tolist() == [1.0, 0.25]
    assert Encoder(tokenizer, max_length=8).batch(sequences, [1]).familiarity.tolist() == [1.0]
