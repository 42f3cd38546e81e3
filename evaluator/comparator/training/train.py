"""Cross-fitted training: K members, each without one fold of the contexts or their groups, so that every judged context has a
member that has seen neither it nor its group; all start from one self-supervised base where one was made before, or where there
are dialogues. Read from `fit` downwards."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.comparator import storage
from evaluator.comparator.base import start_from
from evaluator.comparator.examples import Examples, Exchange
from evaluator.comparator.references import kept
from evaluator.comparator.settings import Settings
from evaluator.comparator.supervision.pretraining import Pretraining
from evaluator.comparator.supervision.self_supervision import Conversations, unseen
from evaluator.comparator.training import joint_training, utility_training
from evaluator.comparator.training.dataset import Run, TrainingPlan, checked, fingerprint_of, measured, plan, prepare, split
from evaluator.comparator.training.out_of_fold import OutOfFold, apart_from_people
from evaluator.comparator.training.progress import OnProgress, Report, TrainingProgress
from evaluator.comparator.training.side_by_side import train_members
from evaluator.comparator.untrained import Wholeness
from evaluator.encoders import devices, loop, pretrained
from evaluator.encoders.allocator import give_memory_back
from evaluator.encoders.pretrained import default_encoder
from evaluator.judges.texts import BESIDE
from evaluator.metaevaluation.held_out import HeldOutAgreement

TRAINING: dict[str, Any] = {"utility": utility_training, "joint": joint_training}  # modules with the same functions
COSINE_SHARE = 0.03  # of the progress bar; the rest is the members'
JUDGING_SHARE = 0.05  # of a member's part of it
BASE_SHARE = 0.75  # of the progress bar, where there are dialogues to learn from


@dataclass(frozen=True)
class TrainingResult(HeldOutAgreement):
    """What a training gave. Everything held-out is out of fold: judged by the member that did not see the context."""

    criteria: list[dict[str, Any]]  # name, accuracy, low, high, clear_pairs, longer, scale of each; the first's are those above
    # where nobody judged: accuracy, low, high, three_way, clear_pairs, longer on the held-out pairs that supervised it; those
    # of people, above, are then not known
    supervision: dict[str, Any] | None
    curve: list[dict[str, Any]]  # fold, epoch, step, train_loss
    pairs: int
    texts: int
    contexts: int  # with a pair or a score, that are measured
    units: int  # of these, what folds kept whole and intervals draw: groups, else contexts. Versions before 0.2.0 have none
    cut_contexts: int  # texts whose context lost its first turns to the limit of tokens
    cut_outputs: int  # texts whose output lost its end to the limit of words or tokens
    learnt_from: dict[str, int]  # pairs by source, scored outputs, exchanges, and exchanges left out as seen
    tie_threshold: float  # |u_a - u_b| in logits below which `decide` says tie
    references: float  # what a standard deviation of likeness to references adds to a utility, 0 or more (references.py)
    device: str  # that it was trained on (devices.described)
    seconds: float  # of training, over all members (a member trained by an earlier run counts with its own)
    fingerprint: str
    base: dict[str, Any] | None  # of one made before: name, sha256, contexts that are judged, known: those that it learnt from
    utilities: np.ndarray  # (texts,) by the first criterion, in logits (joint: `score`, 0 to 1); NaN where nobody judged


def fit(
    examples: Examples,
    settings: Settings,
    seed: int,
    out_dir: str | Path,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] | None = None,
    base_dir: Path | None = None,
) -> TrainingResult:
    """Train all members into `out_dir`; what is already there with the same fingerprint is not trained again. base_dir: the
    folder of the base that the settings name; then dialogues among the examples are not learnt from."""
    examples, directory, progress = checked(examples, settings), Path(out_dir), TrainingProgress(on_progress, should_stop)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "comparator.json").unlink(missing_ok=True)  # until the end, this folder is unfinished
    progress(0.0, "Reading the encoder")
    folds = split(examples, settings.folds, seed)
    start = _start(examples, settings, seed, directory, base_dir, progress)
    base = start.base
    fingerprint = fingerprint_of(examples, settings, seed, base.get("sha256", start.encoder_sha256))
    begin = BASE_SHARE if start.shown else 0.0
    tick = lambda done: progress(begin + COSINE_SHARE * done, "Encoding the texts")
    data = prepare(examples, folds, settings, directory, base, start.learnt_from, tick)
    run = Run(data, settings, seed, directory, fingerprint, base)
    if places := devices.several():
        train_members(_member, run, places, progress.part(begin + COSINE_SHARE, 1.0))
    each = (1 - begin - COSINE_SHARE) / settings.folds
    starts = [begin + COSINE_SHARE + fold * each for fold in range(settings.folds)]
    records = [_member(run, fold, progress.part(start, start + each)) for fold, start in enumerate(starts)]
    tick = lambda _: progress(1.0, "Learning to tell whole outputs from broken ones")
    whole = TRAINING[settings.architecture].wholeness(run, tick)
    judged = TRAINING[settings.architecture].out_of_fold(records, run, whole, tick)
    result = _result(judged, examples, run, records, start)
    _save_manifest(run, folds, judged, [record["sha256"] for record in records], examples, result, whole)
    give_memory_back()  # gigabytes, which whatever this process does next would otherwise come on top of
    progress(1.0, "Trained")
    return result


@dataclass(frozen=True)
class Start:
    """What all members start from."""

    base: dict[str, Any]  # its record; empty where they start from the encoder
    encoder_sha256: str
    learnt_from: Conversations
    shown: Sequence[Exchange] = ()  # what the base was made of here and now


def _start(
    examples: Examples, settings: Settings, seed: int, directory: Path, base_dir: Path | None, progress: TrainingProgress
) -> Start:
    """A base made before, or one made here of the dialogues, or the encoder alone."""
    if bool(settings.base) != bool(base_dir):
        raise ValueError("A training starts from a base where the settings name it and its folder is given.")
    measured_texts = [text.context for text, beside in zip(examples.texts, examples.beside, strict=True) if not beside]
    if base_dir:
        base, learnt_from = start_from(base_dir, directory, settings, measured_texts)
        return Start(base, base["sha256"], learnt_from)
    scratch = seed if settings.from_scratch else None
    encoder_sha256 = pretrained.save_encoder(settings.encoder or default_encoder(), directory, scratch)
    shown = _shown(examples, measured_texts) if settings.next_utterance else []
    if settings.teacher and not shown:
        raise ValueError("A teacher learns from conversations first. There are none, or each contains a judged context.")
    pretraining = Pretraining(shown, settings, seed, directory, encoder_sha256, progress.part(0.0, BASE_SHARE))
    return Start(pretraining.record() if shown else {}, encoder_sha256, Conversations.of(shown, kept(shown, seed)), shown)


def _shown(examples: Examples, contexts: Sequence[Sequence[str]]) -> list[Exchange]:
    """Those of dialogues that no measured text comes from; none where that is one dialogue, since negatives are others'."""
    left = unseen(examples.exchanges, contexts)
    return left if len({exchange.dialogue for exchange in left}) > 1 else []


