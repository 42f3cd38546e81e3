"""Outputs, scores and judgments from files, all or nothing. Importing the same file twice changes nothing.

Each importer reads every row, checks it against the campaign, and gathers the errors; only where there is none it
stores, in one transaction. Existing rows are met through dictionaries loaded once, never by a query per row.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, Q

from annotation.campaigns.items import design_of
from annotation.data.contradictions import LATEST, LEAVE_OUT, WAYS
from annotation.data.corpus import Imported
from annotation.data.fields import JUDGE_FILES, constants_of, known_columns
from annotation.data.files import Reading, name_of
from annotation.data.judgments import JudgmentsImport
from annotation.data.outputs import OutputsImport
from annotation.data.scores import ScoresImport
from annotation.models import Annotator, AuditEvent, Campaign, Context, Criterion, Output, Purpose, Reference
from annotation.questions import registry, store
from annotation.questions.scale import known_words
from core.errors import ImportRefused, Refused, RowError, quoted
from core.rowfiles import BadField, NotAnswered
from core.rows import paths_in

# What an import may be told beside the file: the same on the page, in the API and in commands.
SHARED_OPTIONS = ("columns", "constants", "encoding", "spellings_apart")
ABOUT_OUTPUTS = (*SHARED_OPTIONS, "human_systems", "system", "systems", "keep_columns")
ABOUT_ANSWERS = (*SHARED_OPTIONS, "aspects", "raters", "simulated", "contradictions")
ABOUT_PAIRS = (*SHARED_OPTIONS, "simulated", "contradictions")
ABOUT_JUDGES = (*SHARED_OPTIONS, "judge", "judges", "replace")
KEPT_ERRORS = 200
LONGEST_LIST = 200  # characters of a list of columns in a sentence
WATCH_EVERY = 500  # rows
READ_AGAIN = 3  # times without the lock


def import_outputs(
    campaign: Campaign,
    source,
    name=None,
    human_systems=(),
    dry_run=False,
    user=None,
    system=None,
    version="",
    keep_columns=False,
    **how,
) -> Imported:
    """Rows {context_id, context, system, output, [group, references, checkpoint, iteration, ...]}. Raises ImportRefused.

    system: every row is this system's, and need not name it. version: marks the checkpoints of outputs that replace others.
    keep_columns: keep columns that are no field as metadata. Without context_id, a context is known by its text.
    """
    if system is not None:  # also where the files of an archive have other names
        how["constants"] = {"system": system} | (how.get("constants") or {})
    importer = OutputsImport(campaign, human_systems, system, version, keep_columns)
    return _import(campaign, source, name, importer, dry_run, user, **how)


def import_answers(
    campaign: Campaign, what: str, source, name=None, simulated=False, dry_run=False, user=None, **how
) -> Imported:
    """Answers to a kind of question, called by what its files are: "scores", "judgments", ...

    About outputs: rows {context_id or context, system, aspect, annotator, ...}; each must meet an output that is there. About
    pairs: rows {[context_id], context, system_a, output_a, system_b, output_b, annotator, ...}; they bring their texts.
    """
    kind = registry.of_files(what)
    if kind is None:
        raise Refused(f"There are no answers called {what!r}; there are: {', '.join(k.files for k in registry.kinds())}.")
    rows: Any = JudgmentsImport if kind.sides == 2 else ScoresImport
    return _import(campaign, source, name, rows(campaign, simulated, kind), dry_run, user, **how)


def import_scores(campaign: Campaign, source, name=None, **how) -> Imported:
    return import_answers(campaign, registry.SCALE.files, source, name, **how)


def import_judgments(campaign: Campaign, source, name=None, **how) -> Imported:
    return import_answers(campaign, registry.PAIR.files, source, name, **how)


_of_judges: dict[str, Callable[..., Any]] = {}


def register(what: str, make: Callable[..., Any]) -> None:
    """make(campaign, judge, replace): the importer of files of this kind, where a room above this one stores them."""
    _of_judges[what] = make


def import_judges(
    campaign: Campaign, what: str, source, name=None, judge="", replace=False, dry_run=False, user=None, **how
) -> Imported:
    """What programs said, never people: rows {context_id or context, system, judge, score}, or {..., system_a, system_b, judge,
    choice or a, tie, b}; each must meet outputs that are there. judge: who said all rows, whatever they say. replace: in the
    place of all that these judges said before."""
    return _import(campaign, source, name, _of_judges[what](campaign, judge, replace), dry_run, user, **how)


def options_of(what: str) -> tuple[str, ...]:
    """What an import of these rows may be told."""
    if what in JUDGE_FILES:
        return ABOUT_JUDGES
    kind = registry.of_files(what)
    return ABOUT_OUTPUTS if kind is None else ABOUT_PAIRS if kind.sides == 2 else ABOUT_ANSWERS


def import_file(campaign: Campaign, what: str, source, name=None, **how) -> Imported:
    """Outputs, answers, or what judges said."""
    if what in JUDGE_FILES:
        return import_judges(campaign, what, source, name, **how)
    if what == "outputs":
        return import_outputs(campaign, source, name, **how)
    return import_answers(campaign, what, source, name, **how)


def _import(
    campaign,
    source,
    name,
    importer,
    dry_run,
    user,
    columns: dict | None = None,
    systems: Sequence[str] = (),
    aspects: Sequence[str] = (),
    raters: Sequence[str] = (),
    judges: Sequence[str] = (),
    constants: dict | None = None,
    encoding: str = "",
    spellings_apart: bool = False,
    contradictions: str = "",
    watch: Callable | None = None,
) -> Imported:
    """Read, check and prepare without keeping anybody from writing; then store in one short transaction. Where somebody
    wrote meanwhile what the rows were compared with, it begins anew; the last time it reads under the lock.

    columns: which of the file's columns holds a field, where they have other names; where nothing is said of it, their names
    tell. systems, aspects, raters, judges: columns that each hold one system's outputs, or one criterion's, annotator's or
    judge's scores.
    constants: fields that no column holds, the same for every row. encoding: of a text file whose mark does not say it.
    spellings_apart: names that differ in case, spaces or dashes alone are different names. contradictions: what becomes of
    answers of one person that contradict each other, one of contradictions.WAYS. watch: called now and then with the
    number of rows read; what it raises ends the import.
    """
    file = name_of(source, name)
    if contradictions not in WAYS:
        raise Refused(f"Contradictions are {LEAVE_OUT} or {LATEST}, not {quoted(contradictions)}.")
    importer.spellings_apart, importer.way_of_contradictions = spellings_apart, contradictions
    how: dict[str, Any] = {"columns": columns, "constants": constants, "encoding": encoding}
    how["spread"] = {"systems": systems, "aspects": aspects, "raters": raters, "judges": judges}
    how["criteria"] = list(campaign.criteria.values_list("name", flat=True))
    how["words"] = known_words(campaign.criteria.all(), (constants or {}).get("scale"))
    take = lambda watch: _take_all(importer, source, file, how, watch)
    for _ in range(READ_AGAIN):
        stand = _stand(campaign, importer)
        result = take(watch)
        result.dry_run = dry_run
        if dry_run:
            return result
        importer.prepare()
        with transaction.atomic():
            if _stand(_locked(campaign), importer) == stand:
                return _store(importer, campaign, result, file, user)
        _rewind(source, file)
    with transaction.atomic():
        _locked(campaign)
        result = take(None)
        importer.prepare()
        return _store(importer, campaign, result, file, user)


def _locked(campaign: Campaign) -> Campaign:
    """Two imports at once wait for each other."""
    return Campaign.objects.select_for_update().get(pk=campaign.pk)


def _news(importer) -> dict[str, int]:
    return {kind: len(new) for kind, new in importer.news() if new}


def _store(importer, campaign: Campaign, result: Imported, file: str, user) -> Imported:
    importer.store(result)
    if result.new:
        detail = {"file": file, "kind": importer.kind, **importer.detail(), **result.as_dict()}
        AuditEvent.objects.create(campaign=campaign, user=user, action="import", detail=detail)
    return result


def _take_all(importer, source, file: str, how: dict, watch) -> Imported:
    """Give every row to the importer. Raises ImportRefused with the first KEPT_ERRORS errors, and the number of each kind."""
    errors, kinds, rows, taken, unnamed, unused = [], Counter(), 0, 0, 0, {}
    known = known_columns(importer.kind)

    def note(error: RowError) -> None:
        kinds[error.kind] += 1
        if len(errors) < KEPT_ERRORS:
            errors.append(error)

    importer.begin()
    reading = Reading(importer.kind, **how, on_error=note)
    for row in reading.rows(source, file):
        rows += 1
        unnamed += row.get("context_id") in (None, "")
        unused |= {name: row.fields[name] for name in row.fields.keys() - known - unused.keys()}
        try:
            importer.take(row)
            taken += 1
        except NotAnswered as reason:
            reading.account.leave(file, row, str(reason))
        except BadField as error:
            note(row.wrong(file, error))
        if watch and rows % WATCH_EVERY == 0:
            watch(rows)
    for wrong in importer.check():
        note(replace(wrong, file=wrong.file or file))
    if errors:
        raise ImportRefused([*_unnamed(importer.kind, errors, kinds, rows, file, unused), *errors][:KEPT_ERRORS], kinds)
    for row, why in importer.contradictions.left_later:
        reading.account.leave(file, row, why)
        taken -= 1
    account, left_out = reading.account, sum(reading.account.left_out.values())
    return Imported(
        rows=taken + left_out,
        new=_news(importer),
        repeated=taken - importer.stored(),
        unused=[*([] if importer.keeps_columns else sorted(unused)), *(f"file {member}" for member in reading.left)],
        left_out=dict(account.left_out),
        listed=account.listed,
        elsewhere=dict(account.elsewhere),
        assumed=[*account.assumed, *_known_by_text(unnamed, rows), *importer.assumed()],
    )


def _known_by_text(unnamed: int, rows: int) -> list[str]:
    return [f"Rows without a context_id, whose contexts are known by their text: {unnamed:,}."] if 0 < unnamed < rows else []


def _unnamed(
    kind: str, errors: list[RowError], kinds: Counter, rows: int, file: str, unused: Mapping[str, Any]
) -> list[RowError]:
    """Of a field that no row has: how its column is named. unused: {column: its first value}"""
    first = errors[0]
    if "is missing; it must be given" not in first.message or kinds[first.kind] < rows:
        return []
    say = f"say it: --constant {first.field}=VALUE, or on the file's page."
    same = f" If it is the same in all rows, {say}" if first.field in constants_of(kind) else ""
    names = [quoted(column) for column in sorted(paths_in(dict(unused)))]
    while len(", ".join(names)) > LONGEST_LIST and len(names) > 1:
        names.pop()
    columns = ", ".join(names) + (" and others" if len(names) < len(paths_in(dict(unused))) else "")
    way = f" If one of the columns holds it, name it: --column {first.field}=COLUMN, or on the file's page: {columns}."
    if not (unused or same):
        return []
    return [RowError(first.file or file, None, first.field, f"is in no row.{same}{way if unused else ''}")]


def _stand(campaign: Campaign, importer) -> list:
    """Changes whenever something is written that an importer of this kind compares its rows with, or draws items from.
    People's answers are no such thing for outputs."""
    live = Q(retracted_at=None)
    people = (Annotator.objects.filter(campaign=campaign), Q())
    asked = registry.of_files(importer.kind)
    about = store.about_pairs if asked and asked.sides == 2 else store.about_outputs
    answers = [people, (about(campaign), live)] if asked else []
    compared = [
        (Output.objects.filter(context__campaign=campaign), Q(replaced_at=None)),
        (Context.objects.filter(campaign=campaign), Q()),
        (Reference.objects.filter(context__campaign=campaign), Q()),
        (Criterion.objects.filter(campaign=campaign), Q()),
        (campaign.systems.all(), Q(retired_at=None)),
        (campaign.items.order_by(), ~Q(purpose=Purpose.EVALUATION)),
        (campaign.items.order_by(), Q()),
        *answers,
        *importer.compared(),
    ]
    counts = [rows.filter(counted).aggregate(n=Count("pk"), newest=Max("pk")) for rows, counted in compared]
    return [*counts, design_of(Campaign.objects.get(pk=campaign.pk))]


def _rewind(source, file: str) -> None:
    if not hasattr(source, "read"):
        return  # a path is opened anew
    if not source.seekable():
        raise Refused(f"The campaign changed while {file} was read; send it again.")
    source.seek(0)
