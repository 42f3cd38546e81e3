"""Tiny language models with random weights, over the tiny encoder's vocabulary: all made here, nothing fetched."""

import pytest
import torch
from transformers import AutoTokenizer, BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel

from tests.evaluator.comparator.conftest import tiny_encoder  # noqa: F401


def saved(folder, model, tokenizer_folder):
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(tokenizer_folder).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="session")
def tiny_masked(tiny_encoder, tmp_path_factory) -> str:  # noqa: F811
    torch.manual_seed(1)
    sizes = dict(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, initializer_range=0.5)
    model = BertForMaskedLM(BertConfig(vocab_size=37, max_position_embeddings=64, **sizes))
    return saved(tmp_path_factory.mktemp("masked"), model, tiny_encoder)


@pytest.fixture(scope="session")
def tiny_causal(tiny_encoder, tmp_path_factory) -> str:  # noqa: F811
    torch.manual_seed(2)
    config = GPT2Config(vocab_size=37, n_positions=64, n_embd=16, n_layer=1, n_head=2, initializer_range=0.5)
    return saved(tmp_path_factory.mktemp("causal"), GPT2LMHeadModel(config), tiny_encoder)
