"""A study's tables as Markdown, LaTeX and a figure."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from benchmarks.studies.study import Table
from evaluator.judge_tables.text_tables import tabular

WIDTH, BAR, LABEL = 640, 18, 200  # of the figure, in pixels


def markdown(paper: str, tables: Sequence[Table], head: str, unavailable: Sequence[tuple[str, str]]) -> str:
    lines = [f"# {paper}", "", head, ""]
    for table in tables:
        lines += [f"## {table.title}", "", table.about, ""]
        lines += ["| " + " | ".join(cells) + " |" for cells in (table.header, ["---"] * len(table.header), *table.rows)] + [""]
    return "\n".join([*lines, *(f"- Unavailable: {what}. {why}" for what, why in unavailable), ""])


def latex(tables: Sequence[Table], head: str) -> str:
    parts = [f"% {head}"]
    for table in tables:
        parts += [f"% {table.title}", *tabular([list(table.header), *(list(row) for row in table.rows)])]
    return "\n".join([*parts, ""])


def svg(title: str, bars: Mapping[str, float]) -> str:
    """Bars from zero to the left and right, longest at 1."""
    middle, scale = LABEL + (WIDTH - LABEL) / 2, (WIDTH - LABEL) / 2 - 40
    most = max((abs(value) for value in bars.values()), default=0.0) or 1.0
    drawn = [f'<text x="4" y="16" font-weight="bold">{escape(title)}</text>']
    for i, (label, value) in enumerate(bars.items(), 1):
        length, y = abs(value) / most * scale, 8 + i * (BAR + 4)
        x = middle if value >= 0 else middle - length
        drawn.append(f'<text x="4" y="{y + 13}">{escape(label)}</text>')
        drawn.append(f'<rect x="{x:.1f}" y="{y}" width="{length:.1f}" height="{BAR}" fill="#3b6ea5"/>')
        drawn.append(f'<text x="{WIDTH - 4}" y="{y + 13}" text-anchor="end">{value:.2f}</text>')
    height = 16 + (len(bars) + 1) * (BAR + 4)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="12">'
    return "\n".join([head, *drawn, "</svg>", ""])


def write(paper: str, tables: Sequence[Table], head: str, unavailable: Sequence[tuple[str, str]], folder: Path) -> list[str]:
    """The files' names."""
    files = {"report.md": markdown(paper, tables, head, unavailable), "report.tex": latex(tables, head)}
    files |= {f"figure-{i}.svg": svg(table.title, table.bars) for i, table in enumerate(tables, 1) if table.bars}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [str(folder / name) for name in files]
