"""Long texts, by hand."""

import pytest
from transformers import AutoTokenizer

from evaluator.encoders.encoding import Encoder
from evaluator.encoders.sentence_cut import cut_at_sentence
from evaluator.judges.texts import Text

STORY = "One two three. Four five six seven! Eight nine? Ten."  # sentences end after 3, 7, 9 and 10 words


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (10, STORY),
        (9, "One two three. Four five six seven! Eight nine?"),
        (8, "One two three. Four five six seven!"),  # 7 and 9 are equally near: the shorter
        (5, "One two three."),  # 3 and 7 are equally near
        (6, "One two three. Four five six seven!"),
        (1, "One two three."),  # a first sentence is never cut
    ],
)
def test_it_is_cut_at_the_nearest_end_of_a_sentence(words, kept):
    assert cut_at_sentence(STORY, words) == kept


def test_without_sentences_it_stays_whole():
    assert cut_at_sentence("a b c d e", 2) == "a b c d e"


def test_a_long_run_of_marks_is_read_once():
    story = "one " * 250 + "two" + "." * 200_000 + "three " + "four " * 249 + "end."  # tried from each mark, minutes
    assert cut_at_sentence(story + " Five.", 250) == story


def test_what_was_cut_is_counted(tiny_encoder):
    encoder = Encoder(AutoTokenizer.from_pretrained(tiny_encoder), max_length=8, max_words=3)
    texts = [
        Text(("w1",), "w2 w3"),  # whole
        Text(("w1", "w2", "w3", "w4"), "w5 w6"),  # the context loses a turn
        Text(("w1",), "w2 w3 . w4 w5 ."),  # the output loses a sentence
        Text(("w1",), "w2 w3 w4 w5 w6 w7 w8 w9"),  # one long sentence: to the limit of tokens, and no context is left
    ]
    sequences = encoder.pairs(texts)
    assert (sequences.cut_contexts, sequences.cut_outputs) == (2, 2)
    assert sequences.lengths.tolist() == [6, 8, 7, 8]
