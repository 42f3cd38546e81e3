"""Synonyms from WordNet's files: of seven words by hand, and of the real files as nltk's reader has them."""

import io

import nltk
import pytest
from nltk.corpus.reader.wordnet import WordNetCorpusReader

from evaluator.metrics.inputs import WORDNET
from evaluator.metrics.wordnet import WordNet
from tests.evaluator.metrics.wordnet_files import write_wordnet

SAMPLE = (
    "dog dogs better geese ran quickly is larger largest hot guide obeys obey commands movie films u.s. n't the xyzzy men axes"
)


def synonyms(reader, word):
    return sorted(sorted(lemma.name() for lemma in synset.lemmas()) for synset in reader.synsets(word))


def test_words_inflections_and_exceptions(tmp_path):
    net = WordNet(write_wordnet(tmp_path))
    assert synonyms(net, "dogs") == [["dog", "hound"]]
    assert synonyms(net, "went") == [["go", "travel"]]  # irregular
    assert synonyms(net, "men") == [["man"]]
    assert synonyms(net, "larger") == [["big", "large"]]  # "big(p)" is the word big
    assert synonyms(net, "well") == [["good", "well"], ["well"]]  # an adjective and an adverb
    assert synonyms(net, "cat") == []


class NltkReader(WordNetCorpusReader):
    """nltk's own, with a stand-in for the file that Debian leaves out and without its map to other versions."""

    def open(self, file):
        return io.StringIO("".join(f"{i:02d}\tname\t1\n" for i in range(45))) if file == "lexnames" else super().open(file)

    def map_wn(self, version="wordnet"):
        return None


@pytest.mark.skipif(not WORDNET.is_dir(), reason="the package wordnet-base is not installed")
def test_the_real_files_give_what_nltk_reads_in_them(monkeypatch):
    monkeypatch.setattr(nltk.data, "path", [*nltk.data.path, str(WORDNET)])
    theirs, ours = NltkReader(str(WORDNET), object()), WordNet(WORDNET)
    assert {word: synonyms(ours, word) for word in SAMPLE.split()} == {word: synonyms(theirs, word) for word in SAMPLE.split()}
    assert ours.version == "3.0"
