"""Which end of a scale is best, where a criterion's name or its values leave that open: asked, never guessed."""

import re
from collections import defaultdict
from collections.abc import Iterable

# What people count, or order, so that the least is the best: errors, ranks, effort, time, and the error rates of the field. In
# the product's languages.
LOW_IS_BEST = re.compile(
    r"(?<![a-z])(rank(s|ed|ing)?|errors?|mistakes?|defects?|violations?|hallucinations?|effort|times?|duration|cost|latency|severity|penalty"
    r"|toxicity|harmfulness|bias|perplexity|loss|brier|bits[ _]per[ _](byte|character)|edit[ _-]?distance|h?ter|wer|cer|mqm"
    r"|(?<!\d)[01] ?[=:–-] ?((the |very )?(best|good)|excellent|perfect|(sehr )?gut|beste|(très )?bon|(muy )?bueno|mejor)"
    r"|low(er|est)?( is|[ -]?=)?[ -]?(better|best|good)"
    r"|rang|fehler|aufwand|zeit|dauer|erreurs?|temps|durée|errores|rango|esfuerzo|tiempo)(?![a-z])|错误|排名|أخطاء|ترتيب",
    re.IGNORECASE,
)
BEGINS_A_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")  # in PostEditEffort
FEWEST = 5  # groups that say that values are ranks


def may_be_low(name: str) -> bool:
    """Does the criterion's name suggest that the lowest value is best?"""
    return LOW_IS_BEST.search(BEGINS_A_WORD.sub(" ", name)) is not None


def are_ranks(values: Iterable[tuple[tuple, float]]) -> bool:
    """values: (who and about which context, value). Does everybody give the systems of each context the values 1 to k, once
    each? At least FEWEST times, and never otherwise."""
    groups: dict[tuple, list[float]] = defaultdict(list)
    for key, value in values:
        groups[key].append(value)
    several = [sorted(group) for group in groups.values() if len(group) > 1]
    return len(several) >= FEWEST and all(group == list(range(1, len(group) + 1)) for group in several)
