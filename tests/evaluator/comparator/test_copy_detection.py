"""What says its context back, by definition and by example."""

import math
import random
import tracemalloc
from collections import Counter

import numpy as np
import pytest

from evaluator.comparator.copy_detection import COPIED_SHARE, COPIED_WORDS, is_copied, is_echo, longest_common, says_back
from evaluator.comparator.words import words_of

TALK = (
    "we would like to rent a small boat for the weekend .",
    "do you have a licence , or shall one of our people come along with you ?",
    "my brother has one . how much is it with petrol and lunch ?",
)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("rent small boat weekend licence petrol", True),  # six content words, all of the context
        ("boat , weekend , lunch", False),  # three are few
        ("a boat and the weekend and petrol and lunch", False),  # 4 of 9
        ("yachts cabins sailors moorings", False),  # of its own
        ("it is ninety all together boat licence lunch petrol", True),  # four in a row that stand apart in the context
        ("it is ninety for the small boat , petrol and lunch", False),
        ("for the weekend come along with you petrol and lunch", True),  # three words of each turn
        ("for the weekend it is ninety , petrol and lunch are in it", False),  # 6 of 13
        ("my uncle has one . how costly is it with petrol and lunch ?", True),  # 10 of 12, the others replaced
        ("it is ninety , and your brother has to show us his licence before lunch", False),
    ],
)
def test_pieces_and_lists_of_a_talk_say_it_back(output, said):
    assert says_back(words_of(output), TALK) == said


def test_lists_are_told_in_english_alone():
    mieten = ("wir möchten für das wochenende ein kleines boot mieten .",)
    assert not says_back("ein kleines boot kostet wochenende".split(), mieten)
    assert says_back("small boat weekend costs rent".split(), TALK[:1])


def test_in_a_long_text_lists_and_pieces_say_nothing():
    long = (*TALK, "and so it went on all day " * 75)
    for output in ("rent small boat weekend licence petrol", "for the weekend come along with you petrol and lunch"):
        assert says_back(output.split(), TALK) and not says_back(output.split(), long)


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

    found = Counter()
    for _ in range(30_000):
        words, turns = draw(14), [draw(12) for _ in range(rng.randint(0, 3))]
        if turns and rng.random() < 0.3:  # a turn with a fifth of its words replaced
            words = [rng.choice("efgh") if rng.random() < 0.2 else word for word in turns[0]]
        echoed = [turn for turn in turns if turn and len(in_runs(turn, words)) >= 0.4 * len(turn)]
        pieces = len(set().union(*(in_runs(words, turn) for turn in echoed))) >= max(4, 0.7 * len(words))
        reordered = any(
            min(len(words), len(turn)) >= 4
            and sum(min(words.count(w), turn.count(w)) for w in "abcd") >= 0.8 * max(len(words), len(turn))
            for turn in turns
        )
        strewn = any(5 <= len(turn) and subsequence(words, turn) >= max(0.9 * len(turn), 0.5 * len(words)) for turn in turns)
        replaced = any(
            min(len(words), len(turn)) >= 6 and subsequence(words, turn) >= 0.76 * max(len(words), len(turn)) for turn in turns
        )
        places = [in_runs(words, turn) for turn in turns]
        own = [there - set().union(*places[:i], *places[i + 1 :]) for i, there in enumerate(places)]
        several = sum(len(mine) >= 3 for mine in own) >= 2 and len(set().union(*places)) >= max(6, 0.7 * len(words))
        whole = any(len(turn) >= max(6, 0.3 * len(words)) and "".join(turn) in "".join(words) for turn in turns)
        assert is_echo(words, turns) == (pieces or several or reordered or strewn or replaced or whole)
        found["pieces"] += pieces and not (several or reordered or strewn or replaced or whole)
        found["several"] += several and not (pieces or reordered or strewn or replaced or whole)
        found["replaced"] += replaced and not (pieces or several or reordered or strewn or whole)
    assert len(found) == 3 and min(found.values()) > 50


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
