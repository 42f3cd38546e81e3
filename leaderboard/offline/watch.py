"""`comparena watch_run`: a line for each checkpoint of a training, from its outputs in a folder, and whether to stop it."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from core.errors import Refused
from evaluator.judges.degenerate_outputs import degenerate_shares
from evaluator.judges.protocol import Judge
from evaluator.judges.texts import Text, place_of
from evaluator.selection.advice import Advice
from evaluator.selection.best_checkpoint import is_known, named
from evaluator.selection.early_stop import EarlyStop
from evaluator.selection.evaluation_cost import cost
from evaluator.selection.rules import Rules, amount
from leaderboard.offline.run_folder import Contexts, RunFolder, contexts_of

GO_ON, STOP, INTERRUPTED = 0, 3, 130
DEGENERATE = 0.5  # share of an output that it did not say itself


def watch(options: argparse.Namespace, show: Callable[[str], None]) -> int:
    """Exit code: 3 where the training is to stop, 0 where it goes on, 130 where somebody interrupted."""
    rules = Rules(options.worthwhile, options.per, options.error)
    contexts = contexts_of(Path(options.contexts)) if options.contexts else None
    folder = RunFolder(Path(options.folder), contexts, lambda sentence: print(sentence, file=sys.stderr, flush=True))
    watched: EarlyStop | None = None
    took: list[tuple[int, float]] = []  # outputs or pairs of each evaluation, and its seconds
    try:
        for step in _steps(folder, options):
            if watched is None:
                watched = watched_by(options, folder.contexts, rules)
                told(watched.judge, [])
            begun = time.monotonic()
            said = watched.add(step, folder.outputs(step))
            took.append((watched.readings(step), time.monotonic() - begun))
            show(_line(folder, step, said, rules, options.json))
            if len(took) == 2:
                told(watched.judge, took[:0:-1])
            if not options.once and (said.stop or (options.total and step >= options.total)):
                break
    except KeyboardInterrupt:
        return INTERRUPTED
    if watched is None:
        print(f"There is no whole step-NUMBER.jsonl in {options.folder}.", file=sys.stderr)
        return GO_ON
    return STOP if watched.advice.stop else GO_ON


def told(judge: Judge, earlier: Sequence[tuple[int, float]]) -> None:
    """What an evaluation takes with this judge: before the first one from elsewhere, then from what it took here."""
    manifest = getattr(judge, "manifest", None)  # a comparator's
    architecture = manifest.settings.architecture if manifest else ""
    print(cost(earlier, judge.kind == "pairwise", architecture).said, file=sys.stderr, flush=True)


def _steps(folder: RunFolder, options: argparse.Namespace) -> Iterator[int]:
    """As they come, or those that are there."""
    while True:
        yield from folder.new(last=options.once)
        if options.once:
            return
        time.sleep(options.every)


def watched_by(options: argparse.Namespace, contexts: Contexts, rules: Rules, total: int | None = None) -> EarlyStop:
    """The training, as the judge that the options name reads it: a comparator finds the groups that it learned from by their
    contexts' words. Says where no context names a group."""
    turns = list(contexts.turns.values())
    groups = [contexts.groups.get(key, key) for key in contexts.turns] if contexts.groups else None
    references = [contexts.references.get(key, ()) for key in contexts.turns]
    judge = judge_of(options, dict(zip(turns, references)))
    if manifest := getattr(judge, "manifest", None):
        texts = (Text(one, "", group=of) for one, of in zip(turns, groups or [""] * len(turns)))
        judge.manifest = manifest.with_groups_of(texts)  # type: ignore[union-attr]
    if groups is None:
        print("No context names a group, so all count as independent.", file=sys.stderr, flush=True)
    return EarlyStop(judge, turns, rules, groups=groups, references=references, total=total)


def judge_of(options: argparse.Namespace, references: dict[tuple[str, ...], tuple[str, ...]]) -> Judge:
    """A comparator's folder, a metric by its name, or a program. Raises Refused."""
    if options.judge_command:
        from evaluator.judges.program import ProgramJudge

        return ProgramJudge(options.judge_command, {place_of(Text(turns, "")): one for turns, one in references.items()})
    if Path(options.judge).is_dir():
        from evaluator.comparator.architectures import load
        from evaluator.encoders.pretrained import BadCheckpoint

        try:
            return load(options.judge)
        except BadCheckpoint as bad:
            raise Refused(f"{options.judge}: {bad}") from bad
    from evaluator.metrics.registry import build

    written = [text for one in references.values() for text in one]
    return build(options.judge, corpus=written)


def check(options: argparse.Namespace) -> None:
    """What is known to be wrong before a file is read. Raises Refused."""
    from evaluator.metrics.registry import METRICS

    if bool(options.judge) == bool(options.judge_command):
        raise Refused("Name the judge: --judge with a metric or a comparator's folder, or --judge-command with a program.")
    if options.judge and not Path(options.judge).is_dir() and options.judge not in METRICS:
        raise Refused(f"{options.judge!r} is neither a folder nor a metric; the metrics are {', '.join(METRICS)}.")
    if not Path(options.folder).is_dir():
        raise Refused(f"There is no folder {options.folder}.")
    if options.every <= 0:
        raise Refused("--every takes seconds above 0.")


def _line(folder: RunFolder, step: int, said: Advice, rules: Rules, as_json: bool) -> str:
    point = next(point for point in said.points if point.step == step)
    there = {key: text for key, text in folder.steps[step].items() if key in folder.contexts.turns}
    shares = degenerate_shares([Text(folder.contexts.turns[key], text) for key, text in there.items()])
    degenerate = int((shares >= DEGENERATE).sum())
    known = is_known(len(said.best.not_worse), len(said.points))
    if as_json:
        facts: dict[str, Any] = {"step": step, "contexts": len(folder.contexts.turns), "outputs": len(there)}
        facts["unit"] = "group of contexts" if folder.contexts.groups else "context"
        facts |= {"degenerate": degenerate, "best_known": known, **asdict(said)}
        return json.dumps(facts | {"points": [asdict(point)]}, ensure_ascii=False)
    parts = [f"step {step}", f"{len(there)} of {len(folder.contexts.turns)} contexts", _against(point, rules)]
    parts += [_slope(said, rules), f"{named(said.best.step, known)} ({said.best.probability:.0%})"]
    if degenerate:
        parts.append(f"{degenerate} degenerate")
    parts += [said.word + (": stop" if said.stop else "")] + (["the published rule: stop"] if said.streak_stop else [])
    return "; ".join(parts)


def _against(point: Any, rules: Rules) -> str:
    played = point.wins + point.ties + point.losses
    if not played:
        return "nothing to compare with"
    balance = 100 * (point.wins - point.losses) / played
    ends = "" if point.low is None else f" ({100 * point.low:+.0f} to {100 * point.high:+.0f})"
    return f"wins less losses {amount(f'{balance:+.0f}', 'point')} against the previous {rules.previous}{ends}"


def _slope(said: Advice, rules: Rules) -> str:
    if said.slope is None:
        return "no slope yet"
    return f"gains {said.slope:+.2f} points in {rules.span} ({said.low:+.2f} to {said.high:+.2f})"
