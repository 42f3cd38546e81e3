"""Reward models and cross-encoders: tiny ones with random weights, compared with transformers' own reading of one text."""

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification, GPT2Config, GPT2ForSequenceClassification

from core.errors import Refused
from evaluator.judges.texts import Text
from evaluator.metrics.reward_model import RewardModel
from tests.evaluator.comparator.conftest import tiny_encoder  # noqa: F401
from tests.evaluator.metrics.conftest import saved

TEXTS = [
    Text(("w1 w2", "w3"), "good w4"),
    Text(("w1 w2", "w3"), "bad"),
    Text(("w5",), "w6 w7 w8 w9 w10 w11 good"),
    Text(("w1", "w2", "w3"), "w4"),
    Text((), "good"),
]
TEMPLATE = "{% for m in messages %}{{ 'w20 ' if m.role == 'user' else 'w21 ' }}{{ m.content }} {% endfor %}"
SIZES = dict(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, initializer_range=0.5)


@pytest.fixture
def cross_encoder(tiny_encoder, tmp_path):  # noqa: F811
    torch.manual_seed(1)
    config = BertConfig(vocab_size=37, max_position_embeddings=24, num_labels=1, **SIZES)
    return saved(tmp_path, BertForSequenceClassification(config), tiny_encoder)


@pytest.fixture
def chat_model(tiny_encoder, tmp_path):  # noqa: F811
    """A causal one with a chat template and a padding token, as Skywork's reward models are."""
    torch.manual_seed(2)
    tokenizer = AutoTokenizer.from_pretrained(tiny_encoder)
    size = dict(n_embd=16, n_layer=1, n_head=2, initializer_range=0.5, num_labels=1, n_positions=32)
    config = GPT2Config(vocab_size=37, pad_token_id=tokenizer.pad_token_id, **size)
    folder = saved(tmp_path, GPT2ForSequenceClassification(config), tiny_encoder)
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    return folder


def alone(judge: RewardModel, inputs: dict) -> float:
    """One text read by itself, without padding."""
    with torch.inference_mode():
        return judge.model(**{name: torch.tensor([ids]) for name, ids in inputs.items()}).logits.item()


def test_a_pair_is_read_as_the_tokenizer_joins_two_texts(cross_encoder):
    judge = RewardModel.load(cross_encoder)
    expected = [alone(judge, judge.tokenizer("\n".join(text.context), text.output)) for text in TEXTS]
    assert judge.utilities(TEXTS) == pytest.approx(np.array(expected), abs=1e-5)
    assert len({round(value, 3) for value in expected}) == len(TEXTS)  # they are told apart
    assert judge.settings["input"] == "pair" and len(judge.settings["weights"]) == 12
    assert judge.preferences(np.array([1.0, 2.0, 3.0]), np.array([2.0, 1.0, 3.0])).choices.tolist() == ["B", "A", "tie"]


def test_too_long_a_context_loses_its_beginning_and_too_long_an_output_its_end(cross_encoder):
    judge = RewardModel.load(cross_encoder)
    assert judge.max_length == 24
    long_context = Text(("w0 " * 40 + "w3",), "w4 good")
    long_output = Text(("w3",), "good " + "w5 " * 40)
    kept = judge.tokenizer("w0 " * 21 + "w3", "w4 good")
    filled = judge.tokenizer("", "good " + "w5 " * 23)
    assert len(kept["input_ids"]) == len(filled["input_ids"]) == 24
    expected = [alone(judge, kept), alone(judge, filled)]
    assert judge.utilities([long_context, long_output]) == pytest.approx(np.array(expected), abs=1e-5)


def test_a_chat_is_read_by_its_template(chat_model):
    judge = RewardModel.load(chat_model)
    written = [
        "w20 w1 w2 w3 w21 good w4",  # the assistant began, so that its turn stands in the user's
        "w20 w1 w2 w3 w21 bad",
        "w20 w5 w21 w6 w7 w8 w9 w10 w11 good",
        "w20 w1 w21 w2 w20 w3 w21 w4",
        "w20 w21 good",
    ]
    expected = [alone(judge, {"input_ids": judge.tokenizer(w, add_special_tokens=False)["input_ids"]}) for w in written]
    assert judge.utilities(TEXTS) == pytest.approx(np.array(expected), abs=1e-5)
    assert judge.settings["input"] == "chat template" and len(judge.settings["template"]) == 12


def test_without_a_padding_token_texts_are_read_one_by_one(chat_model):
    whole = RewardModel.load(chat_model).utilities(TEXTS)
    judge = RewardModel.load(chat_model)
    judge.tokenizer.pad_token = None
    judge.model.config.pad_token_id = None
    assert judge.utilities(TEXTS) == pytest.approx(whole, abs=1e-5)


def test_what_is_no_reward_model_is_refused(tiny_encoder, tmp_path):  # noqa: F811
    two = BertForSequenceClassification(BertConfig(vocab_size=37, num_labels=2, **SIZES))
    with pytest.raises(Refused, match="has 2 outputs; a judge of single outputs has one"):
        RewardModel.load(saved(tmp_path / "two", two, tiny_encoder))
    with pytest.raises(Refused, match="cannot be loaded"):
        RewardModel.load(str(tmp_path / "nothing"))
