"""Outputs, answers, and what judges said, as rows that the importers read back, with what only a campaign knows."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from annotation.data import corpus_export
from annotation.data.direction import may_be_low
from annotation.data.fields import kinds_of_files
from annotation.data.spreadsheets import FORMULA
from annotation.models import Campaign, Context, Criterion
from annotation.questions import registry, store
from annotation.questions.kind import Kind
from annotation.questions.strength import BESIDE

ABOUT = ["annotator", "seconds", "active_seconds", "answered_at", "simulated", "kept", "dropped_by"]
OUTPUT_FIELDS = ["context_id", "group", "system", "checkpoint", "sample", "aspect"]
PAIR_FIELDS = [
    "context_id",
    "context",
    "group",
    "system_a",
    "checkpoint_a",
    "sample_a",
    "output_a",
    "system_b",
    "checkpoint_b",
    "sample_b",
    "output_b",
    "aspect",
]
PREFERENCE_FIELDS = [
    "prompt",
    "chosen",
    "rejected",
    "source",
    "aspect",
    "margin",
    "strength",
    "answers",
    "simulated",
    "context_id",
    "system_chosen",
    "system_rejected",
]
CONTENT_TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}
PREFERENCES = "preferences"
# Fields that a file has only where the campaign does, so that files of other campaigns stay as they were.
OPTIONAL = {"group", "best", "asked_if", "chosen_at", "cannot_say", "system_cost", "system_cost_unit", *BESIDE}
Decide = Callable[[int | None, int, object], tuple[bool | None, str | None]]
Rows = Callable[[Campaign], Iterator[dict]]
_others: dict[str, tuple[list[str], Rows]] = {"outputs": (corpus_export.COLUMNS, corpus_export.exported_outputs)}


def register(what: str, columns: list[str], rows: Rows) -> None:
    """The export of files of this kind, where a room above this one stores what they hold."""
    _others[what] = columns, rows


def files() -> list[str]:
    """All that a campaign is exported as: what can be imported again."""
    return kinds_of_files()


def exported_rows(campaign: Campaign, what: str) -> Iterator[dict]:
    """The rows of one of `files`, as they count now."""
    return _others[what][1](campaign) if what in _others else exported_answers(campaign, what)


def answer_files() -> list[str]:
    """What answers are exported as: a file for each kind of question."""
    return [kind.files for kind in registry.kinds()]


def columns_of(what: str) -> list[str]:
    """Of a file of answers, or of preferences."""
    if what in _others:
        return _others[what][0]
    kind = registry.of_files(what)
    if kind is None:
        return PREFERENCE_FIELDS
    about = PAIR_FIELDS if kind.sides == 2 else OUTPUT_FIELDS
    comment = [] if "reason" in kind.columns else ["reason"]
    condition = [] if kind.sides == 2 else ["asked_if"]
    return [*about, *kind.columns, "best", *condition, "cannot_say", *comment, *ABOUT]


def undecided(criterion, annotator, unit) -> tuple[None, None]:
    """Outside a snapshot nothing is kept or dropped yet."""
    return None, None


def exported_answers(campaign: Campaign, what: str, decide: Decide = undecided) -> Iterator[dict]:
    """Live answers in the order they were stored; annotators under their pseudonyms.

    decide(criterion id or None, annotator id, output id or pair of ids) -> (kept, what dropped it).
    """
    kind = registry.of_files(what)
    assert kind is not None, f"{what} are no answers"
    return _about_pairs(campaign, kind, decide) if kind.sides == 2 else _about_outputs(campaign, kind, decide)


def _about_outputs(campaign: Campaign, kind: Kind, decide: Decide) -> Iterator[dict]:
    live = store.about_outputs(campaign).given().filter(criterion__kind=kind.name)
    unused = {name for name in kind.optional_columns if not live.filter(detail__has_key=name).exists()}
    names = campaign.criteria.values_list("name", flat=True)
    turned = live.exclude(criterion__best=Criterion.Best.HIGH).exists() or any(map(may_be_low, names))  # which an import asks
    conditions = live.exclude(criterion__asked_if={}).exists()
    unsaid = live.filter(cannot_say=True).exists()
    reasons = campaign.asks_reason or live.filter(detail__has_key="reason").exists()
    about = ["output__context", "output__system", "output__checkpoint", "criterion", "annotator", "submission"]
    live, grouped = live.select_related(*about), _names_groups(campaign)
    for score in live.order_by("pk").iterator(chunk_size=2000):
        output = score.output
        yield {
            "context_id": output.context.key,
            **_group(output.context, grouped),
            "system": output.system.name,
            "checkpoint": output.checkpoint.name if output.checkpoint else None,
            "sample": output.sample,
            "aspect": score.criterion.name,
            **{name: value for name, value in kind.cells(score).items() if name not in unused},
            **({"best": score.criterion.best} if turned else {}),
            **({"asked_if": score.criterion.asked_if or None} if conditions else {}),
            **({"cannot_say": score.cannot_say} if unsaid else {}),
            **_comment(score, reasons),
            **_about(score, decide(score.criterion_id, score.annotator_id, score.output_id)),
        }


def _about_pairs(campaign: Campaign, kind: Kind, decide: Decide) -> Iterator[dict]:
    live = store.about_pairs(campaign).given()
    unsaid = live.filter(cannot_say=True).exists()
    unused = {name for name in BESIDE if not live.filter(detail__has_key=name).exists()}
    sides = [f"output_{side}__{part}" for side in "ab" for part in ("system", "checkpoint")]
    live = live.select_related("output_a__context", *sides, "annotator", "submission", "criterion")
    grouped = _names_groups(campaign)
    for judgment in live.order_by("pk").iterator(chunk_size=2000):
        context = judgment.output_a.context
        row = {"context_id": context.key, "context": context.turns, **_group(context, grouped)}
        for side, output in (("a", judgment.output_a), ("b", judgment.output_b)):
            row[f"system_{side}"] = output.system.name
            row[f"checkpoint_{side}"] = output.checkpoint.name if output.checkpoint else None
            row[f"sample_{side}"], row[f"output_{side}"] = output.sample, output.text
        unit = judgment.output_a_id, judgment.output_b_id
        yield {
            **row,
            "aspect": judgment.criterion.name if judgment.criterion else None,
            **{name: value for name, value in kind.cells(judgment).items() if name not in unused},
            **({"cannot_say": judgment.cannot_say} if unsaid else {}),
            **_about(judgment, decide(judgment.criterion_id, judgment.annotator_id, unit)),
        }


def _names_groups(campaign: Campaign) -> bool:
    """Has a context a group of its own, beside its conversation? An import takes no other one."""
    return campaign.contexts.exclude(group="").exists()


def _group(context: Context, grouped: bool) -> dict:
    """Only where the campaign has groups."""
    return {"group": context.group or None} if grouped else {}


def _comment(score, asked: bool) -> dict:
    """Only where the campaign asks for one, or a file brought one. It is of the item, so all scores of one answer have the
    same."""
    beside = score.submission.payload if score.submission else score.detail or {}
    return {"reason": beside.get("reason")} if asked else {}


def _about(answer, decision: tuple) -> dict:
    submission, beside = answer.submission, answer.detail or {}
    return {
        "annotator": answer.annotator.name,
        "seconds": submission.seconds if submission else beside.get("seconds"),
        "active_seconds": submission.active_seconds if submission else beside.get("active_seconds"),
        "answered_at": answer.created_at.isoformat(),
        "simulated": answer.annotator.is_simulated,
        "kept": decision[0],
        "dropped_by": decision[1],
    }


def _is_optional(what: str, name: str) -> bool:
    kind = registry.of_files(what)
    if kind is not None and (name in kind.optional_columns or name == "reason" and name not in kind.columns):
        return True
    return name in OPTIONAL


def as_jsonl(rows: Iterable[dict]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=False) + "\n"


def as_csv(rows: Iterable[dict], what: str) -> Iterator[str]:
    """A header even where there are no rows; lists and objects are JSON in their cell, as the importer reads them. There is a
    column for an OPTIONAL field where the rows have that field.

    A text that a spreadsheet would run as a formula gets an apostrophe before it, and its column's name goes into the
    cell `guarded`, so that the importer takes off exactly these apostrophes.
    """
    line, rows = io.StringIO(), iter(rows)
    first = next(rows, {})
    columns = [name for name in columns_of(what) if not _is_optional(what, name) or name in first]
    writer = csv.DictWriter(line, [*columns, "guarded"])
    writer.writeheader()
    for row in chain([first] if first else [], rows):
        guarded = [name for name, value in row.items() if isinstance(value, str) and value.startswith(FORMULA)]
        cells = {k: json.dumps(v, ensure_ascii=False) if isinstance(v, list | dict) else v for k, v in row.items()}
        writer.writerow(cells | {name: "'" + row[name] for name in guarded} | {"guarded": " ".join(guarded)})
        if line.tell() > 2**16:
            yield line.getvalue()
            line.seek(0)
            line.truncate()
    yield line.getvalue()
