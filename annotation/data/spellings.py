"""One name in several spellings: annotators and systems whose names differ only in what people do not see as a difference."""

import re
import unicodedata
from collections.abc import Iterable

from core.errors import quoted
from core.rows import MISSING

INVISIBLE = dict.fromkeys([*map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"), *range(0xFE00, 0xFE10)])  # variation selectors
DASHES = {ord(dash): "-" for dash in "\u2010\u2011\u2012\u2013\u2014\u2212\ufe58\ufe63\uff0d"}
# Cyrillic and Greek letters that look like Latin ones (Unicode Technical Standard 39, confusables.txt).
LOOKS_LATIN = str.maketrans("асеорхуіјѕһԁԛԝАВСЕНІЈКМОРЅТХοαΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aceopxyijshdqwABCEHIJKMOPSTXoaABEZHIKMNOPTYX")
LATIN = re.compile(r"[A-Za-z]")
SPREADSHEET_NUMBER = re.compile(r"^(\d+)\.0+$")


def folded(name: str) -> str:
    """What two spellings of one name have in common: letters without case, width and composition, one dash, single spaces, no
    invisible characters, 1 for 1.0 (Unicode Standard Annex 15, compatibility composition), and beside Latin letters none of
    another script that looks like one."""
    text = unicodedata.normalize("NFKC", name).translate(INVISIBLE).translate(DASHES)
    text = SPREADSHEET_NUMBER.sub(r"\1", " ".join(text.split()))
    if LATIN.search(text):
        text = text.translate(LOOKS_LATIN)
    return text.casefold()


def called_missing(what: str, names: Iterable[str]) -> list[str]:
    """What must be said of new names that are words for a missing value: rows without a name become one of that name."""
    words = [quoted(name) for name in sorted(names) if name.lower() in MISSING]
    return [f"The {what} {word} is called as a missing value is. Several may be one under this name." for word in words]


def spelled_alike(name: str, names: Iterable[str]) -> str | None:
    """The one of the names that is this name, or else another spelling of it."""
    there = list(names)
    return name if name in there else next((other for other in there if folded(other) == folded(name)), None)


class Spellings:
    """The names that are known, by what their spellings have in common. kept_apart: each spelling is a name of its own, as it
    stays where two of the known names are spellings of one.

    merged: {the name: other spellings that were taken for it}."""

    def __init__(self, names: Iterable[str], kept_apart: bool = False):
        self.exact = set(names)
        self.kept_apart = kept_apart
        self.by_fold: dict[str, str] = {}
        self.merged: dict[str, list[str]] = {}
        for name in sorted(self.exact):
            self.by_fold.setdefault(folded(name), name)
        if len(self.by_fold) < len(self.exact):  # somebody said so before
            self.kept_apart = True

    def name_of(self, spelling: str) -> str:
        """The name that a spelling stands for; itself, where it is new or was known as it is."""
        if self.kept_apart or spelling in self.exact:
            return spelling
        name = self.by_fold.setdefault(folded(spelling), spelling)
        if name == spelling:
            self.exact.add(spelling)
        elif spelling not in self.merged.setdefault(name, []):
            self.merged[name].append(spelling)
        return name

    def sentences(self, what: str) -> list[str]:
        """What was taken for one, for whoever sends the file."""
        return [f"The {what} {name!r} stands for {', '.join(map(repr, others))} too." for name, others in self.merged.items()]
