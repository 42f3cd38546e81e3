"""A campaign made of an archive again: all of it or nothing. Its hashes, boards and times are those that it had."""

import hashlib
import io
import json
import re
import uuid
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from django.db import DatabaseError, transaction
from django.db.models import Model

from annotation import snapshots
from annotation.assessment.datasheet.own_words import check
from annotation.assessment.datasheet.questions import BY_NUMBER, MOST_CHARACTERS
from annotation.campaigns import costs
from annotation.campaigns.images import store_images
from annotation.campaigns.items import recount
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec, check_criteria, check_page_text, check_protocol
from annotation.data.insertion import Insertion, reserved_keys
from annotation.models import (
    AuditEvent,
    Campaign,
    Criterion,
    DatasheetAnswer,
    FrozenAnswers,
    Item,
    Job,
    Output,
    Snapshot,
    Submission,
    System,
)
from annotation.questions import conditions
from core import archives
from core.errors import ImportRefused, Refused, RowError
from core.rows import MAX_LINE_BYTES, BadField
from evaluator.models import Judge
from leaderboard import signature
from leaderboard.archive.export import FORMAT, MANIFEST, Report
from leaderboard.archive.row_reader import read_row
from leaderboard.archive.tables import CAMPAIGN, TABLES, Json, Table, judge_in
from leaderboard.boards.board import Board
from leaderboard.boards.tree import from_json
from leaderboard.models import Tournament
from leaderboard.tournaments.start import TASK

MEMBER = re.compile(r"manifest\.json|tables/[a-z_]+\.jsonl|snapshots/[0-9a-f]{64}(\.answers)?\.jsonl|images/[\w.-]+", re.ASCII)
BATCH = 5000  # rows in memory
LARGEST_MANIFEST = 8 * 2**20


@dataclass(frozen=True)
class Admitted:
    """rows: of each table; images too."""

    campaign: Campaign
    rows: dict[str, int]
    simulated: bool
    dry_run: bool = False

    def as_dict(self) -> Json:
        return {"campaign": self.campaign.slug, "rows": self.rows, "simulated": self.simulated, "dry_run": self.dry_run}


@transaction.atomic
def admit(source: BinaryIO, name: str, slug: str = "", user: Any = None, dry_run: bool = False) -> Admitted:
    """Make the campaign, under another short name where one is given; dry_run: and take it back. Raises ImportRefused with the
    file and line of what is wrong, and Refused where the short name is taken."""
    with Opened(source, name) as archive:
        admitted = fill(new_campaign(archive, slug, user), archive, user, dry_run=dry_run)
    transaction.set_rollback(dry_run)
    return admitted


def new_campaign(archive: "Opened", slug: str = "", user: Any = None) -> Campaign:
    """An empty one, for `fill`."""
    return create_campaign(slug=slug or archive.manifest["campaign"], title=archive.manifest["title"], user=user)


@transaction.atomic
def fill(
    campaign: Campaign, archive: "Opened", user: Any = None, report: Report = lambda share, said: None, dry_run: bool = False
) -> Admitted:
    """Everything of the archive into the new campaign."""
    try:
        rows = _Filling(campaign, archive).run(report)
    except DatabaseError as error:
        raise archive.wrong("", None, f"holds rows that contradict each other ({str(error).splitlines()[0]})") from None
    images = [archive.image(member) for member in archive.members if member.startswith("images/")]
    if images and not dry_run:
        store_images(campaign, images, user)
    detail = {"file": archive.name[:200], "sha256": archive.manifest_digest, "rows": sum(rows.values()), "kind": "an archive"}
    AuditEvent.objects.create(campaign=campaign, user=user, action="import", detail=detail)
    campaign.refresh_from_db()
    return Admitted(campaign, rows | ({"images": len(images)} if images else {}), campaign.is_simulated, dry_run)


