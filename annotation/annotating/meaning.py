"""Reading a meaning representation, the input of data-to-text systems, so that people need not read brackets.

Two notations are common in the field: dialogue acts with slot=value, separated by commas or semicolons (BAGEL, SF Hotel,
SF Restaurant, as in Novikova et al. 2017), and slot[value] (E2E; Novikova, Dusek & Rieser 2017).
"""

import re

LONGEST = 5_000  # characters; those of the field have some hundred
NAME = r"(\w+(?: +\w+)*)"
ACT = re.compile(r"\s*([?\w]+)\s*\((.*?)\)\s*(?=$|[&|]|[?\w]+\s*\()[&|]?", re.DOTALL)
SLOT = re.compile(rf"\s*{NAME}(?:\s*=\s*('(?:[^']|'(?!\s*(?:[,;]|$)))*'|\"[^\"]*\"|[^,;]*))?\s*(?:[,;]|$)")
BRACKETED = re.compile(rf"\s*{NAME}\s*\[([^\]]*)\]\s*(?:,|$)")

Slots = list[tuple[str, str]]


def read(text: str) -> list[tuple[str, Slots]] | None:
    """[(act, [(slot, value), ...]), ...], the act empty in the bracketed notation; None where the text is not one."""
    if len(text) > LONGEST:
        return None
    if (slots := _all(BRACKETED, text)) is not None:
        return [("", slots)]
    acts = _all(ACT, text)
    if acts is None:
        return None
    representation = []
    for act, inner in acts:
        slots = _all(SLOT, inner) if inner.strip() else []
        if slots is None:
            return None
        representation.append((act, slots))
    return representation


def _all(pattern: re.Pattern[str], text: str) -> Slots | None:
    """Every match in turn, where together they are the whole text."""
    matched: Slots = []
    end = 0
    while end < len(text):
        match = pattern.match(text, end)
        if match is None or match.end() == end:
            return None
        matched.append((match[1], (match[2] or "").strip("'\"")))
        end = match.end()
    return matched or None
