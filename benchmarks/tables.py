"""What simulations of docs/results/ have in common: their options, and tables in Markdown."""

import argparse

import numpy as np


def options(doc: str | None, n: int = 200, only: str = "rows whose name contains this") -> argparse.ArgumentParser:
    """How many campaigns of each row, from which seed, and which rows."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=n, help="campaigns of each row (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the first campaign (default %(default)s)")
    parser.add_argument("--only", default="", help=only)
    return parser


def head(*columns: str, left: int = 1) -> None:
    """The first ones are of words, the others of figures."""
    row(*columns)
    print("|" + "---|" * left + "---:|" * (len(columns) - left))


def row(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def share_error(share: float, n: int) -> float:
    """The standard error of a share of n campaigns, not 0 where it is."""
    return float(np.sqrt(max(share, 1 / n) * (1 - share) / n))


def of_campaigns(values: np.ndarray) -> tuple[float, float]:
    """The mean of values of independent campaigns, and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))
