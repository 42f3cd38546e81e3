"""A campaign's report: what was asked, how far people agree, who they are, and the datasheet; as Markdown, LaTeX or CSV."""

import csv
import io
import re
from dataclasses import dataclass, field

from annotation.assessment.calculations import look_up, state_of
from annotation.assessment.datasheet.sheet import SheetAnswer, datasheet
from annotation.assessment.rule_text import rule_in_words
from annotation.data.spreadsheets import no_formula
from annotation.models import Campaign, Snapshot, User
from annotation.questions import registry
from annotation.questions.conditions import in_words
from annotation.snapshots import has_newer_answers, since_frozen
from core.version import code_version

RELIABILITY = "Reliability: generalizability coefficient of the systems' means over people and contexts, of all answers."
ITEMS = "Its 95% interval resamples items, and holds for these annotators only."
OPEN = "(to be written)"
NOT_YET = "A worker is still looking for them. Without them agreement may look surer than it is: make the report again later."
FORMATS = {"md": "Markdown", "tex": "LaTeX", "csv": "CSV"}
CONTENT_TYPES = {"md": "text/markdown", "tex": "application/x-tex", "csv": "text/csv"}


@dataclass(frozen=True)
class Section:
    title: str
    lines: list[str] = field(default_factory=list)
    header: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)


def report_of(campaign: Campaign, snapshot: Snapshot, user: User | None) -> list[Section]:
    """Without the annotators, and with a word instead of what is dependent, where a worker still works these out."""
    state = state_of(campaign)
    watched, _ = look_up(campaign, "annotators", "Comparison of annotators", user, state)
    noted, _ = look_up(campaign, "dependence", "Contexts and scores that depend on each other", user, state)
    return report_sections(campaign, snapshot, watched, noted)


def report_sections(campaign: Campaign, snapshot: Snapshot, watched: dict | None, noted: dict | None) -> list[Section]:
    """watched: what annotation.assessment.annotator_review found, where it is worked out already; noted: the same of
    annotation.assessment.dependence."""
    sections = [_head(campaign, snapshot), _agreement(snapshot), *_dependence(noted), _how_many_more(snapshot)]
    sections += [_annotators(watched)] if watched and watched["people"] else []
    sheet = datasheet(campaign, snapshot)
    sections.append(
        Section(
            "Human Evaluation Datasheet",
            [
                "Questions after HEDS 3.0 (Belz and Thomson 2024). Questions that nobody has answered yet are marked “to be "
                "written”.",
                *_own_words(sheet),
            ],
            ["Number", "Question", "Answer"],
            [[a.number, a.question.words, a.answer or OPEN] for a in sheet],
        )
    )
    return sections


def _own_words(sheet: list[SheetAnswer]) -> list[str]:
    own = ", ".join(answer.number for answer in sheet if answer.own)
    return [f"Written by the researchers: {own}. All else follows from the campaign."] if own else []


def _head(campaign: Campaign, snapshot: Snapshot) -> Section:
    lines = [
        f"Snapshot {snapshot.digest}, frozen {snapshot.created_at:%Y-%m-%d %H:%M} UTC.",
        f"Rule: {rule_in_words(snapshot.rule)}, seed {snapshot.rule.get('seed', 0)}."
        f" Kept: {snapshot.scores:,} scores and {snapshot.judgments:,} judgments. Code {code_version()}.",
    ]
    if snapshot.is_simulated:
        lines.append("This snapshot contains simulated judgments, made by a program and not by people.")
    if has_newer_answers(snapshot):
        lines.append("Newer answers have come since. Agreement is without them; annotators and datasheet are of today.")
    return Section(campaign.title, [*lines, *since_frozen(snapshot)])


def _agreement(snapshot: Snapshot) -> Section:
    rows, reasons = [], []
    for decision in snapshot.decisions.select_related("criterion"):
        r, name = decision.report, decision.what
        before, after = r.get("alpha_before"), r.get("alpha_after", r.get("alpha"))
        ends = [r.get(f"alpha_after_{end}", r.get(f"alpha_{end}")) for end in ("low", "high")]
        only = in_words(decision.criterion.asked_if) if decision.criterion and not decision.on_pairs else ""
        rows.append(
            [
                f"{name} ({only})" if only else name,
                decision.verdict,
                _three(before),
                _three(after),
                "" if None in ends else f"{ends[0]:.3f} to {ends[1]:.3f}",
                _three(r.get("alpha_null_mean")),
                _three(r.get("alpha_corrected")),
                _reliability(r.get("reliability")),
                _three(r["fleiss_kappa"]),
                _three(r["cohen_kappa_mean"]),
                _three(r.get("ac2") if r.get("ac2_weights") else r.get("ac1")),
                _three(r["percent_agreement"]),
                str(r["raters"]),
                str(r["units"]),
                f"{r['kept']:,} of {r['scores']:,}" if "kept" in r else f"{r['judgments']:,}",
            ]
        )
        reasons.append(
            f"{name}: {decision.verdict}. {' '.join(filter(None, (r['reason'], registry.own_agreement_in_words(r))))}"
            + (f" Overruled: {decision.overrule_reason}" if decision.overrule_reason else "")
        )
    header = [
        "Criterion",
        "Verdict",
        "Alpha before",
        "Alpha after",
        "95% interval",
        "By chance",
        "Less chance",
        "Reliability",
        "Fleiss' kappa",
        "Cohen's kappa",
        "Gwet's AC",
        "Equal",
        "Raters",
        "Items",
        "Kept of all",
    ]
    level, of_pairs = snapshot.rule.get("level", "nominal"), registry.about_pair(snapshot.campaign).kind.level("ordinal")
    return Section(
        "Agreement", [f"Krippendorff's alpha, {level}; pairs {of_pairs}. {ITEMS} {RELIABILITY}", *reasons], header, rows
    )


