"""Annotators who do not exist, for a demonstration that has something to show. Never evidence about any system.

No order of the systems is written down here. A simulated annotator reads features of the text:

    quality = 3 + sum of weight x standardised feature + human bonus (if human-written) + taste

- `context_similarity`    cosine (all-MiniLM-L6-v2) of the output and the last three turns
- `reference_similarity`  highest cosine of the output and the human-written replies to the context other than itself
- `emptiness`             1 / (1 + content words): near 1 for "I don't know.", small for a sentence that says something
- `repetition`            share of the output's words that repeat an earlier word of the output
- `length_fault`          words missing to 4, plus a fifth of the words beyond 25
- `unfinished`            1 if no . ! or ? ends it

The human bonus is a plain assumption, stated so: these features cannot see whether a sentence makes sense, and a
human-written one does. `taste` is normal noise per output and criterion that all annotators share. An annotator then
adds a fixed severity and normal noise, rounds to the scale, and now and then answers at random: the careless one often.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from evaluator.generators.dialogue import content_words
from evaluator.generators.retrieval import Embed
from evaluator.judges.texts import words

FEATURES = ("context_similarity", "reference_similarity", "emptiness", "repetition", "length_fault", "unfinished")
SCALE = (1, 5)
TASTE = 0.25  # standard deviation
TIE_MARGIN = 0.6  # a perceived difference below it is a tie


@dataclass(frozen=True)
class SimulatedCriterion:
    weights: tuple[float, ...]  # one for each of FEATURES
    human_bonus: float


CRITERIA = {
    "Overall": SimulatedCriterion((0.65, 0.50, -0.45, -0.15, -0.10, -0.20), human_bonus=1.0),
    "Relevance": SimulatedCriterion((0.85, 0.65, -0.35, 0.0, 0.0, 0.0), human_bonus=0.6),
}


@dataclass(frozen=True)
class SimulatedAnnotator:
    name: str
    severity: float  # added to every score; negative is strict
    noise: float  # standard deviation, in points of the scale
    careless: float  # probability of an answer that ignores the text


ANNOTATORS = (
    SimulatedAnnotator("simulated-1", severity=0.10, noise=0.35, careless=0.0),
    SimulatedAnnotator("simulated-2", severity=-0.35, noise=0.45, careless=0.0),
    SimulatedAnnotator("simulated-3", severity=0.30, noise=0.50, careless=0.02),
    SimulatedAnnotator("simulated-4", severity=-0.05, noise=0.60, careless=0.02),
    SimulatedAnnotator("simulated-5", severity=0.00, noise=0.80, careless=0.40),
)


@dataclass(frozen=True)
class SimulatedText:
    """One output with all that a simulated annotator looks at."""

    context: tuple[str, ...]
    output: str
    human_replies: tuple[str, ...]  # to the same context, other than this output
    human_written: bool


def features(texts: Sequence[SimulatedText], embed: Embed) -> np.ndarray:
    """Raw features, (texts, features)."""
    outputs = embed([text.output for text in texts])
    contexts = embed([" ".join(text.context[-3:]) for text in texts])
    rows = []
    for text, output, context in zip(texts, outputs, contexts, strict=True):
        tokens = [word for word in words(text.output) if word[0].isalnum()]
        rows.append(
            (
                float(output @ context),
                float((embed(text.human_replies) @ output).max()),
                1 / (1 + len(content_words(text.output))),
                1 - len(set(tokens)) / max(1, len(tokens)),
                max(0, 4 - len(tokens)) + max(0, len(tokens) - 25) / 5,
                float(not text.output.rstrip().endswith((".", "!", "?"))),
            )
        )
    return np.array(rows)


def qualities(texts: Sequence[SimulatedText], embed: Embed, rng: Random) -> dict[str, list[float]]:
    """Criterion -> latent quality of each text, standardised over the texts given."""
    raw = features(texts, embed)
    spread = raw.std(0)
    standard = (raw - raw.mean(0)) / np.where(spread > 0, spread, 1)
    return {
        name: [
            3 + float(row @ criterion.weights) + criterion.human_bonus * text.human_written + rng.gauss(0, TASTE)
            for row, text in zip(standard, texts, strict=True)
        ]
        for name, criterion in CRITERIA.items()
    }


def score(annotator: SimulatedAnnotator, quality: float, rng: Random) -> int:
    low, high = SCALE
    if rng.random() < annotator.careless:
        return rng.randint(low, high)
    return min(high, max(low, round(quality + annotator.severity + rng.gauss(0, annotator.noise))))


def choice(annotator: SimulatedAnnotator, quality_a: float, quality_b: float, rng: Random) -> str:
    """A, tie or B; severity plays no part, since it shifts both sides alike."""
    if rng.random() < annotator.careless:
        return rng.choice(("A", "tie", "B"))
    difference = quality_a - quality_b + rng.gauss(0, annotator.noise) - rng.gauss(0, annotator.noise)
    if abs(difference) < TIE_MARGIN:
        return "tie"
    return "A" if difference > 0 else "B"
