"""What stands below everything, by example."""

import math
import random
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from evaluator.comparator.examples import Text
from evaluator.comparator.guards import (
    COPIED_SHARE,
    COPIED_WORDS,
    guarded,
    is_copied,
    is_echo,
    longest_common,
    lowered,
    says_little,
)
from evaluator.comparator.head import NO_GUARD
from evaluator.comparator.predict import Comparator

ASKED = ("Hello there !", "Do you know where to get them from ?")


@pytest.mark.parametrize(
    ("output", "stopped"),
    [
        ("", True),
        (" . . . ", True),
        ("no", False),
        ("Do you know where to get them from ?", True),
        ("you said : do you know where to get them from", True),  # 8 of 10 words in a row
        ("do you know where the station is ?", False),  # 4 of 7 in a row are less than 70%
        ("where from ?", False),
        ("hello there !", False),  # a greeting returned: fewer than four words
        ("i do not know i do not know i do not know", True),  # 4 different pairs of 11
        ("very very good", False),  # too short to tell
        ("no no no no no", True),  # four words twice
        ("he said no no no no no and then went home after a long while and slept", False),  # 4 of 16 pairs
        ("my my name name is is paul paul", True),  # 4 of 7
        ("hello there ! do you know where to get them from ?", True),  # both turns
        ("do you know where they get them from", True),  # 7 of 8 words of both
        ("from them get to where know you do", True),
        ("well do you er know where um to get like them you know from", True),  # the turn's 8 words in their order, of 13
        ("do i know where to get him from", True),  # with "I" and "you" the same, 7 of 8 words of both
        ("i know where you can get the shoes from", False),
        ("well , do you know where to get them from ? i would like to know that myself very much", True),  # 8 of 19 words
        (f"do you know where to get them from ? {' '.join(map(str, range(19)))}", False),  # 8 of 27 words
    ],
)
def test_blank_copied_and_repeating_outputs_are_guarded(output, stopped):
    assert guarded([Text(ASKED, output)]).tolist() == [stopped]


def test_copied_is_a_run_of_most_words_wherever_it_stands():
    rng = random.Random(0)
    draw = lambda most: [rng.choice("abc") for _ in range(rng.randint(0, most))]
    found = 0
    for _ in range(3000):
        words, turns = draw(9), [draw(12) for _ in range(rng.randint(0, 3))]
        least = max(COPIED_WORDS, math.ceil(COPIED_SHARE * len(words)))
        runs = ["".join(words[i : i + least]) for i in range(len(words) - least + 1)]
        copied = any(run in "".join(turn) for run in runs for turn in turns)  # a word is a letter: by the definition
        assert is_copied(words, turns) == copied
        found += copied
    assert found > 50


def subsequence(a, b) -> int:
    """The longest common one, by the textbook's table (Wagner & Fischer 1974)."""
    table = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    for i, j in np.ndindex(len(a), len(b)):
        table[i + 1, j + 1] = table[i, j] + 1 if a[i] == b[j] else max(table[i, j + 1], table[i + 1, j])
    return table[-1, -1]


def test_the_longest_common_subsequence():
    assert longest_common("nematode knowledge", "empty bottle") == 7  # "emt ole"
    rng = random.Random(1)
    for _ in range(200):
        a, b = (rng.choices("abc", k=rng.randint(0, 80)) for _ in range(2))
        assert longest_common(a, b) == subsequence(a, b)


