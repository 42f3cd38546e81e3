"""A file from a browser: kept, looked at, checked, stored. A long one is a worker's to read."""

import zipfile
from collections import Counter
from datetime import timedelta
from itertools import islice
from typing import BinaryIO

from django.core.files.base import File
from django.db import transaction
from django.utils import timezone

from annotation import jobs
from annotation.data import importer
from annotation.data.fields import JUDGE_FILES, columns_of_criteria, guess, kinds_of_files, missing, without_criteria
from annotation.data.files import LOOKED_AT, SPREAD, Reading, is_archive
from annotation.models import Campaign, Upload
from annotation.questions import registry
from core import archives, wall_clock
from core.column_shapes import cell_text
from core.errors import ImportRefused, Refused, RowError
from core.rows import paths_in, refusal
from core.table_rows import MAX_COLUMNS

TASK = "annotation.tasks.import_file"
SMALL = 200 * 2**10  # bytes, unpacked, that the web process reads itself: well under a second
LARGE = 5 * 2**20  # bytes, unpacked, that keep a worker from other files for longer than a quarter of a minute
AT_ONCE = 20 * 2**20  # bytes, unpacked, that a request reads where no worker does: 15 s of outputs
READING = 10 * 60  # seconds that a worker reads one file, at most
LATE = f"takes longer to read than {READING // 60} minutes; send it in parts, or as JSON lines"
CELL = 200  # characters of a cell that are kept to be shown
KEPT = timedelta(days=30)  # a file that is not imported
EACH = 5  # rows that are shown, or of each file of an archive taken
SHOWN = 2 * LOOKED_AT  # rows of a zipped folder whose fields are taken for its columns, at most
State = Upload.State


def read_at_once(file: BinaryIO) -> tuple[BinaryIO, str]:
    """(the file, its name), for what a request reads itself. Raises ImportRefused where that is too much."""
    name = file.name or ""
    if archives.is_longer(file, name, AT_ONCE):
        too_long = f"is longer than {AT_ONCE // 2**20} MB, and would be read while somebody waits; divide it"
        raise refusal(name, None, too_long)
    return file, name


def receive(campaign: Campaign, files: list[File], kind: str, user=None) -> Upload:
    """Keep an uploaded file, or several as one zipped folder, and check it at once where its columns speak for themselves."""
    upload, refused = _kept(campaign, files, kind, user)
    _begin(upload, refused)
    return upload


def _begin(upload: Upload, refused: ImportRefused | None) -> None:
    if refused:
        _note_errors(upload, refused)
    with transaction.atomic():
        upload.save(force_insert=True)
        if not refused and not upload.sample:
            _enqueue(upload)
    if not refused and upload.sample and not _missing(upload):
        run(upload, store=False)


def import_later(
    campaign: Campaign,
    file: File,
    kind: str,
    user=None,
    dry_run: bool = False,
    human_systems=(),
    simulated: bool = False,
    columns: dict | None = None,
    **options,
) -> Upload:
    """Keep a file that a worker checks and, unless dry_run, stores; its `job` says where that stands. options: as in
    Upload.options. Raises ImportRefused where it can't be read at all."""
    upload, refused = _kept(campaign, [file], kind, user)
    if refused:
        upload.path.unlink()
        raise refused
    upload.human_systems, upload.simulated = list(human_systems), simulated
    upload.options |= {name: value for name, value in options.items() if value}
    upload.columns = upload.columns if columns is None else columns
    upload.state = State.CHECKING if dry_run else State.STORING
    with transaction.atomic():
        upload.save(force_insert=True)
        _enqueue(upload)
    return upload


def _kept(campaign: Campaign, files: list[File], kind: str, user) -> tuple[Upload, ImportRefused | None]:
    """(an unsaved row whose file is kept and, where it is short, whose columns are guessed, why the file can't be read at all).
    What nobody imported goes then."""
    for old in Upload.objects.filter(created_at__lt=timezone.now() - KEPT).exclude(state=State.STORED).select_related("job"):
        if not old.is_busy:
            discard(old)
    first, *others = files
    name = f"{(first.name or '')[-180:]} and {len(others)} more.zip" if others else (first.name or "")[-200:]
    upload = Upload(campaign=campaign, user=user, name=name, size=0, kind=kind)
    upload.path.parent.mkdir(parents=True, exist_ok=True)
    if others:
        _packed(files, upload)
    else:
        with upload.path.open("wb") as kept:
            for chunk in first.chunks():
                kept.write(chunk)
    upload.size = upload.path.stat().st_size
    return upload, None if is_long(upload) else _look(upload)


def is_long(upload: Upload) -> bool:
    """Is the file a worker's to read?"""
    return _is_longer(upload, SMALL)


def is_large(upload: Upload) -> bool:
    """Is it read in a process of its own, so that small ones pass it?"""
    return _is_longer(upload, LARGE)


def _is_longer(upload: Upload, size: int) -> bool:
    with upload.path.open("rb") as file:
        return archives.is_longer(file, upload.name, size)


