"""What a judge said elsewhere, scores of outputs or judgments of pairs, from files: all or nothing, each error with file,
line and field."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Manager

from annotation.data.corpus import Imported
from annotation.data.insertion import BATCH
from annotation.models import AuditEvent, Campaign, Output
from annotation.outcome import CODES
from annotation.snapshots import former_names, output_names
from core.errors import ImportRefused, Refused, RowError, quoted
from core.rowfiles import BadField, Row, read_rows
from evaluator.judges.program import SUM_ERROR
from evaluator.models import ImportedPair, ImportedScore, Judge
from evaluator.roster import LONGEST_NAME, imported_judge

SHOWN_ERRORS = 100

Value = Any  # a score, or (P(A), P(tie), P(B))
Key = Any  # an output's id, or those of a pair, the smaller first


@dataclass(frozen=True)
class _Kind:
    """What is imported: how a row is read, which model keeps it, and under which fields."""

    called: str
    model: type[ImportedScore] | type[ImportedPair]
    read: Callable[[Row, "_Places"], tuple[Key, Value]]
    fields: Callable[[Key, Value], dict[str, Any]]
    stored: tuple[str, ...]
    shown: Callable[[Value], str]


def import_scores_of(
    campaign: Campaign, judge: str, source, name: str | None = None, replace: bool = False, dry_run: bool = False, user=None
) -> Imported:
    """Rows {context_id or context, system, [checkpoint], [sample], score}; each must meet an output that is there. The same
    file twice changes nothing; another score for an output is refused, unless replace: then all that the judge said in this
    campaign before is replaced. Raises ImportRefused with every error, and then stores nothing."""
    return _import(SCORES, campaign, judge, source, name, replace, dry_run, user)


def import_pairs_of(
    campaign: Campaign, judge: str, source, name: str | None = None, replace: bool = False, dry_run: bool = False, user=None
) -> Imported:
    """The same of a judge of pairs: rows {context_id or context, system_a, system_b, [checkpoint_a, checkpoint_b, sample_a,
    sample_b], and a, tie, b: probabilities that add up to 1, or choice: A, tie or B}."""
    return _import(PAIRS, campaign, judge, source, name, replace, dry_run, user)


@transaction.atomic
def _import(kind: _Kind, campaign: Campaign, judge: str, source, name, replace: bool, dry_run: bool, user) -> Imported:
    judge = judge.strip()
    if not judge or len(judge) > LONGEST_NAME:
        raise Refused(f"A judge has a name of 1 to {LONGEST_NAME} characters.")
    other = PAIRS if kind is SCORES else SCORES
    if other.model.objects.filter(campaign=campaign, judge__name=judge).exists():
        raise Refused(f"The judge {quoted(judge)} has {other.called} here already; {kind.called} need another name.")
    Campaign.objects.select_for_update().get(pk=campaign.pk)  # two imports at once wait for each other
    file = str(name or getattr(source, "name", None) or str(source).rsplit("/", 1)[-1])
    kept = kind.model.objects.filter(campaign=campaign, judge__name=judge)
    before = {_key(row): _value(row) for row in kept.values_list(*kind.stored)}
    rows, given = _read(kind, campaign, source, file, {} if replace else before)
    new = {key: value for key, value in given.items() if replace or key not in before}
    result = Imported(rows=rows, new={kind.called: len(new)} if new else {}, dry_run=dry_run)
    if new and not dry_run:
        if replace:
            kept.delete()
        row = imported_judge(campaign, judge)
        made = [kind.model(campaign=campaign, judge=row, **kind.fields(key, value)) for key, value in new.items()]
        manager: Manager[Any] = kind.model._default_manager
        manager.bulk_create(made, batch_size=BATCH)
        detail = {"file": file, "kind": f"judge {kind.called}", "judge": judge, "replaced": replace, **result.as_dict()}
        AuditEvent.objects.create(campaign=campaign, user=user, action="import", detail=detail)
    return result


def judges_of(campaign: Campaign) -> list[str]:
    """Judges whose scores or judgments of pairs were imported, by name."""
    return list(campaign.judges.filter(kind=Judge.Kind.IMPORTED).order_by("name").values_list("name", flat=True))


def scores_of(campaign: Campaign, judge: str) -> dict[tuple, float]:
    """{(context, system, checkpoint, sample): score} under every name that a snapshot may have for the output."""
    former = former_names(campaign)
    about = ("output__context", "output__system", "output__checkpoint")
    rows = campaign.imported_scores.filter(judge__name=judge).select_related(*about)
    return {key: row.value for row in rows for key in output_names(row.output, former)}


def pairs_of(campaign: Campaign, judge: str) -> dict[tuple[tuple, tuple], tuple[float, float, float]]:
    """{(output, output): (P(first better), P(tie), P(second better))} in both orders, outputs under every name that a snapshot
    may have for them, as `scores_of`; empty for a judge of single outputs."""
    former, found = former_names(campaign), {}
    about = [f"output_{side}__{name}" for side in "ab" for name in ("context", "system", "checkpoint")]
    for row in campaign.imported_pairs.filter(judge__name=judge).select_related(*about):
        for a in output_names(row.output_a, former):
            for b in output_names(row.output_b, former):
                found[a, b], found[b, a] = (row.p_a, row.p_tie, row.p_b), (row.p_b, row.p_tie, row.p_a)
    return found


def _key(row: tuple) -> Key:
    return row[0] if len(row) == 2 else row[:2]


def _value(row: tuple) -> Value:
    return row[1] if len(row) == 2 else row[2:]


def _read(kind: _Kind, campaign: Campaign, source, file: str, known: dict[Key, Value]) -> tuple[int, dict[Key, Value]]:
    """(rows read, what they say). known: what may not be contradicted."""
    places = _outputs(campaign)
    errors, kinds, rows = [], Counter(), 0
    given: dict[Key, Value] = {}

    def keep(error: RowError) -> None:
        kinds[error.kind] += 1
        if len(errors) < SHOWN_ERRORS:
            errors.append(error)

    for row in read_rows(source, file, on_error=keep):
        rows += 1
        try:
            key, value = kind.read(row, places)
            is_, field = kind.shown(value), "score" if kind is SCORES else "choice"
            what = "output" if kind is SCORES else "pair"
            if given.get(key, value) != value:
                raise BadField(field, f"is {is_}, but {kind.shown(given[key])} was given for the same {what} further up")
            if known.get(key, value) != value:
                raise BadField(
                    field, f"is {is_}, but {kind.shown(known[key])} is stored for this {what}; --replace replaces it"
                )
            given[key] = value
        except BadField as error:
            keep(row.wrong(file, error))
    if errors:
        raise ImportRefused(errors, kinds)
    return rows, given


def _score(row: Row, places: "_Places") -> tuple[Key, Value]:
    return _output(row, places), row.number("score")


def _pair(row: Row, places: "_Places") -> tuple[Key, Value]:
    a, b = _output(row, places, "_a"), _output(row, places, "_b")
    if a == b:
        raise BadField("system_b", "names the same output as system_a")
    p = _answer(row)
    return ((a, b), p) if a < b else ((b, a), p[::-1])


def _answer(row: Row) -> tuple[float, float, float]:
    if row.fields.get("choice") not in (None, ""):
        choice = row.name("choice")
        if choice not in CODES:
            raise BadField("choice", f"is {quoted(choice)}; it must be A, tie or B")
        return tuple(float(CODES[choice] == code) for code in range(3))  # type: ignore[return-value]
    p = (row.number("a"), row.number("tie"), row.number("b"))
    for side, value in zip(("a", "tie", "b"), p):
        if not 0 <= value <= 1:
            raise BadField(side, f"expected a probability from 0 to 1, found {value:g}")
    if abs(sum(p) - 1) > SUM_ERROR:
        raise BadField("tie", f"a, tie and b add up to {sum(p):g}; they have to add up to 1")
    return p


_Places = tuple[dict[tuple, int], dict[tuple[str, ...], str]]


def _outputs(campaign: Campaign) -> _Places:
    """({(context, system, checkpoint, sample): output id}, {turns: context})"""
    former = former_names(campaign)
    outputs = Output.objects.filter(context__campaign=campaign, replaced_at=None)
    place: dict[tuple, int] = {}
    key_of_text: dict[tuple[str, ...], str] = {}
    for output in outputs.select_related("context", "system", "checkpoint"):
        key_of_text.setdefault(tuple(output.context.turns), output.context.key)
        for key in output_names(output, former):
            place.setdefault(key, output.pk)
    return place, key_of_text


def _output(row: Row, places: _Places, side: str = "") -> int:
    """side: "_a" or "_b" of a pair, which stands behind the names of its fields."""
    place, key_of_text = places
    key = row.name("context_id", default="")
    if not key:
        turns = row.texts("context", required=True)
        key = key_of_text.get(tuple(turns), "")
        if not key:
            raise BadField("context", "is the text of no context of this campaign")
    system = row.name(f"system{side}")
    checkpoint = row.name(f"checkpoint{side}", default="")
    output = place.get((key, system, checkpoint, row.whole(f"sample{side}", 0) or 0))
    if output is None:
        which = f"system {quoted(system)}" + (f", checkpoint {quoted(checkpoint)}," if checkpoint else "")
        raise BadField(f"system{side}", f"{which} has no such output for the context {quoted(key)} in this campaign")
    return output


SCORES = _Kind(
    "scores",
    ImportedScore,
    _score,
    lambda output, value: {"output_id": output, "value": value},
    ("output_id", "value"),
    lambda value: f"{value:g}",
)
PAIRS = _Kind(
    "pairs",
    ImportedPair,
    _pair,
    lambda pair, p: {"output_a_id": pair[0], "output_b_id": pair[1], "p_a": p[0], "p_tie": p[1], "p_b": p[2]},
    ("output_a_id", "output_b_id", "p_a", "p_tie", "p_b"),
    lambda p: "/".join(f"{value:g}" for value in p),
)
