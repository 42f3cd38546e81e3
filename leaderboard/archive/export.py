"""A whole campaign as one zip, the same bytes for the same campaign: what `admission` makes a campaign of again."""

import hashlib
import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

from django.db.models import DateTimeField, QuerySet

from annotation import snapshots
from annotation.campaigns.images import folder_of, image_names
from annotation.models import Campaign, FrozenAnswers, Snapshot
from core.archives import MAX_UNPACKED_BYTES, RAISED
from core.errors import Refused
from core.version import code_version
from leaderboard.archive.tables import CAMPAIGN, LEFT, TABLES, Json, Numbers, Table, board_out, judge_out
from leaderboard.boards import exports, queries
from leaderboard.models import Tournament

FORMAT = 1
MANIFEST = "manifest.json"
ABOUT = (
    "A whole campaign of Comparena: its texts, people's answers, judges' scores, snapshots and boards. manage.py "
    "import_campaign, the page New campaign and POST /api/archives/ make the same campaign of it."
)
Report = Callable[[float, str], None]


def write_archive(campaign: Campaign, out: IO[bytes], report: Report = lambda share, said: None) -> Json:
    """Write the zip; returns its manifest. People may go on: what comes while it is written, and rests on what came meanwhile,
    is left for the next one and counted. Raises Refused where the zip would be too large to be read again, or a snapshot is
    damaged."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        packed = _Packed(archive)
        numbers: dict[type, dict[Any, int]] = {}
        later: Counter[str] = Counter()
        packed.add(CAMPAIGN.file, _lines([_row(CAMPAIGN, campaign, numbers)]))
        for done, table in enumerate(TABLES):
            report(done / (len(TABLES) + 1), f"Writing {table.name.replace('_', ' ')}")
            numbers[table.model] = {}
            packed.add(table.file, _lines(_rows(table, campaign, numbers, later)))
        report(len(TABLES) / (len(TABLES) + 1), "Writing snapshots and images")
        for name, content in _blobs(campaign, numbers):
            packed.add(name, [content])
        manifest = _manifest(campaign, numbers, packed.files) | ({"came_meanwhile": dict(later)} if later else {})
        _write(archive, MANIFEST, [json.dumps(manifest, ensure_ascii=False, sort_keys=True, indent=1).encode()])
    return manifest


def _rows(table: Table, campaign: Campaign, numbers: dict[type, dict[Any, int]], later: Counter[str]) -> Iterator[Json]:
    own = numbers[table.model]
    for row in table.rows(campaign):
        own[row.pk] = len(own) + 1
        try:
            yield _row(table, row, numbers)
        except KeyError:
            del own[row.pk]
            later[table.name] += 1


def _row(table: Table, row: Any, numbers: Numbers) -> Json:
    """Of the fields that name other rows, the places of these."""
    cells: Json = {}
    for field in table.fields:
        value = getattr(row, field.attname)
        if field.related_model:
            value = value and numbers[field.related_model][value]
        elif isinstance(field, DateTimeField):
            value = value and value.isoformat()
        elif field.name in table.outward:
            value = table.outward[field.name](value, numbers)
        cells[field.name] = value
    if table.name == "tournaments":
        cells["board"] = board_out(row, numbers)
    return judge_out(cells) if table.name == "judges" else cells


def _lines(rows: Iterable[Json]) -> Iterator[bytes]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=False, sort_keys=True).encode() + b"\n"  # PostgreSQL keeps no order of keys


def _blobs(campaign: Campaign, numbers: Numbers) -> Iterator[tuple[str, bytes]]:
    """Snapshots under their hashes, the answers that each was made from, and pictures."""
    for snapshot in _snapshots(numbers).iterator(chunk_size=1):
        try:
            yield f"snapshots/{snapshot.digest}.jsonl", snapshots.lines(snapshot)
        except ValueError as error:
            raise Refused(f"{str(error).capitalize()}.") from None
        for frozen in FrozenAnswers.objects.filter(snapshot=snapshot):
            yield f"snapshots/{snapshot.digest}.answers.jsonl", zlib.decompress(bytes(frozen.lines))
    for name in image_names(campaign):
        yield f"images/{name}", (folder_of(campaign) / name).read_bytes()


def _snapshots(numbers: Numbers) -> QuerySet[Snapshot]:
    return Snapshot.objects.filter(pk__in=numbers[Snapshot]).order_by("pk")


def _manifest(campaign: Campaign, numbers: Numbers, files: Json) -> Json:
    boards = [
        queries.board(t, today=False) for t in queries.finished(campaign).filter(pk__in=numbers[Tournament]).order_by("pk")
    ]
    return {
        "comparena_archive": FORMAT,
        "about": ABOUT,
        "campaign": campaign.slug,
        "title": campaign.title,
        "simulated": campaign.is_simulated,
        "code": code_version(),
        "snapshots": [
            {"sha256": s.digest, "rule": s.rule, "simulated": s.is_simulated} for s in _snapshots(numbers).defer("content")
        ],
        "boards": [{"signature": b.provenance.signature, "warnings": exports.warnings(b)} for b in boards],
        "not_carried": LEFT,
        "files": files,
    }


class _Packed:
    """The files so far: {name: {sha256, bytes}}."""

    def __init__(self, archive: zipfile.ZipFile):
        self.archive, self.files, self.total = archive, dict[str, Any](), 0

    def add(self, name: str, parts: Iterable[bytes]) -> None:
        digest, size = hashlib.sha256(), 0

        def counted() -> Iterator[bytes]:
            nonlocal size
            for part in parts:
                digest.update(part)
                size += len(part)
                if self.total + size > MAX_UNPACKED_BYTES:
                    raise Refused(
                        f"This campaign is longer than {MAX_UNPACKED_BYTES // 2**20} MB, more than an archive may hold; "
                        f"{RAISED}, here and where it is read. A backup (manage.py backup) takes all of the installation."
                    )
                yield part

        _write(self.archive, name, counted())
        self.total += size
        self.files[name] = {"sha256": digest.hexdigest(), "bytes": size}


def _write(archive: zipfile.ZipFile, name: str, parts: Iterable[bytes]) -> None:
    """With a fixed time, so that the same content is the same zip."""
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    with archive.open(info, "w") as member:
        for part in parts:
            member.write(part)
