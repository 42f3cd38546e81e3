"""Safe answers that fit nearly anything and say nearly nothing: what an under-trained dialogue system falls back on."""

from random import Random

ANSWERS = (
    "I don't know what to say.",
    "That sounds interesting.",
    "Okay, thank you.",
    "I'm not sure about that.",
    "Yes, I think so too.",
    "That's good to hear.",
)
QUESTION_ANSWERS = ("I don't know.", "Yes, of course.", "I'm not sure.", "Maybe, it depends.")


class GenericGenerator:
    """One of a handful of stock phrases; it looks at no more of the context than a question mark."""

    def reply(self, context: tuple[str, ...], rng: Random) -> str:
        asked = bool(context) and context[-1].rstrip().endswith("?")
        return rng.choice(QUESTION_ANSWERS if asked else ANSWERS)
