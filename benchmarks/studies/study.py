"""What a study is: parts that are worked out one by one and kept, and the tables that they make."""

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol

from core.parent import end_without
from core.version import code_version

Result = dict[str, Any]  # of a part, as JSON
Work = Callable[[Mapping[str, Result], Path], Result]  # of the parts that it needs, and a folder of its own


@dataclass(frozen=True)
class Part:
    """A piece of a study. It is kept under its name and a digest of its settings, so that they must hold all that its result
    depends on beside the parts that it needs; minutes: on one core, roughly."""

    name: str
    minutes: float
    work: Work
    settings: Mapping[str, Any] = field(default_factory=dict)
    needs: Sequence[str] = ()


@dataclass(frozen=True)
class Table:
    """rows: cells as text; a cell of a paper's stands in a column or row whose name says so."""

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
    stand_in: str = ""  # an encoder
    sets: Sequence[str] = ()  # instead of the paper's
    ask: str = ""  # the campaign in which people judge what the study's models write

    def digest(self, *names: str) -> str:
        """Of files of the data, 12 hexadecimal digits."""
        sha256 = hashlib.sha256()
        for name in names:
            sha256.update((self.data / name).read_bytes())
        return sha256.hexdigest()[:12]

    def of_sets(self, *names: str) -> str:
        return self.digest(*(f"{name}.{kind}.jsonl" for name in names for kind in ("outputs", "ratings")))


def model_digest(source: str) -> str:
    """Of the files of a model's folder, 12 hexadecimal digits; a name on the hub as it is."""
    sha256, folder = hashlib.sha256(), Path(source)
    if not source or not folder.is_dir():
        return source
    for path in sorted(folder.iterdir()):
        if path.suffix in (".safetensors", ".bin", ".json"):
            sha256.update(path.name.encode() + path.read_bytes())
    return sha256.hexdigest()[:12]


class Study(Protocol):
    """A module of this folder."""

    PAPER: str

    def unavailable(self, asked: Asked) -> Sequence[tuple[str, str]]:
        """(what of the paper, why not)"""
        ...

    def parts(self, asked: Asked) -> list[Part]:
        """In an order in which each stands behind those that it needs."""
        ...

    def tables(self, results: Mapping[str, Result]) -> list[Table]: ...


def keys(parts: Sequence[Part]) -> dict[str, str]:
    """{part: its name and 10 hexadecimal digits of all that its result depends on}"""
    found: dict[str, str] = {}
    for part in parts:
        depends = [dict(part.settings), [found[name] for name in part.needs]]
        digest = hashlib.sha256(json.dumps(depends, sort_keys=True, default=str).encode()).hexdigest()[:10]
        found[part.name] = f"{part.name}.{digest}"
    return found


def with_needs(parts: Sequence[Part], names: Sequence[str]) -> list[Part]:
    """The named parts and those that they need, in their order."""
    wanted = set(names)
    for part in reversed(parts):
        wanted |= set(part.needs) if part.name in wanted else set()
    return [part for part in parts if part.name in wanted]


def run(parts: Sequence[Part], folder: Path, show: Callable[[str], None], workers: int = 1) -> dict[str, Result]:
    """{part: result}; one that is in the folder already is not worked out again, so a run goes on where it was stopped. In so
    many processes, with a thread each, where it takes more than one."""
    folder.mkdir(parents=True, exist_ok=True)
    named, found, left = keys(parts), dict[str, Result](), list(parts)
    going: dict[Future[Result], Part] = {}
    while left or going:
        ready = [part for part in left if all(name in found for name in part.needs)]
        ready.sort(key=lambda part: -part.minutes)  # so that no long one is left alone at the end
        for part in ready[: workers - len(going)]:
            left.remove(part)
            needed, key = {name: found[name] for name in part.needs}, named[part.name]
            pool = _pool(1 if (folder / f"{key}.json").exists() else workers)
            going[pool.submit(_kept, part.work, needed, folder, key)] = part
            pool.shutdown(wait=False)  # its process ends with this part, and gives its memory back
        for future in wait(going, return_when=FIRST_COMPLETED).done:
            part = going.pop(future)
            found[part.name] = future.result()
            show(f"{len(found)}/{len(parts)} {part.name}: {found[part.name]['seconds']} s")
    return {part.name: found[part.name] for part in parts}


def _kept(work: Work, needed: Mapping[str, Result], folder: Path, key: str) -> Result:
    kept, begun = folder / f"{key}.json", time.monotonic()
    if not kept.exists():
        result = work(needed, folder / key)
        result |= {"seconds": round(time.monotonic() - begun, 1), "code": code_version()}
        kept.with_suffix(".part").write_text(json.dumps(result), encoding="utf-8")
        kept.with_suffix(".part").rename(kept)
    found: Result = json.loads(kept.read_text(encoding="utf-8"))
    return found


class _Here(Executor):
    """In this process, at once."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def _pool(workers: int) -> Executor:
    if workers < 2:
        return _Here()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"  # read when NumPy and torch are loaded, which a spawned process does anew
    return ProcessPoolExecutor(1, get_context("spawn"), end_without, (os.getpid(),))


def forecast(study: Study, asked: Asked, parts: Sequence[Part], folder: Path) -> str:
    """What is to be done, before it is done."""
    left = [part for part, key in zip(parts, keys(parts).values()) if not (folder / f"{key}.json").exists()]
    minutes = sum(part.minutes for part in left)
    lines = [f"{study.PAPER}: {len(left)} of {len(parts)} parts to do, about {minutes:.0f} minutes on one core."]
    return "\n".join([*lines, *(f"Unavailable: {what}. {why}" for what, why in study.unavailable(asked))])
