"""Texts of one group, as of a document or conversation, are seen as a whole or not at all: by members, models and examples."""

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest

from evaluator.comparator import storage
from evaluator.comparator.examples import Examples
from evaluator.comparator.predict import ALL, Trained
from evaluator.comparator.settings import Settings
from evaluator.comparator.training.dataset import checked, fingerprint_of, split
from evaluator.judges.calibration import Head
from evaluator.judges.prompt_examples import FOLDS, Example
from evaluator.judges.prompt_examples import Examples as Shown
from evaluator.judges.texts import BESIDE, Referenced, Text, common_words, context_key, fold_in, keys_of, kin_of
from evaluator.metaevaluation.card_figures import JudgedTexts, pairwise
from evaluator.metaevaluation.pairs import JudgedPair
from evaluator.metrics.adem import _groups
from evaluator.metrics.inputs import Training
from evaluator.metrics.networks import parted
from evaluator.metrics.out_of_fold import out_of_fold, replies_of

A_BETTER = (1.0, 0.0, 0.0)


def text(group, context, output="yes", **more):
    return Text((context,), output, group=group, **more)


def documents(groups=12, each=4):
    """Questions about documents: two answers to each."""
    return [
        text(f"doc {g}", f"question {c} of {g}", side) for g in range(groups) for c in range(each) for side in ("yes", "no")
    ]


def judged(texts, **more):
    pairs = [JudgedPair(i, i + 1, A_BETTER, 1.0) for i in range(0, len(texts), 2)]
    return checked(Examples(texts, pairs, **more), Settings())


def folds_of_groups(texts, folds):
    found: dict[str, set[int]] = {}
    for one, fold in zip(texts, folds, strict=True):
        found.setdefault(one.group, set()).add(fold)
    return found


class TestKin:
    def test_without_groups_it_is_the_context(self):
        texts = [Text((f"c{i % 3}",), "o", context_id=str(i)) for i in range(6)]
        assert kin_of(texts) == [context_key(one.context) for one in texts]

    def test_both_relations_join(self):
        """a - b share words, b - c a group; d stands alone, e has a group of its own."""
        a, b, c = text("", "Tea?"), text("1", "tea? "), text("1", "Coffee?")
        kin = kin_of([a, b, c, text("", "Water?"), text("2", "Milk?")])
        assert kin[0] == kin[1] == kin[2] and len(set(kin)) == 3

    def test_a_group_of_one_context_is_as_none(self):
        assert kin_of([text(f"g{i}", f"c{i}") for i in range(4)]) == kin_of([text("", f"c{i}") for i in range(4)])

    def test_two_groups_with_a_context_in_common_are_one(self):
        kin = kin_of([text(g, c) for g, c in (("1", "a"), ("1", "b"), ("2", "b"), ("2", "c"), ("3", "d"))])
        assert len(set(kin[:4])) == 1 and kin[4] != kin[0]

    def test_an_opening_line_of_most_conversations_joins_none(self):
        texts = [text(f"{g}", words) for g in range(10) for words in ("Hello!", f"Hello! | Hi. | I am {g}")]
        kin = kin_of(texts)
        assert len(set(kin)) == 10 and kin[0::2] == kin[1::2]
        few = [one if int(one.group) < 5 else replace(one, context=(f"{one.group} {one.context}",)) for one in texts]
        assert len(set(kin_of(few))) == 6  # half of them have it: they are one, and the others five

    def test_nobody_learns_from_an_opening_line_of_several_folds(self):
        """Of ten conversations with it; each is judged all the same, by the model that did not see the conversation."""
        texts = [text(f"{g}", words, f"{g}") for g in range(10) for words in ("Hello!", f"Hello! | Hi. | I am {g}")]
        training, seen = Training.dealt(texts, [0.0, 1.0] * 10, folds=2), []

        def fit(learnt, known, seed):
            seen.append({one.group for one in learnt})
            assert all(one.context != ("Hello!",) for one in learnt) and len(learnt) == 5
            return lambda others: np.zeros(len(others))

        out_of_fold(fit, training)
        assert seen[0] | seen[1] == {one.group for one in texts} and not seen[0] & seen[1]
        assert training.folds_of(texts) == training.folds
        assert training.folds_of([text("3", "new"), text("", "Hello!")]) == [training.folds[6], None]
        assert common_words(texts, training.folds) == [True, False] * 10
        assert not any(common_words(documents(), Training.dealt(documents()).folds))


