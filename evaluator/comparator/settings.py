"""What a comparator is trained with: every switch, with the default and where it comes from."""

from dataclasses import asdict, dataclass
from typing import Any

from core.errors import Refused

MAX_SEED = 2**31 - 1

BASE_MANIFEST = "manifest.json"  # of a base (base.py): its folder is finished once it holds this

ARCHITECTURES = ("utility", "joint")


@dataclass(frozen=True)
class Settings:
    """The recipe. An empty `encoder` means the one that is installed with the package."""

    architecture: str = "utility"  # or "joint", which reads both outputs together (Zhou & Xu 2020, section 3.1)
    encoder: str = ""  # a folder, or a name in transformers' cache, that transformers can load
    from_scratch: bool = False  # its architecture and words alone, with random weights
    two_stages: bool = False  # what nobody judged first and people's answers then, instead of both together
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
    base: str = ""  # name of a base made before (base.py), from which members start; then no dialogues are learnt from
    pass_most: int = 7_000  # exchanges shown in a pass; where there are more, the next pass goes on with others
    contrast_passes: int = 3  # how often an exchange is shown with its context and reply apart
    contrast_learning_rate: float = 5e-5
    teacher: str = ""  # a larger encoder, named as `encoder` is: it learns the exchanges first, and its answers are imitated
    base_passes: float = 1.0  # how often an exchange is shown with context and reply together
    base_learning_rate: float = 1e-4
    base_max_length: int = 56
    base_harder_passes: float = 0.25  # how often it is shown once more, with broken replies among the negatives
    base_harder_learning_rate: float = 5e-5
    base_harder_share: float = 0.6  # how far the weights go from those before the broken replies to those after them

    @property
    def human(self) -> bool:
        """Whether anything that people judged is learnt from."""
        return self.human_scores or self.human_judgments

    def learns_from(self, source: str) -> bool:
        """Whether pairs of this source (`Pair.source`) are learnt from."""
        switches = {"scores": self.human_scores, "judgments": self.human_judgments, "strong": self.strong, "weak": self.weak}
        return (switches | {"dialogues": self.next_utterance})[source]


# Zhou & Xu (2020), "Learning to compare for better training and evaluation of open domain natural language generation models":
# every choice of theirs that is a field of Settings, with its section. They name no learning rate, epochs or batch size, so
# those stay ours; their encoder is BERT-large (section 4.1), which `encoder` may name.
PAPER: dict[str, Any] = {
    "architecture": "joint",  # 3.1 and figure 1: one classifier reads the context and both samples
    "ties": True,  # 3.1: better, worse, or indistinguishable
    "from_scratch": False,  # 3.1: "we propose to fine-tune BERT"
    "strong": True,  # 3.1: the first approach
    "weak": True,  # 3.1: the second, by a curriculum of margins
    "human_scores": True,  # 4.1: scores from 1 to 5, of which the pairs are made
    "human_judgments": True,  # 4.1: and pairwise comparisons
    "two_stages": True,  # 3.1: "additionally fine-tune the comparative evaluator with human annotations"
    "max_words": 250,  # 4.1: cut at the nearest sentence
    "max_length": 512,  # not in the paper: BERT's own limit, since two outputs of 250 words do not fit into 128 tokens
    "next_utterance": False,  # not theirs, and neither are the two below
    "references": False,
    "guards": False,
}
RECIPES = {"paper": PAPER}

# Fields of Settings that `train_comparator` has as --NAME and --no-NAME. Beside them it has --no-human, for both human fields.
SWITCHES = {
    "strong": "strong",
    "weak": "weak",
    "next_utterance": "dialogues",
    "two_stages": "two-stages",
    "ties": "ties",
    "references": "references",
    "guards": "guards",
    "from_scratch": "from-scratch",
}


def fields_of(named: str = "", human: bool | None = None, **chosen: Any) -> dict[str, Any]:
    """The fields of Settings that differ from its defaults: those of the recipe of that name, and what was chosen against it;
    None is no choice. human: whether people's judgments are learnt from; where they are not, strong and weak supervision
    are, unless chosen otherwise."""
    fields = dict(RECIPES[named]) if named else {}
    if human is not None:
        fields |= {"human_scores": human, "human_judgments": human}
        fields |= {} if human else {"strong": True, "weak": True}
    fields |= {name: value for name, value in chosen.items() if value is not None}
    usual = asdict(Settings())
    return {name: value for name, value in fields.items() if value != usual[name]}


def options_of(fields: dict[str, Any]) -> list[str]:
    """The options of `train_comparator` that choose these fields: `fields_of`, backwards."""
    chosen = asdict(Settings()) | fields
    free = {*SWITCHES, "architecture", "human_scores", "human_judgments"}  # may differ from a recipe that is named
    fixed = {name: [field for field in recipe if field not in free] for name, recipe in RECIPES.items()}
    named = next((n for n, recipe in RECIPES.items() if all(chosen[field] == recipe[field] for field in fixed[n])), "")
    human = None if chosen["human_scores"] or chosen["human_judgments"] else False
    base = asdict(Settings()) | fields_of(named, human)
    words = (["--recipe", named] if named else []) + (["--no-human"] if human is False else [])
    words += [f"--{name}" if chosen[f] else f"--no-{name}" for f, name in SWITCHES.items() if chosen[f] != base[f]]
    words += ["--architecture", chosen["architecture"]] if chosen["architecture"] != base["architecture"] else []
    return words + [word for name in ("encoder", "teacher") if chosen[name] for word in (f"--{name}", chosen[name])]


def check_seed(seed: int) -> None:
    if not 0 <= seed <= MAX_SEED:
        raise Refused(f"The seed must be a whole number from 0 to {MAX_SEED}, not {seed}.")