class Opened:
    """An archive whose files are there, and are those of its manifest."""

    def __init__(self, source: BinaryIO, name: str):
        self.source, self.name = source, name

    def __enter__(self) -> "Opened":
        self._zip = archives.opened(self.source, self.name)
        self.zip = self._zip.__enter__()
        try:
            self.members = {info.filename: info for info in self._infos()}
            self.manifest = self._manifest()
            for member in self.members:
                if member != MANIFEST:
                    self._compare(member)
        except BaseException:
            self._zip.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *raised: Any) -> None:
        self._zip.__exit__(*raised)

    def wrong(self, member: str, line: int | None, message: str, field: str = "") -> ImportRefused:
        return ImportRefused([RowError(f"{self.name}/{member}" if member else self.name, line, field, message)])

    def _infos(self) -> list[zipfile.ZipInfo]:
        infos = self.zip.infolist()
        if MANIFEST not in {info.filename for info in infos}:
            raise self.wrong("", None, f"holds no {MANIFEST}, so it is no campaign's archive")
        if len({info.filename for info in infos}) < len(infos):
            raise self.wrong("", None, "holds two files of one name")
        for info in infos:
            if not MEMBER.fullmatch(info.filename):
                raise self.wrong(info.filename, None, "is no file of an archive; nothing was taken from it")
            if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise self.wrong(info.filename, None, "is encrypted or packed in an unusual way; take the file as it was made")
        counted = sum(info.file_size for info in infos if info.filename != MANIFEST)  # as `export` counts
        if counted > archives.MAX_UNPACKED_BYTES:
            limit = f"{archives.MAX_UNPACKED_BYTES // 2**20} MB"
            raise self.wrong("", None, f"is longer than {limit} when unpacked; {archives.RAISED}")
        return infos

    def _manifest(self) -> Json:
        if self.members[MANIFEST].file_size > LARGEST_MANIFEST:
            raise self.wrong(MANIFEST, None, "is too long")
        content = self.read(MANIFEST)
        self.manifest_digest = hashlib.sha256(content).hexdigest()
        try:
            manifest = json.loads(content)
            form, files = manifest["comparena_archive"], manifest["files"]
            texts = manifest["campaign"], manifest["title"], *(files[name]["sha256"] for name in files)
            if not all(isinstance(text, str) for text in texts) or len(manifest["title"]) > 200 or "\x00" in manifest["title"]:
                raise TypeError
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self.wrong(MANIFEST, None, "is not built as an archive's manifest") from None
        if form != FORMAT:
            raise self.wrong(MANIFEST, None, f"is of another format than {FORMAT}; a newer version of the program wrote it")
        if differs := sorted({MANIFEST, *files} ^ self.members.keys()):
            raise self.wrong(differs[0], None, "is in the archive or in its manifest, and not in both")
        needed = [table.file for table in (CAMPAIGN, *TABLES) if not table.is_later]
        if absent := [file for file in needed if file not in self.members]:
            raise self.wrong(absent[0], None, "is missing from the archive")
        return manifest

    def _compare(self, member: str) -> None:
        digest = hashlib.sha256()
        with archives.reading(f"{self.name}/{member}"), self._open(member) as opened:
            while block := opened.read(2**20):
                digest.update(block)
        if digest.hexdigest() != self.manifest["files"][member]["sha256"]:
            raise self.wrong(member, None, "is not what the manifest says; the archive is damaged, or somebody changed it")

    def _open(self, member: str) -> Any:
        return archives.opened_member(self.zip, self.members[member])

    def read(self, member: str) -> bytes:
        with archives.reading(f"{self.name}/{member}"), self._open(member) as opened:
            return opened.read()

    def lines(self, member: str) -> Iterator[tuple[int, bytes]]:
        """Of a table that older archives lack there may be none."""
        if member not in self.members:
            return
        with archives.reading(f"{self.name}/{member}"), self._open(member) as opened:
            number = 0
            while line := opened.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(line) > MAX_LINE_BYTES:
                    raise self.wrong(member, number, f"is longer than {MAX_LINE_BYTES // 2**20} MB")
                yield number, line

    def image(self, member: str) -> io.BytesIO:
        """As an uploaded file."""
        content = self.read(member)
        file = io.BytesIO(content)
        file.name, file.size = member.removeprefix("images/"), len(content)  # type: ignore[attr-defined]
        return file


