"""A comparator on disk: safetensors and JSON, never a pickle; every file is written beside its place and then moved.

comparator.json            written last: a folder without it is a training that has not finished
encoder/                   config and tokenizer, and the untrained weights
matcher.safetensors        fp16 weights of the encoder tuned on dialogues, whose cosines are used; without it, the untrained
wholeness.safetensors      directions that tell whole outputs from broken ones; older comparators have none
references.safetensors     fp16 embeddings of the dialogues' contexts and replies, which are looked up; may be missing
member-0.safetensors ...   fp16 weights of each member
base.safetensors           fp16 weights that all members started from, where there were dialogues; base.json beside it
member-0.json ...          what the training of that member gave, with its fingerprint
"""

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedModel

from evaluator.comparator.new_contexts import Elsewhere
from evaluator.comparator.references import References
from evaluator.comparator.settings import ARCHITECTURES, Settings
from evaluator.comparator.supervision.self_supervision import Conversations
from evaluator.comparator.untrained import ALL_KINDS, Wholeness
from evaluator.comparator.utility_model import UtilityModel
from evaluator.encoders import pretrained
from evaluator.encoders.devices import chosen
from evaluator.encoders.pretrained import BadCheckpoint, M, file_sha256, load_architecture, load_encoder, load_weights
from evaluator.judges.calibration import Head
from evaluator.judges.texts import BESIDE, GROUP, Text, fold_in, keys_of

FORMAT = 6


@dataclass(frozen=True)
class Manifest:
    """comparator.json"""

    settings: Settings
    seed: int
    fingerprint: str  # SHA-256 of settings, seed, encoder weights and training data
    folds: dict[str, int]  # of contexts and groups (`keys_of`) -> fold; member i was trained without fold i
    head: Head
    members: list[str]  # SHA-256 of each member's file
    metrics: dict[str, Any]  # heldout accuracies, counts, seconds
    familiar: float  # tokens of a context, up to which the encoded pair counts in full
    matcher: str | None = None  # SHA-256 of matcher.safetensors; None: the cosines are the untrained encoder's
    references: str | None = None  # SHA-256 of references.safetensors
    criteria: list[str] = field(default_factory=lambda: [""])  # names; it judges by the first, whose head is `head`
    other_heads: list[Head] = field(default_factory=list)  # of the criteria after the first
    beside: list[str] = field(default_factory=list)  # keys of what every member learned from: nothing is measured there
    wholeness: str | None = None  # SHA-256 of wholeness.safetensors
    broken: list[str] = field(default_factory=list)  # kinds of broken outputs that it has learnt, each of them left out once
    elsewhere: list[Elsewhere] = field(default_factory=list)  # of each criterion, for contexts that it did not learn from

    def fold_of(self, text: Text) -> int | None:
        """Of its group, or of its context where the group is not known; BESIDE where every member learned from it, None where
        none did."""
        return fold_in(self._known, text)

    def taught(self, text: Text) -> bool:
        """Did every member learn from it, so that nothing can be measured there?"""
        return self.fold_of(text) == BESIDE

    def without_groups(self) -> "Manifest":
        """Groups are named within a campaign."""
        kept = {key: fold for key, fold in self.folds.items() if not key.startswith(GROUP)}
        return replace(self, folds=kept, beside=[key for key in self.beside if not key.startswith(GROUP)])

    def with_groups_of(self, texts: Iterable[Text]) -> "Manifest":
        """With the groups as these texts name them: one lies where all its contexts lie whose words are known."""
        plain, found = self.without_groups(), defaultdict[str, set[int]](set)
        for text in texts:
            *group, words = keys_of(text)
            if group and (fold := plain._known.get(words)) is not None:
                found[group[0]].add(fold)
        alone = {key: min(folds) for key, folds in found.items() if len(folds) == 1}
        lies = {key: fold for key, fold in alone.items() if fold != BESIDE}
        return replace(plain, folds={**plain.folds, **lies}, beside=[*plain.beside, *(alone.keys() - lies.keys())])

    @cached_property
    def _known(self) -> dict[str, int]:
        return {**dict.fromkeys(self.beside, BESIDE), **self.folds}


