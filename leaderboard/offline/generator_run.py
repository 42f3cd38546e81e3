"""`comparena train_generator`: trains a small generator from dialogues, and writes its checkpoints' outputs into a folder, for
`watch_run`, an import, or a client's loop. With a judge it stops itself."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from core.errors import Refused, quoted
from core.rowfiles import BadField, read_rows
from evaluator.generators.dialogue import AnsweredTurn, exchanges
from evaluator.selection.early_stop import EarlyStop
from evaluator.selection.rules import Rules
from leaderboard.offline.run_folder import Contexts, contexts_of
from leaderboard.offline.watch import judge_of

GO_ON, STOP = 0, 3


def train(options: argparse.Namespace, show: Callable[[str], None]) -> int:
    """Exit code: 3 where the judge stopped it, 0 at its end. Raises Refused for bad input, before anything is written."""
    from evaluator.generators.decoders import Decoder
    from evaluator.generators.training_loop import Settings, checkpoints

    decoder = Decoder(options.decoder)
    settings = Settings(options.architecture, options.iterations, options.every)
    contexts, training = contexts_of(Path(options.contexts)), dialogues(Path(options.dialogues))
    turns, folder = list(contexts.turns.values()), _empty(Path(options.out))
    watched = _watched(options, contexts)
    for one in checkpoints(training, settings, options.seed):
        replies = one.replies(turns, decoder, options.seed)
        rows = [
            {
                "context_id": key.split(" ", 1)[1],
                "context": list(contexts.turns[key]),
                "system": options.name,
                "checkpoint": f"step-{one.iteration}",
                "iteration": one.iteration,
                "total_iterations": one.total,
                "output": reply.text,
                "metadata": {"log_probability": round(reply.log_probability, 4)},
            }
            for key, reply in zip(contexts.turns, replies)
        ]
        _write(folder / f"step-{one.iteration}.jsonl", rows)
        said = watched.add(one.iteration, [reply.text for reply in replies]) if watched else None
        verdict = f"; {said.word}{': stop' if said.stop else ''}; best step {said.best.step}" if said else ""
        show(f"step {one.iteration} of {one.total}; {one.loss:.3f} nats a word{verdict}")
        if said and said.stop:
            return STOP
    return GO_ON


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
    turns = list(contexts.turns.values())
    references = [contexts.references.get(key, ()) for key in contexts.turns]
    judge = judge_of(options, dict(zip(turns, references)))
    rules = Rules(options.worthwhile, options.per)
    return EarlyStop(judge, turns, rules, references=references, total=options.iterations)


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
