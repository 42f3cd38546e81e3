"""Outputs in their contexts, as every judge reads them."""

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+|[^\w\s]")
REFERENCES = "human-written references for the outputs"  # what a judge needs that compares with them


@dataclass(frozen=True)
class Text:
    """One output in its context; the last turn of the context is the one it answers.

    context_id: what its user calls the context, "" where nobody named it. One question may be put about many documents, so two
    contexts can read alike and yet be two (`place_of`). What a judge reads are the turns alone, so equal texts are equal.
    """

    context: tuple[str, ...]
    output: str
    context_id: str = field(default="", compare=False, kw_only=True)


def place_of(text: Text) -> str:
    """Which context a text answers, for all that meet in one or share its references: by id and text, so by the text alone
    where nobody named it.

    What a model has read is another matter: folds, and what is left out as learnt, go by `context_key`, so that no model is
    measured on words that it saw under another id.
    """
    return f"{text.context_id} {context_key(text.context)}"


def context_key(context: Sequence[str]) -> str:
    """SHA-256 of the context's text; case, spacing and Unicode form make no difference."""
    turns = [" ".join(unicodedata.normalize("NFKC", turn).casefold().split()) for turn in context]
    return hashlib.sha256("\n".join(turns).encode("utf-8", "surrogatepass")).hexdigest()


def fold_of(keys: Iterable[str], folds: int, seed: int) -> dict[str, int]:
    """Key -> fold 0..folds-1: shuffled by hash, then dealt in turn, so that sizes differ by one at most."""
    unique = sorted(set(keys), key=lambda key: hashlib.sha256(f"{seed}:{key}".encode()).hexdigest())
    if folds < 2:
        raise ValueError("Cross-fitting needs at least 2 folds.")
    if len(unique) < folds:
        raise ValueError(f"{folds} folds need at least {folds} different contexts; there are {len(unique)}.")
    return {key: position % folds for position, key in enumerate(unique)}


@dataclass(frozen=True)
class Referenced(Text):
    """One output in its context, with what metrics read besides."""

    references: tuple[str, ...] = ()
    human: bool = False  # written by a person: it is a reference for others, and not judged by references
    logprob: float | None = None  # natural logarithm of its probability, as its generator gives it


def as_referenced(text: Text) -> Referenced:
    """The same text; a plain one has no references."""
    return text if isinstance(text, Referenced) else Referenced(text.context, text.output, context_id=text.context_id)


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
        made.append(Referenced(text.context, text.output, kept, is_human, logprob, context_id=text.context_id))
    return made


def words(text: str) -> list[str]:
    """Lower-case words and punctuation marks; an apostrophe or a hyphen inside a word stays in it."""
    return WORD.findall(text.lower())
