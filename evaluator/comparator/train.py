"""Cross-fitted training: K members, each without one fold of the contexts, so that every judged context has a member
that has not seen it. Read from `fit` downwards."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from evaluator.comparator import checkpoint, heldout
from evaluator.comparator.dataset import Data, batches, fingerprint_of, prepare, split
from evaluator.comparator.examples import Pair, Text
from evaluator.comparator.inference import utilities
from evaluator.comparator.model import UtilityModel
from evaluator.comparator.settings import Settings, default_encoder

COSINE_SHARE = 0.03  # of the progress bar; the rest is the members'
REPORT_SECONDS = 1.0  # on_progress is called no more often, except with a point of the curve


class Cancelled(Exception):
    """`should_stop` said so; the members that were finished remain and are used again."""


@dataclass(frozen=True)
class TrainingResult:
    """What a training gave. Everything held-out is out of fold: judged by the member that did not see the context."""

    heldout_pairwise_accuracy: float  # share of people's non-tied pairs whose order agrees (NaN where there are none)
    heldout_pairwise_interval: tuple[float, float]  # 95%, bootstrapped over contexts
    heldout_three_way_accuracy: float  # A / tie / B, over all pairs
    longer_is_better_accuracy: float  # the baseline, on the same non-tied pairs
    curve: list[dict]  # fold, epoch, step, train_loss, heldout_loss, heldout_accuracy
    pairs: int
    texts: int
    contexts: int
    tie_threshold: float  # |u_a - u_b| in logits below which `decide` says tie
    seconds: float  # of training, over all members (a member trained by an earlier run counts with its own)
    fingerprint: str
    utilities: np.ndarray  # (texts,) out-of-fold, in logits; NaN for a text of a context without pair or score


def fit(
    texts: Sequence[Text],
    pairs: Sequence[Pair],
    settings: Settings,
    seed: int,
    out_dir: str | Path,
    on_progress: Callable[[float, str, dict | None], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    scores: Sequence[float] | None = None,
) -> TrainingResult:
    """Train all members into `out_dir`; a member already there with the same fingerprint is not trained again.

    scores  mean score of each text, 0..1, NaN where unknown (`examples.mean_scores`): a second target, optional
    """
    out_dir = Path(out_dir)
    out_dir.mkdir(parents=True, exist_ok=True)
    (out_dir / "comparator.json").unlink(missing_ok=True)  # until the end, this folder is unfinished
    progress = _Progress(on_progress, should_stop)
    progress(0.0, "Reading the encoder")
    scores = np.full(len(texts), np.nan) if scores is None else np.asarray(scores, dtype=float)
    keys, folds = split(texts, pairs, scores, settings.folds, seed)
    encoder_sha256 = checkpoint.save_encoder(settings.encoder or default_encoder(), out_dir)
    fingerprint = fingerprint_of(texts, pairs, scores, settings, seed, encoder_sha256)
    data = prepare(
        texts,
        pairs,
        scores,
        keys,
        folds,
        settings,
        out_dir,
        tick=lambda done: progress(COSINE_SHARE * done, "Encoding the texts"),
    )

    records = [_member(data, fold, settings, seed, out_dir, fingerprint, progress) for fold in range(settings.folds)]

    raw = np.full(len(texts), np.nan)  # (n,)
    for fold, record in enumerate(records):
        raw[data.folds == fold] = record["utilities"]
    head = heldout.fit_head(raw[data.a] - raw[data.b], data.targets, data.weights)
    u = head.scale * raw  # (n,)
    found = heldout.evaluate(u, texts, pairs, data.contexts[data.a], data.folds[data.a], seed)
    result = TrainingResult(
        heldout_pairwise_accuracy=found.pairwise_accuracy,
        heldout_pairwise_interval=found.pairwise_interval,
        heldout_three_way_accuracy=found.three_way_accuracy,
        longer_is_better_accuracy=found.longer_accuracy,
        curve=[point for record in records for point in record["curve"]],
        pairs=len(pairs),
        texts=len(texts),
        contexts=len(folds),
        tie_threshold=head.tie_threshold,
        seconds=sum(record["seconds"] for record in records),
        fingerprint=fingerprint,
        utilities=u,
    )
    metrics = {k: v for k, v in asdict(result).items() if k not in ("utilities", "curve", "fingerprint")}
    members = [record["sha256"] for record in records]
    manifest = checkpoint.Manifest(settings, seed, fingerprint, folds, head, members, metrics)
    checkpoint.save_manifest(manifest, out_dir)
    progress(1.0, "Trained")
    return result


def _member(
    data: Data, fold: int, settings: Settings, seed: int, out_dir: Path, fingerprint: str, progress: "_Progress"
) -> dict:
    """Train, or find again, the member without `fold`; its record is written when its weights are safe on disk."""
    path = out_dir / f"fold-{fold}.json"
    weights = out_dir / f"member-{fold}.safetensors"
    if path.is_file() and weights.is_file():
        record = checkpoint.read_json(path)
        if record.get("fingerprint") == fingerprint and record.get("sha256") == checkpoint.file_sha256(weights):
            return record
    start = time.monotonic()
    model = UtilityModel(checkpoint.load_encoder(out_dir))
    if not settings.cosine:
        model.cosine.data.zero_()
        model.cosine.requires_grad_(False)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1009 * seed + fold)  # dropout
        curve, u = _train(model, data, fold, settings, seed, progress)
    record = {
        "fingerprint": fingerprint,
        "sha256": checkpoint.save_weights(model, weights),
        "curve": curve,
        "utilities": [float(value) for value in u],
        "seconds": time.monotonic() - start,
    }
    checkpoint.write_json(record, path)
    return record


def _train(
    model: UtilityModel, data: Data, fold: int, settings: Settings, seed: int, progress: "_Progress"
) -> tuple[list[dict], np.ndarray]:
    """The loop. Returns the learning curve and the utilities of the held-out texts, by the rounded final weights."""
    rng = np.random.default_rng([seed, fold])
    epochs = [batches(data, fold, settings.batch_size, rng) for _ in range(settings.epochs)]
    steps = sum(len(rounds) for rounds in epochs)
    optimizer, schedule = _optimizer(model, settings, steps)
    trained = (data.folds[data.a] != fold).nonzero()[0]  # (p',) every pair that this member may see
    position = np.full(len(data.scores), -1)  # (n,) a text's row in the batch
    curve, u, step = [], np.empty(0), 0
    for epoch, rounds in enumerate(epochs, start=1):
        model.train()
        losses = []
        for rows in rounds:
            position[rows] = np.arange(len(rows))
            inside = trained[(position[data.a[trained]] >= 0) & (position[data.b[trained]] >= 0)]  # (q,)
            u = model(data.encoder.batch(data.sequences, rows), data.cosines[rows], data.bf16)  # (b,)
            loss = _loss(model, u, data, rows, inside, position, settings.score_weight)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            position[rows] = -1
            losses.append(float(loss.detach()))
            step += 1
            done = COSINE_SHARE + (1 - COSINE_SHARE) * (fold + step / steps) / settings.folds
            progress(min(done, 0.999), f"Member {fold + 1} of {settings.folds}, epoch {epoch} of {settings.epochs}")
        if epoch == settings.epochs:
            _round_to_fp16(model)  # what is measured is what is saved
        u, point = _heldout(model, data, fold, lambda _, done=done: progress(done, "Judging the held-out contexts"))
        curve.append({"fold": fold, "epoch": epoch, "step": step, "train_loss": float(np.mean(losses)), **point})
        progress(done, f"Member {fold + 1} of {settings.folds}, epoch {epoch} finished", curve[-1])
    return curve, u


def _loss(
    model: UtilityModel,
    u: torch.Tensor,
    data: Data,
    rows: np.ndarray,
    inside: np.ndarray,
    position: np.ndarray,
    score_weight: float,
) -> torch.Tensor:
    """u (b,) of the texts `rows` (b,), which hold the pairs `inside` (q,) -> ()"""
    loss = u.sum() * 0
    if len(inside):
        d = u[position[data.a[inside]]] - u[position[data.b[inside]]]  # (q,)
        loss = loss + model.pair_loss(d, _tensor(data.targets[inside]), _tensor(data.weights[inside]))
    known = ~np.isnan(data.scores[rows])  # (b,)
    if score_weight and known.any():
        loss = loss + score_weight * model.score_loss(u[known], _tensor(data.scores[rows][known]))
    return loss


def _heldout(model: UtilityModel, data: Data, fold: int, tick: Callable[[float], None]) -> tuple[np.ndarray, dict]:
    """Utilities of the fold's texts (m,), and the model's loss and accuracy on the fold's pairs."""
    rows = (data.folds == fold).nonzero()[0]  # (m,)
    u = utilities(model, data.encoder, data.sequences, data.cosines, rows, data.bf16, tick=tick)  # (m,)
    every = np.full(len(data.folds), np.nan)  # (n,)
    every[rows] = u
    inside = data.folds[data.a] == fold  # (p,)
    d = every[data.a[inside]] - every[data.b[inside]]  # (q,)
    clear = data.choices[inside] != "tie"  # (q,)
    agree = heldout.agreement(d, data.choices[inside])[clear]
    with torch.no_grad():
        loss = model.pair_loss(_tensor(d), _tensor(data.targets[inside]), _tensor(data.weights[inside]))
    accuracy = float(agree.mean()) if len(agree) else None
    return u, {"heldout_loss": float(loss) if inside.any() else None, "heldout_accuracy": accuracy}