def _look(upload: Upload) -> ImportRefused | None:
    """Note the columns, what they probably are, and the first rows; returns why the file can't be read at all."""
    columns, rows, refused = look(upload)
    if refused is not None:
        return refused
    first = rows[: EACH if not is_archive(upload.name) else 2 * EACH]
    shown = [row | {"cells": [None if cell is None else cell_text(cell)[:CELL] for cell in row["cells"]]} for row in first]
    upload.sample = {"columns": columns, "rows": shown, "encoding": upload.options.get("encoding", "")}
    cells = [(column, cell) for row in first for column, cell in zip(columns, row["cells"]) if isinstance(cell, dict)]
    nested = dict.fromkeys(path for column, cell in cells for path in paths_in({column: cell}) if path != column)
    if nested:
        upload.sample["nested"] = [*nested][: MAX_COLUMNS - len(columns)]
    if not upload.columns:
        upload.columns = guess(upload.kind, columns, [dict(zip(columns, row["cells"])) for row in rows])
        if upload.kind == registry.SCALE.files and not any(upload.options.get(name) for name in SPREAD):
            criteria = list(upload.campaign.criteria.values_list("name", flat=True))
            upload.columns = without_criteria(upload.columns, columns, criteria)
            if named := columns_of_criteria(upload.columns, columns, criteria):
                upload.options |= {"aspects": named}
    return None


def sample(upload: Upload) -> tuple[list[str], list[dict]]:
    """(the file's columns, its first rows). Where nobody has looked yet, and it is long, a worker does."""
    is_stale = upload.sample.get("encoding", "") != upload.options.get("encoding", "")
    if (not upload.sample or is_stale) and not upload.is_busy and upload.state != State.REFUSED:
        if not is_long(upload):
            _look(upload)
        else:
            with transaction.atomic():
                upload.state, upload.sample = State.NEW, {}
                upload.save(update_fields=["state", "sample"])
                _enqueue(upload)
    return upload.sample.get("columns", []), upload.sample.get("rows", [])


