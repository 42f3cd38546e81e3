"""Every metric whose inputs are there, beside people, on four public sets: one table each, in Markdown.

    python -m benchmarks.metrics.tables FOLDER --out DIR [--set NAME ...] [--references FILE] [--seed 0]
        [--comparator utility joint] [--dialogues FILE]

FOLDER has NAME.outputs.jsonl and NAME.ratings.jsonl; --references has rows of {context_id, references} beside them. Metrics
that learn do so out of fold by the text of the context. --comparator trains the product's own judge too: the default recipe,
five folds, on the people of the set by its first criterion; with --dialogues (rows of {dialogue_id, turns, references}) it
starts from a base of those that no text of the set comes from. What a judge said is kept in DIR by content, so that a run goes
on where it was stopped. --masked and --causal FOLDER are language models, without which theirs are named and left out.
"""

import argparse
import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.metrics.comparison_scores import train
from benchmarks.metrics.judged_sets import SETS, JudgedSet, lines, read
from evaluator.comparator.architectures import load
from evaluator.comparator.examples import Exchange
from evaluator.comparator.settings import ARCHITECTURES, Settings
from evaluator.comparator.supervision.self_supervision import exchanges
from evaluator.encoders.text_encoder import TextEncoder
from evaluator.judges.protocol import utilities
from evaluator.metaevaluation.agreement import Share, accuracy
from evaluator.metaevaluation.correlation import kendall, spearman
from evaluator.metaevaluation.correlation_levels import Figure, levels
from evaluator.metaevaluation.judges_table import LONGER, JudgeAnswers, PeopleScores
from evaluator.metrics.inputs import MissingInput, turns_of
from evaluator.metrics.language_models import LanguageModel
from evaluator.metrics.registry import METRICS, TUNED, build

HEADER = ("judge", "outputs", "Pearson", "Spearman", "Kendall", "within contexts", "systems", "pairs", "CPU s")
WITHOUT_HUMAN = "Pearson without what people wrote"
FOLDS = 5  # of a comparator


def answers(
    known: JudgedSet, given: Mapping[str, Any], seed: int, out: Path, left_out: Sequence[str] = ()
) -> tuple[list[JudgeAnswers], dict[str, str]]:
    """What each metric says of the outputs, and why the others say nothing; kept in `out`."""
    found, without = [], {}
    for position, name in enumerate(name for name in METRICS if name not in TUNED):
        kept = out / f"{known.name}-{known.digest}-{seed}-{name}.json"
        if name in left_out and not kept.exists():
            without[name] = "It was left out for what it costs."
            continue
        if not kept.exists():
            record = _asked(known, name, given, seed)
            kept.with_suffix(".part").write_text(json.dumps(record), encoding="utf-8")
            kept.with_suffix(".part").rename(kept)
        record = json.loads(kept.read_text(encoding="utf-8"))
        print(
            f"{known.name} {position + 1}/{len(METRICS)} {name}: {record.get('why') or str(record['seconds']) + ' s'}",
            flush=True,
        )
        if "why" in record:
            without[name] = record["why"]
            continue
        u = np.array([np.nan if value is None else value for value in record["utilities"]])
        found.append(JudgeAnswers(name, u, seconds=record["seconds"], lacks=record["lacks"], settings=record["settings"]))
    return found, without


def _asked(known: JudgedSet, name: str, given: Mapping[str, Any], seed: int) -> dict[str, Any]:
    begun = time.process_time()
    try:
        metric = build(name, **given, corpus=turns_of(known.texts), training=known.training(seed))
        u = metric.utilities(known.texts)
    except MissingInput as missing:
        return {"why": str(missing)}
    left = [text for text, value in zip(known.texts, u) if np.isnan(value)]
    lacks = f"{len(left)} of {len(u)} outputs are not judged: {metric.lacks(left[0])}" if left else ""
    utilities = [None if np.isnan(value) else value for value in u.tolist()]
    seconds = round(time.process_time() - begun, 1)
    return {"utilities": utilities, "lacks": lacks, "settings": metric.settings, "seconds": seconds}


def comparator(known: JudgedSet, architecture: str, dialogues: Path | None, seed: int, out: Path) -> JudgeAnswers:
    """A comparator of the default recipe, learnt from the set's people and asked out of fold; kept in `out`."""
    name = f"comparator, {architecture}" + (", and dialogues" if dialogues else "")
    beside = hashlib.sha256(dialogues.read_bytes()).hexdigest()[:12] if dialogues else "alone"
    folder = out / f"{known.name}-{known.digest}-{seed}-comparator-{architecture}-{beside}"
    kept = folder.with_suffix(".json")
    if not kept.exists():
        settings, begun = Settings(architecture=architecture, folds=FOLDS), time.process_time()
        if not (folder / "comparator.json").exists():
            train(known, settings, seed, folder, read_exchanges(dialogues) if dialogues else ())
        u = utilities(load(folder), known.texts)
        seconds = round(time.process_time() - begun, 1)
        record = {"utilities": u.tolist(), "settings": asdict(settings), "seconds": seconds}
        kept.write_text(json.dumps(record), encoding="utf-8")
    record = json.loads(kept.read_text(encoding="utf-8"))
    print(f"{known.name} {name}: {record['seconds']} s", flush=True)
    return JudgeAnswers(name, np.array(record["utilities"]), seconds=record["seconds"], settings=record["settings"])


