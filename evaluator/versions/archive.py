"""A comparator as one file to take along: a zip of safetensors and JSON, never unpickled, checked before it is let in."""

import errno
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from core.errors import Refused, quoted
from evaluator.comparator.settings import check_seed
from evaluator.models import ComparatorVersion
from evaluator.versions.card_shape import first_wrong

CARD = "card.json"  # what the registry knew of it where it was trained
MAX_BYTES = 8 * 2**30
MAX_JSON_BYTES = 64 * 2**20
LONGEST_NAME = 200  # of a file in it, which file systems can hold
MOST_PACKED = 50  # times a file may grow: weights hardly pack at all, vocabularies five to ten times, zeros a thousand times
MOST_LAYERS, LARGEST_SIZE = 1000, 10_000_000  # of an encoder; the largest vocabularies have some 300,000 entries
ALLOWED = re.compile(
    r"comparator\.json|card\.json|(matcher|references|wholeness)\.safetensors|member-\d{1,3}\.json"
    r"|member-\d{1,3}\.safetensors|encoder/[\w.-]+\.(json|jinja|txt|model|safetensors)"
)
TOLD = ("name", "criterion", "seed", "code", "snapshots", "settings", "metrics", "is_simulated", "warning")
MEASURED = ("pairs", "contexts", "seconds")  # of every training, whatever it had to learn from


@dataclass(frozen=True)
class Card:
    """card.json, as far as it can be believed: what it says is shown as said elsewhere."""

    name: str
    criterion: str
    seed: int
    code: str
    snapshots: list
    settings: dict
    metrics: dict
    is_simulated: bool
    warning: str


def pack(version: ComparatorVersion, folder: Path, metrics: dict) -> IO[bytes]:
    """An open temporary file with the zip; metrics as whoever takes it along may see them (`shown.figures`). Raises Refused
    where the files are gone."""
    if not (folder / "comparator.json").is_file():
        raise Refused(f"The files of {version.name} are not on this machine.")
    out = TemporaryFile()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:  # weights do not compress
        card = {field: getattr(version, field) for field in TOLD} | {"metrics": metrics}
        archive.writestr(CARD, json.dumps(card, ensure_ascii=False, indent=1))
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).as_posix()
            if path.is_file() and ALLOWED.fullmatch(name) and name != CARD:
                archive.write(path, name)
    out.seek(0)
    return out


def unpack(file: Path, folder: Path, tick: Callable[[float], None] = lambda done: None) -> Card:
    """Write the zip's files under `folder` and return its card. Raises Refused, in one sentence, for anything that is
    not a comparator's file; nothing is executed, and no file leaves the folder."""
    try:
        with zipfile.ZipFile(file) as archive:
            entries = [entry for entry in archive.infolist() if not entry.filename.endswith("/")]
            _check(entries)
            card = _card(archive)
            for done, entry in enumerate(entries, start=1):
                target = folder / entry.filename
                target.parent.mkdir(parents=True, exist_ok=True)
                _write(archive, entry, target)
                tick(done / len(entries))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RecursionError, RuntimeError) as error:
        raise Refused(f"This is not a readable zip file ({_why(error)}).") from None
    except OSError as error:  # the directory may send zipfile anywhere; a full disk is no fault of the file
        if error.errno != errno.EINVAL:
            raise
        raise Refused("This is not a readable zip file (its directory points outside of it).") from None
    _check_no_code(folder)
    return card


def _why(error: Exception) -> str:
    if isinstance(error, NotImplementedError):
        return "it is packed in an unusual way"
    return "it is encrypted" if type(error) is RuntimeError else "it is damaged"  # zipfile has no other use for RuntimeError


