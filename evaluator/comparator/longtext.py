"""Long outputs are cut at a sentence's end: "we cut off the story at the nearest sentence for stories longer than 250 words"
(Zhou & Xu 2020, section 4.1)."""

import re

SENTENCE = re.compile(r"\S.*?(?:[.!?…]+[\"'”’)\]]*(?=\s|$)|$)", re.DOTALL)


def cut_at_sentence(text: str, words: int) -> str:
    """The text up to the sentence whose end is nearest to `words` words, the shorter one where two are equally near; a text
    of no more words, or whose first sentence alone is longer, stays whole."""
    if len(text.split()) <= words:
        return text
    kept, said = 0, 0
    for sentence in SENTENCE.finditer(text):
        longer = said + len(sentence.group().split())
        if kept and longer - words >= words - said:
            break
        kept, said = sentence.end(), longer
        if said >= words:
            break
    return text[:kept]
