"""Cross-fitted training: K members, each without one fold of the contexts, so that every judged context has a member
that has not seen it; all start from one self-supervised base where there are dialogues. Read from `fit` downwards."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from evaluator.comparator import checkpoint, length_bias
from evaluator.comparator.consistency import Consistency
from evaluator.comparator.examples import Pair, Text
from evaluator.comparator.head import least_loss, least_score_loss
from evaluator.comparator.inference import Tick, utilities
from evaluator.comparator.settings import ARCHITECTURES, Settings, default_encoder
from evaluator.comparator.supervision.pretraining import Report, train_base
from evaluator.comparator.supervision.unlabelled import Exchange, unseen
from evaluator.comparator.ties import Ties
from evaluator.comparator.training import joint_training, learning_curve, loop
from evaluator.comparator.training import out_of_fold as heldout
from evaluator.comparator.training.dataset import (
    BESIDE,
    Data,
    batches,
    fingerprint_of,
    matrix,
    measured,
    parts,
    prepare,
    split,
    trained_pairs,
    with_judging,
)
from evaluator.comparator.training.progress import Progress
from evaluator.comparator.utility_model import UtilityModel

COSINE_SHARE = 0.03  # of the progress bar; the rest is the members'
BASE_SHARE = 0.75  # of the progress bar, where there are dialogues to learn from


@dataclass(frozen=True)
class TrainingResult:
    """What a training gave. Everything held-out is out of fold: judged by the member that did not see the context."""

    heldout_pairwise_accuracy: float  # share of people's non-tied pairs whose order agrees (NaN where there are none)
    heldout_pairwise_interval: tuple[float, float]  # 95%, bootstrapped over contexts
    heldout_three_way_accuracy: float  # A / tie / B, over all pairs
    longer_is_better_accuracy: float  # the baseline, on the same non-tied pairs
    calibration_error: float  # expected, on all pairs (see `heldout.calibration_error`)
    ties: Ties | None  # what its ties are worth
    consistency: Consistency | None  # of a joint comparator: how often it contradicts itself
    criteria: list[dict]  # name, accuracy, low, high, clear_pairs, longer, scale of each; the first's are those above
    curve: list[dict]  # fold, epoch, step, train_loss, heldout_loss, heldout_accuracy, chosen
    base_curve: list[dict]  # step, accuracy: share of replies above their negative since the point before
    pairs: int
    texts: int
    contexts: int
    cut_contexts: int  # texts whose context lost its first turns to the limit of tokens
    cut_outputs: int  # texts whose output lost its end to the limit of words or tokens
    learnt_from: dict[str, int]  # pairs by source, scored outputs, exchanges, and exchanges left out as seen
    tie_threshold: float  # |u_a - u_b| in logits below which `decide` says tie
    references: float  # what a standard deviation of likeness to references adds to a utility, 0 or more (references.py)
    length: float  # what twice the words add to an output's utility, 0 or more (brevity.py)
    bend: float  # how much less a further difference of utilities says where there is one already (`head.bent`)
    seconds: float  # of training, over all members (a member trained by an earlier run counts with its own)
    fingerprint: str
    # (texts,) by the first criterion, out-of-fold, in logits (joint: `score`, 0 to 1); NaN without pair or score in the context
    utilities: np.ndarray


def fit(
    texts: Sequence[Text],
    pairs: Sequence[Pair],
    settings: Settings,
    seed: int,
    out_dir: str | Path,
    on_progress: Callable[[float, str, dict | None], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    scores: Sequence[float] | np.ndarray | None = None,
    exchanges: Sequence[Exchange] = (),
    criteria: Sequence[str] = ("",),
    beside: Sequence[bool] | None = None,
) -> TrainingResult:
    """Train all members into `out_dir`; what is already there with the same fingerprint is not trained again.

    scores     (n,) or (n, c) mean score of each text, 0..1, NaN where unknown (`examples.mean_scores`): a second target,
               optional
    criteria   the names of the c criteria that `Pair.criterion` counts; the comparator judges, and is measured, by the first
    exchanges  human dialogue (`supervision.exchanges`) for the base; what shares a dialogue with a measured text is left out
    beside     (n,) True for a text that is learnt from by all members and on which the comparator is not measured
    """
    _check_architecture(settings, criteria)
    out_dir = Path(out_dir)
    out_dir.mkdir(parents=True, exist_ok=True)
    (out_dir / "comparator.json").unlink(missing_ok=True)  # until the end, this folder is unfinished
    progress = Progress(on_progress, should_stop)
    progress(0.0, "Reading the encoder")
    pairs = [pair for pair in pairs if settings.learns_from(pair.source)]
    scores = matrix(scores if settings.human_scores else None, len(texts), len(criteria))  # (n, c)
    measured_on = ~np.asarray(beside, dtype=bool) if beside is not None else np.ones(len(texts), dtype=bool)  # (n,)
    keys, folds = split(texts, pairs, scores, measured_on, settings.folds, seed)
    scratch = seed if settings.from_scratch else None
    encoder_sha256 = checkpoint.save_encoder(settings.encoder or default_encoder(), out_dir, scratch)
    shown = _to_show(exchanges, texts, measured_on) if settings.next_utterance else []
    base = train_base(shown, settings, seed, out_dir, encoder_sha256, progress.part(0.0, BASE_SHARE)) if shown else None
    start = BASE_SHARE if base else 0.0
    start_sha256 = base["sha256"] if base else encoder_sha256
    weights_fingerprint = fingerprint_of(texts, pairs, scores, measured_on, settings, seed, start_sha256)
    fingerprint = with_judging(weights_fingerprint, settings)
    encoding = progress.part(start, start + COSINE_SHARE)
    tick = lambda done: encoding(done, "Encoding the texts")
    data = prepare(texts, pairs, scores, keys, folds, settings, out_dir, base, shown, seed, tick)
    records = _members(data, settings, seed, out_dir, weights_fingerprint, base is not None, progress, start + COSINE_SHARE)
    out_of_fold = joint_training.out_of_fold if settings.architecture == "joint" else _out_of_fold
    judged = out_of_fold(records, texts, pairs, data, settings, seed)
    learnt_from = _learnt_from(pairs, scores, shown, exchanges)
    result = _result(judged, criteria, data, records, base, learnt_from, fingerprint)
    metrics = {k: v for k, v in asdict(result).items() if k not in ("utilities", "curve", "fingerprint")}
    members = [record["sha256"] for record in records]
    mine = {key: fold for key, fold in folds.items() if fold != BESIDE}
    head, *others = (one.head for one in judged)
    manifest = checkpoint.Manifest(
        settings,
        seed,
        fingerprint,
        mine,
        head,
        members,
        metrics,
        data.encoder.familiar,
        base and base["matcher"],
        base and base["references"],
        list(criteria),
        others,
        sorted(folds.keys() - mine.keys()),
    )
    checkpoint.save_manifest(manifest, out_dir)
    progress(1.0, "Trained")
    return result


def _to_show(exchanges: Sequence[Exchange], texts: Sequence[Text], measured_on: np.ndarray) -> list[Exchange]:
    """Those of dialogues that no measured text comes from; none where that is one dialogue, since negatives are others'."""
    left = unseen(exchanges, [text.context for text, here in zip(texts, measured_on, strict=True) if here])
    return left if len({exchange.dialogue for exchange in left}) > 1 else []


