"""Likelihoods: equations 4 and 5 of Zhang et al. (2021) written out token by token, and n-grams beside nltk's."""

import json
import math

import numpy as np
import pytest
import torch
from nltk.lm.models import InterpolatedLanguageModel
from nltk.lm.smoothing import KneserNey as NltkKneserNey
from nltk.util import everygrams
from transformers import MobileBertConfig, MobileBertForMaskedLM, XLNetConfig, XLNetLMHeadModel

from evaluator.judges.texts import Referenced, Text
from evaluator.metrics.inputs import MissingInput, turns_of
from evaluator.metrics.language_models import LanguageModel, _logits_at
from evaluator.metrics.ngram_model import DISCOUNT, KneserNey, _padded
from evaluator.metrics.registry import build
from tests.evaluator.metrics.conftest import saved

CLS, SEP, MASK, GOOD, BAD, W1, W2 = 2, 3, 4, 5, 6, 8, 9  # places in the vocabulary of the tiny encoder
TEXT = Text(("w1 good", "bad"), "w2 w1")
IDS = [CLS, W1, GOOD, SEP, BAD, SEP, W2, W1, SEP]
OUTPUT = [0, 0, 0, 0, 0, 0, 1, 1, 1]


@pytest.fixture(scope="module")
def masked(tiny_masked):
    return LanguageModel.masked(tiny_masked)


@pytest.fixture(scope="module")
def causal(tiny_causal):
    return LanguageModel.causal(tiny_causal)


def log_p(model, ids, **given):
    with torch.inference_mode():
        return model(input_ids=torch.tensor([ids]), **given).logits[0].log_softmax(-1).numpy()


def test_slp_masks_one_token_at_a_time(masked):
    """Equation 5: 1/M sum_i log P(c_i | C with c_i masked), over the five tokens of context and output."""
    every = []
    for place in (1, 2, 4, 6, 7):
        corrupted = [MASK if i == place else token for i, token in enumerate(IDS)]
        every.append(log_p(masked.model, corrupted, token_type_ids=torch.tensor([OUTPUT]))[place, IDS[place]])
    others = [Text(("w3",), "w4 " * n) for n in range(12)]  # of other lengths, in the same call
    u = build("slp-masked", masked=masked).utilities([*others, TEXT])
    assert u[-1] == pytest.approx(np.mean(every), abs=1e-4)
    assert np.isfinite(u).all() and (u < 0).all()


@pytest.mark.parametrize("kind", ["bert", "mobilebert"])
def test_the_vocabulary_is_scored_at_the_masked_token_alone(kind, masked):
    """The last layer sees one token of each sequence, and answers as if it saw all; MobileBERT's is not called at all."""
    if kind == "bert":
        model = masked.model
    else:
        sizes = dict(vocab_size=37, hidden_size=16, embedding_size=8, intra_bottleneck_size=8, intermediate_size=16)
        model = MobileBertForMaskedLM(MobileBertConfig(**sizes, num_hidden_layers=1, num_attention_heads=2)).eval()
    given, seen = {"input_ids": torch.tensor([IDS, IDS[::-1]])}, []
    hook = model.get_output_embeddings().register_forward_hook(lambda layer, inputs, output: seen.append(output.shape[:2]))
    with torch.inference_mode():
        found = _logits_at(model, given, torch.tensor([4, 7]))
        assert seen == ([(2, 1)] if kind == "bert" else [])
        every = model(**given).logits
    hook.remove()
    assert found.shape == (2, 1, 37)
    assert found[:, 0].numpy() == pytest.approx(torch.stack([every[0, 4], every[1, 7]]).numpy(), abs=1e-5)


def test_slp_from_left_to_right(causal):
    """Equation 4: 1/M sum_i log P(c_i | c_<i); the marks are conditions and no tokens of the text."""
    p = log_p(causal.model, IDS)
    every = [p[i - 1, IDS[i]] for i in (1, 2, 4, 6, 7)]
    (u,) = build("slp-causal", causal=causal).utilities([TEXT])
    assert u == pytest.approx(np.mean(every), abs=1e-4)


def test_what_looks_ahead_is_no_causal_model(tiny_masked, causal):
    """BERT reads the whole text, also as transformers' causal model."""
    with pytest.raises(MissingInput, match=r"is no causal language model: later tokens .* by [0-9.e-]+\. A model like BERT"):
        LanguageModel.causal(tiny_masked)
    assert causal.looks_ahead() < 1e-6


