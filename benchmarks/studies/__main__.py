"""A paper's study, from one command: forecast, parts that are kept, and a report with the paper's numbers beside ours.

    comparena reproduce zhang|zhao|zhou|three-head DATA --out DIR [--preset tiny|small|paper] [--encoder MODEL ...]
        [--masked MODEL ...] [--causal MODEL ...] [--stand-in MODEL | --ask SLUG] [--part NAME ...] [--workers 1]
        [--forecast] [--seed 0]

DATA has NAME.outputs.jsonl and NAME.ratings.jsonl. The same command goes on where it was stopped. `--preset tiny` takes random
models and few outputs: it shows that a study runs, and its numbers mean nothing."""

import argparse
import os
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from benchmarks.studies.study import Asked, Study, forecast, run, with_needs

STUDIES = ("zhang", "zhao", "zhou", "three-head")  # modules of this folder, with - for _
PRESETS = ("tiny", "small", "paper")


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(
        prog="comparena reproduce", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    found.add_argument("study", choices=STUDIES)
    found.add_argument("data", type=Path, nargs="?", help="the folder of public judged sets")
    found.add_argument("--campaign", default="", metavar="SLUG", help="instead: the tables that this campaign's scores allow")
    found.add_argument("--out", type=Path, required=True)
    found.add_argument("--preset", choices=PRESETS, default="small")
    found.add_argument("--seed", type=int, default=0)
    found.add_argument("--part", action="append", metavar="NAME", help="work out only this part; repeat for more")
    found.add_argument("--workers", type=int, default=1, help="processes that work out parts, a thread each (default 1)")
    found.add_argument("--forecast", action="store_true", help="say what is to be done, and do nothing")
    for need in ("encoder", "masked", "causal"):
        found.add_argument(f"--{need}", nargs="+", default=[], metavar="MODEL", help="a folder, or a name on the hub")
    found.add_argument("--stand-in", default="", metavar="MODEL", help="the encoder of a judge that stands in for people")
    found.add_argument("--ask", default="", metavar="SLUG", help="instead, of zhou: ask people, by a campaign that is made")
    return found


def main(words: list[str] | None = None) -> int:
    from benchmarks.studies import report

    options = parser().parse_args(words)
    if (options.data is None) == (not options.campaign):
        parser().error("Name the folder of judged sets, or a campaign with --campaign.")
    sets: tuple[str, ...] = ()
    if options.campaign:
        from benchmarks.studies.campaign import exported

        options.data = options.out / "campaign"
        sets = (exported(options.campaign, options.data),)
    if options.ask and (options.study != "zhou" or options.campaign):
        parser().error("zhou alone, without --campaign, has new outputs to ask people about.")
    models = options.encoder, options.masked, options.causal
    asked = Asked(options.data, options.out, options.preset, options.seed, *models, options.stand_in, sets, options.ask)
    if options.preset == "tiny":
        from benchmarks.studies.tiny_models import families

        made = families(options.out / "models", options.seed)
        asked = replace(asked, stand_in=made["encoder"][2], **made)
    study: Study = import_module(f"benchmarks.studies.{options.study.replace('-', '_')}")
    folder = options.out / "-".join(filter(None, (options.study, options.campaign, options.preset, str(options.seed))))
    parts = study.parts(asked)
    if unknown := set(options.part or ()) - {part.name for part in parts}:
        parser().error(f"There is no part {min(unknown)!r}; there are: {', '.join(part.name for part in parts)}.")
    parts = with_needs(parts, options.part) if options.part else parts
    print(forecast(study, asked, parts, folder), flush=True)
    if options.forecast:
        return 0
    results = run(parts, folder, lambda line: print(line, flush=True), options.workers)
    code = ", ".join(dict.fromkeys(result["code"] for result in results.values()))
    head = f"Preset {options.preset}, seed {options.seed}, code {code}."
    if options.preset == "tiny":
        head += " Random models: these numbers mean nothing."
    print(*report.write(study.PAPER, study.tables(results), head, study.unavailable(asked), folder), sep="\n")
    return 0


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    raise SystemExit(main())
