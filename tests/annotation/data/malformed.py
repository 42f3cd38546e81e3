"""Files of every shape that an import reads, and any number of damaged ones of each, the same for the same number."""

import copy
import csv
import io
import json
import os
import random
import zipfile
from collections.abc import Callable

import openpyxl
from openpyxl.utils.exceptions import IllegalCharacterError

from tests.annotation.data.hostile_files import hostile_archive, hostile_json, hostile_table, hostile_workbook
from tests.annotation.data.test_peoples_files import excel, table

FUZZ_CASES = int(os.environ.get("FUZZ_CASES", 0))  # files of each shape at each door, in a long run
CHAT = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}]
OUTPUTS = [
    {"context_id": f"n{n}", "context": CHAT, "system": system, "output": f"{system} {n}", "references": ["Well"], "sample": 0}
    | {"metadata": {"topic": "Hi", "length": 1.5}}
    for n in range(3)
    for system in ("ape", "bee")
]
PAIR = {"prompt": "Hi", "model_a": "ape", "text1": "Oh", "model_b": "bee", "text2": "Bz"}
TASKS = [
    {
        "id": n,
        "data": PAIR | {"prompt": f"Hi {n}"},
        "annotations": [
            {
                "completed_by": n,
                "was_cancelled": False,
                "result": [{"from_name": "pw", "type": "pairwise", "value": {"selected": "left"}}],
            }
        ],
    }
    for n in range(3)
]
ITEMS = [{"id": f"i{n}", "prompt": f"Hi {n}", "responses": ["Oh", "Bz"], "models": ["ape", "bee"]} for n in range(3)]
STATE = {"user_id": "ann", "instance_id_to_label_to_value": {f"i{n}": {"better": {"selection": "A"}} for n in range(3)}}
ARENA = [["prompt", "model_a", "model_b", "response_a", "response_b", "judge", "winner"]]
ARENA += [[f"Hi {n}", "ape", "bee", "Oh", "Bz", "Human", "A"] for n in range(3)]
HEADER = ["context_id", "context", "system", "output"]
CELLS = [HEADER, *([f"n{n}", "Hi; you", "ape", f"Oh {n}"] for n in range(4))]
PRINTED = "[{'content': 'Hi %d', 'role': 'user'}\n {'content': 'Yes?', 'role': 'assistant'}]"
PRINTED_CELLS = [["", "messages", "model", "response"], *([n, PRINTED % n, "ape", f"Oh {n}"] for n in range(3))]


SCORES = [
    {"context_id": f"c{n}", "system": system, "aspect": "Overall", "annotator": "ann", "score": 1 + n, "scale": [1, 5]}
    for n in range(2)
    for system in ("Hydra-system", "Kraken-system")
]
SCORED = [list(SCORES[0]), *([*list(row.values())[:-1], "1-5"] for row in SCORES)]
JUDGED = [
    {"context": f"Hi; {n}", "system_a": "ape", "output_a": f"Oh {n}", "system_b": "bee", "output_b": "Bz", "annotator": "ann"}
    | {"choice": "tie", "reason": "Hi"}
    for n in range(3)
]
JUDGED_CELLS = [list(JUDGED[0]), *(list(row.values()) for row in JUDGED)]
WIDE = [["prompt", "response"], ["Hi", "Um"], ["Bye", "Uh"]]
BESIDE = [["prompt", "ape", "bee"], ["Hi", "Um", "Oh"], ["Bye", "Uh", "Ah"]]


def columns_of(rows: list[dict]) -> dict:
    return {name: [row[name] for row in rows] for name in rows[0]}