def _check_architecture(settings: Settings, criteria: Sequence[str]) -> None:
    if settings.architecture not in ARCHITECTURES:
        raise ValueError(f"The architecture is {' or '.join(ARCHITECTURES)}, not {settings.architecture!r}.")
    if settings.architecture == "joint" and len(criteria) > 1:
        raise ValueError(f"A joint comparator learns one criterion, not {len(criteria)}.")


def _learnt_from(
    pairs: Sequence[Pair], scores: np.ndarray, shown: Sequence[Exchange], exchanges: Sequence[Exchange]
) -> dict[str, int]:
    """How much of each source; scores (n, c), NaN where unknown."""
    return {
        **Counter(pair.source for pair in pairs),
        "scored outputs": int((~np.isnan(scores)).any(1).sum()),
        "exchanges": len(shown),
        "exchanges left out": len(exchanges) - len(shown),
    }


def _out_of_fold(
    records: list[dict], texts: Sequence[Text], pairs: Sequence[Pair], data: Data, settings: Settings, seed: int
) -> list[heldout.OutOfFold]:
    """By each criterion, what the members say of the contexts that they did not see, and what that is worth."""
    raw = np.full(data.scores.shape, np.nan)  # (n, c)
    for fold, record in enumerate(records):
        raw[data.folds == fold] = record["utilities"]
    cosines = data.cosines.numpy()  # (n,)
    by_people = [[pairs[i] for i in measured(data, c)] for c in range(data.criteria)]
    return [
        heldout.judge(
            raw[:, c], cosines, data.likeness, data.scores[:, c], texts, by_people[c], data.contexts, data.folds, seed, settings
        )
        for c in range(data.criteria)
    ]


