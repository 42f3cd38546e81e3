"""A tiny model of each family with random weights, from configurations alone, so that a study can be tried in seconds. What
they say means nothing."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertModel,
    DebertaV2Config,
    DebertaV2ForMaskedLM,
    ElectraConfig,
    ElectraForMaskedLM,
    ElectraModel,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForMaskedLM,
    XLNetConfig,
    XLNetLMHeadModel,
)

MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,?!'"
LONGEST = 96


def families(folder: Path, seed: int) -> dict[str, list[str]]:
    """{need: folders} of one model a family; made once."""
    size = dict(vocab_size=len(_vocabulary()), hidden_size=16, num_hidden_layers=1, num_attention_heads=2)
    size |= dict(intermediate_size=32, max_position_embeddings=LONGEST + 2, initializer_range=0.5)
    gpt = GPT2Config(vocab_size=size["vocab_size"], n_positions=LONGEST, n_embd=16, n_layer=1, n_head=2)
    xlnet = XLNetConfig(vocab_size=size["vocab_size"], d_model=16, n_layer=1, n_head=2, d_inner=32)
    made: dict[str, dict[str, Any]] = {
        "encoder": {
            "tiny-bert": lambda: BertModel(BertConfig(**size)),
            "tiny-simcse": lambda: BertModel(BertConfig(**size)),  # pools [CLS], by its name
            "tiny-electra": lambda: ElectraModel(ElectraConfig(**size, embedding_size=16)),
            "tiny-gpt": lambda: GPT2LMHeadModel(gpt),
            "tiny-xlnet": lambda: XLNetLMHeadModel(xlnet),
        },
        "masked": {
            "tiny-bert": lambda: BertForMaskedLM(BertConfig(**size)),
            "tiny-roberta": lambda: RobertaForMaskedLM(RobertaConfig(**size, pad_token_id=0)),
            "tiny-deberta": lambda: DebertaV2ForMaskedLM(DebertaV2Config(**size)),
            "tiny-electra": lambda: ElectraForMaskedLM(ElectraConfig(**size, embedding_size=16)),
        },
        "causal": {"tiny-gpt": lambda: GPT2LMHeadModel(gpt), "tiny-xlnet": lambda: XLNetLMHeadModel(xlnet)},
    }
    found: dict[str, list[str]] = {}
    for need, of in made.items():
        for i, (name, model) in enumerate(of.items()):
            place = folder / need / name
            if not (place / "config.json").exists():
                torch.manual_seed(seed + i)
                _tokenizer().save_pretrained(place)
                model().save_pretrained(place)
            found.setdefault(need, []).append(str(place))
    return found


def _vocabulary() -> dict[str, int]:
    pieces = [*MARKS, *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    return {piece: i for i, piece in enumerate(pieces)}


def _tokenizer() -> PreTrainedTokenizerFast:
    """By letters."""
    rules = Tokenizer(models.WordPiece(_vocabulary(), unk_token="[UNK]", max_input_chars_per_word=LONGEST))
    rules.normalizer = normalizers.Lowercase()
    rules.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    names = {f"{mark.strip('[]').lower()}_token": mark for mark in MARKS}
    return PreTrainedTokenizerFast(tokenizer_object=rules, model_max_length=LONGEST, **names)
