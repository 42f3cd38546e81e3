"""The files of a zipped folder, read one after the other and never unpacked to a disk."""

import gzip
import io
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import IO, BinaryIO

from core.errors import ImportRefused, RowError, quoted

READ = ("jsonl", "ndjson", "json", "csv", "tsv", "xlsx", "parquet", "txt")
PARQUET_GROWS = 20  # times, when unpacked; a guess on the safe side
MOST_FILES = 2000
MAX_UNPACKED_BYTES = int(os.environ.get("MOST_UNPACKED_MB") or 512) * 2**20  # of all files together
RAISED = "an admin can raise it by the setting MOST_UNPACKED_MB"
ZSTANDARD = 93  # APPNOTE.TXT 4.4.5; what Inspect packs its logs with
ZIP, GZIP = b"PK\x03\x04", b"\x1f\x8b"
LOOKED_AT = 4096  # bytes
KINDS = (  # {first bytes: what it is, and what to do}
    (GZIP, "a gzip file; end its name in .gz"),
    (b"\x28\xb5\x2f\xfd", "packed with Zstandard; unpack it first (zstd -d)"),
    (b"BZh", "packed with bzip2; unpack it first"),
    (b"\xfd7zXZ\x00", "packed with xz; unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it, and send a zip archive"),
    (b"Rar!", "a RAR archive; unpack it, and send a zip archive"),
    (b"%PDF", "a PDF; send the table that it was made of"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a file of old Excel (.xls) or Word; save it as .xlsx or CSV"),
    (b"PAR1", "a Parquet file; end its name in .parquet"),
    (b"SQLite format 3\x00", "a database of SQLite; export its table as CSV"),
)
PRINTABLE = (b"BZh", b"Rar!", b"%PDF", b"PAR1")
INSIDE_ZIP = (
    (b"opendocument.spreadsheet", "a sheet of OpenDocument (.ods); save it as .xlsx or CSV"),
    (b"opendocument", "a document of OpenDocument; send a table, as .xlsx or CSV"),
    (b"word/", "a document of Word; send a table, as .xlsx or CSV"),
    (b"xl/", "an Excel file; end its name in .xlsx"),
    (b"docProps/", "a file of Office; end its name in .xlsx if it is of Excel"),
    (b"[Content_Types].xml", "a file of Office; end its name in .xlsx if it is of Excel"),
)
MAY_BE_EXCEL = ("a zip archive", "a file of Office")
HTML = (b"<!doctype html", b"<html", b"<table", b"<head")
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError)


def kind_by_bytes(first: bytes, any_text: bool = False) -> str:
    """What a file is by its first bytes, and what to do with it, where that is no text; else empty. any_text: it may be a text
    that begins with anything that can be printed."""
    kind = next((kind for mark, kind in KINDS if first.startswith(mark) and not (any_text and mark in PRINTABLE)), "")
    if first.startswith(ZIP):
        inside = next((kind for mark, kind in INSIDE_ZIP if mark in first), "")
        return inside or "a zip archive; end its name in .zip"
    start = first.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    is_page = start.startswith(HTML) and not any_text
    return "a web page (HTML), as some programs save .xls; save it as .xlsx or CSV" if is_page else kind


@contextmanager
def opened(file: BinaryIO, name: str) -> Iterator[zipfile.ZipFile]:
    try:
        archive = zipfile.ZipFile(file)
    except DAMAGED:
        file.seek(0)
        first = first_bytes(file)
        kind = "" if first.startswith(ZIP) else kind_by_bytes(first)
        raise _refusal(name, f"is {kind}" if kind else "can't be read as a zip archive") from None
    with archive:
        yield archive


def first_bytes(file: BinaryIO) -> bytes:
    """The file stays where it is; none of one that can't be rewound."""
    if not file.seekable():
        return file.peek(LOOKED_AT)[:LOOKED_AT] if isinstance(file, io.BufferedReader) else b""
    start = file.tell()
    first = file.read(LOOKED_AT)
    file.seek(start)
    return first


