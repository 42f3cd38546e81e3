"""What `make bench` says of a metric."""

from argparse import Namespace

from benchmarks.metrics.__main__ import FIRST, cells, measured

OPTIONS = Namespace(outputs=250, seconds=1.0, masked=None, causal=None)


def test_a_metric_is_measured_on_as_many_outputs_as_fit():
    found = measured("logprob", OPTIONS)
    assert found["outputs"] == OPTIONS.outputs - FIRST and found["peak"] > 10 and found["seconds"] > 0
    slow = {"metric": "esm", "outputs": 400, "seconds": 2.0, "made": 1.0, "peak": 600.4}
    assert cells(slow, 10_000) == ["esm", "400", "200", "1.0", "600", "50"]
    lacking = measured("perplexity", OPTIONS)
    assert cells(lacking, 10_000)[1] == "The metric 'perplexity' needs a causal language model, and none is installed."
