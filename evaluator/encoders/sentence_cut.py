"""Long outputs are cut at a sentence's end: "we cut off the story at the nearest sentence for stories longer than 250 words"
(Zhou & Xu 2020, section 4.1)."""

import re

END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+(?=\s|$)")  # of a sentence; each run of marks is tried once


def cut_at_sentence(text: str, words: int) -> str:
    """The text up to the sentence whose end is nearest to `words` words, the shorter one where two are equally near; a text
    of no more words, or whose first sentence alone is longer, stays whole."""
    if len(text.split()) <= words:
        return text
    kept, said = 0, 0
    for end in [*(mark.end() for mark in END.finditer(text)), len(text)]:
        longer = said + len(text[kept:end].split())
        if kept and longer - words >= words - said:
            break
        kept, said = end, longer
        if said >= words:
            break
    return text[:kept]
