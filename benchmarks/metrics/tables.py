"""Every metric whose inputs are there, beside people, on four public sets: one table each, in Markdown.

    python -m benchmarks.metrics.tables FOLDER --out DIR [--set NAME ...] [--references FILE] [--seed 0]

FOLDER has NAME.outputs.jsonl and NAME.ratings.jsonl; --references has rows of {context_id, references} beside them. Metrics
that learn do so out of fold by the text of the context. What a metric said is kept in DIR by content, so that a run goes on
where it was stopped. --masked and --causal FOLDER are language models, without which theirs are named and left out.
"""

import argparse
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.metrics.judged_sets import SETS, JudgedSet, lines, read
from evaluator.metaevaluation.correlation_levels import Figure
from evaluator.metaevaluation.judges_table import Answers, Row, tables
from evaluator.metrics.encoders import TextEncoder
from evaluator.metrics.inputs import MissingInput, turns_of
from evaluator.metrics.language_models import LanguageModel
from evaluator.metrics.registry import METRICS, build

HEADER = ("judge", "outputs", "Pearson", "Spearman", "Kendall", "within contexts", "systems", "pairs", "seconds")
WITHOUT_HUMAN = "Pearson without what people wrote"


def answers(known: JudgedSet, given: Mapping[str, Any], seed: int, out: Path) -> tuple[list[Answers], dict[str, str]]:
    """What each metric says of the outputs, and why the others say nothing; kept in `out`."""
    found, without = [], {}
    for position, name in enumerate(METRICS):
        kept = out / f"{known.name}-{known.digest}-{seed}-{name}.json"
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
        found.append(Answers(name, u, seconds=record["seconds"], lacks=record["lacks"], settings=record["settings"]))
    return found, without


def _asked(known: JudgedSet, name: str, given: Mapping[str, Any], seed: int) -> dict[str, Any]:
    begun = time.perf_counter()
    try:
        metric = build(name, **given, corpus=turns_of(known.texts), training=known.training(seed))
        u = metric.utilities(known.texts)
    except MissingInput as missing:
        return {"why": str(missing)}
    left = [text for text, value in zip(known.texts, u) if np.isnan(value)]
    lacks = f"{len(left)} of {len(u)} outputs are not judged: {metric.lacks(left[0])}" if left else ""
    utilities = [None if np.isnan(value) else value for value in u.tolist()]
    seconds = round(time.perf_counter() - begun, 1)
    return {"utilities": utilities, "lacks": lacks, "settings": metric.settings, "seconds": seconds}


def markdown(known: JudgedSet, judges: list[Answers], without: Mapping[str, str], seed: int) -> str:
    """The table of the set's first criterion; what people wrote has a column without it, where there is any."""
    found = tables(known.people, judges, "crowd", seed)
    others = {row.name: row for row in found["without_human"].rows} if "without_human" in found else {}
    header = [*HEADER[:-1], *([WITHOUT_HUMAN] if others else []), HEADER[-1]]
    rows = [header, ["---"] * len(header), *(_cells(row, others) for row in found["all"].rows)]
    parts = [f"### {known.name}, {known.kind.criteria[0]}", "", f"{len(known.texts)} outputs, {known.kind.note}.", ""]
    parts += ["| " + " | ".join(row) + " |" for row in rows]
    by_reason: dict[str, list[str]] = {}
    for name, why in without.items():
        by_reason.setdefault(why.replace(f"The metric {name!r}", "It"), []).append(f"`{name}`")
    parts += ["", *(f"- No row for {', '.join(names)}. {why}" for why, names in by_reason.items())]
    lacks = {one.lacks for one in judges if one.lacks}
    return "\n".join([*parts, *(f"- Where a row has fewer outputs: {why}." for why in sorted(lacks)), ""])


def _cells(row: Row, others: Mapping[str, Row]) -> list[str]:
    figure = lambda name: _figure(row.correlations.get(name))
    plain = lambda name: f"{row.correlations[name].value:.2f}" if name in row.correlations else ""
    cells = [row.name, str(row.outputs), figure("sample_pearson"), plain("sample_spearman"), plain("sample_kendall")]
    cells += [figure("context_pearson"), figure("system_pearson")]
    cells += ["" if row.accuracy is None else f"{row.accuracy.value:.2f} [{row.accuracy.low:.2f}, {row.accuracy.high:.2f}]"]
    cells += [_figure(others[row.name].correlations.get("sample_pearson"))] if others else []
    return [*cells, "" if row.seconds is None else f"{row.seconds:.1f}"]


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
        judges, without = answers(known, given, options.seed, options.out)
        judges += [Answers(f"{metric} as published", u) for metric, u in known.published.items()]
        begun = time.perf_counter()
        table = markdown(known, judges, without, options.seed)
        seconds = time.perf_counter() - begun
        line = f"Seed {options.seed}, texts {known.digest}; the table itself took {seconds:.0f} s.\n"
        (options.out / f"{name}.md").write_text(f"{table}\n{line}", encoding="utf-8")
        print(f"{name}: {options.out / name}.md", flush=True)


if __name__ == "__main__":
    main()
