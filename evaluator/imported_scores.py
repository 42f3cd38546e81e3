"""Scores that a judge gave elsewhere, from files: all or nothing, each error with file, line and field."""

from collections import Counter

from django.db import transaction

from annotation.data.corpus import Imported
from annotation.data.insertion import BATCH
from annotation.models import AuditEvent, Campaign, Output
from annotation.snapshots import former_names, output_names
from core.errors import ImportRefused, Refused, RowError
from core.rowfiles import BadField, Row, read_rows
from evaluator.models import ImportedScore

SHOWN_ERRORS = 100
LONGEST_NAME = 100


@transaction.atomic
def import_scores_of(
    campaign: Campaign, judge: str, source, name: str | None = None, replace: bool = False, dry_run: bool = False, user=None
) -> Imported:
    """Rows {context_id or context, system, [checkpoint], [sample], score}; each must meet an output that is there. The same
    file twice changes nothing; another score for an output is refused, unless replace: then all that the judge said in this
    campaign before is replaced. Raises ImportRefused with every error, and then stores nothing."""
    judge = judge.strip()
    if not judge or len(judge) > LONGEST_NAME:
        raise Refused(f"A judge has a name of 1 to {LONGEST_NAME} characters.")
    Campaign.objects.select_for_update().get(pk=campaign.pk)  # two imports at once wait for each other
    file = str(name or getattr(source, "name", None) or str(source).rsplit("/", 1)[-1])
    before = dict(campaign.imported_scores.filter(judge=judge).values_list("output_id", "value"))
    rows, given = _read(campaign, source, file, {} if replace else before)
    new = {output: value for output, value in given.items() if replace or output not in before}
    result = Imported(rows=rows, new={"scores": len(new)} if new else {}, dry_run=dry_run)
    if new and not dry_run:
        if replace:
            campaign.imported_scores.filter(judge=judge).delete()
        made = [ImportedScore(campaign=campaign, judge=judge, output_id=pk, value=value) for pk, value in new.items()]
        ImportedScore.objects.bulk_create(made, batch_size=BATCH)
        detail = {"file": file, "kind": "judge scores", "judge": judge, "replaced": replace, **result.as_dict()}
        AuditEvent.objects.create(campaign=campaign, user=user, action="import", detail=detail)
    return result


def judges_of(campaign: Campaign) -> list[str]:
    """Judges whose scores were imported, by name."""
    return sorted(set(campaign.imported_scores.values_list("judge", flat=True)))


def scores_of(campaign: Campaign, judge: str) -> dict[tuple, float]:
    """{(context, system, checkpoint, sample): score} under every name that a snapshot may have for the output."""
    former = former_names(campaign)
    about = ("output__context", "output__system", "output__checkpoint")
    rows = campaign.imported_scores.filter(judge=judge).select_related(*about)
    return {key: row.value for row in rows for key in output_names(row.output, former)}


def _read(campaign: Campaign, source, file: str, known: dict[int, float]) -> tuple[int, dict[int, float]]:
    """(rows read, {output id: score}). known: what may not be contradicted."""
    place, key_of_text = _outputs(campaign)
    errors, kinds, rows = [], Counter(), 0
    given: dict[int, float] = {}

    def keep(error: RowError) -> None:
        kinds[error.kind] += 1
        if len(errors) < SHOWN_ERRORS:
            errors.append(error)

    for row in read_rows(source, file, on_error=keep):
        rows += 1
        try:
            output, value = _output(row, place, key_of_text), row.number("score")
            if given.get(output, value) != value:
                raise BadField("score", f"is {value:g}, but {given[output]:g} was given for the same output further up")
            if known.get(output, value) != value:
                raise BadField("score", f"is {value:g}, but {known[output]:g} is stored for this output; --replace replaces it")
            given[output] = value
        except BadField as error:
            keep(row.wrong(file, error))
    if errors:
        raise ImportRefused(errors, kinds)
    return rows, given


def _outputs(campaign: Campaign) -> tuple[dict[tuple, int], dict[tuple[str, ...], str]]:
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


def _output(row: Row, place: dict[tuple, int], key_of_text: dict[tuple[str, ...], str]) -> int:
    key = row.name("context_id", default="")
    if not key:
        turns = row.texts("context", required=True)
        key = key_of_text.get(tuple(turns), "")
        if not key:
            raise BadField("context", "is the text of no context of this campaign")
    system = row.name("system")
    checkpoint = row.name("checkpoint", default="")
    output = place.get((key, system, checkpoint, row.whole("sample", 0) or 0))
    if output is None:
        which = f"system {system!r}" + (f", checkpoint {checkpoint!r}," if checkpoint else "")
        raise BadField("system", f"{which} has no such output for the context {key!r} in this campaign")
    return output
