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

from evaluator.metrics.inputs import MODELS, NEEDS, OF_OUTPUTS, WORDNET, Inputs, MissingInput, Training
from evaluator.metrics.metric import Measure, MetricJudge

if TYPE_CHECKING:
    from evaluator.encoders.text_encoder import TextEncoder
    from evaluator.metrics.language_models import LanguageModel

Maker = Callable[[str, Inputs], tuple[Measure, dict[str, Any]]]


@dataclass(frozen=True)
class Metric:
    """One metric of the literature."""

    name: str
    needs: frozenset[str]  # keys of NEEDS
    source: str
    describe: str  # one sentence
    module: str  # of this folder, that makes it

    @property
    def model(self) -> str:
        """What kind of model it reads with: one of MODELS, or empty."""
        return next((need for need in MODELS if need in self.needs), "")


_BLEU = "Papineni et al. 2002; sacrebleu: Post 2018"
_BERTSCORE = "Zhang, Kishore et al. 2020 (BERTScore)"
_RUBER = "Tao et al. 2018 (RUBER)"
_BY_MODULE = {  # (module, needs): name, source, one sentence
    ("overlap", "references"): [
        *((f"bleu-{n}", _BLEU, f"Precision of n-grams, n up to {n}, less if too short.") for n in range(1, 5)),
        ("bleu-234", "Zhou & Xu 2020, 4.1", "The mean of BLEU-2, BLEU-3 and BLEU-4."),
        ("rouge-1", "Lin 2004", "F1 of single words."),
        ("rouge-2", "Lin 2004", "F1 of pairs of neighbouring words."),
        ("rouge-l", "Lin 2004", "F1 of the longest common subsequence of words."),
    ],
    ("overlap", "references wordnet"): [
        ("meteor", "Banerjee & Lavie 2005", "Words in common, also as stems and synonyms, less for another order.")
    ],
    ("embeddings", "references encoder"): [
        ("embedding-average", "Liu et al. 2016", "Cosine of the mean word embeddings of output and reference."),
        ("embedding-extrema", "Forgues et al. 2014; Liu et al. 2016", "Cosine of the extreme values of their word embeddings."),
        ("embedding-greedy", "Rus & Lintean 2012; Liu et al. 2016", "Mean cosine of each word with the nearest one."),
        ("bertscore-precision", _BERTSCORE, "How well the tokens of the output are matched in the reference."),
        ("bertscore-recall", _BERTSCORE, "How well the tokens of the reference are matched in the output."),
        ("bertscore-f1", _BERTSCORE, "F1 of BERTScore's precision and recall."),
        ("esm", "Zhang et al. 2021, equation 3", "Cosine of output and reference as whole texts."),
        ("ruber-referenced", _RUBER, "Cosine of the max-pooled vectors of output and reference."),
    ],
    ("embeddings", "encoder"): [("cosim", "Zhang et al. 2021, equation 6", "Cosine of output and context as whole texts.")],
    ("likelihood", "masked"): [
        ("slp-masked", "Zhang et al. 2021, equation 5", "Mean log probability of each token of context and output, masked.")
    ],
    ("likelihood", "causal"): [
        ("slp-causal", "Zhang et al. 2021, equation 4", "Mean log probability of the tokens of context and output."),
        ("perplexity", "Zhou & Xu 2020, 2", "Mean log probability of the output's tokens, given the context."),
    ],
    ("likelihood", "corpus"): [
        ("ngram", "Kneser & Ney 1995; Chen & Goodman 1999", "Mean log probability of the output's words.")
    ],
    ("likelihood", "logprob"): [("logprob", "Zhou & Xu 2020, 2", "Log probability of the output, as its generator gives it.")],
    ("learned", "encoder replies"): [
        ("ruber-unreferenced", _RUBER, "Whether the output goes with its context as people's replies do."),
        ("discriminator", "Kannan & Vinyals 2017; Zhou & Xu 2020, 4.1", "Whether a person wrote the output or a system."),
    ],
    ("learned", "references encoder replies"): [("ruber", _RUBER, "The mean of RUBER's other two, from 1 to 5.")],
    ("learned", "references encoder scores"): [
        ("adem", "Lowe et al. 2017", "People's score, foreseen from context, reference and output."),
        ("adem-referenced", "Zhao et al. 2020, equation 1", "ADEM's part of reference and output."),
        ("adem-unreferenced", "Zhao et al. 2020, equation 2", "ADEM's part of context and output."),
        ("aspects", "three-head BERT evaluator", "Whether people find the output good by an aspect, beside its reference."),
    ],
    ("learned", "encoder scores"): [
        ("reference-free", "Zhao et al. 2020", "People's score, foreseen from context and output.")
    ],
    ("tuned", "encoder replies"): [
        ("discriminator-tuned", "Zhou & Xu 2020, 4.1", "`discriminator`, with an encoder that learns along.")
    ],
    ("tuned", "encoder scores"): [
        ("reference-free-tuned", "Zhao et al. 2020", "`reference-free`, with an encoder that learns the next utterance first."),
        ("ruber-semi-supervised", "Zhao et al. 2020, 5.2", "RUBER's unreferenced metric, which then learns people's scores."),
    ],
    ("tuned", "references encoder scores"): [
        ("aspects-tuned", "three-head BERT evaluator", "`aspects`, with one encoder that learns along."),
        ("aspects-tuned-apart", "three-head BERT evaluator, 4.2", "The same, with an encoder for each aspect."),
    ],
}
METRICS: dict[str, Metric] = {
    name: Metric(name, frozenset(needs.split()), source, describe, module)
    for (module, needs), rows in _BY_MODULE.items()
    for name, source, describe in rows
}
TUNED = frozenset(name for name, metric in METRICS.items() if metric.module == "tuned")  # dear: asked where they are named


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
        from evaluator.encoders.text_encoder import installed

        encoder = installed()
    inputs = Inputs(encoder, masked, causal, corpus, training, wordnet)
    measure, settings = _maker(metric.module)(name, inputs)
    return MetricJudge(name, metric.needs & {*OF_OUTPUTS}, measure, {"metric": name, **settings})


def _maker(module: str) -> Maker:
    """Loaded when it is used: some of them bring torch."""
    match module:
        case "overlap":
            from evaluator.metrics import overlap

            return overlap.make
        case "embeddings":
            from evaluator.metrics import embeddings

            return embeddings.make
        case "likelihood":
            from evaluator.metrics import likelihood

            return likelihood.make
        case "learned":
            from evaluator.metrics import learned

            return learned.make
        case "tuned":
            from evaluator.metrics import tuned

            return tuned.make
    raise ValueError(f"No module of metrics is called {module!r}.")