def _result(
    judged: list[heldout.OutOfFold],
    criteria: Sequence[str],
    data: Data,
    records: list[dict],
    base: dict | None,
    learnt_from: dict[str, int],
    fingerprint: str,
) -> TrainingResult:
    head, found = judged[0].head, judged[0].agreement
    return TrainingResult(
        heldout_pairwise_accuracy=found.pairwise_accuracy,
        heldout_pairwise_interval=found.pairwise_interval,
        heldout_three_way_accuracy=found.three_way_accuracy,
        longer_is_better_accuracy=found.longer_accuracy,
        cut_contexts=data.sequences.cut_contexts,
        cut_outputs=data.sequences.cut_outputs,
        calibration_error=found.calibration_error,
        ties=found.ties,
        consistency=found.consistency,
        criteria=[one.row(name) for name, one in zip(criteria, judged, strict=True)],
        curve=[point for record in records for point in record["curve"]],
        base_curve=base["curve"] if base else [],
        pairs=len(data.a),
        texts=len(data.folds),
        contexts=len(np.unique(data.contexts[(data.folds >= 0) & (data.folds != BESIDE)])),
        learnt_from=learnt_from,
        tie_threshold=head.tie_threshold,
        references=head.references * float(data.likeness.std()),
        length=head.length * float(np.log(2)),
        bend=head.bend,
        seconds=sum(record["seconds"] for record in records) + (base["seconds"] if base else 0.0),
        fingerprint=fingerprint,
        utilities=judged[0].utilities,
    )


def _members(
    data: Data,
    settings: Settings,
    seed: int,
    out_dir: Path,
    fingerprint: str,
    from_base: bool,
    progress: Progress,
    start: float,
) -> list[dict]:
    """Their records, one by one; `start` is where on the progress bar they begin."""
    each = (1 - start) / settings.folds
    records = []
    for fold in range(settings.folds):
        begin = start + fold * each
        part = progress.part(begin, begin + each)
        records.append(_member(data, fold, settings, seed, out_dir, fingerprint, from_base, part))
    best = [learning_curve.best_epoch(records, fold) for fold in range(settings.folds)]
    return [learning_curve.settle(record, fold, best[fold], out_dir) for fold, record in enumerate(records)]


def _member(
    data: Data, fold: int, settings: Settings, seed: int, out_dir: Path, fingerprint: str, from_base: bool, progress: Report
) -> dict:
    """Train, or find again, the member without `fold`; its record is written when its weights after each epoch are safe on
    disk."""
    path = out_dir / f"fold-{fold}.json"
    if path.is_file():
        record = checkpoint.read_json(path)
        if record.get("fingerprint") == fingerprint and learning_curve.is_there(record, fold, out_dir):
            return record
    state = loop.State(out_dir / f"fold-{fold}.state", fingerprint)
    learn = joint_training.learn if settings.architecture == "joint" else _learn
    found = learn(data, fold, settings, seed, out_dir, from_base, state, progress)
    progress(1.0, f"Member {fold + 1} of {settings.folds} finished", found[-1]["point"])
    record = {"fingerprint": fingerprint, "epochs": found, "seconds": state.seconds()}
    checkpoint.write_json(record, path)
    state.clear()
    return record


def _learn(
    data: Data, fold: int, settings: Settings, seed: int, out_dir: Path, from_base: bool, state: loop.State, progress: Report
) -> list[dict]:
    """A member's epochs, each with the utilities (m, c) that it gives to the texts of its fold."""
    if from_base:
        model = checkpoint.load_base(out_dir, data.criteria)
    else:
        model = UtilityModel(checkpoint.load_encoder(out_dir), data.criteria)
    model.ties = settings.ties
    _weigh_cosines(model, data, fold, settings)
    return _train(model, data, fold, settings, seed, out_dir, state, progress)


def _weigh_cosines(model: UtilityModel, data: Data, fold: int, settings: Settings) -> None:
    """At the start the cosine varies over the training texts `cosine_share` times as much as the encoded pair's utility; one
    that is the same for all of them says nothing, and nothing about other texts. All criteria start alike."""
    model.cosine.requires_grad_(settings.cosine_share > 0)
    rows = ((data.folds != fold) & (data.folds >= 0)).nonzero()[0]  # (m,)
    cosines = data.cosines[rows].numpy()  # (m,)
    u = utilities(model, data.encoder, data.sequences, torch.zeros_like(data.cosines), rows, data.bf16)[:, 0]  # (m,)
    weight = settings.cosine_share * u.std() / cosines.std() if cosines.std() > 1e-6 else 0.0
    model.cosine.data.fill_(weight)
    model.utility.bias.data -= weight * cosines.mean()  # the level stays


