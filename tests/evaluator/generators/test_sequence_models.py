"""Three architectures and models from a folder, one loop: they see no later word and no padding, they learn, and say how
probable their replies are."""

import pytest
import torch
from transformers import AutoTokenizer, BertConfig, BertLMHeadModel, GPT2LMHeadModel

from core.errors import Refused
from evaluator.generators.decoders import Decoder
from evaluator.generators.dialogue import AnsweredTurn
from evaluator.generators.sequence_models import ARCHITECTURES
from evaluator.generators.training_loop import Settings, checkpoints, validation_loss
from evaluator.generators.vocabulary import END, START
from tests.tiny_gpt2 import saved

EXCHANGES = [AnsweredTurn((f"Where is the {thing}?",), f"The {thing} is {place}.") for thing, place in
             (("cat", "here"), ("dog", "there"), ("bus", "gone"), ("book", "on the desk"))]  # fmt: skip
NAMES = list(ARCHITECTURES)


@pytest.fixture(scope="module")
def tiny_gpt2(tmp_path_factory):
    said = [text for exchange in EXCHANGES for text in (*exchange.context, exchange.reply)]
    return saved(tmp_path_factory.mktemp("gpt2"), said)


@pytest.fixture(scope="module", params=[*NAMES, "causal"])
def trained(request):
    """(first, last) checkpoints: losses and the last one's model."""
    name = request.getfixturevalue("tiny_gpt2") if request.param == "causal" else request.param
    settings = Settings(name, iterations=100, every=50, width=32, batch=4, learning_rate=1e-2, warmup=5, dropout=0.0)
    return [one for one in checkpoints(EXCHANGES, settings, seed=3) if one.iteration]


@pytest.mark.parametrize("trained", NAMES, indirect=True)  # a model of random weights from a folder needs longer
def test_four_exchanges_are_learned_by_heart(trained):
    assert [one.iteration for one in trained] == [50, 100]
    assert trained[-1].loss < trained[0].loss / 3
    said = trained[-1].replies([exchange.context for exchange in EXCHANGES], Decoder("greedy"))
    assert [reply.text for reply in said] == [exchange.reply for exchange in EXCHANGES]


def test_a_replys_probability_is_what_the_loss_says_of_it(trained):
    """Of one exchange: words and end, times the mean loss, less what never-said words took, which is little here."""
    last = trained[-1]
    (said,) = last.replies([EXCHANGES[0].context], Decoder("greedy"))
    words = len(last.vocabulary.encode(said.text)) + 1
    loss = validation_loss(last, [AnsweredTurn(EXCHANGES[0].context, said.text)])
    assert trained[-1].loss < trained[0].loss
    assert said.log_probability == pytest.approx(-words * loss, abs=0.05)


def test_a_beam_of_one_is_greedy_and_more_find_no_worse(trained):
    contexts = [exchange.context for exchange in EXCHANGES] + [("Where is the tree?",)]
    greedy, one, four = (
        trained[-1].replies(contexts, how) for how in (Decoder("greedy"), Decoder("beam", beams=1), Decoder("beam"))
    )
    assert [reply.text for reply in one] == [reply.text for reply in greedy]
    assert all(b.log_probability >= a.log_probability - 1e-4 for a, b in zip(greedy, four))


def test_draws_are_those_of_their_seed_and_a_small_nucleus_is_greedy(trained):
    contexts = [exchange.context for exchange in EXCHANGES]
    assert trained[-1].replies(contexts, Decoder("ancestral"), seed=1) == trained[-1].replies(
        contexts, Decoder("ancestral"), seed=1
    )
    narrow = trained[-1].replies(contexts, Decoder("nucleus", mass=1e-9))
    assert [reply.text for reply in narrow] == [reply.text for reply in trained[-1].replies(contexts, Decoder("greedy"))]


def test_a_models_replies_are_those_of_transformers(tiny_gpt2):
    """Its own generate, one context at a time; ours reads them together, so that they have padding."""
    contexts = [("Where is the cat?", "The dog is gone.", "Where is the bus?"), ("The book is here.",)]
    (as_loaded,) = checkpoints([], Settings(tiny_gpt2, iterations=0, longest=12), seed=0)
    ours = as_loaded.replies(contexts, Decoder("greedy", longest=12))
    tokenizer, model = AutoTokenizer.from_pretrained(tiny_gpt2), GPT2LMHeadModel.from_pretrained(tiny_gpt2)
    for turns, reply in zip(contexts, ours):
        ids = tokenizer("".join(f"{turn} <end> " for turn in turns), return_tensors="pt")["input_ids"]
        spare = list(range(len(tokenizer), 40))  # of the model's 40 tokens, those that are no words
        how = {"suppress_tokens": spare, "begin_suppress_tokens": [0], "pad_token_id": 0}
        theirs = model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=12, do_sample=False, output_scores=True,
            return_dict_in_generate=True, **how,
        )  # fmt: skip
        told = model.compute_transition_scores(theirs.sequences, theirs.scores, normalize_logits=True)
        assert reply.text == tokenizer.decode(theirs.sequences[0, ids.shape[1] :], skip_special_tokens=True).strip()
        assert reply.log_probability == pytest.approx(float(told.sum()), abs=1e-4)


def test_a_model_that_looks_ahead_is_refused(tiny_gpt2, tmp_path):
    AutoTokenizer.from_pretrained(tiny_gpt2).save_pretrained(tmp_path)
    small = dict(vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
    BertLMHeadModel(BertConfig(**small, max_position_embeddings=64)).save_pretrained(tmp_path)
    with pytest.raises(Refused, match="no causal language model"):
        next(checkpoints(EXCHANGES, Settings(str(tmp_path))))


@pytest.mark.parametrize("name", NAMES)
def test_no_word_sees_a_later_one_or_the_padding(name):
    torch.manual_seed(1)
    model = ARCHITECTURES[name](20, 16, 0.0).eval()
    source, target = torch.tensor([[5, 6, 7]]), torch.tensor([[START, 8, 9, 10]])
    with torch.inference_mode():
        whole = model.decode(target, *model.encode(source))
        shorter = model.decode(target[:, :2], *model.encode(source))
        padded = model.decode(target, *model.encode(torch.tensor([[5, 6, 7, 0, 0], [5, 6, 7, 8, 9]])[:1]))
    torch.testing.assert_close(whole[:, :2], shorter)
    torch.testing.assert_close(whole, padded)


def test_a_closed_training_learns_no_more_and_leaves_torchs_dice_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    learning = checkpoints(EXCHANGES, Settings(iterations=4, every=2, width=8, batch=2, warmup=1))
    assert next(learning).iteration == 2
    learning.close()
    torch.testing.assert_close(torch.rand(3), expected)


@pytest.mark.parametrize(
    "wrong", [lambda: Settings("gru"), lambda: Settings(every=0), lambda: Decoder("best"), lambda: Decoder(mass=0)]
)
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(Refused):
        wrong()


def test_the_marks_of_both_are_the_same():
    from evaluator.generators import decoders

    assert (decoders.START, decoders.END) == (START, END)
