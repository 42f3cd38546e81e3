"""A tiny encoder with random weights, and people who prefer one word to another: all made here, nothing fetched."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

import random

import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from evaluator.comparator.examples import Examples
from evaluator.comparator.training.train import Settings, fit
from evaluator.judges.texts import Text
from evaluator.metaevaluation.pairs import mean_scores, pairs_from_scores

torch.set_num_threads(1)  # a tiny model gains nothing from two, and waits for the second on a busy machine

WORDS = [f"w{i}" for i in range(30)]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory) -> str:
    """A folder with a BERT of hidden size 32 and a WordPiece vocabulary of 37 words."""
    folder = tmp_path_factory.mktemp("tiny")
    words = [*SPECIAL, "good", "bad", *WORDS]
    tokenizer = Tokenizer(models.WordPiece({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    names = dict(pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]")
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=128,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.1,
    )
    BertModel(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="session")
def settings(tiny_encoder) -> Settings:
    return Settings(
        encoder=tiny_encoder,
        epochs=16,
        learning_rate=1e-3,
        head_learning_rate=2e-2,
        batch_size=12,
        max_length=32,
        precision="fp32",
    )


@pytest.fixture(scope="session")
def judged():
    """60 contexts x 3 outputs (with "good", with neither word, with "bad"), scored 5, 3, 1 by two people."""
    rng = random.Random(1)

    def some(n):
        return [rng.choice(WORDS) for _ in range(n)]

    texts, rows = [], []
    for _ in range(60):
        context = (" ".join(some(4)), " ".join(some(2)))
        for word, score in (("good", 5), ("w0", 3), ("bad", 1)):
            words = some(rng.randint(2, 6))
            words.insert(rng.randrange(len(words)), word)
            rows += [(len(texts), "Ann", score), (len(texts), "Bob", score)]
            texts.append(Text(context, " ".join(words)))
    pairs = pairs_from_scores(rows, texts, scale=(1, 5))
    return texts, pairs, mean_scores(rows, len(texts), scale=(1, 5))


@pytest.fixture(scope="session")
def trained(judged, settings, tmp_path_factory):
    """The result and the folder of one training."""
    texts, pairs, scores = judged
    folder = tmp_path_factory.mktemp("trained")
    return fit(Examples(texts, pairs, scores=scores), settings, 3, folder), folder
