"""Encoders of several families, tiny and with random weights, with a tokenizer as each has it."""

import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    AutoModel,
    BertConfig,
    DebertaV2Config,
    ElectraConfig,
    GPT2Config,
    ModernBertConfig,
    MPNetConfig,
    PreTrainedTokenizerFast,
    RobertaConfig,
    XLNetConfig,
)

from evaluator.comparator.architectures import load
from evaluator.comparator.examples import Examples
from evaluator.comparator.references import beside_pairs
from evaluator.comparator.training.train import fit
from evaluator.comparator.utility_model import UtilityModel, utilities
from evaluator.encoders import pretrained
from evaluator.encoders.encoding import Encoder
from evaluator.encoders.loop import adamw
from evaluator.encoders.pretrained import pretrained_encoder
from evaluator.judges.texts import Text
from tests.evaluator.comparator.conftest import WORDS

VOCABULARY = ["<s>", "<pad>", "</s>", "<unk>", "good", "bad", *WORDS]  # in the order of RoBERTa, whose padding is the second
POSITIONS = 40  # tokens that an encoder can read, where it counts them
SIZE = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64)
MARKS = dict(cls_token="<s>", sep_token="</s>", pad_token="<pad>")
IDS = dict(vocab_size=len(VOCABULARY), bos_token_id=0, pad_token_id=1, eos_token_id=2)
DISENTANGLED = dict(relative_attention=True, pos_att_type=["p2c", "c2p"], position_biased_input=False, type_vocab_size=0)

# Of each family its configuration and the marks that its tokenizer knows.
FAMILIES = {
    "bert": (BertConfig(**SIZE, **IDS, max_position_embeddings=POSITIONS), MARKS),
    "roberta": (RobertaConfig(**SIZE, **IDS, max_position_embeddings=POSITIONS + 2, type_vocab_size=1), MARKS),
    "electra": (ElectraConfig(**SIZE, **IDS, embedding_size=16, max_position_embeddings=POSITIONS), MARKS),
    "mpnet": (MPNetConfig(**SIZE, **IDS, max_position_embeddings=POSITIONS + 2), MARKS),
    "deberta-v2": (DebertaV2Config(**SIZE, **IDS, **DISENTANGLED, max_position_embeddings=POSITIONS), MARKS),
    "modernbert": (
        ModernBertConfig(**SIZE, **IDS, cls_token_id=0, sep_token_id=2, max_position_embeddings=POSITIONS, local_attention=8),
        MARKS,
    ),
    "xlnet": (XLNetConfig(d_model=32, n_layer=2, n_head=2, d_inner=64, **IDS), MARKS | {"padding_side": "left"}),
    "gpt2": (
        GPT2Config(n_embd=32, n_layer=2, n_head=2, n_positions=POSITIONS, vocab_size=len(VOCABULARY)),
        dict(bos_token="</s>", eos_token="</s>"),
    ),
}
SHORT, LONG = Text(("w1 w2",), "w3 good"), Text(("w4 w5", "w6 w7 w8 w9"), "w1 w2 bad w3 w4 w5 w6")