def _train(
    model: UtilityModel,
    data: Data,
    fold: int,
    settings: Settings,
    seed: int,
    out_dir: Path,
    state: loop.State,
    progress: Report,
) -> list[dict]:
    """The member's epochs, as `learning_curve` notes them."""
    rng = np.random.default_rng([seed, fold])
    epochs = [batches(data, fold, settings.batch_size, rng) for _ in range(settings.epochs)]
    steps = [rows for rounds in epochs for rows in rounds]
    ends = np.cumsum([len(rounds) for rounds in epochs])  # (epochs,) steps done at the end of each
    others = data.criteria - 1
    weights = [1.0, *[settings.others_weight / max(others, 1)] * others]  # (c,)
    position = np.full(len(data.scores), -1)  # (n,) a text's row in the part
    offsets = _offsets(data, fold, settings)  # (n, c)

    def summed(c: int, u: torch.Tensor, rows: np.ndarray, pairs: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """The losses of the part's pairs (q',) of criterion c, and of the scores of its texts, with utilities u (b,)."""
        d = u[position[data.a[pairs]]] - u[position[data.b[pairs]]]  # (q',)
        known = ~np.isnan(data.scores[rows, c])  # (b,)
        of_scores = model.score_losses(u[known], _tensor(data.scores[rows, c][known]), c)
        return model.pair_losses(d, _tensor(data.learnt[pairs])).sum(), of_scores.sum()

    def losses(step: int) -> Iterator[torch.Tensor]:
        inside = trained_pairs(data, steps[step], step / len(steps))  # (q,)
        paired = np.bincount(data.criterion[inside], minlength=data.criteria).clip(1).tolist()  # (c,)
        scored = (~np.isnan(data.scores[steps[step]])).sum(0).clip(1).tolist()  # (c,)
        for rows in parts(data, steps[step], settings.max_tokens):
            position[rows] = np.arange(len(rows))
            u = model(data.encoder.batch(data.sequences, rows), data.cosines[rows], data.bf16) + offsets[rows]  # (b, c)
            here = inside[(position[data.a[inside]] >= 0) & (position[data.b[inside]] >= 0)]  # (q',)
            sums = [summed(c, u[:, c], rows, here[data.criterion[here] == c]) for c in range(data.criteria)]
            position[rows] = -1
            yield sum(
                weights[c] * (of_pairs / paired[c] + settings.score_weight * of_scores / scored[c])
                for c, (of_pairs, of_scores) in enumerate(sums)
            )

    average = loop.Average(model)
    measure = lambda kept, tick: _heldout(kept, data, fold, settings, tick)
    after = learning_curve.after_step(fold, settings, ends, average, out_dir, measure, progress)
    return loop.run(model, settings, settings.learning_rate, len(steps), losses, [seed, 2, fold], state, after, average)


def _offsets(data: Data, fold: int, settings: Settings) -> torch.Tensor:
    """(n, c) what an output's brevity alone is worth by the pairs that the member learns from."""
    if not settings.brevity_control:
        return torch.zeros(len(data.folds), data.criteria)
    learnt = data.by_people & (data.folds[data.a] != fold)  # (p,)
    longer = data.log_words[data.a] - data.log_words[data.b]  # (p,)
    slopes = []
    for c in range(data.criteria):
        rows = learnt & (data.criterion == c)
        slopes.append(length_bias.slope(longer[rows], data.learnt[rows], data.weights[rows]))
    rows = (data.folds != fold) & (data.folds >= 0)  # (n,)
    return _tensor(np.outer(data.log_words - data.log_words[rows].mean(), slopes))


def _heldout(model: UtilityModel, data: Data, fold: int, settings: Settings, tick: Tick) -> tuple[dict, dict]:
    """Utilities of the fold's texts (m, c); by criterion 0 the loss that was learnt with, at the head and level that suit best,
    and the accuracy on its pairs."""
    rows = (data.folds == fold).nonzero()[0]  # (m,)
    u = utilities(model, data.encoder, data.sequences, data.cosines, rows, data.bf16, tick=tick)  # (m, c)
    every = np.full(len(data.folds), np.nan)  # (n,)
    every[rows] = u[:, 0]
    inside = measured(data)
    inside = inside[data.folds[data.a[inside]] == fold]  # (q,)
    d, targets, weights = every[data.a[inside]] - every[data.b[inside]], data.targets[inside], data.weights[inside]  # (q,)
    agree = heldout.agreement(d, data.choices[inside])[data.choices[inside] != "tie"]
    of_scores = settings.score_weight * least_score_loss(every, data.scores[:, 0])
    point = {
        "heldout_loss": least_loss(d, targets, weights, model.ties) + of_scores if len(inside) else None,
        "heldout_accuracy": float(agree.mean()) if len(agree) else None,
    }
    return {"utilities": u.tolist()}, point


def _tensor(array: np.ndarray) -> torch.Tensor:
    return torch.as_tensor(array, dtype=torch.float32)