class TestFolds:
    def test_of_a_comparator_hold_whole_groups(self):
        texts = documents()
        folds = split(judged(texts), 3, 0)
        by_group = folds_of_groups(texts, [fold_in(folds, one) for one in texts])
        assert all(len(found) == 1 for found in by_group.values())
        sizes = np.bincount([found.pop() for found in by_group.values()])
        assert sizes.tolist() == [4, 4, 4]

    def test_of_a_metric_and_within_it(self):
        texts = [Referenced(one.context, one.output, ("a reference",), group=one.group) for one in documents()]
        for folds in (Training.dealt(texts).folds, _groups(texts, 3)):
            assert all(len(found) == 1 for found in folds_of_groups(texts, folds).values()) and len(set(folds)) == 5
        replies = replies_of(texts)
        assert {one.group for one in replies} == {one.group for one in texts}
        learnt, kept = parted(kin_of(replies), 0)
        assert len(kept) and not {replies[i].group for i in learnt} & {replies[i].group for i in kept}

    def test_too_few_groups_are_refused_in_words(self):
        with pytest.raises(ValueError, match="3 folds need at least 3 groups of contexts; there are 2"):
            split(judged(documents(groups=2)), 3, 0)
        assert len(set(Training.dealt(documents(groups=2)).folds)) == 2
        with pytest.raises(ValueError, match="A context or group lies in two folds"):
            Training(documents(groups=1, each=2), [0, 0, 1, 1])

    def test_a_group_that_is_lent_is_measured_by_nobody(self):
        texts = documents(groups=6)
        folds = split(judged(texts, beside=np.arange(48) >= 32), 3, 0)
        assert {one.group for one in texts if fold_in(folds, one) == BESIDE} == {"doc 4", "doc 5"}
        assert fold_in(folds, text("doc 5", "a new question")) == BESIDE

    def test_nothing_changes_without_groups(self):
        """Digests of what was dealt before there were groups (6cf7eb54)."""
        texts = [Text((f"Question {i // 2 % 30}",), f"answer {i}", context_id=f"{i // 2}") for i in range(80)]
        given = judged(texts, scores=np.linspace(0, 1, 80), beside=np.arange(80) >= 50)
        shown = Shown(tuple(Example((one,), i % 3) for i, one in enumerate(texts)), 4, 5)
        found = (
            split(given, 3, 5),
            fingerprint_of(given, Settings(), 5, "encoder"),
            list(Training.dealt(texts, seed=5).folds),
            [[one.label for one in shown.beside(one)] for one in texts],
            [rows.tolist() for rows in parted(kin_of(texts), 5)],
        )
        digests = [hashlib.sha256(json.dumps(one, sort_keys=True).encode()).hexdigest()[:16] for one in found]
        before = ["b4a0868ac2f6f9a4", "8a7a5bb3f66d8c06", "c414b35fb3506fb5", "de00705150d757bc", "3110783e5f10c1ed"]
        assert digests == before


