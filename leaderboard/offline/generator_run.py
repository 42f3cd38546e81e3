"""`comparena train_generator`: trains a small generator from dialogues, and writes its checkpoints' outputs into a folder, for
`watch_run`, an import, or a client's loop. With a judge it stops itself; with --watch it reports to a campaign's run, whose
judge stops it."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from core.errors import Refused, quoted
from core.rowfiles import BadField, read_rows
from evaluator.generators.dialogue import AnsweredTurn, exchanges
from evaluator.selection.best_checkpoint import is_known, named
from evaluator.selection.early_stop import EarlyStop
from evaluator.selection.rules import Rules
from leaderboard.offline.run_folder import Contexts, contexts_of
from leaderboard.offline.watch import told, watched_by

GO_ON, STOP = 0, 3


def train(options: argparse.Namespace, show: Callable[[str], None]) -> int:
    """Exit code: 3 where the judge stopped it, 0 at its end. Raises Refused for bad input, before anything is written."""
    from evaluator.generators.decoders import Decoder
    from evaluator.generators.training_loop import Settings, checkpoints

    settings = Settings.of(options.architecture, options.iterations, options.every)
    decoder = Decoder(options.decoder, longest=settings.longest)
    _check_watch(options)
    training = _learned_from(options)
    folder = _empty(Path(options.out))
    run = _reported(options) if options.watch else None
    contexts = _asked_by(run) if run else contexts_of(Path(options.contexts))
    turns = list(contexts.turns.values())
    watched = None if run else _watched(options, contexts)
    for one in checkpoints(training, settings, options.seed):
        replies = one.replies(turns, decoder, options.seed)
        rows = [
            {
                "context_id": key.split(" ", 1)[1],
                "context": list(contexts.turns[key]),
                **({"group": contexts.groups[key]} if key in contexts.groups else {}),
                "system": options.name,
                "checkpoint": f"step-{one.iteration}",
                "iteration": one.iteration,
                **({"total_iterations": one.total} if one.total else {}),
                "output": reply.text,
                "logprob": round(reply.log_probability, 4),
            }
            for key, reply in zip(contexts.turns, replies)
        ]
        _write(folder / f"step-{one.iteration}.jsonl", rows)
        stop, verdict = False, ""
        if run:
            logs = [reply.log_probability for reply in replies]
            stop, verdict = _heard(run.report(one.iteration, [reply.text for reply in replies], log_probabilities=logs))
        elif watched:
            said = watched.add(one.iteration, [reply.text for reply in replies])
            stop, verdict = (
                said.stop,
                _verdict(said.word, said.stop, said.best.step, is_known(len(said.best.not_worse), len(said.points))),
            )
        loss = f"{one.loss:.3f} nats a word" if one.iteration else "before it learns"
        show(f"step {one.iteration} of {one.total}; {loss}{verdict}")
        if stop:
            return STOP
    return GO_ON


def _check_watch(options: argparse.Namespace) -> None:
    """Raises Refused where what is asked for does not go together."""
    if options.watch and (options.contexts or options.judge_command):
        raise Refused("With --watch the campaign has the contexts and the judge: leave out --contexts and --judge-command.")
    if not options.watch and not options.contexts:
        raise Refused("Name what is answered: --contexts with a file, or --watch with a campaign.")


def _learned_from(options: argparse.Namespace) -> list[AnsweredTurn]:
    """Nothing where nothing is learned. Raises Refused."""
    if options.dialogues:
        return dialogues(Path(options.dialogues))
    if options.iterations:
        raise Refused("Name what it learns from: --dialogues with a file (or, for a folder's model as it is, --iterations 0).")
    return []


def _reported(options: argparse.Namespace) -> Any:
    """The campaign's run of this name. Raises Refused where the server cannot be reached or says no."""
    try:
        client = importlib.import_module("comparena_client")
    except ImportError:
        try:
            client = importlib.import_module("clients.comparena_client")  # of this checkout
        except ImportError:
            raise Refused("--watch needs the client: pip install ./clients, or put comparena_client.py here.") from None
    url, token = os.environ.get("COMPARENA_URL", ""), os.environ.get("COMPARENA_TOKEN", "")
    if not url or not token:
        raise Refused("--watch needs the server's address in COMPARENA_URL and a token (scope research) in COMPARENA_TOKEN.")
    how = {"judge": options.judge} if options.judge else {}
    rules = {"worthwhile": options.worthwhile, "per": options.per}
    settings = {"architecture": Path(options.architecture).name, "decoder": options.decoder, "seed": options.seed}
    try:
        campaign = client.Client(url, token).campaign(options.watch)
        return campaign.run(options.name, total=options.iterations or None, settings=settings, **how, **rules)
    except client.Refused as refused:
        raise Refused(str(refused)) from refused


def _asked_by(run: Any) -> Contexts:
    return Contexts({f"id {row['context_id']}": tuple(row["turns"]) for row in run.contexts})


def _heard(advice: Any) -> tuple[bool, str]:
    """Whether to stop, and the newest verdict that the server has; it may be of earlier checkpoints."""
    if advice.best is None:
        return False, "; not judged yet"
    return advice.stop, _verdict(advice.word, advice.stop, advice.best["step"], advice.details.get("best_known", True))


def _verdict(word: str, stop: bool, best: int, known: bool) -> str:
    return f"; {word}{': stop' if stop else ''}; {named(best, known)}"


def dialogues(path: Path) -> list[AnsweredTurn]:
    """From rows {turns}. Raises ImportRefused or Refused."""
    found: list[Sequence[str]] = []
    for row in read_rows(path):
        try:
            found.append(row.texts("turns", required=True))
        except BadField as bad:
            raise Refused(f"{path.name}, line {row.line}, field {bad.field!r}: {bad}.") from bad
    if not (training := exchanges(found)):
        raise Refused(f"{path.name} has no turn that answers another.")
    print(f"{len(training):,} exchanges of {len(found):,} dialogues", file=sys.stderr)
    return training


def _watched(options: argparse.Namespace, contexts: Contexts) -> EarlyStop | None:
    if not options.judge and not options.judge_command:
        return None
    watched = watched_by(options, contexts, Rules(options.worthwhile, options.per), options.iterations or None)
    told(watched.judge, [])
    return watched


def _empty(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.glob("step-*")):
            raise Refused(f"{quoted(str(folder))} holds checkpoints already; name another folder.")
    except OSError as error:
        raise Refused(f"{folder} can't be written ({error.strerror}).") from error
    return folder


def _write(file: Path, rows: list[dict[str, object]]) -> None:
    """Beside its place and then moved, so that nobody reads half of it."""
    beside = file.with_name(f".{file.name}.part")
    beside.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    os.replace(beside, file)
