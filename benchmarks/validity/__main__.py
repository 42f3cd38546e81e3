"""Measures what the board's certainty is worth, and writes the tables of docs/results/validity.md.

A run that is cut goes on where it was; a changed generator or estimator starts anew."""

import argparse
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.database import own_database
from benchmarks.validity.claims import FEW, Claim, claims, rows
from benchmarks.validity.generators import Campaign
from benchmarks.validity.harness import WORKERS, Store, draw_seed, run
from benchmarks.validity.report import replaced, table

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT, STORE = ROOT / "docs/results/validity.md", ROOT / "var/validity.jsonl"


def arguments(args: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.validity", description=__doc__)
    parser.add_argument("--n", type=int, help=f"simulations of each scenario (default 200, of questions and plans {FEW})")
    parser.add_argument(
        "--imported", type=int, default=0, help="of each question and plan, go through files too (default none)"
    )
    parser.add_argument("--only", default="", help="claims or scenarios whose name contains this")
    parser.add_argument("--workers", type=int, default=WORKERS, help="processes (default %(default)s)")
    parser.add_argument("--store", type=Path, default=STORE, help="where simulations are kept (default var/validity.jsonl)")
    parser.add_argument("--document", type=Path, default=DOCUMENT, help="whose tables are written (default: its page)")
    parser.add_argument("--tables", action="store_true", help="simulate nothing, write the tables of what is kept")
    return parser.parse_args(args)


def chosen(claim: Claim, text: str) -> Claim:
    """The claim, with the scenarios that are asked for."""
    if text in claim.name:
        return claim
    return replace(claim, scenarios={name: c for name, c in claim.scenarios.items() if text in name})


def main(args: list[str] | None = None) -> int:
    """1 where a claim fails in a scenario that was asked for."""
    options = arguments(args)
    store = Store(options.store)
    asked = [chosen(claim, options.only) for claim in claims()]
    if options.imported:
        imported({c for claim in asked for c in claim.scenarios.values() if not isinstance(c, Campaign)}, options.imported)
    failed = False
    for claim, whole in zip(asked, claims()):
        n = options.n or claim.n
        if not options.tables:
            progress(run(claim.scenarios.values(), n, store, options.workers))
        measured = rows(claim, partial(store.records, n=n))
        if not measured:
            continue
        print(f"\n{claim.name}\n{table(claim, measured)}", flush=True)
        failed |= any(row.holds == "no" for row in measured)
        if len(measured) == len(whole.scenarios):
            document = options.document.read_text(encoding="utf-8")
            options.document.write_text(replaced(document, claim.name, table(claim, measured)), encoding="utf-8")
    return int(failed)


def imported(asked: set, n: int) -> None:
    """Raises SystemExit where the commands and the default board say otherwise than the harness."""
    with own_database(), TemporaryDirectory() as folder:
        for one in sorted(asked, key=str):
            for seed in range(n):
                one.compared(Path(folder), draw_seed(one, seed))
            print(f"{one}: {n} through files", file=sys.stderr, flush=True)


def progress(left) -> None:
    for number in left:
        if number % 100 == 0:
            print(f"{number:,} simulations left", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