def test_a_model_that_remembers_documents_foresees_nothing():
    """Of a document's questions it says their mean score, of others' the mean of all; scores are of documents, at random."""
    texts = documents(groups=40)
    scores = np.repeat(np.random.default_rng(0).normal(size=40), 8)
    document = lambda one: one.context[0].split()[-1]

    def fit(learnt, known, seed):
        said = {
            document(one): [s for other, s in zip(learnt, known[:, 0]) if document(other) == document(one)] for one in learnt
        }
        return lambda others: np.array([np.mean(said.get(document(one), known)) for one in others])

    told = out_of_fold(fit, Training.dealt(texts, scores.tolist()))
    assert np.corrcoef(told(texts), scores)[0, 1] < 0
    new = text("doc 3", "question 9 of 3")
    assert told([new]) == pytest.approx(told([texts[24]]))  # by the model that did not see the document
    by_context = [replace(one, group="") for one in texts]
    leaking = out_of_fold(fit, Training.dealt(by_context, scores.tolist()))
    assert np.corrcoef(leaking(by_context), scores)[0, 1] > 0.99  # what a file that names no groups is worth


class TestWhoJudges:
    @pytest.fixture
    def comparator(self):
        folds = split(judged(documents(), beside=np.arange(96) >= 88), 3, 0)
        measured = {key: fold for key, fold in folds.items() if fold != BESIDE}
        made = Trained.__new__(Trained)
        made.models, made.one_each = [None] * 3, False
        made.manifest = storage.Manifest(
            Settings(),
            0,
            "",
            measured,
            Head(1.0, 0.0, 0.0),
            ["", "", ""],
            {},
            1.0,
            beside=sorted(folds.keys() - measured.keys()),
        )
        return made

    def test_a_new_context_of_a_group_is_judged_by_the_member_that_did_not_see_it(self, comparator):
        for one in documents(groups=11):
            [known, new] = comparator.members([one, text(one.group, "never asked")])
            assert known == new == comparator.manifest.folds[context_key(one.context)] != ALL
        assert comparator.members([text("doc 11", "never asked"), text("doc 99", "never asked")]).tolist() == [ALL, ALL]
        assert comparator._folds([text("doc 11", "never asked"), text("doc 99", "never asked")]) == [BESIDE, None]

    def test_equal_texts_of_two_groups_are_judged_by_two(self, comparator):
        sides = [text(f"doc {g}", "never asked") for g in range(11)]
        assert set(comparator.members(sides)) == {0, 1, 2}

    def test_one_of_before_goes_by_context(self, comparator):
        comparator.manifest = comparator.manifest.without_groups()
        assert set(map(len, comparator.manifest.folds)) == {64}
        [known, new] = comparator.members([documents()[0], text("doc 0", "never asked")])
        assert known in (0, 1, 2) and new == ALL

    def test_nothing_is_measured_where_all_were_taught(self, comparator):
        taught = comparator.manifest.taught
        assert [taught(one) for one in (text("doc 11", "new"), text("doc 0", "new"), text("", "new"))] == [True, False, False]


def test_intervals_draw_groups():
    """Two documents, on one of which every pair is right: all or nothing, where eight contexts would be a narrow interval."""
    texts = documents(groups=2)
    u = np.array([1.0, 0.0] * 4 + [0.0, 1.0] * 4)
    pairs = [JudgedPair(i, i + 1, A_BETTER, 1.0) for i in range(0, 16, 2)]
    scores = np.full(16, np.nan)
    found = pairwise(u, JudgedTexts(texts, pairs, scores), seed=0)
    assert (found["accuracy"], found["low"], found["high"]) == (0.5, 0.0, 1.0)
    alone = pairwise(u, JudgedTexts([replace(one, group="") for one in texts], pairs, scores), seed=0)
    assert 0 < alone["low"] < 0.5 < alone["high"] < 1


def test_examples_are_of_other_groups_and_contexts():
    texts = documents(groups=8) + [text("doc 0", "question 1 of 7"), text("", "question 0 of 2")]
    shown = Shown(tuple(Example((one,), 1) for one in texts), 2 * FOLDS)
    for one in texts:
        others = [example.texts[0] for example in shown.beside(one)]
        assert others and not any(set(keys_of(other)) & set(keys_of(one)) for other in others)
        assert len({keys_of(other)[0] for other in others}) == len(others)