def load_matcher(directory: Path, sha256: str | None) -> PreTrainedModel:
    """The encoder whose cosine stands beside the encoded pair: tuned on dialogues where a hash is given, else untrained."""
    if sha256 is None:
        return load_encoder(directory)
    return load_weights(load_architecture(directory), directory / "matcher.safetensors", sha256)


def save_references(references: References, path: Path) -> str:
    """Embeddings in fp16; returns the file's SHA-256."""
    tensors = {"contexts": references.contexts.half(), "replies": references.replies.half()}
    return pretrained.save_tensors(tensors | {"counts": references.counts}, path)


def load_references(directory: Path, sha256: str | None) -> References | None:
    """None where the comparator has none."""
    if sha256 is None:
        return None
    path, names = directory / "references.safetensors", ("contexts", "replies", "counts")
    found = pretrained.load_tensors(path, "embedded contexts and replies", sha256, names)
    contexts, replies, counts = (found[name] for name in names)
    width = load_architecture(directory).config.hidden_size
    fits = contexts.ndim == replies.ndim == 2 and contexts.shape[1] == replies.shape[1] == width
    fits = fits and counts.shape == contexts.shape[:1] and len(counts) > 0 and int(counts.min()) > 0
    if not fits or int(counts.sum()) != len(replies):
        raise BadCheckpoint(f"{path} does not hold the replies to its contexts.")
    return References(contexts.to(chosen()), replies.to(chosen()), counts)


def save_wholeness(wholeness: Wholeness, directory: Path) -> str:
    """Returns the file's SHA-256."""
    tensors = {"directions": wholeness.directions, "levels": wholeness.levels}
    return pretrained.save_tensors(tensors, directory / "wholeness.safetensors")


def load_wholeness(directory: Path, manifest: Manifest) -> Wholeness | None:
    """None where the comparator has none."""
    if manifest.wholeness is None:
        return None
    path, names = directory / "wholeness.safetensors", ("directions", "levels")
    found = pretrained.load_tensors(path, "directions of whole outputs", manifest.wholeness, names)
    shape = (1 + len(manifest.broken), len(manifest.members), 2)
    width = load_architecture(directory).config.hidden_size
    if found["directions"].shape != (*shape, width) or found["levels"].shape != shape:
        raise BadCheckpoint(f"{path} does not hold a direction for each member and kind.")
    return Wholeness((ALL_KINDS, *manifest.broken), found["directions"], found["levels"])


def save_conversations(conversations: Conversations, path: Path) -> str:
    """Hashes and numbers, no texts; returns the file's SHA-256."""
    return pretrained.save_tensors({name: torch.as_tensor(values) for name, values in vars(conversations).items()}, path)


def load_conversations(path: Path) -> Conversations:
    names = [known.name for known in fields(Conversations)]
    found = pretrained.load_tensors(path, "the endings of conversations", names=names)
    return Conversations(**{name: tensor.numpy() for name, tensor in found.items()})


def load_member(directory: Path, member: int, sha256: str, kind: Callable[[PreTrainedModel], M]) -> M:
    """One member, made by `kind` from its encoder; its file is checked against `sha256`."""
    return load_weights(kind(load_architecture(directory)), directory / f"member-{member}.safetensors", sha256)


def load_base(directory: Path, criteria: int = 1) -> UtilityModel:
    """What every member starts from: its one utility, for every criterion."""
    return load_weights(UtilityModel(load_architecture(directory)), directory / "base.safetensors").spread(criteria)


def save_manifest(manifest: Manifest, directory: Path) -> None:
    write_json({"format": FORMAT, **asdict(manifest)}, directory / "comparator.json")