def _optimizer(model: UtilityModel, settings: Settings, steps: int):
    """AdamW; the rate climbs over the warm-up and falls linearly to 0."""
    encoder = list(model.encoder.parameters())
    head = [p for name, p in model.named_parameters() if not name.startswith("encoder.")]
    optimizer = torch.optim.AdamW(
        [
            {"params": encoder, "lr": settings.learning_rate, "weight_decay": settings.weight_decay},
            {"params": head, "lr": settings.head_learning_rate, "weight_decay": 0.0},
        ]
    )
    warm = max(1, math.ceil(settings.warmup * steps))
    rate = lambda step: min((step + 1) / warm, (steps - step) / max(1, steps - warm))
    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, rate)


def _round_to_fp16(model: UtilityModel) -> None:
    for parameter in model.parameters():
        parameter.data = parameter.data.half().float()


def _tensor(array: np.ndarray) -> torch.Tensor:
    return torch.as_tensor(array, dtype=torch.float32)


class _Progress:
    """Asks whether to stop at every step; tells at most once a second, and always when there is a point."""

    def __init__(self, on_progress, should_stop):
        self.on_progress, self.should_stop, self.told = on_progress, should_stop, -math.inf

    def __call__(self, fraction: float, message: str, point: dict | None = None) -> None:
        if self.should_stop and self.should_stop():
            raise Cancelled("The training was cancelled.")
        now = time.monotonic()
        if self.on_progress and (point or fraction == 1.0 or now - self.told >= REPORT_SECONDS):
            self.told = now
            self.on_progress(fraction, message, point)
