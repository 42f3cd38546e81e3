"""What judges are worth on other campaigns and with fewer labels, as text, CSV and LaTeX, from `transfer_judges`'s record."""

import csv
import io
import shlex
from typing import Any

from annotation.data.spreadsheets import without_formulas
from evaluator.judge_tables.cautions import cautions
from evaluator.judge_tables.text_tables import aligned, notes, tabular

MATRIX = {
    "judge": "judge",
    "train": "learnt on",
    "test": "tested on",
    "outputs": "outputs",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "pairs": "pairs",
    "accuracy": "preferences",
    "with_ties": "with ties",
}
LABELS = {"judge": "judge", "campaign": "campaign", "labels": "labels", "pearson": "Pearson", "spearman": "Spearman"}
BRACKETS = "In brackets: 95% intervals over contexts"
DRAWS = "Means of three draws; in brackets the lowest and highest"


def again(record: dict[str, Any]) -> str:
    """The command that gives the same figures."""
    judges = [word for name in record["judges"] for word in ("--judge", name)]
    labels = ["--labels"] if "labels" in record else []
    slugs = [one["campaign"] for one in record["campaigns"]]
    return "manage.py transfer_judges " + shlex.join(
        [*slugs, *judges, *labels, *record.get("options", []), "--seed", str(record["seed"])]
    )


def signature(record: dict[str, Any]) -> str:
    """What the figures were made from."""
    about = "; ".join(f"{c['campaign']}: snapshot {c['snapshot']}, {c['criterion']}" for c in record["campaigns"])
    return f"{about}; seed {record['seed']}, code {record['code']}"


def cells(rows: list[dict[str, Any]], columns: dict[str, str]) -> list[list[str]]:
    """The header, and a row for each of `rows`."""
    return [list(columns.values()), *([_cell(row, name) for name in columns] for row in rows)]


def as_text(record: dict[str, Any]) -> str:
    lines = [line for text in cautions(record) for line in (text, "")]
    lines += [BRACKETS, *aligned(cells(record["rows"], MATRIX)), ""]
    if labels := record.get("labels"):
        lines += [DRAWS, *aligned(cells(labels, LABELS)), ""]
    lines += [f"{one['judge']}: not judged, {one['why']}." for one in record["without"]]
    return "\n".join([*lines, signature(record), f"To reproduce: {again(record)}"])


def as_csv(record: dict[str, Any]) -> str:
    """A row for each cell of the matrix, then for each number of labels, with `part` to tell them apart; empty where there is
    nothing."""
    parts = {"matrix": record["rows"], "labels": record.get("labels", [])}
    rows = [{"part": part, **row} for part, found in parts.items() for row in found]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    about = {"seed": record["seed"], "code": record["code"], "warnings": " ".join(cautions(record))}
    out = io.StringIO()
    writer = csv.DictWriter(out, [*(columns or ["part"]), *about], lineterminator="\n")
    writer.writeheader()
    writer.writerows(without_formulas({**row, **about}) for row in rows)
    return out.getvalue()


def as_latex(record: dict[str, Any]) -> str:
    """Tabulars without packages."""
    parts = [f"% {signature(record)}", f"% {again(record)}", f"% {BRACKETS}", *tabular(cells(record["rows"], MATRIX))]
    if labels := record.get("labels"):
        parts += [f"% {DRAWS}", *tabular(cells(labels, LABELS))]
    return "\n".join([*parts, *notes(cautions(record))]) + "\n"


def _cell(row: dict[str, Any], name: str) -> str:
    value, low = row[name], row.get(f"{name}_low")
    if value is None:
        return "–"
    said = f"{value:.2f}" if isinstance(value, float) else str(value)
    return said if low is None else f"{said} [{low:.2f}, {row[f'{name}_high']:.2f}]"