@pytest.fixture(scope="module", params=FAMILIES)
def family(request, tmp_path_factory) -> tuple[str, str]:
    """Its name, and the folder of an encoder."""
    config, marks = FAMILIES[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(VOCABULARY)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", **marks).save_pretrained(folder)
    torch.manual_seed(0)
    AutoModel.from_config(config).save_pretrained(folder)
    return request.param, str(folder)


@pytest.fixture
def kept(family, tmp_path):
    """A comparator's folder with its encoder alone, and a model of it."""
    pretrained.save_encoder(family[1], tmp_path)
    torch.manual_seed(1)
    model = UtilityModel(pretrained.load_encoder(tmp_path)).eval()
    torch.nn.init.normal_(model.utility.weight)
    return tmp_path, model


def judge(model, encoder, texts):
    cosines, _ = beside_pairs(model.encoder, None, encoder, texts)
    return utilities(model, encoder, encoder.pairs(texts), cosines, range(len(texts)))[:, 0]


def test_a_tokenizers_own_marks_stand_around_the_turns(family, kept):
    encoder = Encoder(pretrained.load_tokenizer(kept[0]), 20)
    first = "</s>" if family[0] == "gpt2" else "<s>"
    (ids,) = encoder.pairs([Text(("w1 w2", "w3"), "w4")]).ids
    assert encoder.tokenizer.convert_ids_to_tokens(ids) == [first, "w1", "w2", "</s>", "w3", "</s>", "w4", "</s>"]


def test_padding_and_neighbours_change_nothing(kept):
    folder, model = kept
    encoder = Encoder(pretrained.load_tokenizer(folder), 32)
    alone = [judge(model, encoder, [text])[0] for text in (SHORT, LONG)]
    assert judge(model, encoder, [SHORT, LONG]) == pytest.approx(np.array(alone), abs=1e-4)
    assert abs(alone[0] - alone[1]) > 1e-2


def test_what_is_read_counts(kept):
    """The context's words and the output's, and which of them the output's are."""
    folder, model = kept
    encoder = Encoder(pretrained.load_tokenizer(folder), 32)
    changed = [SHORT, Text(("w1 w9",), "w3 good"), Text(("w1 w2",), "w3 bad"), Text(("w1", "w2 w3"), "good")]
    u = judge(model, encoder, changed)
    assert np.abs(u[1:] - u[0]).min() > 1e-3


def test_no_more_is_read_than_there_are_positions_for(family, kept):
    folder, model = kept
    encoder = Encoder(pretrained.load_tokenizer(folder), 64)
    text = Text(("w1 " * 100,), "w2 " * 30)
    assert len(encoder.pairs([text]).ids[0]) == (64 if family[0] == "xlnet" else POSITIONS)
    assert np.isfinite(judge(model, encoder, [text, SHORT])).all()


def test_files_give_the_same_utilities(family, kept):
    folder, model = kept
    pretrained.round_to_fp16(model)
    fresh = UtilityModel(pretrained_encoder(family[1])).eval()
    pretrained.round_to_fp16(fresh.encoder)
    fresh.utility.load_state_dict(model.utility.state_dict())
    encoder = Encoder(pretrained.load_tokenizer(folder), 32)
    pretrained.save_weights(model, folder / "model.safetensors")
    again = pretrained.load_weights(UtilityModel(pretrained.load_encoder(folder)), folder / "model.safetensors")
    for other in (fresh, again):
        assert np.array_equal(judge(other, encoder, [SHORT, LONG]), judge(model, encoder, [SHORT, LONG]))


def test_embeddings_stay_and_layers_learn(kept, settings):
    _, model = kept
    adamw(model, settings, 1e-3)
    assert not any(weights.requires_grad for weights in model.encoder.get_input_embeddings().parameters())
    learning = {name for name, weights in model.encoder.named_parameters() if weights.requires_grad}
    assert len(learning) > 10 and not any(name.endswith(("wte.weight", "wpe.weight")) for name in learning)
    adamw(model, replace(settings, from_scratch=True), 1e-3)
    assert all(weights.requires_grad for weights in model.encoder.parameters())


@pytest.mark.parametrize("architecture", ["utility", "joint"])
def test_a_training_changes_it_and_its_files_judge_the_same(architecture, family, judged, settings, tmp_path):
    texts, pairs, scores = judged
    examples = Examples(texts[:18], [pair for pair in pairs if pair.b < 18], scores=scores[:18])
    recipe = replace(settings, encoder=family[1], architecture=architecture, folds=2, epochs=1)
    result = fit(examples, recipe, 0, tmp_path)
    comparator = load(tmp_path)
    judged_again = comparator.score(examples.texts) if architecture == "joint" else comparator.utilities(examples.texts)
    assert judged_again == pytest.approx(result.utilities, abs=1e-3)
    untrained = pretrained.load_encoder(tmp_path).state_dict()
    learnt = comparator.models[0].encoder.state_dict()
    assert any(not torch.equal(learnt[name], weights) for name, weights in untrained.items())


def test_an_encoder_whose_positions_are_relative_has_no_last(tmp_path):
    from evaluator.encoders.pretrained import positions

    assert positions(AutoModel.from_config(FAMILIES["xlnet"][0])) == sys.maxsize
    assert positions(AutoModel.from_config(FAMILIES["roberta"][0])) == POSITIONS
