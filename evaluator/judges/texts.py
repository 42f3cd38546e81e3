"""Outputs in their contexts, as every judge reads them."""

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+|[^\w\s]")
GROUP = "group "  # how the key of a group begins
BESIDE = 10**6  # no fold: learnt from by all members and measured by none
REFERENCES = "human-written references for the outputs"  # what a judge needs that compares with them


@dataclass(frozen=True)
class Text:
    """One output in its context; the last turn of the context is the one it answers.

    context_id: what its user calls the context, "" where nobody named it. One question may be put about many documents, so two
    contexts can read alike and yet be two (`place_of`). What a judge reads are the turns alone, so equal texts are equal.
    group: what the context has in common with others, such as a document or a conversation; "" where it stands alone.
    """

    context: tuple[str, ...]
    output: str
    context_id: str = field(default="", compare=False, kw_only=True)
    group: str = field(default="", compare=False, kw_only=True)


def place_of(text: Text) -> str:
    """Which context a text answers, for all that meet in one or share its references: by id and text, so by the text alone
    where nobody named it.

    What a model has read is another matter: folds, and what is left out as learnt, go by `keys_of`, so that no model is
    measured on words that it saw under another id, or on another turn of a conversation that it saw.
    """
    return f"{text.context_id} {context_key(text.context)}"


def unit_of(text: Text) -> str:
    """What a text is independent of others by, for intervals that draw whole units: its group, else its context."""
    return f"group {text.group}" if text.group else place_of(text)


def context_key(context: Sequence[str]) -> str:
    """SHA-256 of the context's text; case, spacing and Unicode form make no difference."""
    turns = [" ".join(unicodedata.normalize("NFKC", turn).casefold().split()) for turn in context]
    return hashlib.sha256("\n".join(turns).encode("utf-8", "surrogatepass")).hexdigest()


def keys_of(text: Text) -> tuple[str, ...]:
    """What a model that learnt from the text has seen: its group, where it has one, and the words of its context. Hashes."""
    words = context_key(text.context)
    return (GROUP + hashlib.sha256(text.group.encode("utf-8", "surrogatepass")).hexdigest(), words) if text.group else (words,)


def kin_of(texts: Sequence[Text]) -> list[str]:
    """(n,) what a model sees as a whole or not at all: texts of one group have the same key, and so have texts whose contexts
    say the same, and whatever these join. Of a context that is joined with no other it is the `context_key`.

    Words that would join more than half of the groups, and more than two, join none, like the opening line of conversations;
    from these nobody may learn (`common_words`).
    """
    keys = [keys_of(text) for text in texts]
    joined = _joined(keys)
    groups: dict[str, set[str]] = defaultdict(set)
    for of_text in keys:
        groups[joined[of_text[0]]].update(of_text[:-1])
    most = max(2.0, sum(map(len, groups.values())) / 2)
    return [of_text[0] if len(groups[joined[of_text[0]]]) > most else joined[of_text[0]] for of_text in keys]


def common_words(texts: Sequence[Text], folds: Sequence[int]) -> list[bool]:
    """(n,) whether its context says what one of another fold says: to learn from it would be to see what is measured."""
    words, having = [context_key(text.context) for text in texts], defaultdict[str, set[int]](set)
    for one, fold in zip(words, folds, strict=True):
        having[one].add(fold)
    return [len(having[one]) > 1 for one in words]


def _joined(links: Iterable[Sequence[str]]) -> dict[str, str]:
    """Key -> the first in order of all keys that the links join it with: that of a context, since a group's stands after it."""
    above: dict[str, str] = {}

    def first(key: str) -> str:
        while above.setdefault(key, key) != key:
            above[key] = key = above[above[key]]
        return key

    for keys in links:
        ends = {first(key) for key in keys}
        above.update(dict.fromkeys(ends, min(ends)))
    return {key: first(key) for key in list(above)}


def fold_of(keys: Iterable[str], folds: int, seed: int, what: str = "different contexts") -> dict[str, int]:
    """Key -> fold 0..folds-1: shuffled by hash, then dealt in turn, so that sizes differ by one at most. what: of which
    the keys are."""
    unique = sorted(set(keys), key=lambda key: hashlib.sha256(f"{seed}:{key}".encode()).hexdigest())
    if folds < 2:
        raise ValueError("Cross-fitting needs at least 2 folds.")
    if len(unique) < folds:
        raise ValueError(f"{folds} folds need at least {folds} {what}; there are {len(unique)}.")
    return {key: position % folds for position, key in enumerate(unique)}


def folds_by_key(texts: Sequence[Text], folds: Sequence[int]) -> dict[str, int]:
    """By each of the keys of texts in folds (n,), the fold that `fold_in` finds later. Words that several folds have, and from
    which nobody learns, are left out, but for a text without a group."""
    own, words = {}, defaultdict[str, set[int]](set)
    for text, fold in zip(texts, folds, strict=True):
        key, *others = keys_of(text)
        own[key] = fold
        for other in others:
            words[other].add(fold)
    return {key: min(found) for key, found in words.items() if len(found) == 1} | own


def fold_in(known: Mapping[str, int], text: Text) -> int | None:
    """The fold of the text's group, else of its words; None where neither is known."""
    return next((known[key] for key in keys_of(text) if key in known), None)


@dataclass(frozen=True)
class Referenced(Text):
    """One output in its context, with what metrics read besides."""

    references: tuple[str, ...] = ()
    human: bool = False  # written by a person: it is a reference for others, and not judged by references
    logprob: float | None = None  # natural logarithm of its probability, as its generator gives it


def as_referenced(text: Text) -> Referenced:
    """The same text; a plain one has no references."""
    return text if isinstance(text, Referenced) else Referenced(text.context, text.output, **named(text))


class Named(TypedDict):
    context_id: str
    group: str


def named(text: Text) -> Named:
    """Where the text stands, for another one of the same context."""
    return {"context_id": text.context_id, "group": text.group}


def referenced(
    texts: Sequence[Text],
    human: Sequence[bool],
    references: Sequence[Sequence[str]] = (),
    logprobs: Sequence[float | None] = (),
) -> list[Referenced]:
    """The texts (n,) with their references: those given (n,), then what human-written systems wrote for the same context.

    human: (n,) whether the system that wrote it is human. A blank reference is none, and an equal one counts once. An output
    that a system has in common with a person is still judged, by that reference too.
    """
    given = references or [()] * len(texts)
    known = logprobs or [None] * len(texts)
    keys = [place_of(text) for text in texts]
    came: dict[str, list[str]] = defaultdict(list)  # with a row of that context
    written: dict[str, list[tuple[int, str]]] = defaultdict(list)  # by a person
    for i, (key, text, is_human) in enumerate(zip(keys, texts, human, strict=True)):
        came[key] += given[i]
        if is_human:
            written[key].append((i, text.output))
    made = []
    for i, (key, text, is_human, logprob) in enumerate(zip(keys, texts, human, known, strict=True)):
        every = [*given[i], *came[key], *(output for j, output in written[key] if j != i)]
        kept = tuple(dict.fromkeys(r for r in every if r.strip()))
        made.append(Referenced(text.context, text.output, kept, is_human, logprob, **named(text)))
    return made


def words(text: str) -> list[str]:
    """Lower-case words and punctuation marks; an apostrophe or a hyphen inside a word stays in it."""
    return WORD.findall(text.lower())
