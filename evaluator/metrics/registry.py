"""The metrics by their names: what each needs, where it comes from, and how it is made.

    texts = referenced(outputs, human)                       # evaluator.metrics.inputs
    judge = build("bertscore-f1")                            # or build("adem", training=Training.dealt(texts, scores))
    judge.utilities(texts), judge.settings

Reading METRICS loads neither torch nor the packages of the metrics; `build` does.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluator.metrics.inputs import NEEDS, OF_OUTPUTS, WORDNET, Inputs, MissingInput, Training
from evaluator.metrics.metric import Measure, MetricJudge

if TYPE_CHECKING:
    from evaluator.metrics.encoders import TextEncoder
    from evaluator.metrics.language_models import LanguageModel

Maker = Callable[[str, Inputs], tuple[Measure, dict[str, Any]]]


@dataclass(frozen=True)
class Metric:
    """One metric of the literature."""

    name: str
    needs: frozenset[str]  # keys of NEEDS
    source: str
    describe: str  # one sentence
    family: str  # the module that makes it


def _of(family: str, needs: str, *rows: tuple[str, str, str]) -> dict[str, Metric]:
    """Metrics of one module with the same needs; rows of (name, source, one sentence)."""
    return {name: Metric(name, frozenset(needs.split()), source, describe, family) for name, source, describe in rows}


METRICS: dict[str, Metric] = {
    **_of(
        "overlap",
        "references",
        *(
            (f"bleu-{n}", "Papineni et al. 2002; Post 2018", f"Precision of n-grams up to {n} words, less what is too short.")
            for n in (1, 2, 3, 4)
        ),
        ("bleu-234", "Zhou & Xu 2020, 4.1", "The mean of BLEU-2, BLEU-3 and BLEU-4."),
        ("rouge-1", "Lin 2004", "F1 of single words."),
        ("rouge-2", "Lin 2004", "F1 of pairs of neighbouring words."),
        ("rouge-l", "Lin 2004", "F1 of the longest common subsequence of words."),
    ),
    **_of(
        "overlap",
        "references wordnet",
        (
            "meteor",
            "Banerjee & Lavie 2005; Lavie & Agarwal 2007",
            "Words in common, stems and synonyms too, less for another order.",
        ),
    ),
    **_of(
        "embeddings",
        "references encoder",
        ("embedding-average", "Liu et al. 2016", "Cosine of the mean word embeddings of output and reference."),
        ("embedding-extrema", "Forgues et al. 2014; Liu et al. 2016", "Cosine of the extreme values of their word embeddings."),
        ("embedding-greedy", "Rus & Lintean 2012; Liu et al. 2016", "Mean cosine of each word with the most similar one."),
        (
            "bertscore-precision",
            "Zhang et al. 2020",
            "How well each token of the output is matched in the reference, in context.",
        ),
        ("bertscore-recall", "Zhang et al. 2020", "How well each token of the reference is matched in the output, in context."),
        ("bertscore-f1", "Zhang et al. 2020", "F1 of BERTScore's precision and recall."),
        ("esm", "Zhang et al. 2021, equation 3", "Cosine of output and reference as whole texts."),
    ),
    **_of("embeddings", "encoder", ("cosim", "Zhang et al. 2021, equation 6", "Cosine of output and context as whole texts.")),
    **_of(
        "likelihood", "masked", ("slp-masked", "Zhang et al. 2021, equation 5", "Mean log probability of each token, masked.")
    ),
    **_of(
        "likelihood",
        "causal",
        ("slp-causal", "Zhang et al. 2021, equation 4", "Mean log probability of the tokens of context and output."),
        (
            "perplexity",
            "Jelinek et al. 1977; Zhou & Xu 2020, 2",
            "Mean log probability of the output's tokens given the context.",
        ),
    ),
    **_of(
        "likelihood",
        "corpus",
        ("ngram", "Kneser & Ney 1995; Chen & Goodman 1999", "Mean log probability of the output's words."),
    ),
    **_of(
        "likelihood", "logprob", ("logprob", "Zhou & Xu 2020, 2", "Log probability of the output, as its generator gives it.")
    ),
}


def build(
    name: str,
    *,
    encoder: "TextEncoder | None" = None,
    masked: "LanguageModel | None" = None,
    causal: "LanguageModel | None" = None,
    corpus: Sequence[str] = (),
    training: Training | None = None,
    wordnet: Path = WORDNET,
) -> MetricJudge:
    """The metric of that name, at work. Raises MissingInput, in one sentence, for what it needs and was not given.

    encoder   default: the one that is installed with the package
    masked, causal  language models, for likelihoods
    corpus    texts that the n-gram model is counted from
    training  what a learned metric learns from
    wordnet   the folder of WordNet's files
    """
    metric = METRICS.get(name)
    if metric is None:
        raise MissingInput(f"There is no metric {name!r}; there are {', '.join(METRICS)}.")
    given = {
        "masked": masked,
        "causal": causal,
        "corpus": any(text.strip() for text in corpus),
        "scores": training and training.scores is not None,
        "replies": training,
    }
    for need in sorted(metric.needs):
        if need in given and not given[need]:
            raise MissingInput(f"The metric {name!r} needs {NEEDS[need]}.")
    if "encoder" in metric.needs and encoder is None:
        from evaluator.metrics.encoders import TextEncoder

        encoder = TextEncoder.load()
    inputs = Inputs(encoder, masked, causal, corpus, training, wordnet)
    measure, settings = _maker(metric.family)(name, inputs)
    return MetricJudge(name, metric.needs & {*OF_OUTPUTS}, measure, {"metric": name, **settings})


def _maker(family: str) -> Maker:
    """Loaded when it is used: some of them bring torch."""
    match family:
        case "overlap":
            from evaluator.metrics import overlap

            return overlap.make
        case "embeddings":
            from evaluator.metrics import embeddings

            return embeddings.make
        case _:
            from evaluator.metrics import likelihood

            return likelihood.make
