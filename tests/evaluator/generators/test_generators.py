"""The demo's own systems, each on a corpus small enough to know the answer by hand."""

import hashlib
from random import Random

import numpy as np
import pytest

from evaluator.generators.dialogue import AnsweredTurn, content_words, exchanges, sentence
from evaluator.generators.generic import ANSWERS, QUESTION_ANSWERS, GenericGenerator
from evaluator.generators.ngram import NgramGenerator
from evaluator.generators.random_reply import RandomReplyGenerator
from evaluator.generators.retrieval import RetrievalGenerator
from evaluator.judges.texts import words

TRAINING = [
    AnsweredTurn(("The bus has left.",), "Let's take a taxi."),
    AnsweredTurn(("My cake collapsed.",), "You opened the oven too early."),
    AnsweredTurn(("The cat is missing.",), "Look in the cellar."),
]


def word_bag(texts):
    """A stand-in for the encoder: each word is one of 256 directions; texts without words point somewhere fixed."""
    rows = np.zeros((len(texts), 256))
    for i, text in enumerate(texts):
        rows[i, 0] = 0.01
        for word in content_words(text):
            rows[i, 1 + int(hashlib.sha256(word.encode()).hexdigest(), 16) % 255] += 1
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_each_turn_after_the_first_answers_all_turns_before_it():
    assert exchanges([["a", "b", "c"], ["alone"]]) == [AnsweredTurn(("a",), "b"), AnsweredTurn(("a", "b"), "c")]


def test_words_keep_apostrophes_and_numbers_and_split_punctuation():
    assert words("I don't know, at 10 o'clock?") == ["i", "don't", "know", ",", "at", "10", "o'clock", "?"]


def test_sentence_is_what_words_took_apart():
    text = "Yes, I'll be there. Can I bring the dog?"
    assert sentence(words(text)) == text


def test_retrieval_answers_with_the_reply_to_the_nearest_context():
    generator = RetrievalGenerator(TRAINING, word_bag)
    assert generator.reply(("Oh no.", "Is the cat still missing?"), Random(0)) == "Look in the cellar."
    assert generator.reply(("The last bus has left",), Random(0)) == "Let's take a taxi."


def test_random_reply_says_every_training_reply_and_nothing_else():
    rng = Random(0)
    said = {RandomReplyGenerator(TRAINING).reply(("Anything",), rng) for _ in range(100)}
    assert said == {exchange.reply for exchange in TRAINING}


def test_generic_tells_questions_from_statements_but_not_topics():
    generator = GenericGenerator()
    asked = {generator.reply(("Where is it?",), Random(i)) for i in range(100)}
    told = {generator.reply(("It is here.",), Random(i)) for i in range(100)}
    assert asked == set(QUESTION_ANSWERS)
    assert told == set(ANSWERS)


def test_ngram_distribution_is_the_interpolation_worked_out_by_hand():
    training = [AnsweredTurn(("x",), "red fox"), AnsweredTurn(("y",), "red hen"), AnsweredTurn(("z",), "old hen")]
    model = NgramGenerator(training)
    # After "<s> red": trigram and bigram say fox 1/2, hen 1/2; of 9 unigrams red 2, hen 2, fox 1, old 1, </s> 3.
    expected = {"fox": 0.98 / 2 + 0.02 / 9, "hen": 0.98 / 2 + 0.04 / 9, "red": 0.04 / 9, "old": 0.02 / 9, "</s>": 0.06 / 9}
    assert model.distribution(("<s>", "red"), None) == pytest.approx(expected)


def test_ngram_keyword_multiplies_the_weight_of_related_words():
    training = [AnsweredTurn(("forest",), "red fox"), AnsweredTurn(("farm",), "red hen")]
    model = NgramGenerator(training, boost=4.0)
    assert model.keyword(("I live on a farm",)) == "farm"
    plain, nudged = model.distribution(("<s>", "red"), None), model.distribution(("<s>", "red"), "farm")
    assert nudged["hen"] / nudged["fox"] == pytest.approx(4 * plain["hen"] / plain["fox"])
    assert sum(nudged.values()) == pytest.approx(1)


def test_ngram_survives_a_context_with_no_known_word():
    model = NgramGenerator(TRAINING)
    assert model.keyword(("Zzz!",)) is None
    assert model.reply(("Zzz!",), Random(3))


@pytest.mark.parametrize("build", [RandomReplyGenerator, NgramGenerator, lambda t: RetrievalGenerator(t, word_bag)])
def test_nothing_to_learn_from_is_refused(build):
    with pytest.raises(ValueError, match="at least one training exchange"):
        build([])


def test_the_same_seed_says_the_same():
    for generator in (GenericGenerator(), RandomReplyGenerator(TRAINING), NgramGenerator(TRAINING)):
        assert generator.reply(("The bus?",), Random(5)) == generator.reply(("The bus?",), Random(5))