def test_xlnet_reads_from_left_to_right(tiny_encoder, tmp_path):
    """Of each token, by its own call: the text up to there, with a mask in which nothing sees itself or what follows."""
    torch.manual_seed(3)
    config = XLNetConfig(vocab_size=37, d_model=16, n_layer=2, n_head=2, d_inner=32, initializer_range=0.5)
    xlnet = LanguageModel.causal(saved(tmp_path, XLNetLMHeadModel(config), tiny_encoder))
    every = []
    for place in (1, 2, 4, 6, 7):
        unseen = torch.tensor([[[float(j >= i) for j in range(place + 1)] for i in range(place + 1)]])
        target = torch.zeros(1, 1, place + 1)
        target[0, 0, place] = 1
        given = {"perm_mask": unseen, "target_mapping": target, "token_type_ids": torch.tensor([OUTPUT[: place + 1]])}
        every.append(log_p(xlnet.model, IDS[: place + 1], **given)[0, IDS[place]])
    longer = Text(("w3 w4 w5 w6",), "w4 w3 w3")  # in the same call
    u = build("slp-causal", causal=xlnet).utilities([longer, TEXT])
    assert u[1] == pytest.approx(np.mean(every), abs=1e-4)


def test_perplexity_is_the_outputs_given_its_context(causal):
    p = log_p(causal.model, IDS)
    perplexity = math.exp(-np.mean([p[i - 1, IDS[i]] for i in (6, 7, 8)]))
    u = build("perplexity", causal=causal).utilities([Text(("w5",), "w1 " * 9), TEXT, Text(("w5",), "")])
    assert u[1] == pytest.approx(-math.log(perplexity), abs=1e-4)
    assert np.isfinite(u).all()


def test_without_a_token_there_is_no_likelihood(masked, causal):
    texts = [Text((), ""), TEXT]
    for name, given in (("slp-masked", {"masked": masked}), ("slp-causal", {"causal": causal})):
        assert np.isnan(build(name, **given).utilities(texts)).tolist() == [True, False]


def test_too_long_a_context_loses_its_beginning(masked, causal):
    long = Text(("w3 " * 200,), "w2")
    for name, given in (("slp-masked", {"masked": masked}), ("perplexity", {"causal": causal})):
        judge = build(name, **given)
        assert np.isfinite(judge.utilities([long])).all() and judge.settings["max_length"] == 64


def test_settings_are_json_and_tell_models_apart(masked, causal):
    of_masked, of_causal = build("slp-masked", masked=masked).settings, build("slp-causal", causal=causal).settings
    assert json.loads(json.dumps(of_masked)) == of_masked
    assert of_masked["weights"] != of_causal["weights"]


CORPUS = ["the cat sat on the mat .", "the dog sat on the cat .", "a cat saw the dog", "a dog !"]


class OverTheSameWords(NltkKneserNey):
    """nltk's Kneser-Ney leaves no chance to unseen words; this gives them the share that Chen & Goodman (1999) do."""

    def unigram_score(self, word):
        seen, total = self._continuation_counts(word)
        types = len({gram for counts in self.counts[2].values() for gram in counts})
        return max(seen - self.discount, 0) / total + self.discount * types / total / (types + 1)


@pytest.mark.parametrize("order", [2, 3])
def test_kneser_ney_is_nltks(order):
    theirs = InterpolatedLanguageModel(OverTheSameWords, order, params={"discount": DISCOUNT, "order": order})
    grams = [[g for g in everygrams(_padded(text, order), max_len=order) if g[-1] != "<s>"] for text in CORPUS]
    words = {word for text in CORPUS for word in _padded(text, order)}
    theirs.fit(grams, sorted(words))
    ours = KneserNey(CORPUS, order)
    for history in (("the",), ("on", "the"), ("<s>", "<s>"), ("a", "dog"), ("sat", "dog"), ()):
        for word in sorted(words - {"<s>"}):
            expected = theirs.unmasked_score(word, history[-(order - 1) :])
            assert ours.probability(word, history) == pytest.approx(expected), (word, history)


def test_probabilities_of_all_words_sum_to_one():
    model = KneserNey(CORPUS)
    words = {word for text in CORPUS for word in _padded(text, 3)} - {"<s>"}
    for history in ((), ("the",), ("on", "the"), ("never", "seen"), ("<s>", "<s>")):
        assert sum(model.probability(word, history) for word in [*words, "unseen"]) == pytest.approx(1)


def test_n_grams_prefer_what_is_like_the_corpus():
    judge = build("ngram", corpus=CORPUS)
    likely, shuffled, unseen, blank = judge.utilities([Text((), o) for o in ("the cat sat", "sat the the", "xyz xyz xyz", "")])
    assert likely > shuffled > unseen and np.isfinite(blank)
    assert judge.settings["vocabulary"] == 11  # ten words and marks, and the end
    assert build("ngram", corpus=turns_of([Text(("a b", "c"), "d")])).settings["texts"] == 2


def test_the_generators_own_log_probability_is_taken_as_it_is():
    judge = build("logprob")
    u = judge.utilities([Referenced((), "a", logprob=-3.5), Referenced((), "b", human=True, logprob=-0.5), Text((), "c")])
    assert u[:2].tolist() == [-3.5, -0.5] and np.isnan(u[2])
