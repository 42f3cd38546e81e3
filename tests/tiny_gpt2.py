"""A GPT-2 with random weights, made from a config, whose tokens are the words of some texts."""

from collections.abc import Iterable
from pathlib import Path

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast


def saved(folder: Path, texts: Iterable[str]) -> str:
    """Its folder, as transformers loads it."""
    known = ["<end>", *sorted(set(" ".join(texts).split()))]
    tokenizer = Tokenizer(WordLevel({word: i for i, word in enumerate(known)}, unk_token="<end>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>", unk_token="<end>").save_pretrained(folder)
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=40, n_positions=64, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0,
                        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)  # fmt: skip
    GPT2LMHeadModel(config).save_pretrained(folder)
    return str(folder)
