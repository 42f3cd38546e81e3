"""A folder of plain texts: a file for each system with an output a line, or a folder for each system with an output a file.

Inputs and references stand in files (or folders) of their own, known by their names.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import BinaryIO

from core import archives
from core.encodings import decoded_lines, plain_name, unpacked
from core.errors import RowError
from core.rowfiles import Row
from core.rows import OnError

INPUTS = {"source", "sources", "src", "input", "inputs", "context", "contexts", "prompt", "prompts", "question", "questions"}
REFERENCES = {"reference", "references", "ref", "refs", "target", "targets", "gold"}
Opens = Mapping[str, Callable[[], BinaryIO]]
Texts = dict[str, tuple[str, int, str]]  # {item: (member, line, text)}


def is_text(member: str) -> bool:
    return plain_name(member).lower().endswith(".txt")


def rows(opens: Opens, archive: str, encoding: str, note: OnError) -> Iterator[Row]:
    """The outputs of an archive's text files, with inputs and references where they are there. A file with another number of
    lines than the inputs is noted as an error."""
    by_name = _by_file(opens) or _by_line(opens, encoding, note)
    texts = {name: _read(found, opens, encoding, note) if isinstance(found, list) else found for name, found in by_name.items()}
    inputs = next((found for name, found in texts.items() if name.lower() in INPUTS), {})
    references = [found for name, found in texts.items() if _is_reference(name)]
    for system, outputs in texts.items():
        if system.lower() in INPUTS or _is_reference(system):
            continue
        if inputs and len(outputs) != len(inputs):
            member = next((member for member, _, _ in outputs.values()), archive)
            unit = "lines" if isinstance(by_name[system], dict) else "files"
            note(RowError(member, None, "", f"has {len(outputs)} {unit}; the inputs have {len(inputs)}"))
            continue
        for item, (member, line, text) in outputs.items():
            fields = {"context_id": item, "system": system, "output": text}
            if item in inputs:
                fields["context"] = inputs[item][2]
            if said := [found[item][2] for found in references if item in found]:
                fields["references"] = said  # type: ignore[assignment]
            yield Row(line, fields, file=member)


def _is_reference(name: str) -> bool:
    return name.lower().rstrip("0123456789_-") in REFERENCES


def _by_file(opens: Opens) -> dict[str, list[tuple[str, str]]] | None:
    """{folder: [(item, member)]} where several folders have files of the same names; None where they have not."""
    folders: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for member in opens:
        path = PurePosixPath(plain_name(member))
        folders[path.parent.name].append((path.stem, member))
    items = [{item for item, _ in files} for files in folders.values()]
    shared = any(a & b for at, a in enumerate(items) for b in items[at + 1 :])
    return dict(folders) if shared else None


def _by_line(opens: Opens, encoding: str, note: OnError) -> dict[str, Texts]:
    """{the file's name: its lines by number}"""
    found: dict[str, Texts] = {}
    for member in opens:
        name = PurePosixPath(plain_name(member)).stem
        found[name] = {str(number): (member, number, text) for number, text in _lines(member, opens, encoding, note)}
    return found


def _read(files: list[tuple[str, str]], opens: Opens, encoding: str, note: OnError) -> Texts:
    return {
        item: (member, 1, "\n".join(t for _, t in _lines(member, opens, encoding, note)).strip("\n")) for item, member in files
    }


def _lines(member: str, opens: Opens, encoding: str, note: OnError) -> Iterator[tuple[int, str]]:
    fail = lambda line, message, *beside: note(RowError(member, line, "", message))
    with archives.reading(member):
        for number, line in decoded_lines(unpacked(opens[member](), member), member, fail, encoding):
            if "\0" in line:
                fail(number, "holds a NUL character")
            else:
                yield number, line.rstrip("\r\n")