def _check(entries: list[zipfile.ZipInfo]) -> None:
    names = [entry.filename for entry in entries]
    for needed in ("comparator.json", CARD, "member-0.safetensors"):
        if needed not in names:
            raise Refused(f"This zip holds no {needed}, so it is no comparator.")
    if len(set(names)) < len(names):
        raise Refused("This zip holds two files of one name.")
    for entry in entries:
        if not ALLOWED.fullmatch(entry.filename) or len(entry.filename) > LONGEST_NAME:
            raise Refused(f"A comparator has no file {quoted(entry.filename)}; nothing was taken from this zip.")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # bz2 and lzma fail in ways of their own
            raise Refused(f"{entry.filename} is packed in an unusual way; zip the files again.")
        if entry.file_size > 2**20 + MOST_PACKED * entry.compress_size:
            raise Refused(f"{entry.filename} grows more than {MOST_PACKED} times as it is unpacked; no comparator does.")
        if entry.filename.endswith(".json") and entry.file_size > MAX_JSON_BYTES:
            raise Refused(f"{entry.filename} is larger than {MAX_JSON_BYTES // 2**20} MB.")
    if sum(entry.file_size for entry in entries) > MAX_BYTES:
        raise Refused(f"Unpacked, this zip is larger than {MAX_BYTES // 2**30} GB.")


def _write(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path) -> None:
    """No more bytes than the entry promised, whatever it unpacks to."""
    left = entry.file_size
    with archive.open(entry) as source, target.open("xb") as out:
        while block := source.read(2**20):
            left -= len(block)
            if left < 0:
                raise Refused(f"{entry.filename} is longer than the zip says.")
            out.write(block)


def _card(archive: zipfile.ZipFile) -> Card:
    try:
        fields = json.loads(archive.read(CARD), parse_constant=_no_number)
        if not isinstance(fields, dict):
            raise Refused(f"{CARD} lacks what a comparator's card says: it is no JSON object.")
        if absent := [field for field in TOLD if field not in fields]:
            raise Refused(f"{CARD} lacks what a comparator's card says: {', '.join(absent)}.")
        card = Card(**{field: fields[field] for field in TOLD})
    except (ValueError, RecursionError):
        raise Refused(f"{CARD} lacks what a comparator's card says: it is not JSON.") from None
    kinds = {
        "name": str,
        "criterion": str,
        "code": str,
        "warning": str,
        "seed": int,
        "snapshots": list,
        "settings": dict,
        "metrics": dict,
        "is_simulated": bool,
    }
    for field, kind in kinds.items():
        if not isinstance(getattr(card, field), kind):
            raise Refused(f"{CARD}: {field} is not of the kind expected.")
    try:
        check_seed(card.seed)
    except Refused as error:
        raise Refused(f"{CARD}: {error}") from None
    for number in MEASURED:
        if not isinstance(card.metrics.get(number), int | float):
            raise Refused(f"{CARD}: metrics lack the number {number}.")
    if not isinstance(card.settings.get("beside", []), list):
        raise Refused(f"{CARD}: beside in the settings is no list.")
    if wrong := first_wrong(card.metrics):
        raise Refused(f"{CARD}: {wrong} in the metrics is not what a card says there.")
    return card


def _no_number(name: str):
    raise ValueError(f"{name} is no number")


def _check_no_code(folder: Path) -> None:
    """A tokenizer's or model's configuration may name Python files to run, at any depth, or sizes for which no machine has
    the memory; such a one is not let in."""
    for path in (folder / "encoder").glob("*.json"):
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            raise Refused(f"encoder/{path.name} cannot be read as JSON.") from None
        for key, value in _fields(found):
            if key == "auto_map":
                raise Refused(f"encoder/{path.name} asks to run its own code, which is not allowed.")
            if path.name == "config.json" and isinstance(value, int | float):
                if not abs(value) <= (MOST_LAYERS if "layers" in key else LARGEST_SIZE):
                    size = f"{max(-1e300, min(value, 1e300)):g}"  # a whole number may be larger than any float
                    raise Refused(f"encoder/config.json names the size {key} {size}, which no encoder has.")


def _fields(value) -> Iterator[tuple[str, object]]:
    """Every key of a JSON value with what it holds, at any depth; what a list holds goes under the list's key."""
    stack = [("", value)]
    while stack:
        key, value = stack.pop()
        yield key, value
        if isinstance(value, dict):
            stack.extend(value.items())
        elif isinstance(value, list):
            stack.extend((key, inner) for inner in value)