def members(archive: zipfile.ZipFile, name: str) -> tuple[list[zipfile.ZipInfo], list[str]]:
    """(the files to read, by name; the names of those that hold no rows), both without what file managers leave there. Raises
    ImportRefused for paths that lead elsewhere, for encryption, and where unpacking would take too much."""
    files = [info for info in archive.infolist() if not info.filename.endswith("/")]  # is_dir() fails where there is no name
    if len(files) > MOST_FILES:
        raise _refusal(name, f"holds {len(files)} files; at most {MOST_FILES} are read")
    if sum(info.file_size for info in files) > MAX_UNPACKED_BYTES:
        raise _refusal(name, f"is longer than {MAX_UNPACKED_BYTES // 2**20} MB when unpacked; send it in parts, or {RAISED}")
    read, left, names = [], [], set()
    for info in sorted(files, key=lambda info: info.filename):
        path = PurePosixPath(info.filename.replace("\\", "/"))
        if not path.parts:
            raise _refusal(name, "holds a file without a name; zip the folder again")
        if path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
            raise _refusal(
                name, f"holds the path {quoted(info.filename)}, which leads out of the folder; zip the folder itself"
            )
        if any(part.startswith((".", "__MACOSX", "~$")) for part in path.parts):  # "~$": a file that Excel has open
            continue
        if path.name.lower().removesuffix(".gz").rpartition(".")[2] not in READ:
            left.append(str(path))
            continue
        if info.flag_bits & 1:
            raise _refusal(f"{name}/{path}", "is encrypted; zip the folder without a password")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, ZSTANDARD):
            raise _refusal(f"{name}/{path}", "is packed in an unusual way; zip the folder again")
        if str(path) in names:
            raise _refusal(f"{name}/{path}", "stands twice in the archive")
        names.add(str(path))
        read.append(info)
    if not read:
        raise _refusal(name, f"holds no file of rows ({', '.join(READ)})")
    return read, left


def is_longer(file: BinaryIO, name: str, most: int) -> bool:
    """Is more than `most` bytes to be read of it, when it and the Excel files in it are unpacked? Little is unpacked to say so,
    and the file is at its beginning again. What is damaged counts as it is: reading it fails at once."""
    file.seek(0, os.SEEK_END)
    size = file.tell()
    file.seek(0)
    try:
        return size > most or _unpacked(file, name, most) > most
    except DAMAGED:
        return False
    finally:
        file.seek(0)


def _unpacked(file: BinaryIO, name: str, most: int) -> int:
    """Bytes, or any number above `most`."""
    if name.lower().endswith(".gz"):
        with gzip.open(file) as inside:
            content = inside.read(most + 1)
        return len(content) if len(content) > most else _unpacked(io.BytesIO(content), name[:-3], most)
    if name.lower().endswith(".parquet"):
        return PARQUET_GROWS * file.seek(0, os.SEEK_END)
    if not name.lower().endswith((".zip", ".xlsx")):
        return 0
    total = 0
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            total += max(info.file_size, info.compress_size)
            if total > most:
                break
            if info.filename.lower().endswith((".xlsx", ".gz", ".parquet")):
                total += _unpacked(io.BytesIO(archive.read(info)), info.filename, most)
    return total


def opened_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    if info.compress_type == ZSTANDARD:
        return _zstandard(archive, info)
    try:
        return archive.open(info)
    except DAMAGED as error:  # the directory may send zipfile anywhere
        raise zipfile.BadZipFile(str(error)) from error


def _zstandard(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    """What Python's zipfile does not unpack before 3.14. pyarrow does, and is installed on its own."""
    try:
        import pyarrow  # only where somebody sends such a file
    except ImportError:
        install = "install pyarrow (pip install 'comparena[parquet]'), or write the log as JSON (inspect log convert --to json)"
        raise _refusal(info.filename, f"is packed with Zstandard; {install}") from None
    file = archive.fp
    assert file is not None, "an open archive"
    file.seek(info.header_offset)
    header = file.read(30)
    file.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), os.SEEK_CUR)
    try:
        packed = pyarrow.BufferReader(file.read(info.compress_size))
        content = pyarrow.CompressedInputStream(packed, "zstd").read(info.file_size + 1)
    except (OSError, ValueError, MemoryError) as error:
        raise zipfile.BadZipFile(str(error)) from error
    if len(content) != info.file_size:
        raise zipfile.BadZipFile(f"{info.filename} has another length than it says")
    return io.BytesIO(content)


@contextmanager
def reading(name: str) -> Iterator[None]:
    """What may go wrong anywhere in a damaged member, as a refusal of it."""
    try:
        yield
    except ImportRefused:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise _refusal(name, "can't be unpacked; the archive is damaged") from error


def _refusal(name: str, message: str) -> ImportRefused:
    return ImportRefused([RowError(name, None, "", message)])