def _member(run: Run, fold: int, progress: Report) -> dict[str, Any]:
    """Train, or find again, the member without `fold`, and let it judge that fold."""
    learning = lambda done, *what: progress(done * (1 - JUDGING_SHARE), *what)
    tick = lambda _: progress(1 - JUDGING_SHARE, f"Member {fold + 1} of {run.settings.folds} judges what it has not seen")

    def train() -> dict[str, Any]:
        state = loop.State(run.directory / f"member-{fold}.state", run.fingerprint)
        model, curve = _learn(run, fold, state, learning)
        pretrained.round_to_fp16(model)  # what judges is what is saved
        judged = TRAINING[run.settings.architecture].judge(model, run, fold, tick)
        sha256 = pretrained.save_weights(model, run.directory / f"member-{fold}.safetensors")
        return {"sha256": sha256, "curve": curve, "seconds": state.seconds(), **judged}

    return storage.made_once(run.directory, f"member-{fold}", run.fingerprint, train)


def _learn(run: Run, fold: int, state: loop.State, progress: Report) -> tuple[Any, list[dict[str, Any]]]:
    """A member and its learning curve."""
    data, settings, kind = run.data, run.settings, TRAINING[run.settings.architecture]
    model = kind.start(run, fold)
    rng = np.random.default_rng([run.seed, *kind.ORDER, fold])
    planned = plan(data, settings, lambda stage: kind.batches(data, fold, settings.batch_size, rng, stage))
    part = devices.part_of_step(model.encoder, data.encoder.max_length, settings.max_tokens)
    losses = lambda i: kind.losses(model, run, fold, i, planned.steps[i], part)
    after, seed, rate = _noting(run, fold, planned, progress), [run.seed, *kind.DROPOUT, fold], settings.learning_rate
    return model, loop.run(model, settings, rate, len(planned.steps), losses, seed, state, after, parts=planned.stages)


