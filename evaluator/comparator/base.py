"""A base that is made once, from general conversations, and that many trainings start from: a folder of safetensors and JSON.

manifest.json              written last: a folder without it is a base that is not finished
encoder/, matcher.safetensors, references.safetensors, base.safetensors    as a comparator has them (storage.py)
conversations.safetensors  hashes of what it learnt from, so that a judged context that stands there is known
"""

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.comparator import storage
from evaluator.comparator.examples import Exchange
from evaluator.comparator.references import kept
from evaluator.comparator.settings import BASE_MANIFEST, Settings
from evaluator.comparator.supervision.pretraining import Pretraining
from evaluator.comparator.supervision.self_supervision import Conversations
from evaluator.comparator.training.progress import OnProgress, TrainingProgress
from evaluator.encoders import pretrained
from evaluator.encoders.pretrained import default_encoder

FORMAT = 1
WEIGHTS = ("matcher", "references", "base")  # files that a training takes, besides the encoder


def make_base(
    exchanges: Sequence[Exchange],
    settings: Settings,
    seed: int,
    directory: Path,
    on_progress: OnProgress | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> dict[str, Any]:
    """Learn from the exchanges into `directory` and return its manifest; a run that was cut goes on where it was. Raises
    ValueError in one sentence where they cannot be learnt from, and where another base lies there."""
    progress = TrainingProgress(on_progress, should_stop)
    if len({exchange.dialogue for exchange in exchanges}) < 2:
        raise ValueError("A base learns from at least two conversations, since a wrong reply is another one's.")
    asked = storage.digest([asdict(settings), seed, FORMAT, storage.FORMAT, [asdict(exchange) for exchange in exchanges]])
    if (directory / BASE_MANIFEST).is_file():
        known = load_manifest(directory)
        if known["asked"] != asked:
            raise ValueError(f"There is a base {directory.name} already, made of something else; choose another name.")
        return known
    directory.mkdir(parents=True, exist_ok=True)
    progress(0.0, "Reading the encoder")
    scratch = seed if settings.from_scratch else None
    encoder = pretrained.save_encoder(settings.encoder or default_encoder(), directory, scratch)
    made = Pretraining(exchanges, settings, seed, directory, encoder, progress.part(0.0, 1.0)).record()
    conversations = Conversations.of(exchanges, kept(exchanges, seed) if made["references"] else [])
    endings = storage.save_conversations(conversations, directory / "conversations.safetensors")
    files = {"encoder": encoder, "conversations": endings, **{name: made[name] for name in WEIGHTS[:2]}, "base": made["sha256"]}
    manifest = {
        "format": FORMAT,
        "asked": asked,  # SHA-256 of settings, seed and conversations
        "settings": asdict(settings),
        "seed": seed,
        "exchanges": len(exchanges),
        "conversations": len({exchange.dialogue for exchange in exchanges}),
        "seconds": made["seconds"],
        "files": files,  # SHA-256 of each; null where there is none
        "sha256": storage.digest(files),
    }
    storage.write_json(manifest, directory / BASE_MANIFEST)
    progress(1.0, "Made")
    return manifest


def drawn(exchanges: Sequence[Exchange], most: int, seed: int) -> list[Exchange]:
    """Of whole conversations, in an order drawn by the seed, as many as are needed for `most` exchanges; in their order."""
    sizes = Counter(exchange.dialogue for exchange in exchanges)
    names, chosen, total = list(sizes), set(), 0
    for i in np.random.default_rng([seed, 11]).permutation(len(names)):
        if total >= most:
            break
        chosen.add(names[i])
        total += sizes[names[i]]
    return [exchange for exchange in exchanges if exchange.dialogue in chosen]


def load_manifest(directory: Path) -> dict[str, Any]:
    """Raises BadCheckpoint where the folder holds no finished base."""
    manifest = storage.read_json(directory / BASE_MANIFEST)
    if manifest.get("format") != FORMAT:
        raise pretrained.BadCheckpoint(f"{directory / BASE_MANIFEST} is not of format {FORMAT}; make the base again.")
    return manifest


def start_from(
    base: Path, directory: Path, settings: Settings, judged: Iterable[Sequence[str]]
) -> tuple[dict[str, Any], Conversations]:
    """Copy the base into the folder of a training; returns its record, as `Pretraining.record` gives one, and which
    conversations it learnt from. References of conversations that a context of `judged` stands in stay behind, since whoever
    looks them up would find the very replies."""
    if settings.encoder or settings.from_scratch or settings.teacher:
        raise ValueError("A base brings its own encoder, which was taught before; name neither another one nor a teacher.")
    manifest = load_manifest(base)
    files, utility = manifest["files"], settings.architecture == "utility"  # joint has nothing beside the pair
    wanted = {"conversations": True, "base": True, "matcher": utility, "references": utility and settings.references}
    shutil.copytree(base / "encoder", directory / "encoder", dirs_exist_ok=True)
    for name in (name for name, needed in wanted.items() if needed and files[name]):
        source = base / f"{name}.safetensors"
        if not source.is_file() or pretrained.file_sha256(source) != files[name]:
            raise pretrained.BadCheckpoint(f"{source} is not the file that its manifest names.")
        if name != "conversations":
            shutil.copyfile(source, directory / source.name)
    if pretrained.file_sha256(directory / "encoder" / "model.safetensors") != files["encoder"]:
        raise pretrained.BadCheckpoint(f"The encoder of the base {base.name} is not the one that its manifest names.")
    conversations = storage.load_conversations(base / "conversations.safetensors")
    record = {"sha256": manifest["sha256"], "seconds": 0.0} | {
        name: files[name] if wanted[name] else None for name in WEIGHTS[:2]
    }
    references = storage.load_references(directory, record["references"])
    if references is None:
        return record, conversations
    stays = np.ones(len(conversations.remembered), dtype=bool)  # (e,)
    for hidden in conversations.hidden_from(judged):
        stays[hidden] = False
    left = references.only(stays)
    record["references"] = storage.save_references(left, directory / "references.safetensors") if left else None
    return record, replace(conversations, remembered=conversations.remembered[stays])
