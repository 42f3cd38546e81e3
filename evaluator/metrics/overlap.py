"""Metrics that count what an output has in common with its references: BLEU, ROUGE and METEOR, by the packages that others
use. An empty output has nothing in common and gets 0.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from nltk.stem.porter import PorterStemmer
from nltk.tokenize import NLTKWordTokenizer
from nltk.translate.meteor_score import meteor_score
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU

from evaluator.judges.protocol import Numbers, OnProgress
from evaluator.judges.texts import Referenced
from evaluator.metrics.inputs import Inputs
from evaluator.metrics.metric import Measure, versions
from evaluator.metrics.wordnet import wordnet

ZHOU_XU = (2, 3, 4)  # Zhou & Xu 2020, section 4.1: "BLEU score (average of 2-, 3-, 4-grams)"
# Lavie & Agarwal 2007: the weight of precision, and the form and weight of the penalty for fragmentation.
METEOR = {"alpha": 0.9, "beta": 3.0, "gamma": 0.5}


def make(name: str, inputs: Inputs) -> tuple[Measure, dict[str, Any]]:
    """By its name in the registry."""
    if name.startswith("bleu"):
        return bleu(ZHOU_XU if name == "bleu-234" else (int(name[-1]),))
    return meteor(inputs.wordnet) if name == "meteor" else rouge(name.replace("-", "").replace("l", "L"))


def bleu(orders: Sequence[int]) -> tuple[Measure, dict[str, Any]]:
    """Mean of sentence-level BLEU up to n-grams of each order (Papineni et al. 2002), 0..100, as sacrebleu has it for
    sentences (Post 2018): 13a tokens, case kept, brevity by the closest reference, exponential smoothing (Chen & Cherry 2014,
    method 3), and in an output of fewer words than the order the longest n-grams that it has ("effective order")."""
    scorers = [BLEU(max_ngram_order=order, smooth_method="exp", effective_order=True) for order in orders]
    settings = {"orders": list(orders), "level": "sentence", "smooth": "exp", "tokens": "13a", "case": "mixed"}

    def one(text: Referenced) -> float:
        return float(np.mean([scorer.sentence_score(text.output, list(text.references)).score for scorer in scorers]))

    return _each(one), {**settings, "effective_order": True, "versions": versions("sacrebleu")}


def rouge(kind: str) -> tuple[Measure, dict[str, Any]]:
    """F1 of ROUGE-1, -2 or -L (Lin 2004), 0..1, with Porter's stemmer as in rouge-score's own example; of several references
    the one with the highest (Lin 2004, section 2.1, without its jackknife). Its words are a-z and 0-9 in lower case, so texts
    in other scripts have none."""
    scorer = RougeScorer([kind], use_stemmer=True)
    settings = {"kind": kind, "stemmer": "porter", "of_references": "max", "versions": versions("rouge-score", "nltk")}
    return _each(lambda text: float(scorer.score_multi(text.references, text.output)[kind].fmeasure)), settings


def meteor(folder: Path) -> tuple[Measure, dict[str, Any]]:
    """METEOR (Banerjee & Lavie 2005; Lavie & Agarwal 2007) as nltk has it, 0..1: words match as they are, by Porter's stem or
    as synonyms in WordNet; of several references the one with the highest. nltk looks the stems up and not the words, so
    that a word whose stem is no word ("larg") has no synonyms there."""
    synonyms, stemmer, tokens = wordnet(folder), PorterStemmer(), NLTKWordTokenizer()

    def one(text: Referenced) -> float:
        references = [tokens.tokenize(reference) for reference in text.references]
        return float(meteor_score(references, tokens.tokenize(text.output), stemmer=stemmer, wordnet=synonyms, **METEOR))

    settings = {**METEOR, "stemmer": "porter", "tokens": "nltk", "of_references": "max", "wordnet": synonyms.version}
    return _each(one), {**settings, "versions": versions("nltk")}


def _each(one: Callable[[Referenced], float]) -> Measure:
    """A measure of texts that are looked at one by one."""

    def measure(texts: Sequence[Referenced], on_progress: OnProgress | None = None) -> Numbers:
        measured = np.empty(len(texts))
        for i, text in enumerate(texts):
            measured[i] = one(text)
            if on_progress and i % 100 == 0:
                on_progress(i / len(texts), "Comparing with references", None)
        return measured

    return measure