def _packed(files: list[File], upload: Upload) -> None:
    """Several files as one archive, under their own names; a name that comes twice gets a number."""
    names: dict[str, int] = {}
    with zipfile.ZipFile(upload.path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for file in files:
            name = file.name or "file"
            names[name] = names.get(name, 0) + 1
            stem, dot, ending = name.rpartition(".")
            with archive.open(name if names[name] == 1 else f"{stem} {names[name]}{dot}{ending}", "w") as packed:
                for chunk in file.chunks():
                    packed.write(chunk)


def look(upload: Upload) -> tuple[list[str], list[dict], ImportRefused | None]:
    """(the file's columns, the rows by which an import guesses what they hold, why it can't be read at all) without reading it
    to the end."""
    errors: list[RowError] = []
    encoding = upload.options.get("encoding", "")
    reading = Reading(upload.kind, {}, encoding=encoding, on_error=errors.append)
    try:
        each = EACH if is_archive(upload.name) else LOOKED_AT
        rows = list(islice(reading.rows(upload.path, upload.name, at_most=each), SHOWN))
    except ImportRefused as refused:
        return [], [], refused
    if not rows and not errors:
        return [], [], None  # all is left out, as the account says
    if not rows:
        return [], [], ImportRefused(errors[: importer.KEPT_ERRORS], Counter(error.kind for error in errors))
    columns = list(dict.fromkeys(column for row in rows for column in row.fields))
    if len(columns) > MAX_COLUMNS:
        many = f"has {len(columns):,} columns; at most {MAX_COLUMNS:,} are read"
        return [], [], ImportRefused([RowError(upload.name, None, "", many)])
    return columns, [{"line": row.position or row.line, "cells": [row.fields.get(c) for c in columns]} for row in rows], None


def change(upload: Upload, columns: dict, human_systems=(), simulated=False, options: dict | None = None) -> bool:
    """Say what the file holds; where that is not what was said before it has to be checked anew. Returns whether it has."""
    before = upload.columns, upload.human_systems, upload.simulated, upload.options
    upload.columns, upload.human_systems = columns, list(human_systems)
    upload.simulated, upload.options = simulated, options or {}
    if before == (upload.columns, upload.human_systems, upload.simulated, upload.options):
        return False
    _save(upload, State.NEW, errors=[], error_count=0, result={})
    return True


def run(upload: Upload, store: bool) -> None:
    """Check the file, or store it: here where it is small, else by a worker."""
    if upload.is_busy:
        raise Refused("This file is being read; wait until that is done.")
    if store and upload.state != State.FINE:
        raise Refused(
            "Only a file without errors is imported; check it first."
            if upload.state != State.STORED
            else "This file is imported already."
        )
    if absent := _missing(upload):
        raise Refused(f"Say which column holds: {', '.join(absent)}.")
    state = State.STORING if store else State.CHECKING
    if not Upload.objects.filter(pk=upload.pk, state=upload.state).update(state=state):
        raise Refused("This file is being read; wait until that is done.")
    upload.state = state
    if not is_long(upload):
        return work(upload)
    with transaction.atomic():
        _enqueue(upload)


def _enqueue(upload: Upload) -> None:
    title = f"{'Import' if upload.state == State.STORING else 'Check'} {upload.name}"
    upload.job = jobs.enqueue(TASK, title[:200], campaign=upload.campaign, user=upload.user)
    upload.save(update_fields=["job"])


def work(upload: Upload, report=None) -> None:
    """Do what the upload's state asks; calls report(share, message) now and then.

    What is wrong with the file is written down, not raised. Doing it twice changes nothing more.
    """
    if upload.state not in (State.NEW, State.CHECKING, State.STORING):
        return
    try:
        with wall_clock.at_most(READING, LATE):
            _work(upload, report)
    except Refused as refused:
        _note_errors(upload, ImportRefused([RowError(upload.name, None, "", str(refused))]))
        upload.save()


def _work(upload: Upload, report) -> None:
    if not upload.sample:
        if refused := _look(upload):
            _note_errors(upload, refused)
            return upload.save()
        if upload.state == State.NEW and not _missing(upload):
            upload.state = State.CHECKING
        upload.save()
    if upload.state == State.NEW:
        return  # the columns are for the researcher to name
    how = {"columns": upload.columns, "user": upload.user, "dry_run": upload.state == State.CHECKING}
    if upload.kind == Upload.OUTPUTS:
        how["human_systems"] = upload.human_systems
    elif upload.kind not in JUDGE_FILES:
        how["simulated"] = upload.simulated
    how |= upload.options
    try:
        with upload.path.open("rb") as file:
            if report:
                share = lambda: min(0.9, 0.9 * file.tell() / upload.size) if _is_read_through(upload.name) else 0.1
                how["watch"] = lambda rows: report(share(), f"{rows:,} rows read")
            result = importer.import_file(upload.campaign, upload.kind, file, upload.name, **how)
    except ImportRefused as refused:
        _note_errors(upload, refused)
        upload.save()
    except OSError as error:
        _note_errors(upload, ImportRefused([RowError(upload.name, None, "", f"can't be opened ({error.strerror})")]))
        upload.save()
    else:
        if upload.state == State.CHECKING:
            return _save(upload, State.FINE, result=result.as_dict(), errors=[], error_count=0)
        was_checked = bool(upload.result)  # on its page
        _save(upload, State.STORED, result=result.as_dict(), errors=[], error_count=0)
        if was_checked and (kind := _next_kind(upload)):
            _hand_on(upload, kind)
        upload.path.unlink(missing_ok=True)


def _is_read_through(name: str) -> bool:
    """Does its place in the file say how much of it is read? Excel and Parquet are read whole before their rows."""
    return not name.lower().endswith((".xlsx", ".xlsx.gz", ".parquet", ".parquet.gz"))


def _next_kind(upload: Upload) -> str | None:
    """What else the file holds that is imported after what was just stored: answers after outputs, judges' after people's."""
    kinds = kinds_of_files()
    also = upload.result.get("elsewhere", {})
    return next((kind for kind in kinds[kinds.index(upload.kind) + 1 :] if also.get(kind)), None)


def _hand_on(upload: Upload, kind: str) -> None:
    """The same file once more, as what else it holds: checked, and imported if somebody says so."""
    options = {name: upload.options[name] for name in ("encoding", "spellings_apart") if upload.options.get(name)}
    if system := upload.options.get("system"):
        options["constants"] = {"system": system}
    following = Upload(campaign=upload.campaign, user=upload.user, name=upload.name, size=upload.size, kind=kind)
    following.options = options
    upload.path.rename(following.path)
    refused = None if is_long(following) else _look(following)
    _begin(following, refused)
    _save(upload, State.STORED, result=upload.result | {"next": str(following.pk)})


def discard(upload: Upload) -> None:
    """Throw a file away that was not imported."""
    if upload.is_busy:
        raise Refused("This file is being read; cancel that first.")
    upload.path.unlink(missing_ok=True)
    if upload.state != State.STORED:
        upload.delete()


def _missing(upload: Upload) -> list[str]:
    """The required fields that nothing says; none where no row is to be stored."""
    if upload.sample and not upload.sample["columns"]:
        return []
    given = ["system"] if upload.options.get("system") else []
    given += [field for name in SPREAD if upload.options.get(name) for field in SPREAD[name]]
    if upload.kind == Upload.OUTPUTS and is_archive(upload.name):
        given.append("system")  # the file's name
    return missing(upload.kind, upload.columns, [*given, *upload.options.get("constants", {})])


def _note_errors(upload: Upload, refused: ImportRefused) -> None:
    upload.state, upload.error_count = State.REFUSED, refused.total
    upload.result = {"kinds": sorted(refused.kinds.items(), key=lambda both: -both[1])}
    upload.errors = [[error.line, error.field, error.message, error.row, error.file] for error in refused.errors]


def _save(upload: Upload, state: str, **fields) -> None:
    upload.state = state
    for name, value in fields.items():
        setattr(upload, name, value)
    upload.save()