def load_manifest(directory: Path) -> Manifest:
    path = directory / "comparator.json"
    record = read_json(path)
    if record.pop("format", None) != FORMAT:
        raise BadCheckpoint(f"{path} is not of format {FORMAT}, the only one that this version reads; train it again.")
    try:
        record["settings"].pop("contrast_teacher", None)  # empty in every comparator's, and called `teacher` since
        record["settings"] = Settings(**record["settings"])
        record["head"] = _head(record["head"])
        record["other_heads"] = [_head(other) for other in record.get("other_heads", [])]
        record["broken"] = [str(kind) for kind in record.get("broken", [])]
        record["elsewhere"] = [_elsewhere(weights) for weights in record.get("elsewhere", [])]
        record["beside"] = [str(key) for key in record.get("beside", [])]
        manifest = Manifest(**record)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise BadCheckpoint(f"{path} lacks a field, or has one too many or of another kind.") from error
    if manifest.settings.architecture not in ARCHITECTURES:
        raise BadCheckpoint(f"{path} names the unknown architecture {manifest.settings.architecture!r}.")
    if not all(head.references >= 0 for head in (manifest.head, *manifest.other_heads)):
        raise BadCheckpoint(f"{path} names a worth of references that is not 0 or more.")
    if not set(manifest.folds.values()) <= set(range(len(manifest.members))):
        raise BadCheckpoint(f"{path} names a fold that has no member.")
    names = [str(name) for name in manifest.criteria]
    if not len(names) == len(set(names)) == 1 + len(manifest.other_heads):
        raise BadCheckpoint(f"{path} does not name one criterion for each head.")
    if manifest.elsewhere and len(manifest.elsewhere) != len(manifest.criteria):
        raise BadCheckpoint(f"{path} does not have weights in new contexts for each criterion.")
    return manifest


def identity(directory: Path) -> str:
    """SHA-256 of all that a comparator judges by: the encoder's files, and comparator.json, which names the other weights by
    theirs, but for its metrics."""
    record = read_json(directory / "comparator.json") | {"metrics": None}
    encoder = {path.name: file_sha256(path) for path in (directory / "encoder").glob("*") if path.is_file()}
    return digest([record, encoder])


def _head(record: dict[str, Any]) -> Head:
    return Head(**{known.name: float(record.get(known.name, known.default)) for known in fields(Head)})


def _elsewhere(record: dict[str, Any]) -> Elsewhere:
    return Elsewhere(**{known.name: float(record[known.name]) for known in fields(Elsewhere)})


def made_once(directory: Path, name: str, fingerprint: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The record of a file NAME.safetensors: that of an earlier run which made it for the same fingerprint and left it whole,
    or of `make`, which writes the file and gives a record with its "sha256". Interim states (NAME*.state) go then."""
    path, weights = directory / f"{name}.json", directory / f"{name}.safetensors"
    if path.is_file() and weights.is_file():
        record = read_json(path)
        if record.get("fingerprint") == fingerprint and record.get("sha256") == file_sha256(weights):
            return record
    record = {"fingerprint": fingerprint, **make()}
    write_json(record, path)
    for state in directory.glob(f"{name}*.state"):
        state.unlink()
    return record


def write_json(record: dict[str, Any], path: Path) -> None:
    temporary = path.with_name(path.name + ".part")
    temporary.write_text(json.dumps(record, indent=1, sort_keys=True), encoding="utf-8")
    os.replace(temporary, path)


def read_json(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise BadCheckpoint(f"{path} is missing.") from error
    except (ValueError, OSError, RecursionError) as error:
        raise BadCheckpoint(f"{path} cannot be read as JSON.") from error
    if not isinstance(record, dict):
        raise BadCheckpoint(f"{path} does not hold a JSON object.")
    return record


def digest(data: Any) -> str:
    """SHA-256 of what JSON can hold."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
