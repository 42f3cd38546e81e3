"""Archives, workbooks, bodies and names that were made to harm whoever reads them, not damaged by accident."""

import io
import json
import random
import re
import struct
import zipfile

ENTRY, LOCAL = (
    b"PK\x01\x02",
    b"PK\x03\x04",
)  # an entry of the directory, and what stands before a file: APPNOTE.TXT 4.3.7, 4.3.12
OUTSIDE = ["../up.csv", "/etc/up.csv", "C:\\up.csv", "a/../../up.csv", "..\\..\\up.csv", "~/up.csv", "//host/up.csv"]
STRANGE = [
    ".",
    "..",
    "./",
    "",
    " ",
    ".csv",
    "a//b.csv",
    "a/" * 300 + "b.csv",
    "x" * 5000 + ".csv",
    "CON.csv",
    "\u202evsc.exe.csv",
]
NAMES = [
    "a\0.{}",
    "x" * 400 + ".{}",
    "../../etc/a.{}",
    "C:\\a.{}",
    ".{}",
    "a",
    "a.{}.zip",
    "a.xlsx",
    "a.tsv",
    "<b>a</b>.{}",
    "a\n\r.{}",
    "a;b=c.{}",
    "\u202e\N{SQUID}.{}",
]


def archive(files: list[tuple[str, bytes]], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", packing) as packed:
        for name, content in files:
            info = zipfile.ZipInfo("x")
            info.filename, info.compress_type = name, packing  # as it is: ZipInfo would mend it
            packed.writestr(info, content)
    return out.getvalue()


def _set(raw: bytes, mark: bytes, offset: int, form: str, value: int) -> bytes:
    """The same archive with one number changed in every entry, or before every file."""
    changed = bytearray(raw)
    for at in [found.start() for found in re.finditer(re.escape(mark), raw)]:
        if at + offset + struct.calcsize(form) <= len(changed):
            struct.pack_into(form, changed, at + offset, value)
    return bytes(changed)


def hostile_archive(rng: random.Random, files: dict[str, bytes]) -> bytes:
    """The files with something beside them, or all of them with another size, place, flag or kind than they have."""
    whole = list(files.items())
    raw = archive(whole)
    zeros = b"\0" * 5_000_000
    return rng.choice(
        [
            lambda: archive([*whole, (rng.choice(OUTSIDE), b"context,output\nHi,Oh\n")]),
            lambda: archive([*whole, (rng.choice(STRANGE), b"context,output\nHi,Oh\n")]),
            lambda: archive([*whole, ("bomb.csv", zeros)]),
            lambda: archive([("a.csv", b"context,output\n" + b"Hi,Oh\n" * 100_000)] * 2),
            lambda: _set(archive([*whole, ("bomb.jsonl", zeros)]), ENTRY, 24, "<I", 10),  # longer than it says
            lambda: _set(raw, ENTRY, 24, "<I", rng.choice([0, 2**31, 2**32 - 1])),
            lambda: _set(raw, ENTRY, 20, "<I", rng.choice([0, 1, 2**31, 2**32 - 1])),
            lambda: _set(raw, ENTRY, 42, "<I", rng.choice([0, 1, 2**31, 2**32 - 1])),  # all entries are the same bytes, or none
            lambda: _set(_set(raw, ENTRY, 8, "<H", 1), LOCAL, 6, "<H", 1),  # encrypted
            lambda: _set(_set(raw, ENTRY, 8, "<H", 0x841), LOCAL, 6, "<H", 0x841),
            lambda: _set(raw, ENTRY, 10, "<H", rng.choice([1, 9, 12, 14, 93, 99])),  # a packing that is not ours
            lambda: _set(archive([*whole, ("link.csv", b"/etc/passwd")]), ENTRY, 38, "<I", 0o120777 << 16),  # symbolic links
            lambda: archive([(f"{n}.csv", b"") for n in range(2100)], zipfile.ZIP_STORED),
            lambda: archive([("inner.zip", raw), ("inner.csv", raw)]),
            lambda: b"MZ" + b"\0" * 500 + raw,  # as an archive that unpacks itself
            lambda: raw + b"\0" * 70_000,
            lambda: archive(whole, zipfile.ZIP_BZIP2),
        ]
    )()


def hostile_workbook(rng: random.Random, parts: dict[str, bytes]) -> bytes:
    """parts: those of a good workbook. One of them says something that no spreadsheet would."""
    parts, sheet = dict(parts), "xl/worksheets/sheet1.xml"

    def put(old: str, new: str) -> None:
        parts[sheet] = re.sub(old.encode(), new.encode(), parts[sheet], count=1)

    row, column = rng.choice([10**5, 10**7, 10**12]), rng.choice(["XFD", "ZZZ", "ABCDEFG"])
    entities = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))
    rng.choice(
        [
            lambda: put("<dimension [^>]*>", '<dimension ref="A1:XFD1048576"/>'),
            lambda: put("</sheetData>", f'<row r="{row}"><c r="A{row}"><v>1</v></c></row></sheetData>'),
            lambda: put("</sheetData>", "".join(f'<row><c r="{column}9"/></row>' for _ in range(20_000)) + "</sheetData>"),
            lambda: put("</sheetData>", f'<row r="9"><c r="{column}9"><v>1</v></c></row></sheetData>'),
            lambda: put("<v>[^<]*</v>", f"<v>{rng.choice(['-1', '10' * 3000, 'NaN', '1e999', ''])}</v>"),
            lambda: put("<v>[^<]*</v>", '<f>WEBSERVICE("http://localhost/")</f><v>x</v>'),
            lambda: put("<v>[^<]*</v>", "<f>'[1]Other'!A1</f>"),
            lambda: put("<worksheet", f'<!DOCTYPE x [<!ENTITY e0 "{"x" * 100}">{entities}]><worksheet'),
            lambda: put("<worksheet", '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><worksheet'),
            lambda: parts.update({"xl/worksheets/sheet1.xml": b"<a>" * 100_000}),
            lambda: parts.update({"xl/sharedStrings.xml": b'<sst count="99999999999" uniqueCount="-1"/>'}),
            lambda: parts.update({"xl/styles.xml": b"\0" * 3_000_000}),
            lambda: parts.update({"xl/externalLinks/externalLink1.xml": b'<externalLink r:id="rId1"/>', "../../up.xml": b"x"}),
            lambda: parts.update({"xl/vbaProject.bin": b"\xd0\xcf\x11\xe0" * 100}),
        ]
    )()
    return archive(list(parts.items()))


