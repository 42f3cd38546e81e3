"""How an encoder makes one vector of a text: what its files say, its family, or whoever asks; the vectors by hand."""

import json
import shutil

import pytest
import torch
from transformers import AutoTokenizer, GPT2Config, GPT2Model, XLNetConfig, XLNetModel

from evaluator.encoders.pooling import reads_from_left_to_right
from evaluator.encoders.text_encoder import TextEncoder

CLS, SEP, W1, W2 = 2, 3, 8, 9  # places in the vocabulary of the tiny encoder


def copied(tiny_encoder, folder, model=None, **config):
    shutil.copytree(tiny_encoder, folder)
    if model is not None:
        model.save_pretrained(folder)
    if config:
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(config))
    return str(folder)


def by_hand(encoder, ids):
    with torch.inference_mode():
        return encoder.model(input_ids=torch.tensor([ids])).last_hidden_state[0]


def same(vector, row):
    return vector == pytest.approx((row / row.norm()).numpy(), abs=1e-5)


@pytest.mark.parametrize(
    ("name", "config", "way", "by"),
    [
        ("plain", {}, "mean", "default"),
        ("sup-simcse-tiny", {}, "cls", "SimCSE, by its name"),
        ("st", {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls", "1_Pooling/config.json"),
        ("new-st", {"pooling_mode": "lasttoken", "include_prompt": True}, "last", "1_Pooling/config.json"),
        ("simcse-st", {"pooling_mode_mean_tokens": True}, "mean", "1_Pooling/config.json"),  # what its files say comes first
    ],
)
def test_files_come_before_the_family(tiny_encoder, tmp_path, name, config, way, by):
    encoder = TextEncoder.load(copied(tiny_encoder, tmp_path / name, **config))
    assert (encoder.pooling.way, encoder.pooling.by) == (way, by)
    hidden = by_hand(encoder, [CLS, W1, W2, SEP])
    row = {"mean": hidden.mean(0), "cls": hidden[0], "last": hidden[2]}[way]
    _, vector = encoder.sentences(["w1 w2 w1 w1 w2", "w1 w2"])
    assert same(vector, row)


def test_the_choice_counts_and_nothing_else_is_guessed(tiny_encoder, tmp_path):
    folder = copied(tiny_encoder, tmp_path / "st", pooling_mode_max_tokens=True)
    with pytest.raises(ValueError, match="wants max_tokens, which is not offered"):
        TextEncoder.load(folder)
    chosen = TextEncoder.load(folder, pooling="last")
    assert chosen.pooling.by == "chosen" and same(chosen.sentences(["w1"])[0], by_hand(chosen, [CLS, W1, SEP])[1])
    with pytest.raises(ValueError, match="mean, cls, last"):
        TextEncoder.load(folder, pooling="max")


def test_a_model_that_reads_from_left_to_right_gives_its_last_token(tiny_encoder, tmp_path):
    config = GPT2Config(vocab_size=37, n_positions=64, n_embd=16, n_layer=1, n_head=2)
    encoder = TextEncoder.load(copied(tiny_encoder, tmp_path / "gpt", GPT2Model(config)))
    assert (encoder.pooling.way, encoder.pooling.by) == ("last", "reads from left to right")
    assert not reads_from_left_to_right(TextEncoder.load(tiny_encoder).model)
    vectors = encoder.sentences(["w1 w2", ""])
    assert same(vectors[0], by_hand(encoder, [CLS, W1, W2, SEP])[2]) and same(vectors[1], by_hand(encoder, [CLS, SEP])[0])


def test_marks_stand_where_the_tokenizer_puts_them(tiny_encoder, tmp_path):
    """XLNet's: the text, [SEP], [CLS]."""
    config = XLNetConfig(vocab_size=37, d_model=16, n_layer=1, n_head=2, d_inner=32)
    folder = copied(tiny_encoder, tmp_path / "xlnet", XLNetModel(config))
    rules = json.loads((tmp_path / "xlnet" / "tokenizer.json").read_text())
    marks = {"[SEP]": {"SpecialToken": {"id": "[SEP]", "type_id": 0}}, "[CLS]": {"SpecialToken": {"id": "[CLS]", "type_id": 2}}}
    text = {"Sequence": {"id": "A", "type_id": 0}}
    rules["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [text, *marks.values()],
        "pair": [text, marks["[SEP]"], {"Sequence": {"id": "B", "type_id": 1}}, *marks.values()],
        "special_tokens": {
            name: {"id": name, "ids": [number], "tokens": [name]} for name, number in (("[SEP]", SEP), ("[CLS]", CLS))
        },
    }
    (tmp_path / "xlnet" / "tokenizer.json").write_text(json.dumps(rules))
    assert AutoTokenizer.from_pretrained(folder)("w1 w2")["input_ids"] == [W1, W2, SEP, CLS]
    encoder = TextEncoder.load(folder, pooling="cls")
    hidden = by_hand(encoder, [W1, W2, SEP, CLS])
    assert same(encoder.sentences(["w1 w2"])[0], hidden[3])
    assert encoder.tokens(["w1 w2"])[0] == pytest.approx(hidden[:2].numpy(), abs=1e-5)
    assert encoder.words(["w1 w2"])[0].shape == (2, 16)
