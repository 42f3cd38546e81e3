"""WordNet as METEOR asks of it: which words are synonyms of a word.

The files are those of Debian's `wordnet-base` (Princeton's WordNet 3.0, as described in its manual pages wndb(5WN) and
morphy(7WN)); nothing is downloaded. nltk's own reader does not take them: it opens files of nltk's data folders only, and wants
two files that Debian leaves out. Its rules of inflection are used.
"""

from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path

from nltk.corpus.reader.wordnet import WordNetCorpusReader

from evaluator.metrics.inputs import NEEDS, MissingInput

PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}  # of speech, by WordNet's letters


class Lemma:
    """One word of a synset, by the name under which nltk's METEOR asks for it."""

    def __init__(self, name: str):
        self._name = name

    def name(self) -> str:
        return self._name


class Synset:
    def __init__(self, words: list[str]):
        self._lemmas = [Lemma(word) for word in words]

    def lemmas(self) -> list[Lemma]:
        return self._lemmas


class WordNet:
    """The part of nltk's WordNet reader that its METEOR uses. Raises MissingInput where the files are not there."""

    def __init__(self, folder: Path):
        self.folder = folder
        for name in (f"{kind}.{part}" for part in PARTS.values() for kind in ("index", "data")):
            if not (folder / name).is_file():
                raise MissingInput(f"METEOR needs {NEEDS['wordnet']}; there is no {folder / name}.")
        self._data = {pos: (folder / f"data.{part}").read_bytes() for pos, part in PARTS.items()}
        self._offsets = {pos: self._index(part) for pos, part in PARTS.items()}
        self._exceptions = {pos: self._irregular(part) for pos, part in PARTS.items()}
        self._known: dict[str, list[Synset]] = {}

    @cached_property
    def version(self) -> str:
        """As the head of the files says it: "WordNet 3.0 Copyright ..." -> "3.0" """
        head = self._data["a"][:4000].decode("latin-1")
        return head.split("WordNet ", 1)[1].split()[0] if "WordNet " in head else "unknown"

    def synsets(self, word: str) -> list[Synset]:
        """The synsets of a word in lower case, and of the words that it may be an inflection of."""
        if word not in self._known:
            self._known[word] = [
                self._synset(pos, offset)
                for pos in PARTS
                for base in self._bases(word, pos)
                for offset in self._offsets[pos][base]
            ]
        return self._known[word]

    def _bases(self, word: str, pos: str) -> Iterator[str]:
        """Itself and its base forms that WordNet has."""
        rules = WordNetCorpusReader.MORPHOLOGICAL_SUBSTITUTIONS[pos]
        regular = [word[: -len(end)] + base for end, base in rules if word.endswith(end)]
        for form in dict.fromkeys([word, *self._exceptions[pos].get(word, regular)]):
            if form in self._offsets[pos]:
                yield form

    def _synset(self, pos: str, offset: int) -> Synset:
        """From `offset lexicographer-file kind word-count word id word id ...`; an adjective may carry its place, "(p)"."""
        data = self._data[pos]
        fields = data[offset : data.index(b"\n", offset)].decode("latin-1").split(" | ")[0].split()
        count = int(fields[3], 16)
        return Synset([word.split("(")[0] for word in fields[4 : 4 + 2 * count : 2]])

    def _index(self, part: str) -> dict[str, list[int]]:
        """From `word kind synset-count pointer-count pointers... sense-count tagged-count offsets...`"""
        offsets = {}
        for line in (self.folder / f"index.{part}").read_text("latin-1").splitlines():
            if not line.startswith(" "):  # the licence
                fields = line.split()
                offsets[fields[0]] = [int(offset) for offset in fields[-int(fields[2]) :]]
        return offsets

    def _irregular(self, part: str) -> dict[str, list[str]]:
        path = self.folder / f"{part}.exc"
        lines = [line.split() for line in path.read_text("latin-1").splitlines()] if path.is_file() else []
        return {word: bases for word, *bases in lines}


@cache
def wordnet(folder: Path) -> WordNet:
    """Read once in a process."""
    return WordNet(folder)