def _noting(run: Run, fold: int, planned: TrainingPlan, progress: Report) -> Callable[[int, float, list[dict[str, Any]]], None]:
    """What `loop.run` calls after each step: it notes a point of the learning curve, the mean training loss, at the end of each
    epoch."""
    passed: list[float] = []  # losses since the last point

    def after(step: int, loss: float, notes: list[dict[str, Any]]) -> None:
        passed.append(loss)
        done, epoch = step / len(planned.steps), bisect_left(planned.epochs, step) + 1
        message = f"Member {fold + 1} of {run.settings.folds}, epoch {epoch} of {len(planned.epochs)}"
        progress(done, message)
        if step in planned.epochs:
            notes.append({"fold": fold, "epoch": epoch, "step": step, "train_loss": float(np.mean(passed))})
            passed.clear()
            progress(done, f"{message} finished", notes[-1])

    return after


def _result(
    judged: list[OutOfFold], examples: Examples, run: Run, records: list[dict[str, Any]], start: Start
) -> TrainingResult:
    head, data, supervision = judged[0].head, run.data, None
    in_folds = (data.folds >= 0) & (data.folds != BESIDE)  # (n,)
    if not data.by_people[measured(data)].any():
        first, supervision = apart_from_people(judged[0])
        judged = [first, *judged[1:]]
    learnt_from = {
        **Counter(pair.source for pair in examples.pairs),
        "scored outputs": int((~np.isnan(examples.scores)).any(1).sum()),
        "exchanges": len(start.shown),
        "exchanges left out": len(examples.exchanges) - len(start.shown),
    }
    return TrainingResult(
        **vars(judged[0].agreement),
        cut_contexts=data.sequences.cut_contexts,
        cut_outputs=data.sequences.cut_outputs,
        criteria=[one.row(name) for name, one in zip(examples.criteria, judged, strict=True)],
        supervision=supervision,
        curve=[point for record in records for point in record["curve"]],
        pairs=len(data.a),
        texts=len(data.folds),
        contexts=len(np.unique(data.contexts[in_folds])),
        units=len(np.unique(data.units[in_folds])),
        learnt_from=learnt_from,
        tie_threshold=head.tie_threshold,
        references=head.references * float(data.likeness.std()),
        device=devices.described(devices.chosen()),
        seconds=sum(record["seconds"] for record in records) + run.base.get("seconds", 0.0),
        fingerprint=run.fingerprint,
        base=_of_base(run, start) if run.settings.base else None,
        utilities=judged[0].utilities,
    )


def _of_base(run: Run, start: Start) -> dict[str, Any]:
    judged = {text.context for text, fold in zip(run.data.texts, run.data.folds, strict=True) if 0 <= fold < BESIDE}
    known = sum(start.learnt_from.around(context).size > 0 for context in judged)
    return {"name": run.settings.base, "sha256": run.base["sha256"], "contexts": len(judged), "known": known}


def _save_manifest(
    run: Run,
    folds: dict[str, int],
    judged: list[OutOfFold],
    members: list[str],
    examples: Examples,
    result: TrainingResult,
    whole: Wholeness | None,
) -> None:
    measured_in = {key: fold for key, fold in folds.items() if fold != BESIDE}
    manifest = storage.Manifest(
        settings=run.settings,
        seed=run.seed,
        fingerprint=run.fingerprint,
        folds=measured_in,
        head=judged[0].head,
        members=members,
        metrics={k: v for k, v in asdict(result).items() if k not in ("utilities", "curve", "fingerprint")},
        familiar=run.data.encoder.familiar,
        matcher=run.base.get("matcher"),
        references=run.base.get("references"),
        criteria=list(examples.criteria),
        other_heads=[one.head for one in judged[1:]],
        beside=sorted(folds.keys() - measured_in.keys()),
        wholeness=storage.save_wholeness(whole, run.directory) if whole else None,
        broken=list(whole.kinds[1:]) if whole else [],
        elsewhere=[one.elsewhere for one in judged] if run.settings.architecture == "utility" else [],
    )
    storage.save_manifest(manifest, run.directory)
