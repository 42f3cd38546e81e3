"""python -m benchmarks.metrics: outputs a second of each metric, on made-up outputs with one reference each.

--outputs N  1,000 unless said otherwise       --masked, --causal FOLDER  language models, without which theirs are left out
Learned metrics learn from the same outputs first; that time stands beside.
"""

import argparse
import time
from typing import Any

import numpy as np

from evaluator.encoders.text_encoder import TextEncoder
from evaluator.metrics.inputs import MissingInput, Referenced, Training, turns_of
from evaluator.metrics.language_models import LanguageModel
from evaluator.metrics.registry import METRICS, build

WORDS = "time people way water day man thing woman life child world school house night word money book friend game".split()
SYSTEMS = 5


def made_up(outputs: int, rng: np.random.Generator) -> tuple[list[Referenced], list[float]]:
    """Outputs of SYSTEMS systems for each context, in lengths as in dialogue, and scores that mean nothing."""
    said = lambda low, high: " ".join(rng.choice(WORDS, rng.integers(low, high)))
    texts: list[Referenced] = []
    while len(texts) < outputs:
        context, reference = tuple(said(5, 20) for _ in range(3)), (said(4, 20),)
        texts += [Referenced(context, said(4, 20), reference, logprob=float(-rng.exponential(20))) for _ in range(SYSTEMS)]
    return texts[:outputs], rng.integers(1, 6, outputs).astype(float).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--outputs", type=int, default=1000)
    parser.add_argument("--masked")
    parser.add_argument("--causal")
    options = parser.parse_args()
    texts, scores = made_up(options.outputs, np.random.default_rng(0))
    given: dict[str, Any] = {
        "encoder": TextEncoder.load(),
        "masked": LanguageModel.masked(options.masked) if options.masked else None,
        "causal": LanguageModel.causal(options.causal) if options.causal else None,
        "corpus": turns_of(texts),
        "training": Training.dealt(texts, scores),
    }
    print(f"{'metric':<22}{'outputs a second':>18}{'made in (s)':>14}")
    for name in METRICS:
        begun = time.perf_counter()
        try:
            judge = build(name, **given)
        except MissingInput as error:
            print(f"{name:<22}{error}")
            continue
        made = time.perf_counter()
        judge.utilities(texts)
        print(f"{name:<22}{len(texts) / (time.perf_counter() - made):>18,.0f}{made - begun:>14.1f}", flush=True)


if __name__ == "__main__":
    main()
