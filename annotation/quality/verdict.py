"""The verdict on answers: may they be relied on? A filter can take a verdict away and can't give one.

What decides depends on what a question asks for (`Asks`). Where it has one truth (facts, errors, relevance), single answers
have to agree, and alpha decides. Where it asks for taste, people may differ and what is published, the systems' means, may be
reliable all the same: the generalizability coefficient of these means over people and contexts decides (`reliability`), and
alpha stands beside it.

The lines are Krippendorff's (2004, Content Analysis, 2nd ed., section 11.4): rely on alpha at or above 0.8, draw
tentative conclusions from 0.667. The coefficient has the same lines (0.8 is also Nunnally & Bernstein's 1994, section 7, for
means that groups are compared by), and none but noise below it: its 95% interval must lie above 0.

What a filter may do is remove careless scores. What it also does is remove honest scores that disagree, and the more
raters disagree, the more it removes. Two figures look through that:

1. Alpha before the filter, which no filter has touched. Its word is the highest that can be given.
2. Alpha after the filter less its chance (`corrected_alpha`). Where raters' errors are of one shape, the filter lowers
   real and expected disagreement by the same factor, so this figure equals alpha before. It's higher on coarse scales,
   also without any careless score (two raters who agree outvote the third), so it can't lift a verdict. Where it's
   lower, the filter took agreement away. It lowers the verdict where it's surely lower: its 95% interval ends below
   the line. It says nothing where the filter drops nothing, or leaves shuffled scores no room to disagree.

Before both, alpha before the filter has to be higher than shuffled scores make it (a permutation test at 2.5%), so
scores without agreement are accepted in at most 2.5% of campaigns of any size.

Who must follow a protocol can ask for the verdict as Zhao et al. (2020, section 4) had it: alpha after the filter alone. It
accepts what the filter made (docs/results/reliability.md).
"""

from dataclasses import dataclass
from enum import StrEnum

from annotation.quality.p_values import p_is
from annotation.quality.reliability import Reliability

ACCEPTED, TENTATIVE = 0.8, 0.667
NOISE_LEVEL = 0.025
UNDEFINED = "undefined"
COLLECT_MORE = "collect more"


class Asks(StrEnum):
    """What a question asks for."""

    TRUTH = "truth"
    TASTE = "taste"


class Rule(StrEnum):
    """What a verdict rests on."""

    AGREEMENT = "agreement"
    RELIABILITY = "reliability"
    ZHAO = "zhao-2020"


RULE_OF = {Asks.TRUTH: Rule.AGREEMENT, Asks.TASTE: Rule.RELIABILITY}


@dataclass(frozen=True)
class Evidence:
    """What the verdict rests on. p: chance that scores without agreement reach `before`."""

    before: float
    p: float
    after: float
    dropped: int
    chance: float | None = None  # mean alpha of shuffled scores after the same filter
    corrected: float | None = None  # `after` less chance, with its 95% interval
    corrected_low: float | None = None
    corrected_high: float | None = None


def word(alpha: float) -> str:
    """What an alpha alone would be called."""
    return "accepted" if alpha >= ACCEPTED else "tentative" if alpha >= TENTATIVE else COLLECT_MORE


def place(alpha: float) -> str:
    """Where an alpha stands between the two lines, in words."""
    if alpha >= ACCEPTED:
        return f"at or above {ACCEPTED}"
    return f"between {TENTATIVE} and {ACCEPTED}" if alpha >= TENTATIVE else f"below {TENTATIVE}"


def decide(evidence: Evidence) -> tuple[str, str]:
    """Verdict, and one sentence why; see the rule at the top of this file."""
    before = f"Alpha is {evidence.before:.3f} before the filter, {place(evidence.before)}"
    if evidence.p > NOISE_LEVEL and evidence.before >= TENTATIVE:
        chance = f"there are so few scores that shuffled ones often reach it too ({p_is(evidence.p)})"
        return COLLECT_MORE, f"{before}, and {evidence.after:.3f} after it, but {chance}."
    if evidence.dropped == 0:
        return word(evidence.before), f"{before}, and the filter drops nothing."
    if evidence.corrected is None or evidence.corrected_high is None:
        return word(evidence.before), f"{before}, which decides: after it alpha is {evidence.after:.3f}, {_no_room(evidence)}."
    verdict = word(min(evidence.before, evidence.corrected_high))
    return verdict, f"{before}, {_beside(evidence)}{_why(evidence, verdict)}."


def decide_on_taste(found: Reliability) -> tuple[str, str]:
    """Verdict, and why, by how reliable the systems' means are."""
    g = (
        f"The systems' means have a generalizability coefficient of {found.coefficient:.2f}"
        f" (95% interval {found.low:.2f} to {found.high:.2f}), {place(found.coefficient)}: the part of their variance that"
        f" other people and other contexts would show again ({found.people:,} people, {found.contexts:,} contexts)"
    )
    r = found.split_half
    halves = "" if r is None else f" Its split-half reliability over people is {r:.2f}."
    if found.coefficient >= TENTATIVE and found.p > NOISE_LEVEL:
        return COLLECT_MORE, f"{g}. But systems that do not differ reach it too ({p_is(found.p)}).{halves}"
    return word(found.coefficient), f"{g}.{halves}"


def decide_as_zhao(after: float, dropped: int, scores: int) -> tuple[str, str]:
    """Verdict, and why, as Zhao et al. (2020) had it."""
    kept = f"Alpha is {after:.3f} after the filter, {place(after)}, which alone decides as in Zhao et al. (2020)"
    return word(after), f"{kept}. The filter dropped {dropped:,} of {scores:,} scores; dropping what differs raises alpha."


def _no_room(evidence: Evidence) -> str:
    """Why alpha after the filter says nothing."""
    if evidence.chance is None:
        return "and the chance level is not defined"
    return f"and {evidence.chance:.3f} if scores are shuffled"


def _beside(evidence: Evidence) -> str:
    """The second figure beside the first, as the rest of a sentence."""
    but = "but" if word(evidence.corrected or 0.0) != word(evidence.before) else "and"
    made = f"{evidence.after:.3f} uncorrected; shuffled scores reach {evidence.chance:.2f}"
    return f"{but} {evidence.corrected:.3f} after it, corrected for chance ({made})"


def _why(evidence: Evidence, verdict: str) -> str:
    """What decided, where the two figures stand on different sides of a line."""
    of_before, of_corrected = word(evidence.before), word(evidence.corrected or 0.0)
    if of_before == of_corrected:
        return ""
    if verdict != of_before:
        return (
            f". The corrected value is lower with confidence (95% interval up to {evidence.corrected_high:.3f}), so it decides"
        )
    if (evidence.corrected or 0.0) > evidence.before:
        return ". A filter cannot raise a verdict, so the value before the filter decides"
    return f". Its 95% interval reaches {evidence.corrected_high:.3f}, so the value before the filter decides"
