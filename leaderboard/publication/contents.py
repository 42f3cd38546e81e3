"""All files of a snapshot in the shapes that the field reads, and the one zip of them: by page, command, API and push."""

import io
import json
import zipfile
from collections.abc import Iterable, Iterator

from annotation import snapshots
from annotation.assessment import snapshot_contents
from annotation.data.export import PREFERENCES, answer_files
from annotation.models import Campaign, Snapshot
from core.archives import MAX_UNPACKED_BYTES, RAISED
from core.errors import Refused
from leaderboard.boards import exports
from leaderboard.publication import card, citation, eval_results, every_eval_ever, heds, inspect_ratings, kind_files
from leaderboard.publication.published import Published, published, slug

WRITTEN = (1980, 1, 1, 0, 0, 0)  # the same time in every zip, so that the same content is the same file


def snapshot_named(campaign: Campaign, digest: str = "") -> Snapshot:
    """By the beginning of its hash; without one, the snapshot that was accepted last. Raises Refused."""
    found = campaign.snapshots.filter(digest__startswith=digest).first()
    if found is None:
        named = f" that begins with {digest!r}" if digest else "; assess its quality first"
        raise Refused(f"Campaign {campaign.slug!r} has no snapshot{named}.")
    return found


def contents(snapshot: Snapshot, dataset: str = "") -> dict[str, bytes]:
    """{path: content}. dataset: OWNER/NAME on the Hub, where it lies. Raises Refused for more than a zip may hold."""
    of = published(snapshot)
    found: dict[str, bytes] = {"snapshot.jsonl": snapshots.lines(snapshot)}
    for name, content in _parts(of, dataset):
        found[name] = content
        if sum(map(len, found.values())) > MAX_UNPACKED_BYTES:
            raise Refused(
                f"These files are longer than {MAX_UNPACKED_BYTES // 2**20} MB; {RAISED}. The snapshot's own file has the "
                "answers."
            )
    return {"README.md": card.card(of, found), **found}


def _parts(of: Published, dataset: str) -> Iterator[tuple[str, bytes]]:
    yield from _answers(of.snapshot)
    for number, board in enumerate(of.boards, start=1):
        tree = exports.as_json(board)
        name = f"boards/{number}-{slug(board.question.criterion or 'pairs')}"
        yield f"{name}.json", (json.dumps(tree, ensure_ascii=False, indent=1) + "\n").encode()
        yield f"{name}.csv", exports.as_csv(board).encode()
    yield from inspect_ratings.files(of).items()
    yield from kind_files.files(of).items()
    yield from ((f"every_eval_ever/{name}", content) for name, content in every_eval_ever.files(of).items())
    yield from eval_results.files(of, dataset).items()
    yield from heds.files(of.campaign, of.snapshot).items()
    yield from citation.files(of).items()


def _answers(snapshot: Snapshot) -> Iterator[tuple[str, bytes]]:
    """None of a snapshot that is too old to have a record of dropped answers."""
    try:
        for what in answer_files():
            if lines := b"".join(line + b"\n" for line in snapshot_contents.row_lines(snapshot, what)):
                yield f"{what}.jsonl", lines
        pairs = list(snapshot_contents.preferences(snapshot))
        for name, rows in ((PREFERENCES, pairs), ("unpaired", snapshot_contents.unpaired(pairs))):
            if lines := _lines(rows):
                yield f"{name}.jsonl", lines
    except Refused:
        return


def _lines(rows: Iterable[dict]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def as_zip(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name, WRITTEN)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(info, content)
    return out.getvalue()
