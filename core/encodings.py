"""The lines of a text file, whatever it is packed in or encoded as: gzip by its name, UTF-16 by its mark, else UTF-8 or the
encoding that a person names."""

import gzip
import io
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from core.archives import MAX_UNPACKED_BYTES, RAISED
from core.rows import MAX_DOCUMENT_BYTES, MAX_LINE_BYTES, Fail, refusal

ENCODINGS = ("utf-8", "windows-1252", "iso-8859-15", "utf-16", "shift-jis", "gb18030", "windows-1251")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def plain_name(name: str) -> str:
    """A file's name without the ending of its packing: rows.jsonl of rows.jsonl.gz."""
    return name[:-3] if name.lower().endswith(".gz") else name


class _Unpacked(io.RawIOBase):
    """A gzip file's content, up to what is unpacked of any archive."""

    def __init__(self, packed: BinaryIO, name: str):
        self.name, self.left = name, MAX_UNPACKED_BYTES
        self.content = gzip.GzipFile(fileobj=packed)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            count = self.content.readinto(buffer)
        except (OSError, EOFError, zlib.error):
            raise refusal(self.name, None, "can't be unpacked; the gzip file is damaged") from None
        self.left -= count
        if self.left < 0:
            too_long = f"is longer than {MAX_UNPACKED_BYTES // 2**20} MB when unpacked; send it in parts, or {RAISED}"
            raise refusal(self.name, None, too_long)
        return count


def unpacked(file: BinaryIO, name: str) -> BinaryIO:
    """The file itself, or the content of a gzip file, which can't be rewound."""
    return io.BufferedReader(_Unpacked(file, name)) if plain_name(name) != name else file


def decoded_lines(file: BinaryIO, name: str, fail: Fail | None, encoding: str = "") -> Iterator[tuple[int, str]]:
    """(number, line). fail: takes lines that can't be decoded, where the others can be read without them. encoding: one of
    ENCODINGS; empty: what the file's mark says, else UTF-8."""
    first = file.readline(MAX_LINE_BYTES + 1)
    if encoding == "utf-16" or (not encoding and first.startswith(UTF_16_MARKS)):
        yield from _utf_16_lines(first, file, name)
        return
    if b"\r" in first and not first.endswith(b"\n"):  # Excel's "CSV (Macintosh)" ends its lines so
        content = first + file.read(MAX_DOCUMENT_BYTES + 1 - len(first))
        file = io.BytesIO(content.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))
        first = file.readline(MAX_LINE_BYTES + 1)
    encoding, number, raw = encoding or "utf-8", 0, first
    while raw:
        number += 1
        if number == 1 and raw.lstrip(BYTE_ORDER_MARK + b" \t").startswith(b"["):  # a whole array may stand on one line
            raw += file.readline(MAX_DOCUMENT_BYTES) if not raw.endswith(b"\n") else b""
            if len(raw) > MAX_DOCUMENT_BYTES:
                raise refusal(name, None, f"is longer than {MAX_DOCUMENT_BYTES // 2**20} MB; write it as JSON lines")
        elif len(raw) > MAX_LINE_BYTES:
            raise refusal(name, number, f"is longer than {MAX_LINE_BYTES // 2**20} MB; a row must be shorter")
        if number == 1 and raw.startswith(BYTE_ORDER_MARK):
            raw = raw[len(BYTE_ORDER_MARK) :]
        try:
            yield number, raw.decode(encoding)
        except UnicodeDecodeError as error:
            if fail is None:
                raise refusal(name, number, _in_dispute(error, encoding)) from None
            fail(number, _in_dispute(error, encoding))
        raw = file.readline(MAX_LINE_BYTES + 1)


def _in_dispute(error: UnicodeDecodeError, encoding: str) -> str:
    """What is wrong, with the letters as another encoding has them, so that a person can tell which one it is."""
    where = f"(byte 0x{error.object[error.start]:02X} at position {error.start + 1})"
    if encoding != "utf-8":
        return f"is not {encoding} {where}"
    around = error.object[max(0, error.start - 12) : error.start + 13].decode("windows-1252", errors="replace").strip()
    return f"is not UTF-8 {where}; as windows-1252 it reads “{around}”: name the encoding, or save the file as UTF-8"


def _utf_16_lines(first: bytes, file: BinaryIO, name: str) -> Iterator[tuple[int, str]]:
    content = first + file.read(MAX_DOCUMENT_BYTES + 1 - len(first))
    if len(content) > MAX_DOCUMENT_BYTES:
        raise refusal(name, None, f"is longer than {MAX_DOCUMENT_BYTES // 2**20} MB; save it as UTF-8")
    try:
        text = content.decode("utf-16")
    except UnicodeDecodeError as error:
        raise refusal(name, None, f"is not UTF-16 (at byte {error.start + 1}); save the file as UTF-8") from None
    yield from enumerate(io.StringIO(text, newline=""), start=1)
