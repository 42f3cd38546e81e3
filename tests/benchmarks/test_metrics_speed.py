"""What `make bench` says of a metric, and that the joint comparator's pairs are read once."""

from argparse import Namespace

import numpy as np
import pytest

from benchmarks.metrics.__main__ import FIRST, cells, measured
from benchmarks.metrics.comparison_scores import Remembered
from evaluator.judges.protocol import Preferences
from evaluator.judges.texts import Text

OPTIONS = Namespace(outputs=250, seconds=1.0, masked=None, causal=None)


def test_a_metric_is_measured_on_as_many_outputs_as_fit():
    found = measured("logprob", OPTIONS)
    assert found["outputs"] == OPTIONS.outputs - FIRST and found["peak"] > 10 and found["seconds"] > 0
    slow = {"metric": "esm", "outputs": 400, "seconds": 2.0, "made": 1.0, "peak": 600.4}
    assert cells(slow, 10_000) == ["esm", "400", "200", "1.0", "600", "50"]
    lacking = measured("perplexity", OPTIONS)
    assert cells(lacking, 10_000)[1] == "The metric 'perplexity' needs a causal language model, and none is installed."


def test_a_pair_is_read_once_whichever_comes_first():
    class Judge:
        asked = 0

        def compare(self, texts_a, texts_b):
            self.asked += len(texts_a)
            return Preferences.likeliest(np.array([[0.7, 0.2, 0.1]] * len(texts_a)))

    a, b, c = (Text(("context",), output) for output in "abc")
    judge = Remembered(inner := Judge())
    assert judge.compare([a, a], [b, b]).choices.tolist() == ["A", "A"]
    found = judge.compare([b, a], [a, c])
    assert found.probabilities == pytest.approx(np.array([[0.1, 0.2, 0.7], [0.7, 0.2, 0.1]])) and inner.asked == 2