def _dependence(noted: dict | None) -> list[Section]:
    """What the page says above the figures: without it they look surer than they are."""
    said = [NOT_YET] if noted is None else [note["sentence"] for note in noted["notes"]]
    return [Section("Contexts and scores that depend on each other", said)] if said else []


def _how_many_more(snapshot: Snapshot) -> Section:
    rows = [
        [d.what, f"{one['line']:g}", one["sentence"]]
        for d in snapshot.decisions.select_related("criterion")
        for one in d.report.get("outlook", [])
    ]
    return Section("How many more judgments", [], ["Criterion", "Line", "Outlook"], rows)


def _annotators(watched: dict) -> Section:
    rows = [
        [
            p["name"],
            f"{p['answers']}",
            _three(p["agreement"]),
            "" if p["agreement"] is None else f"{p['agreement_low']:.2f} to {p['agreement_high']:.2f}",
            _three(p["severity"]),
            _three(p["spread"]),
            _three(p["competence"]),
            " ".join(p["reasons"]),
        ]
        for p in watched["people"]
    ]
    header = ["Annotator", "Answers", "Agreement", "95% interval", "Severity", "Spread", "Competence", "To look at"]
    return Section(
        "Annotators",
        ["Agreement is the correlation with the mean of the others. Severity is in standard deviations."],
        header,
        rows,
    )


def _reliability(found: dict | None) -> str:
    return "" if found is None else f"{found['coefficient']:.3f} ({found['low']:.3f} to {found['high']:.3f})"


def _three(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def as_markdown(sections: list[Section]) -> str:
    parts = []
    for n, section in enumerate(sections):
        parts.append(f"{'#' if n == 0 else '##'} {_markdown(section.title)}\n")
        parts += [f"{_markdown(line)}\n" for line in section.lines]
        if section.rows:
            rows = [section.header, ["---"] * len(section.header), *([_markdown(c) for c in row] for row in section.rows)]
            parts.append("\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n")
    return "\n".join(parts)


def _markdown(text: str) -> str:
    text = " ".join(text.split()).replace("<", "&lt;")
    return re.sub(r"([\\|*_`#\[\]])", r"\\\1", text)


LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "−": "$-$",
    "→": r"$\to$",
}


def as_latex(sections: list[Section]) -> str:
    """Sections and longtables to \\input into a paper; needs the packages booktabs and longtable."""
    parts = ["% Needs \\usepackage{booktabs,longtable}\n"]
    for section in sections:
        parts.append(f"\\section*{{{_latex(section.title)}}}\n")
        parts += [f"{_latex(line)}\n" for line in section.lines]
        if section.rows:
            last = r"p{0.5\textwidth}" if section.header[-1] in WORDY else "l"
            columns = "l" * (len(section.header) - 1) + last
            rows = [" & ".join(map(_latex, row)) + r" \\" for row in (section.header, *section.rows)]
            parts.append(
                "\n".join(
                    [
                        f"\\begin{{longtable}}{{{columns}}}",
                        r"\toprule",
                        rows[0],
                        r"\midrule",
                        r"\endhead",
                        *rows[1:],
                        r"\bottomrule",
                        r"\end{longtable}",
                        "",
                    ]
                )
            )
    return "\n".join(parts)


WORDY = {"Answer", "Outlook", "To look at"}


def _latex(text: str) -> str:
    return "".join(LATEX.get(c, c) for c in text)


def as_csv(sections: list[Section]) -> str:
    """One long table: section, row, column, value; lines of text have no column."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["section", "row", "column", "value"])
    for section in sections:
        writer.writerows([section.title, "", "", no_formula(line)] for line in section.lines)
        for row in section.rows:
            cells = zip(section.header[1:], row[1:])
            writer.writerows([section.title, no_formula(row[0]), name, no_formula(value)] for name, value in cells)
    return out.getvalue()


WRITERS = {"md": as_markdown, "tex": as_latex, "csv": as_csv}