def read_exchanges(file: Path) -> list[Exchange]:
    return exchanges((row["dialogue_id"], row["turns"], row["references"]) for row in lines(file))


def markdown(known: JudgedSet, judges: list[JudgeAnswers], without: Mapping[str, str], seed: int) -> str:
    """The table of the set's first criterion; what people wrote has a column without it, where there is any."""
    people = known.people
    machine = np.flatnonzero(~people.human)
    part = people.take(machine) if len(machine) < len(people.human) else None
    rows = []
    for judge in [*judges, JudgeAnswers(LONGER, people.words.astype(float), kind="baseline")]:
        figures, right = _measured(people, judge.utilities, seed)
        others = _pearson(part, judge.utilities[machine], seed) if part else {}
        rows.append(
            (figures, [judge.name, *_cells(judge, people, figures, right), *_without_human(part, others), _seconds(judge)])
        )
    rows.sort(key=lambda row: -row[0]["sample_pearson"].value if "sample_pearson" in row[0] else 2.0)
    header = [*HEADER[:-1], *([WITHOUT_HUMAN] if part else []), HEADER[-1]]
    parts = [f"### {known.name}, {known.kind.criteria[0]}", "", f"{len(known.texts)} outputs, {known.kind.note}.", ""]
    parts += ["| " + " | ".join(cells) + " |" for cells in (header, ["---"] * len(header), *(cells for _, cells in rows))]
    by_reason: dict[str, list[str]] = {}
    for name, why in without.items():
        by_reason.setdefault(why.replace(f"The metric {name!r}", "It"), []).append(f"`{name}`")
    parts += ["", *(f"- No row for {', '.join(names)}. {why}" for why, names in by_reason.items())]
    lacks = {one.lacks for one in judges if one.lacks}
    return "\n".join([*parts, *(f"- Where a row has fewer outputs: {why}." for why in sorted(lacks)), ""])


def _measured(people: PeopleScores, u: np.ndarray, seed: int) -> tuple[dict[str, Figure], Share | None]:
    """Pearson's correlation at each level, and the share of people's clear preferences that are ordered the same way"""
    judged = [pair for pair in people.pairs if np.isfinite(u[[pair.a, pair.b]]).all()]
    if not judged:
        return _pearson(people, u, seed), None
    a, b = np.array([(pair.a, pair.b) for pair in judged]).T
    return _pearson(people, u, seed), accuracy(u[a] - u[b], judged, people.contexts[a], seed)


def _pearson(people: PeopleScores, u: np.ndarray, seed: int) -> dict[str, Figure]:
    return levels(u, people.scores, people.contexts, people.systems, seed, ["pearson"])


def _cells(judge: JudgeAnswers, people: PeopleScores, figures: Mapping[str, Figure], right: Share | None) -> list[str]:
    judged = np.isfinite(judge.utilities) & np.isfinite(people.scores).any(axis=1)
    of_both = judge.utilities[judged], np.nanmean(people.scores[judged], axis=1)
    ranks = [f"{measure(*of_both):.2f}" if "sample_pearson" in figures else "" for measure in (spearman, kendall)]
    correlations = [_figure(figures.get("sample_pearson")), *ranks]
    correlations += [_figure(figures.get("context_pearson")), _figure(figures.get("system_pearson"))]
    pairs = "" if right is None or np.isnan(right.value) else f"{right.value:.2f} [{right.low:.2f}, {right.high:.2f}]"
    return [str(int(judged.sum())), *correlations, pairs]


def _without_human(part: PeopleScores | None, figures: Mapping[str, Figure]) -> list[str]:
    return [] if part is None else [_figure(figures.get("sample_pearson"))]


def _seconds(judge: JudgeAnswers) -> str:
    return "" if judge.seconds is None else f"{judge.seconds:.1f}"


def _figure(figure: Figure | None) -> str:
    if figure is None:
        return ""
    return f"{figure.value:.2f}" + ("" if figure.low is None else f" [{figure.low:.2f}, {figure.high:.2f}]")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--set", action="append", choices=sorted(SETS))
    parser.add_argument("--references", type=Path, help="JSON lines of {context_id, references}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--leave-out", action="append", default=[], choices=METRICS, help="too dear here; the table says so")
    parser.add_argument("--comparator", nargs="+", default=[], choices=ARCHITECTURES)
    parser.add_argument("--dialogues", type=Path)
    parser.add_argument("--masked")
    parser.add_argument("--causal")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    given = {
        "encoder": TextEncoder.load(),
        "masked": LanguageModel.masked(options.masked) if options.masked else None,
        "causal": LanguageModel.causal(options.causal) if options.causal else None,
    }
    rows = lines(options.references) if options.references else []
    references = {row["context_id"]: row["references"] for row in rows}
    for name in options.set or SETS:
        known = read(options.folder, name, references)
        judges, without = answers(known, given, options.seed, options.out, options.leave_out)
        judges += [comparator(known, one, options.dialogues, options.seed, options.out) for one in options.comparator]
        judges += [JudgeAnswers(f"{metric} as published", u) for metric, u in known.published.items()]
        begun = time.process_time()
        table = markdown(known, judges, without, options.seed)
        seconds = time.process_time() - begun
        line = f"Seed {options.seed}, texts {known.digest}; the table itself took {seconds:.0f} s.\n"
        (options.out / f"{name}.md").write_text(f"{table}\n{line}", encoding="utf-8")
        print(f"{name}: {options.out / name}.md", flush=True)


if __name__ == "__main__":
    main()