def test_an_echo_is_pieces_of_turns_that_are_said_back_for_the_most_part():
    rng = random.Random(0)
    draw = lambda most: [rng.choice("abcd") for _ in range(rng.randint(0, most))]

    def in_runs(words, others):  # how many stand in three in a row that the others have too: by the definition
        there = {tuple(others[i : i + 3]) for i in range(len(others) - 2)}
        return {k for i in range(len(words) - 2) if tuple(words[i : i + 3]) in there for k in range(i, i + 3)}

    found = 0
    for _ in range(3000):
        words, turns = draw(14), [draw(12) for _ in range(rng.randint(0, 3))]
        echoed = [turn for turn in turns if turn and len(in_runs(turn, words)) >= 0.4 * len(turn)]
        pieces = len(set().union(*(in_runs(words, turn) for turn in echoed))) >= max(4, 0.7 * len(words))
        reordered = any(
            min(len(words), len(turn)) >= 4
            and sum(min(words.count(w), turn.count(w)) for w in "abcd") >= 0.8 * max(len(words), len(turn))
            for turn in turns
        )
        strewn = any(
            5 <= len(turn) and subsequence(words, turn) >= max(0.9 * len(turn), 0.5 * len(words)) for turn in turns
        )
        whole = any(len(turn) >= max(6, 0.3 * len(words)) and "".join(turn) in "".join(words) for turn in turns)
        assert is_echo(words, turns) == (pieces or reordered or strewn or whole)
        found += pieces and not (reordered or strewn or whole)
    assert found > 50


def test_a_summary_of_a_long_text_in_its_words_is_no_echo():
    sentences = [[f"s{i}w{k}" for k in range(12)] for i in range(30)]
    said = sentences[0] + sentences[7] + sentences[19]
    assert not is_echo(said, [sum(sentences, [])]) and is_echo(said, sentences)


def test_a_long_output_takes_no_more_memory_than_its_words():
    words = [f"w{i % 3001}" for i in range(20_000)]
    tracemalloc.start()
    assert is_copied(words, [words[1:]]) and not is_copied(words, [["x"] * 20_000])
    assert is_echo(words, [words[1:]]) and not is_echo(words, [["x"] * 20_000])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2e7  # all its runs of 14,000 words together are 500 MB


def test_a_guarded_output_stands_among_the_worst_twentieth_and_no_lower_than_it_would(trained, judged):
    comparator = Comparator.load(trained[1])
    context = judged[0][0].context
    most, found = comparator.head.guard, comparator.utilities([Text(context, "")])[0]
    assert (trained[0].utilities > most).mean() >= 0.95
    comparator.head = replace(comparator.head, guard=NO_GUARD)
    free = comparator.utilities([Text(context, "")])[0]
    assert found == pytest.approx(free if free < most else most + (free - most) / 50)
    answer = Comparator.load(trained[1]).compare([Text(context, "good")], [Text(context, "")])
    assert answer.choices.tolist() == ["A"]


def test_of_what_a_guarded_output_has_above_them_a_fiftieth_is_left():
    u, texts = np.array([-9.0, 0.5, 1.5, 2.0]), [Text(ASKED, output) for output in ("", "", "- - -", "at the station .")]
    kept = lowered(u, texts, np.zeros(4), most=-1.0, apart=-1.0, loss=0.0)
    assert kept == pytest.approx([-9.0, -1.0 + 1.5 / 50, -1.0 + 2.5 / 50, 2.0])


@pytest.mark.parametrize(
    ("output", "little"),
    [
        ("I see .", True),
        ("that 's nice .", True),
        ("i don't know", True),
        ("thank you so much indeed", False),  # five words
        ("i see a bird .", False),  # of a bird
        ("", False),
    ],
)
def test_a_phrase_that_fits_everywhere_says_little(output, little):
    assert says_little([Text(ASKED, output)]).tolist() == [little]


def test_a_phrase_that_fits_everywhere_loses_where_it_has_little_to_do_with_its_context():
    texts = [Text(ASKED, output) for output in ("i see .", "thank you .", "at the station .", "station")]
    cosines = np.array([0.1, 0.5, 0.1, 0.1])
    assert lowered(np.ones(4), texts, cosines, most=9.0, apart=0.3, loss=0.4).tolist() == [0.6, 1.0, 1.0, 1.0]


def test_a_lone_word_that_fits_everywhere_loses_as_much_once_more():
    texts, cosines = [Text(ASKED, "ok ."), Text(ASKED, "Ok!")], np.array([0.5, 0.1])
    assert lowered(np.ones(2), texts, cosines, most=9.0, apart=0.3, loss=0.4) == pytest.approx([0.6, 0.2])
