import numpy as np
import pytest

from leaderboard.rating.crossed import text_groups as groups
from leaderboard.rating.crossed.text_groups import features, profiles, text_groups, tree

TOPICS = (
    "the ship sails over the sea to the harbour, with salt in the wind",
    "a recipe needs butter, flour, sugar and a warm oven in the kitchen",
    "the striker scored a goal, and the referee blew the whistle at last",
    "planets orbit a star, and telescopes see the light of galaxies",
    "a judge in court heard the witness, and the lawyer lost the case",
    "roots, leaves and blossoms grow in the garden after the spring rain",
)


def campaign(moved_by_topic: float, seed: int = 0, each: int = 8) -> tuple[np.ndarray, list[str], np.ndarray]:
    """(what moves 4 systems, texts, topics) of contexts that say half of their topic's words, in any order"""
    rng = np.random.default_rng(seed)
    topic = np.arange(len(TOPICS) * each) % len(TOPICS)
    texts = [" ".join(rng.permutation(TOPICS[t].split())[:8].tolist() + [f"number{i}"]) for i, t in enumerate(topic)]
    moved = rng.normal(size=(len(topic), 4)) + moved_by_topic * rng.normal(size=(len(TOPICS), 4))[topic]
    return moved - moved.mean(axis=1, keepdims=True), texts, topic


def partition(label) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(label == k).tolist()) for k in np.unique(label)}


def test_topics_that_move_the_systems_are_groups():
    moved, texts, topic = campaign(2.0)
    found = text_groups(moved, texts)
    assert found.by_chance == 1 / 200  # no random order of 199 comes near
    alike, grouped = (of[:, None] == of[None, :] for of in (topic, found.label))
    assert (grouped & alike).sum() >= 0.9 * alike.sum()  # nearly all contexts of one topic are together
    assert (grouped & alike).sum() >= 0.5 * grouped.sum()  # with few others
    assert 3 <= found.groups <= 9


def test_topics_that_move_nothing_are_found_in_about_one_of_twenty():
    found = [text_groups(*campaign(0.0, seed)[:2]) for seed in range(20)]
    assert sum(one is not None for one in found) <= 4  # more has a chance of 0.3%


def test_groups_are_the_same_in_any_order_of_contexts_and_systems():
    moved, texts, _ = campaign(1.0)
    order = np.random.default_rng(1).permutation(len(texts))
    found, again = text_groups(moved, texts), text_groups(moved[order][:, ::-1], [texts[i] for i in order])
    back = np.empty_like(again.label)
    back[order] = again.label
    assert partition(back) == partition(found.label) and again.by_chance == found.by_chance


def test_similarity_by_hand():
    """Four texts with the n-grams ab, abc, bc (twice), cd (once) and ab (once): ab is in three texts, the others of the first
    two in two. Weights are logarithms of 4 / 3, 2 and 2."""
    rows = features(["abc", "ABC", "cd", " ab "])
    similar = (rows @ rows.T).toarray()
    ab, other = np.log(4 / 3), np.log(2)
    assert similar[0, 1] == pytest.approx(1)
    assert similar[0, 3] == pytest.approx(ab / np.sqrt(ab**2 + 2 * other**2))
    assert similar[0, 2] == similar[2, 2] == 0  # it shares nothing


def test_profiles_by_hand():
    """Two texts that share half of what they are, two that share all, and one that shares nothing. As alike to itself as to the
    nearest, each of the first two has 0.5 + 0.5 = 1 in common with all, each of the next two 2, so the whole is 6. Of 0 and 1
    1/6 each is expected, of one of these and one of the next two 2/6, of the next two 4/6 each."""
    similar = np.eye(5)
    similar[0, 1] = similar[1, 0] = 0.5
    similar[2, 3] = similar[3, 2] = 1.0
    one = np.array([1 / 3, 1 / 3, -1 / 3, -1 / 3, 0]) / np.sqrt(4 / 9)
    assert profiles(similar) == pytest.approx(np.stack([one, one, -one, -one, np.zeros(5)]))


def test_a_short_text_joins_its_topic():
    """Two words, of which one is said in texts of all topics and one in texts of one topic alone."""
    texts = [f"{text} {i}" for i in range(3) for text in TOPICS[:3]] + ["the oven"]
    label = groups._labels(tree(texts)[0], 7)
    assert partition(label) == {frozenset({0, 3, 6}), frozenset({1, 4, 7, 9}), frozenset({2, 5, 8})}


def test_copies_with_other_spelling_are_joined_first():
    texts = ["Who wrote the book?", "How far is the moon?", "who wrote  the book", "Name three rivers of France."]
    assert tree(texts)[0][0].tolist() == [0, 2]


@pytest.mark.parametrize("n", [3, groups.MOST_TEXTS + 1])
def test_too_few_and_too_many_contexts_stay_as_they_are(n):
    assert text_groups(np.ones((n, 2)), [str(i) for i in range(n)]) is None


@pytest.mark.parametrize("text", ["", "the same"])
def test_texts_that_tell_nothing(text):
    assert text_groups(np.random.default_rng(0).normal(size=(20, 3)), [text] * 20) is None


def test_answers_that_tell_nothing():
    assert text_groups(np.zeros((len(TOPICS), 3)), list(TOPICS)) is None
    assert text_groups(np.zeros((20, 3)), [f"{TOPICS[i % 6]} {i}" for i in range(20)]) is None
