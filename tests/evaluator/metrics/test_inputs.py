"""What an output brings to a metric, and what is said where something is missing."""

import subprocess
import sys

import numpy as np
import pytest

from evaluator.judges.protocol import pairs_of, preferences
from evaluator.judges.texts import Referenced, Text, referenced
from evaluator.metrics.inputs import MissingInput, Training, turns_of
from evaluator.metrics.metric import MetricJudge
from evaluator.metrics.registry import METRICS, NEEDS, build

HI, BYE = ("hi there",), ("see you", "bye")


def judge(needs=(), measure=lambda texts, watch: np.array([float(len(t.output)) for t in texts])):
    return MetricJudge("length", frozenset(needs), measure, {})


def test_what_people_wrote_is_a_reference_for_the_others():
    texts = [Text(HI, "hello"), Text(("Hi  there",), "good day"), Text(HI, "yo"), Text(BYE, "so long")]
    made = referenced(texts, [True, True, False, False], [("hey",), (), (), (" ",)])
    assert [text.references for text in made] == [("hey", "good day"), ("hey", "hello"), ("hey", "hello", "good day"), ()]
    assert [text.human for text in made] == [True, True, False, False]
    assert [(text.context, text.output) for text in made] == [(text.context, text.output) for text in texts]


def test_an_output_equal_to_a_persons_keeps_that_reference():
    made = referenced([Text(HI, "hello"), Text(HI, "hello")], [True, False])
    assert [text.references for text in made] == [(), ("hello",)]


def test_log_probabilities_stay_with_their_outputs():
    made = referenced([Text(HI, "a"), Text(HI, "b")], [False, False], logprobs=[-1.5, None])
    assert [text.logprob for text in made] == [-1.5, None]


def test_a_corpus_holds_each_context_once_and_no_output():
    assert turns_of([Text(BYE, "x"), Text(HI, "y"), Text(BYE, "z")]) == ["see you", "bye", "hi there"]


def test_what_one_output_lacks_is_nan_and_said_in_words():
    texts = [Referenced(HI, "abc", ("r",)), Referenced(HI, "ab", ("r",), human=True), Text(HI, "a")]
    u = judge({"references"}).utilities(texts)
    assert u[0] == 3.0 and np.isnan(u[1:]).all()
    why = [judge({"references"}).lacks(text) for text in texts]
    assert why[0] == "" and "human-written output is a reference" in why[1]
    assert why[2] == "it needs human-written references for the outputs"
    assert judge().utilities(texts).tolist() == [3.0, 2.0, 1.0]  # without references everybody is judged


def test_where_every_output_lacks_it_one_sentence_says_so():
    with pytest.raises(MissingInput, match="'length' can judge none of these 1 outputs: it needs the generator's own"):
        judge({"logprob"}).utilities([Text(HI, "a")])
    assert judge({"logprob"}).utilities([]).shape == (0,)


def test_equal_texts_are_measured_once():
    seen = []

    def measure(texts, watch):
        seen.extend(texts)
        return np.arange(len(texts), dtype=float)

    assert judge(measure=measure).utilities([Text(HI, "a"), Text(HI, "b"), Text(HI, "a")]).tolist() == [0.0, 1.0, 0.0]
    assert len(seen) == 2


def test_preferences_are_the_higher_utility_and_ties_within_rounding():
    said = judge().preferences(np.array([1.0, 0.5, 0.1 + 0.2, -2.0]), np.array([0.5, 1.0, 0.3, -2.0]))
    assert said.choices.tolist() == ["A", "B", "tie", "tie"]
    assert said.probabilities.tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 0]]
    swapped = judge().preferences(np.array([0.5, 1.0, 0.3, -2.0]), np.array([1.0, 0.5, 0.1 + 0.2, -2.0]))
    assert swapped.choices.tolist() == said.swapped().choices.tolist()


def test_outputs_without_a_utility_are_not_compared():
    with pytest.raises(MissingInput, match="has no utility for some"):
        judge().preferences(np.array([np.nan]), np.array([1.0]))


def test_it_is_asked_as_any_other_judge():
    texts = [Text(HI, "a"), Text(HI, "abc"), Text(BYE, "ab")]
    a, b = pairs_of(texts)
    assert preferences(judge(), texts, a, b).choices.tolist() == ["B"]


def test_folds_hold_whole_contexts():
    texts = [Text((f"c{i % 7}",), f"o{i}") for i in range(21)]
    training = Training.dealt(texts, [0.0] * 21, folds=3)
    assert sorted(set(training.folds)) == [0, 1, 2]
    assert len({(text.context, fold) for text, fold in zip(texts, training.folds)}) == 7
    with pytest.raises(ValueError, match="two folds, so"):
        Training([Text(HI, "a"), Text(HI, "b"), Text(BYE, "c")], [0, 1, 1])
    with pytest.raises(ValueError, match="at least two folds"):
        Training([Text(HI, "a")], [0])
    with pytest.raises(ValueError, match="2 texts need as many folds"):
        Training([Text(HI, "a"), Text(BYE, "b")], [0])


def test_every_metric_says_what_it_needs_and_where_it_is_from():
    for name, metric in METRICS.items():
        assert metric.name == name and metric.needs <= NEEDS.keys()
        assert metric.source and metric.describe.endswith(".")


def test_an_unknown_metric_is_refused_with_the_known_ones():
    with pytest.raises(MissingInput, match="There is no metric 'blue'; there are bleu-1, "):
        build("blue")


def test_the_list_of_metrics_loads_no_torch():
    seen = "import sys, evaluator.metrics.registry; print(sorted({'torch', 'nltk', 'sacrebleu'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


GIVEN = {"masked", "causal", "corpus", "scores", "replies"}  # to `build`, by the caller


@pytest.mark.parametrize("name", [name for name, metric in METRICS.items() if metric.needs & GIVEN])
def test_what_a_metric_needs_and_was_not_given_is_named(name):
    with pytest.raises(MissingInput, match=f"^The metric '{name}' needs .*\\.$"):
        build(name)
