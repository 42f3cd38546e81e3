"""What it saves to ask people where the comparator is unsure, simulated on real scores that are no part of the product.

    python -m tests.simulate_asking FOLDER TRAINED [--seeds 40]

FOLDER holds dailydialog_zhao; TRAINED is a comparator's folder with a self-supervised base that saw none of it (`make tune`
leaves them). In each draw a quarter of the contexts is kept for the test; from the pairs of the others 25 at a time are
"asked": answered by the mean scores that people gave. Only the linear unit is learnt, by Bradley & Terry with a Gaussian
prior around the base's own weights, on features that stay as they are: a training of the encoder for each of some thousand
rounds would take days. So this shows how the choice compares, not how good a comparator becomes.
"""

import argparse
import os
from pathlib import Path

import numpy as np
import torch
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from evaluator.comparator import checkpoint
from evaluator.comparator.encoding import Encoder, by_length
from evaluator.comparator.heldout import agreement
from evaluator.comparator.inference import text_cosines
from evaluator.comparator.model import use_bf16
from tests.tune import MAIN, Judged, read

BATCH, MOST = 25, 600  # pairs asked at a time, and in all
TEST_SHARE = 0.25  # of the contexts
SPREAD = 0.05  # of the prior, for features of the size of 1
POINTS = (25, 50, 100, 200, 400, 600)


def features(trained: Path, judged: Judged) -> tuple[np.ndarray, np.ndarray]:
    """(n, d) what the base's linear unit reads, with the cosine at the end, and its weights (d,)"""
    model = checkpoint.load_base(trained)
    encoder = Encoder(checkpoint.load_tokenizer(trained), 128)
    sequences, bf16 = encoder.pairs(judged.texts), use_bf16("auto")
    found = np.empty((len(judged.texts), model.utility.in_features))
    model.eval()
    for rows in by_length(sequences.lengths, 64):
        with torch.inference_mode():
            found[rows] = model.features(encoder.batch(sequences, rows), bf16).numpy()
    matcher = checkpoint.load_matcher(trained, checkpoint.read_json(trained / "matcher.json")["sha256"])
    cosines = text_cosines(matcher, encoder, judged.texts, bf16).numpy()
    weights = model.utility.weight.detach().numpy()[0].astype(float)
    share = 0.6 * (found @ weights).std() / cosines.std()  # as members start
    scale = np.append(found.std(0) + 1e-9, cosines.std())
    return np.column_stack([found, cosines]) / scale, np.append(weights, share) * scale


def learn(x: np.ndarray, won: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Weights (d,) of highest posterior for differences x (p, d) and shares won (p,) by the first."""

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        d, off = x @ w, (w - prior) / SPREAD**2
        value = -(won * log_expit(d) + (1 - won) * log_expit(-d)).sum() + ((w - prior) * off).sum() / 2
        return value, x.T @ (expit(d) - won) + off

    return minimize(loss, prior, jac=True, method="L-BFGS-B", options={"maxiter": 100}).x


def draw(judged: Judged, x: np.ndarray, prior: np.ndarray, unsure: bool, seed: int) -> dict[int, float]:
    """Accuracy on the clear pairs of the contexts kept, after so many pairs asked."""
    rng = np.random.default_rng(seed)
    contexts = judged.contexts
    kept = rng.permutation(contexts.max() + 1)[: round(TEST_SHARE * (contexts.max() + 1))]
    a, b = (np.array([getattr(pair, side) for pair in judged.pairs]) for side in "ab")
    choices = np.array([pair.choice for pair in judged.pairs])
    won = np.where(choices == "A", 1.0, np.where(choices == "tie", 0.5, 0.0))
    test = np.isin(contexts[a], kept)
    pool = list(rng.permutation(np.flatnonzero(~test)))
    clear = test & (choices != "tie")
    asked, w, found = [], prior, {}
    while len(asked) < MOST:
        if unsure:
            pool = [pool[i] for i in np.argsort(np.abs((x[a[pool]] - x[b[pool]]) @ w), kind="stable")]
        asked, pool = asked + pool[:BATCH], pool[BATCH:]
        w = learn(x[a[asked]] - x[b[asked]], won[asked], prior)
        if len(asked) in POINTS:
            found[len(asked)] = float(agreement((x[a[clear]] - x[b[clear]]) @ w, choices[clear]).mean())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("trained", type=Path)
    parser.add_argument("--seeds", type=int, default=40)
    chosen = parser.parse_args()
    judged = read(chosen.data, MAIN)
    x, prior = features(chosen.trained, judged)
    runs = {
        unsure: [draw(judged, x, prior, unsure, seed) for seed in range(chosen.seeds)] for unsure in (False, True)
    }  # fmt: skip
    for point in POINTS:
        plain, chosen_ones = (np.array([run[point] for run in runs[unsure]]) for unsure in (False, True))
        gain = chosen_ones - plain
        se = gain.std(ddof=1) / np.sqrt(len(gain))
        print(
            f"{point} pairs asked: {plain.mean():.3f} at random, {chosen_ones.mean():.3f} where unsure, "
            f"gain {gain.mean():+.3f} (SE {se:.3f}, {len(gain)} draws)"
        )


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    main()
