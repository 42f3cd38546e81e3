"""What every generator learns from and answers to: exchanges, words, and the common interface."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

from evaluator.judges.texts import words

CLOSING = set(".,!?:;)")

# Words that say nothing about the topic. A short list of our own; it only needs to cover everyday dialogue.
FUNCTION_WORDS = frozenset(
    """a about after again all almost already also always am an and any anybody are as at be because been before but by
    can can't could did didn't do does doesn't don't for from get go going had has have haven't he her here him his how i
    i'd i'll i'm i've if in into is isn't it it's its just let let's like me more my never next no not nobody now of off
    on once one only or our out over really she should so some somebody still such sure than that that's the their them
    then there there's they they're this those to today tomorrow too up us very was we we'd we're were what what's when
    where which who why will with won't would yes yesterday yet you you'd you're you've your""".split()
)


@dataclass(frozen=True)
class AnsweredTurn:
    """The turns so far, and what somebody answered."""

    context: tuple[str, ...]
    reply: str


class Generator(Protocol):
    """An NLG system: text for a context. All chance comes from `rng`, so the same state gives the same reply."""

    def reply(self, context: tuple[str, ...], rng: Random) -> str: ...


def exchanges(dialogues: Iterable[Sequence[str]]) -> list[AnsweredTurn]:
    """Every turn after the first answers the turns before it."""
    return [AnsweredTurn(tuple(turns[:i]), turns[i]) for turns in dialogues for i in range(1, len(turns))]


def content_words(text: str) -> set[str]:
    return {word for word in words(text) if word[0].isalnum() and word not in FUNCTION_WORDS}


def sentence(spoken: Sequence[str]) -> str:
    """Words and marks as a reader expects them: spaces, capitals after a full stop, and the pronoun I."""
    text = ""
    capital = True
    for word in spoken:
        if word == "i" or word.startswith("i'"):
            word = "I" + word[1:]
        shown = word[0].upper() + word[1:] if capital else word
        text += shown if word in CLOSING or not text else " " + shown
        capital = word in ".!?" or (capital and not word[0].isalnum())
    return text
