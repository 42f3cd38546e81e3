"""python -m benchmarks.metrics: outputs a second and peak memory of each metric, on made-up outputs with one reference each.

--outputs N     10,000 unless said otherwise      --metric NAME  this one alone; may be given several times
--seconds S     a metric that would take longer for all of them, by its pace on the first 100, gets as many as fit; the last
                column says how long all would take at the pace that was measured
--masked, --causal FOLDER  language models, without which theirs are left out
--table          instead: all metrics that need an encoder on N outputs, as a table of judges has them: CPU seconds where each
                metric reads the texts anew, and where all share what was read, in one process
Seconds are of CPU, all threads together, so that they hold on a busy machine. Each metric has a process of its own, so that the
peak is its own, with Python, torch and the encoder in it. Learned metrics learn from 1,000 of the outputs first; that time
stands beside.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluator.judges.protocol import Judge
from evaluator.judges.texts import Referenced
from evaluator.metrics.inputs import MissingInput, Training, turns_of
from evaluator.metrics.registry import METRICS, build

WORDS = "time people way water day man thing woman life child world school house night word money book friend game".split()
SYSTEMS = 5
LEARNT_FROM = 1000
FIRST = 100


def made_up(outputs: int, rng: np.random.Generator) -> tuple[list[Referenced], list[float]]:
    """Outputs of SYSTEMS systems for each context, in lengths as in dialogue, and scores that mean nothing."""
    said = lambda low, high: " ".join(rng.choice(WORDS, rng.integers(low, high)))
    texts: list[Referenced] = []
    while len(texts) < outputs:
        context, reference = tuple(said(5, 20) for _ in range(3)), (said(4, 20),)
        texts += [Referenced(context, said(4, 20), reference, logprob=float(-rng.exponential(20))) for _ in range(SYSTEMS)]
    return texts[:outputs], rng.integers(1, 6, outputs).astype(float).tolist()


def timed(judge: Judge, texts: Sequence[Referenced]) -> float:
    """Seconds that the judge takes for them"""
    assert judge.kind == "pointwise"
    begun = time.process_time()
    judge.utilities(texts)
    return time.process_time() - begun


def measured(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """In this process."""
    texts, scores = made_up(max(options.outputs, 2 * FIRST), np.random.default_rng(0))
    need = METRICS[name].needs
    begun = time.process_time()
    try:
        judge = build(
            name,
            **_language_model(options, need),
            corpus=turns_of(texts) if "corpus" in need else (),
            training=Training.dealt(texts[:LEARNT_FROM], scores[:LEARNT_FROM]) if need & {"scores", "replies"} else None,
        )
    except MissingInput as missing:
        return {"metric": name, "why": str(missing)}
    made = time.process_time() - begun
    later = texts[FIRST:]  # the first ones warm it up
    pace = FIRST / timed(judge, texts[:FIRST])
    n = min(len(later), max(FIRST, int(pace * options.seconds)))
    seconds = timed(judge, later[:n])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # KiB on Linux
    return {"metric": name, "outputs": n, "seconds": seconds, "made": made, "peak": peak}


def _language_model(options: argparse.Namespace, need: frozenset[str]) -> dict[str, Any]:
    """Only where it is needed: metrics without torch are to have their own peak"""
    given = {name: folder for name in ("masked", "causal") if name in need and (folder := getattr(options, name))}
    if not given:
        return {}
    from evaluator.metrics.language_models import LanguageModel

    return {name: getattr(LanguageModel, name)(folder) for name, folder in given.items()}


def cells(found: dict[str, Any], outputs: int) -> list[str]:
    if "why" in found:
        return [found["metric"], found["why"], "", "", "", ""]
    rate = found["outputs"] / found["seconds"]
    shown = [f"{found['outputs']:,}", f"{rate:,.0f}", f"{found['made']:.1f}", f"{found['peak']:,.0f}", f"{outputs / rate:,.0f}"]
    return [found["metric"], *shown]


def whole_table(outputs: int) -> str:
    """Each metric learns from all of the outputs, which it then judges out of fold. Both ways are warmed up first."""
    from evaluator.encoders.text_encoder import KeptEncodings, TextEncoder

    texts, scores = made_up(outputs, np.random.default_rng(0))
    names = [name for name, metric in METRICS.items() if "encoder" in metric.needs]

    def seconds(encoder: TextEncoder, names: Sequence[str] = names) -> tuple[float, dict[str, Any]]:
        begun = time.process_time()
        training = Training.dealt(texts, scores)
        found = {name: build(name, encoder=encoder, training=training).utilities(texts) for name in names}
        return time.process_time() - begun, found

    seconds(TextEncoder.load(), names[:1])
    anew, first = seconds(TextEncoder.load())
    shared, second = seconds(KeptEncodings.load())
    differ = max(float(np.abs(first[name] - second[name]).max()) for name in names)
    return (
        f"{len(names)} metrics on {outputs:,} outputs: {anew:.1f} s of CPU where each reads the texts anew, {shared:.1f} s"
        f" where they are read once ({shared / anew:.2f}); the largest difference of a utility is {differ:.2g}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--outputs", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--metric", action="append", choices=METRICS)
    parser.add_argument("--masked")
    parser.add_argument("--causal")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)  # one metric, in this process, as JSON
    options = parser.parse_args()
    if options.table:
        return print(whole_table(options.outputs))
    if options.here:
        return print(json.dumps(measured(options.metric[0], options)))
    print(
        "| metric | outputs | a second of CPU | made in (s) | peak (MiB) | all would take (s) |",
        "|---|---|---|---|---|---|",
        sep="\n",
    )
    given = ["--outputs", str(options.outputs), "--seconds", str(options.seconds)]
    given += [word for name in ("masked", "causal") if (value := getattr(options, name)) for word in (f"--{name}", value)]
    for name in options.metric or METRICS:
        command = [sys.executable, "-m", "benchmarks.metrics", "--here", "--metric", name, *given]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        print("| " + " | ".join(cells(json.loads(done.stdout.splitlines()[-1]), options.outputs)) + " |", flush=True)


if __name__ == "__main__":
    main()