class _Filling:
    """One way through the tables, in the order in which rows point to each other."""

    def __init__(self, campaign: Campaign, archive: Opened):
        self.campaign, self.archive = campaign, archive
        self.keys: dict[type[Model], list[Any]] = {}
        self.system_of: dict[int, int] = {}  # by an output's key
        self.batch_of_keys = uuid.uuid4().int >> 64

    def run(self, report: Report) -> dict[str, int]:
        self._campaign()
        for done, table in enumerate(TABLES):
            report(done / (len(TABLES) + 1), f"Reading {table.name.replace('_', ' ')}")
            self._table(table)
        self._snapshot_answers()
        recount(self.campaign)
        return {table.name: len(self.keys[table.model]) for table in TABLES if self.keys[table.model]}

    def _campaign(self) -> None:
        lines = list(self.archive.lines(CAMPAIGN.file))
        if len(lines) != 1:
            raise self.archive.wrong(CAMPAIGN.file, None, "holds the campaign in one line, and no other")
        row = self._read(CAMPAIGN, *lines[0])
        for name in ("slug", "title"):
            setattr(row, name, getattr(self.campaign, name))
        self._checked(CAMPAIGN.file, lambda: check_protocol(row))
        self._checked(CAMPAIGN.file, lambda: check_page_text(row.guidelines, "Guidelines"))
        fields = {field.attname: getattr(row, field.attname) for field in CAMPAIGN.fields}
        Campaign.objects.filter(pk=self.campaign.pk).update(**fields)
        self.campaign.refresh_from_db()

    def _table(self, table: Table) -> None:
        self.keys[table.model] = []
        rows: list[Any] = []
        for number, line in self.archive.lines(table.file):
            rows.append(self._read(table, number, line))
            if len(rows) == BATCH or table.model is Tournament:  # one may extend the one before it
                self._store(table, rows)
                rows = []
        self._store(table, rows)
        if table.model is Criterion:
            of_criterion = [
                CriterionSpec(**{name: getattr(c, name) for name in CriterionSpec("").fields()}) for c in self.all(table)
            ]
            self._checked(table.file, lambda: check_criteria(of_criterion))
            by_criterion = self.campaign.pairwise_by_criterion
            self._checked(table.file, lambda: conditions.check_pairs(by_criterion, of_criterion))
        elif table.model is System:
            self._checked(table.file, lambda: costs.check_units(self.all(table)))

    def all(self, table: Table) -> Any:
        return table.model._default_manager.filter(**{table.campaign: self.campaign.pk})

    def _read(self, table: Table, number: int, line: bytes) -> Any:
        given = {f.attname: self.campaign.pk for f in table.model._meta.concrete_fields if f.related_model is Campaign}
        try:
            row: Any = read_row(table, line, self.keys, given)
            self._finish(row, table)
        except BadField as error:
            raise self.archive.wrong(table.file, number, str(error), error.field) from None
        return row

    def _finish(self, row: Any, table: Table) -> None:
        """What the archive does not hold, and what only a look at the whole row shows."""
        if isinstance(row, Item):
            systems = [self.system_of[key] for key in (row.output_id, row.other_id, *row.further) if key]
            row.cell = ":".join(map(str, systems))
        elif isinstance(row, AuditEvent):
            row.action = "import"
        elif isinstance(row, Judge):
            judge_in(row)
        elif isinstance(row, Snapshot):
            row.content = self._content(row)
        elif isinstance(row, Tournament):
            self._finish_board(row)
        elif isinstance(row, DatasheetAnswer):
            _check_written(row)

    def _content(self, row: Snapshot) -> bytes:
        member = f"snapshots/{row.digest}.jsonl"
        if member not in self.archive.members:
            raise BadField("digest", "has no file of this name in the archive")
        content = self.archive.read(member)
        if hashlib.sha256(content).hexdigest() != row.digest:
            raise BadField("digest", "is not that of the snapshot's file")
        row.content = zlib.compress(content, 6)
        try:
            snapshots.read(row)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise BadField("digest", "is that of a file which is no snapshot") from None
        return row.content

    def _finish_board(self, row: Tournament) -> None:
        try:
            row.rules()
            signature.parse(row.signature)
            board = from_json(Board, row.board or {})
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise BadField("board", f"is no board that can be read ({error})"[:300]) from None
        if row.finished_at is None or board.provenance.signature != row.signature:
            raise BadField("signature", "is not the board's own, or the board is not finished")
        row.job_id = self._job(row).pk

    def _job(self, row: Tournament) -> Job:
        """A board has the job that made it."""
        when = {"created_at": row.created_at, "started_at": row.created_at, "finished_at": row.finished_at}
        title = f"Tournament of {row.finished_at:%Y-%m-%d}, from an archive"
        job = Job(task=TASK, title=title, campaign=self.campaign, status=Job.Status.DONE, progress=1.0, **when)
        Insertion([job], as_they_are=True).write()
        return job

    def _store(self, table: Table, rows: list[Any]) -> None:
        if not rows:
            return
        before = len(self.keys[table.model])
        if table.model is Submission:
            keys: list[Any] = [uuid.UUID(int=(self.batch_of_keys << 64) + before + n) for n in range(len(rows))]
        else:
            keys = reserved_keys(table.model, len(rows))
        for row, key in zip(rows, keys, strict=True):
            row.pk = key
            if isinstance(row, Output):
                self.system_of[key] = row.system_id
            elif isinstance(row, Tournament):
                provenance = {"tournament": key, "permalink": row.get_absolute_url(), "campaign": self.campaign.slug}
                row.board = {**(row.board or {}), "provenance": row.board["provenance"] | provenance}  # type: ignore[index]
        Insertion(rows, as_they_are=True).write()
        self.keys[table.model] += keys

    def _snapshot_answers(self) -> None:
        for snapshot in self.campaign.snapshots.defer("content"):
            member = f"snapshots/{snapshot.digest}.answers.jsonl"
            if member not in self.archive.members:
                continue  # one of before has none
            content = self.archive.read(member)
            try:
                for line in filter(None, content.decode().split("\n")):
                    str.casefold(json.loads(line)["kind"])
            except (ValueError, KeyError, TypeError, RecursionError):
                raise self.archive.wrong(member, None, "is no record of answers") from None
            FrozenAnswers.objects.create(snapshot=snapshot, lines=zlib.compress(content, 6))

    def _checked(self, file: str, check: Any) -> None:
        try:
            check()
        except Refused as refused:
            raise self.archive.wrong(file, None, str(refused)) from None


def _check_written(row: DatasheetAnswer) -> None:
    """Of another edition of the datasheet nobody knows what its questions take; its answers are shown as left over."""
    question = BY_NUMBER.get(row.number)
    if not isinstance(row.chosen, list) or len(row.text) > MOST_CHARACTERS or len(row.chosen) > MOST_CHARACTERS:
        raise BadField("text", "is longer than an answer may be")
    try:
        if question:
            check(question, row.chosen, row.text)
    except Refused as refused:
        raise BadField("chosen", str(refused)) from None
    if row.criterion_id and not row.about:
        raise BadField("about", "is missing; it must be given")
