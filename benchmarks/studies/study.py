"""What a study is: parts that are worked out one by one and kept, and the tables that they make."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

Result = dict[str, Any]  # of a part, as JSON


@dataclass(frozen=True)
class Part:
    """A piece of a study that is kept under its name; minutes: on one core, roughly."""

    name: str
    minutes: float
    work: Callable[[], Result]


@dataclass(frozen=True)
class Table:
    """rows: cells as text; a cell of a paper's stands in a column whose header says so."""

    title: str
    about: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    bars: Mapping[str, float] = field(default_factory=dict)  # what the figure shows: label -> value


@dataclass(frozen=True)
class Asked:
    """What the command names. data: the folder of judged sets; empty paths are none."""

    data: Path
    out: Path
    preset: str = "small"
    seed: int = 0
    encoder: Sequence[str] = ()
    masked: Sequence[str] = ()
    causal: Sequence[str] = ()


class Study(Protocol):
    """A module of this folder."""

    PAPER: str
    UNAVAILABLE: Sequence[tuple[str, str]]  # (what of the paper, why not)

    def parts(self, asked: Asked) -> list[Part]: ...

    def tables(self, results: Mapping[str, Result]) -> list[Table]: ...


def run(study: Study, parts: Sequence[Part], folder: Path, show: Callable[[str], None]) -> dict[str, Result]:
    """{part: result}; one that is in the folder already is not worked out again, so a run goes on where it was stopped."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for i, part in enumerate(parts, 1):
        kept = folder / f"{part.name}.json"
        if not kept.exists():
            begun = time.monotonic()
            result = {**part.work(), "seconds": round(time.monotonic() - begun, 1)}
            kept.with_suffix(".part").write_text(json.dumps(result), encoding="utf-8")
            kept.with_suffix(".part").rename(kept)
        found[part.name] = json.loads(kept.read_text(encoding="utf-8"))
        show(f"{i}/{len(parts)} {part.name}: {found[part.name]['seconds']} s")
    return found


def forecast(study: Study, parts: Sequence[Part], folder: Path) -> str:
    """What is to be done, before it is done."""
    left = [part for part in parts if not (folder / f"{part.name}.json").exists()]
    minutes = sum(part.minutes for part in left)
    lines = [f"{study.PAPER}: {len(left)} of {len(parts)} parts to do, about {minutes:.0f} minutes on one core."]
    return "\n".join([*lines, *(f"Unavailable: {what}. {why}" for what, why in study.UNAVAILABLE)])