def hostile_json(rng: random.Random, raw: bytes) -> bytes:
    """One text of it replaced by what is JSON, or nearly, and hard to read, to hold or to write again."""
    value = rng.choice(
        [
            lambda: b"[" * 10 ** rng.randint(1, 5),
            lambda: b"[" * (n := 10 ** rng.randint(1, 5)) + b"]" * n,
            lambda: b'{"a":' * (n := 10 ** rng.randint(1, 4)) + b"1" + b"}" * n,
            lambda: b"9" * 10 ** rng.randint(3, 5),
            lambda: b"1e" + b"9" * rng.randint(2, 50),
            lambda: rng.choice([b"NaN", b"-Infinity", b"01", b"0x1", b"1_000", b"'Hi'", b"undefined"]),
            lambda: json.dumps(rng.choice(["\ud800", "\udfff\ud800", "\0", "\u202e", "\ufeff", "\x7f", "\u2028"])).encode(),
            lambda: b'"' + rng.choice([b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\x01", b"\r"]) + b'"',
            lambda: b'{"__proto__": 1, "__class__": {}, "$where": 1, "id": null, "pk": 1}',
            lambda: b'"' + b"x" * 300_000 + b'"',
            lambda: b'{"a": 1, "a": 2}',
        ]
    )()
    texts = list(re.finditer(rb'"(?:[^"\\]|\\.)*"', raw))
    if not texts:
        return value
    at = rng.choice(texts)
    return raw[: at.start()] + value + raw[at.end() :]


def hostile_table(rng: random.Random, raw: bytes) -> bytes:
    """One cell of it replaced, or all line ends, or the header."""
    cell = rng.choice(
        [
            b'=HYPERLINK("http://localhost/")',
            b"@SUM(1)",
            b"'=1",
            b'"',
            b'""x""',
            b"[" * 5000,
            b"\0",
            b"\r",
            b"\xff",
            b"\xef\xbb\xbf",
            b"x" * 300_000,
            b"9" * 5000,
            b"1e999",
            b"[1, 2",
            b'{"a": 1}',
            b"['a' 'b' 3]",
            b"\xe2\x80\xa8",
        ]
    )
    way = rng.random()
    if way < 0.1:
        return raw.replace(b"\r\n", rng.choice([b"\r", b"\n\r", b"\x0b", b"\xc2\x85", b"\xe2\x80\xa8"]))
    if way < 0.2:
        return raw.split(b"\r\n")[0] * rng.randint(2, 2000) + b"\r\n" + raw
    cells = list(re.finditer(rb"[^,;\t\r\n]+", raw))
    at = rng.choice(cells) if cells else re.match(b"", raw)
    assert at is not None
    return raw[: at.start()] + cell + raw[at.end() :]


def odd_name(rng: random.Random, name: str) -> str:
    return rng.choice(NAMES).format(name.rpartition(".")[2])