def json_lines(rows: list) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def archive(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return out.getvalue()


def folder() -> dict[str, bytes]:
    wide = table([["question", "answer"], ["Hi", "Oh"]]).encode()
    return {"out/ape.csv": wide, "out/bee.jsonl": json_lines(OUTPUTS[1:2]), "out/emu.xlsx": excel(WIDE)}


# {shape: (kind of rows, name of the file, its document where it is JSON, the file made of that)}
SHAPES: dict[str, tuple[str, str, object, Callable[[object], bytes]]] = {
    "chat messages, JSON lines": ("outputs", "a.jsonl", OUTPUTS, json_lines),
    "JSON array": ("outputs", "a.json", OUTPUTS, lambda rows: json.dumps(rows).encode()),
    "JSON array on many lines": ("outputs", "a.json", OUTPUTS, lambda rows: json.dumps(rows, indent=1).encode()),
    "semicolon CSV": ("outputs", "a.csv", CELLS, lambda rows: table(rows, ";").encode()),
    "Excel": ("outputs", "a.xlsx", CELLS, excel),
    "zipped folder": ("outputs", "a.zip", None, lambda _: archive(folder())),
    "datasets to_dict": ("outputs", "a.json", columns_of(OUTPUTS), lambda columns: json.dumps(columns).encode()),
    "datasets to_csv": ("outputs", "a.csv", PRINTED_CELLS, lambda rows: table(rows).encode()),
    "Label Studio": ("judgments", "a.json", TASKS, lambda tasks: json.dumps(tasks).encode()),
    "Potato": ("judgments", "a.zip", STATE, lambda state: potato(state)),
    "AutoArena": ("judgments", "a.csv", ARENA, lambda rows: table(rows).encode()),
    "tabs": ("outputs", "a.tsv", CELLS, lambda rows: table(rows, "\t").encode()),
    "one column for each system": ("outputs", "a.csv", BESIDE, lambda rows: table(rows).encode()),
    "one file for each system": ("outputs", "ape.csv", WIDE, lambda rows: table(rows).encode()),
    "scores, JSON lines": ("scores", "a.jsonl", SCORES, json_lines),
    "scores, semicolon CSV": ("scores", "a.csv", SCORED, lambda rows: table(rows, ";").encode()),
    "scores, Excel": ("scores", "a.xlsx", SCORED, excel),
    "judgments, JSON lines": ("judgments", "a.jsonl", JUDGED, json_lines),
    "judgments, tabs": ("judgments", "a.tsv", JUDGED_CELLS, lambda rows: table(rows, "\t").encode()),
    "judgments, Excel": ("judgments", "a.xlsx", JUDGED_CELLS, excel),
}
# What is said beside the file: to the importer and the API, and in the page's fields.
BESIDE_THE_FILE: dict[str, dict] = {
    "one column for each system": {"systems": ["ape", "bee"]},
    "one file for each system": {"system": "ape"},
}
PAGE_FIELDS = {"systems": "system_columns", "system": "one_system"}


def potato(state: object) -> bytes:
    return archive({"data/items.jsonl": json_lines(ITEMS), "annotation_output/ann/user_state.json": json.dumps(state).encode()})


def deep(levels: int) -> list:
    value: list = []
    for _ in range(levels):
        value = [value]
    return value


ODD = [
    None,
    True,
    3,
    -1.5,
    1e400,
    10**400,
    "",
    " ",
    "a\0b",
    "a\ud800",
    "x" * 10_000,
    [],
    {},
    [[]],
    [{}],
    {"a": {}},
    "left",
    "=1+1",
]
PIECES = [
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b";",
    b"\t",
    b"\n",
    b"\0",
    b"\xff",
    b"null",
    b"NaN",
    b"-1",
    b"\\ud800",
    b"PK",
    b"",
]


def malformed(shape: str, number: int) -> bytes:
    """The same for the same number."""
    _, name, document, made = SHAPES[shape]
    return malformed_file(f"{shape} {number}", name, document, made)


def malformed_file(seed: str, name: str, document: object, made: Callable[[object], bytes]) -> bytes:
    rng, ending = random.Random(seed), name.rpartition(".")[2]
    ways: list[Callable[[random.Random], bytes]] = [
        lambda rng: damaged(rng, made(document)),
        lambda rng: recoded(rng, made(document)),
    ]
    if document is not None:
        ways += [lambda rng: made(with_odd_values(rng, document))] * 3
    if ending in ("json", "jsonl"):
        ways.append(lambda rng: with_repeated_key(rng, made(document)))
        ways += [lambda rng: hostile_json(rng, made(document))] * 2
    elif ending in ("csv", "tsv"):
        ways += [lambda rng: hostile_table(rng, made(document))] * 2
    elif ending == "zip":
        ways += [broken_archive] * 2 + [lambda rng: hostile_archive(rng, folder())] * 3
    elif ending == "xlsx":
        ways += [broken_workbook] * 2 + [lambda rng: hostile_workbook(rng, parts_of(made(document)))] * 3
    for _ in range(20):  # some odd values can't be written in this shape at all: Excel has no NUL
        try:
            return rng.choice(ways)(rng)
        except (ValueError, TypeError, OverflowError, csv.Error, IllegalCharacterError):
            continue
    return b""


def parts_of(workbook: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(workbook)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def damaged(rng: random.Random, raw: bytes) -> bytes:
    """Cut, or with one to four pieces replaced, cut out or put in."""
    if rng.random() < 0.2:
        return raw[: rng.randrange(len(raw))]
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(raw) + 1)
        raw = raw[:start] + rng.choice(PIECES) + raw[start + rng.choice([0, 0, 1, 1, 5, 40]) :]
    return raw


def recoded(rng: random.Random, raw: bytes) -> bytes:
    return rng.choice(
        [
            lambda: raw.decode("latin-1").replace("Hi", "Hé").encode("latin-1"),
            lambda: raw.decode("latin-1").encode("utf-16"),
            lambda: raw.decode("latin-1").encode("utf-32"),
            lambda: b"\xef\xbb\xbf" * 2 + raw,
            lambda: raw + raw,
            lambda: b"\x1f\x8b" + raw,
        ]
    )()


def with_odd_values(rng: random.Random, document: object) -> object:
    """One to three values or keys anywhere in it replaced by what belongs elsewhere, or gone."""
    document = copy.deepcopy(document)
    for _ in range(rng.randint(1, 3)):
        places = list(_places(document))
        if not places:
            break
        holder, key = rng.choice(places)
        way = rng.random()
        if way < 0.2:
            del holder[key]
        elif way < 0.3 and isinstance(holder, dict):
            holder[rng.choice(["", " ", "a\0", "context", "metadata", str(key) * 2])] = holder.pop(key)
        elif way < 0.4:
            holder[key] = deep(rng.choice([10, 60, 300]))
        elif way < 0.5:
            other, name = rng.choice(places)
            holder[key] = copy.deepcopy(other[name])
        else:
            holder[key] = copy.deepcopy(rng.choice(ODD))  # the next change may be inside of it
    return document


def _places(value: object, levels: int = 20):
    """(list or object, index or key) of every value in it, down to this level, so that no change makes it deeper than Python
    can copy."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
    for key, inner in entries:
        yield value, key
        if levels:
            yield from _places(inner, levels - 1)


def with_repeated_key(rng: random.Random, raw: bytes) -> bytes:
    at = [n for n in range(len(raw)) if raw[n : n + 1] == b"{"]
    start = rng.choice(at) + 1
    key = raw[start : raw.index(b":", start)] if b":" in raw[start:] else b'"x"'
    return raw[:start] + key + b": 1, " + raw[start:]


def broken_archive(rng: random.Random) -> bytes:
    files = folder()
    name = rng.choice(list(files))
    content = files.pop(name)
    path = rng.choice(
        ["../up.csv", "/etc/up.csv", "C:\\up.csv", "a/../../up.csv", ".hidden.csv", "note.txt", "x" * 300 + ".csv", name]
    )
    files[path] = rng.choice([content, damaged(rng, content), b"", archive(files), b"\0" * 100_000])
    raw = bytearray(archive(files))
    for mark, offsets in ((b"PK\x01\x02", (8, 10, 16, 20, 24, 28, 42)), (b"PK\x03\x04", (6, 8, 26))):
        if rng.random() < 0.4:  # flags, method, checksum, sizes, name's length, offset: APPNOTE.TXT 4.3.7 and 4.3.12
            at = raw.find(mark, rng.randrange(len(raw))) % len(raw) + rng.choice(offsets)
            raw[at % len(raw)] = rng.choice([0, 1, 8, 12, 14, 255])
    return damaged(rng, bytes(raw)) if rng.random() < 0.2 else bytes(raw)


def broken_workbook(rng: random.Random) -> bytes:
    book, out = openpyxl.Workbook(), io.BytesIO()
    way = rng.choice(["formula", "chart", "part", "part", "xml"])
    if way == "chart":
        book.create_chartsheet()
        book.remove(book.active)
    else:
        for row in CELLS:
            book.active.append(row)
        if way == "formula":
            book.active.cell(rng.randint(1, 4), rng.randint(1, 4)).value = rng.choice(["=1+1", "=A1", "=NOPE()", "=1/0"])
    book.save(out)
    with zipfile.ZipFile(out) as packed:
        parts = {name: packed.read(name) for name in packed.namelist()}
    part = rng.choice(list(parts))
    if way == "part":
        del parts[part]
    elif way == "xml":
        parts[part] = damaged(rng, parts[part])
    return archive(parts)
