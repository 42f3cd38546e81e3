"""Learning from dialogues alone: a tiny encoder must come to tell a fitting reply from one that does not fit."""

import random
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import BertModel

from evaluator.comparator import storage
from evaluator.comparator.architectures import load
from evaluator.comparator.examples import Examples, Exchange
from evaluator.comparator.supervision.pretraining import Pretraining
from evaluator.comparator.supervision.self_supervision import exchanges
from evaluator.comparator.training.progress import TrainingCancelled
from evaluator.comparator.training.train import fit
from evaluator.comparator.utility_model import utilities
from evaluator.encoders import loop, pretrained
from evaluator.encoders.encoding import Encoder
from evaluator.judges.texts import Text
from evaluator.metaevaluation.pairs import JudgedPair

WORDS = [f"w{i}" for i in range(20)]
SUBJECTS = WORDS[:3]


def talk(dialogues: int, seed: int) -> list[Exchange]:
    """A turn on a subject and two replies that name it."""
    rng = random.Random(seed)
    rows = []
    for i in range(dialogues):
        subject = SUBJECTS[i % len(SUBJECTS)]
        question, answer, other = (f"{subject} {rng.choice(WORDS[10:])}" for _ in range(3))
        rows.append((f"d{i}", [question, answer], [[other]]))
    return exchanges(rows)


@pytest.fixture(scope="module")
def lessons(settings, tmp_path_factory):
    """With an encoder whose random weights are five times as large: it finds out about equal words sooner."""
    folder = shutil.copytree(settings.encoder, tmp_path_factory.mktemp("larger") / "encoder")
    encoder = BertModel.from_pretrained(folder)
    for weights in encoder.parameters():
        if weights.dim() == 2:
            weights.data *= 5
    encoder.save_pretrained(folder)
    return replace(
        settings,
        encoder=str(folder),
        base_passes=30,
        contrast_passes=1,
        base_learning_rate=2e-3,
        base_max_length=16,
        from_scratch=True,
    )


@pytest.fixture(scope="module")
def base(lessons, tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    sha256 = pretrained.save_encoder(lessons.encoder, folder)
    told = []
    record = Pretraining(talk(60, 0), lessons, 0, folder, sha256, lambda *what: told.append(what)).record()
    return folder, record, told


def test_it_learns_which_reply_answers(base, lessons):
    folder, record, told = base
    new = talk(40, 1)
    texts = [Text(e.context, reply) for i, e in enumerate(new) for reply in (e.replies[0], new[(i + 1) % len(new)].replies[0])]
    encoder = Encoder(pretrained.load_tokenizer(folder), 16)
    u = utilities(storage.load_base(folder), encoder, encoder.pairs(texts), torch.zeros(80), range(80))
    assert (u[::2] > u[1::2]).mean() > 0.9
    fractions = [fraction for fraction, _ in told]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0


@pytest.mark.parametrize(("until", "lesson"), [(0.6, 1), (0.95, 2)])
def test_a_cut_base_goes_on_to_the_same_weights(until, lesson, lessons, tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "SAVE_SECONDS", 0.0)
    short = replace(lessons, base_passes=6, base_harder_passes=1.5)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    sha256 = pretrained.save_encoder(lessons.encoder, whole)
    pretrained.save_encoder(lessons.encoder, parts)
    at_once = Pretraining(talk(60, 0), short, 0, whole, sha256, lambda *what: None).record()

    def cut(fraction, message):
        if fraction > until:
            raise TrainingCancelled

    with pytest.raises(TrainingCancelled):
        Pretraining(talk(60, 0), short, 0, parts, sha256, cut).record()
    assert (parts / f"base-{lesson}.state").is_file() and not (parts / "base.json").exists()
    told = []
    resumed = Pretraining(talk(60, 0), short, 0, parts, sha256, lambda *what: told.append(what[0])).record()
    assert min(fraction for fraction in told if fraction > 0.3) > until - 0.1
    assert resumed["sha256"] == at_once["sha256"]
    assert not list(parts.glob("*.state"))


def test_the_base_lies_between_its_two_lessons(lessons, tmp_path):
    """By hand: before + 0.25 (after - before), in fp16 as saved."""
    short = replace(lessons, base_passes=3, base_harder_passes=2)
    weights = {}
    for share in (0.0, 0.25, 1.0):
        folder = tmp_path / str(share)
        sha256 = pretrained.save_encoder(lessons.encoder, folder)
        record = Pretraining(
            talk(60, 0), replace(short, base_harder_share=share), 0, folder, sha256, lambda *what: None
        ).record()
        weights[share] = load_file(folder / "base.safetensors")
    assert record["steps"] == 3 * 4 + 2 * 4  # 60 exchanges, 16 in a step
    apart = 0.0
    for name, before in weights[0.0].items():
        before, after = before.float(), weights[1.0][name].float()
        torch.testing.assert_close(weights[0.25][name].float(), before + 0.25 * (after - before), rtol=2e-3, atol=2e-3)
        apart = max(apart, float((after - before).abs().max()))
    assert apart > 0.01


def test_a_member_cut_in_its_middle_gives_the_same_comparator(trained, judged, settings, tmp_path, monkeypatch):
    texts, pairs, scores = judged
    asked = []

    def stop():
        asked.append(1)
        return len(asked) == 40

    with pytest.raises(TrainingCancelled), monkeypatch.context() as often:
        often.setattr(loop, "SAVE_SECONDS", 0.0)
        fit(Examples(texts, pairs, scores=scores), settings, 3, tmp_path, should_stop=stop)
    assert list(tmp_path.glob("member-*.state"))
    resumed = fit(Examples(texts, pairs, scores=scores), settings, 3, tmp_path)
    assert np.array_equal(resumed.utilities, trained[0].utilities)
    whole = load_file(trained[1] / "member-0.safetensors")
    assert all((whole[name] == tensor).all() for name, tensor in load_file(tmp_path / "member-0.safetensors").items())


def test_members_start_from_the_base_and_the_run_counts_what_it_saw(lessons, tmp_path):
    new = talk(24, 2)
    texts = [
        Text((f"{e.context[0]} w15",), reply)  # a context that no dialogue of the lesson holds
        for i, e in enumerate(new)
        for reply in (e.replies[0], new[(i + 1) % 24].replies[0])
    ]
    pairs = [JudgedPair(i, i + 1, (1.0, 0.0, 0.0), 1.0, "judgments") for i in range(0, 48, 2)]
    barely = replace(lessons, epochs=1, learning_rate=1e-6, head_learning_rate=1e-6)
    seen = [*talk(60, 0), Exchange(texts[0].context, ("w1",), "one that is judged")]
    result = fit(Examples(texts, pairs, exchanges=seen), barely, 0, tmp_path)
    assert result.heldout_pairwise_accuracy > 0.9  # from the dialogues alone: nothing was learnt of the pairs
    assert result.learnt_from == {"judgments": 24, "scored outputs": 0, "exchanges": 60, "exchanges left out": 1}
    assert np.isfinite(load(tmp_path).utilities(texts)).all()
    without = fit(Examples(texts, pairs, exchanges=seen), replace(barely, next_utterance=False), 0, tmp_path / "without")
    assert without.heldout_pairwise_accuracy < result.heldout_pairwise_accuracy
    assert without.learnt_from["exchanges"] == 0


def test_where_one_dialogue_is_left_the_training_goes_on_without(lessons, tmp_path):
    texts = [Text((f"{e.context[0]} w15",), e.replies[0]) for e in talk(12, 2) for _ in range(2)]
    pairs = [JudgedPair(i, i + 1, (1.0, 0.0, 0.0), 1.0, "judgments") for i in range(0, len(texts), 2)]
    seen = exchanges([("alone", ["w1 w2", "w3", "w4 w5"], []), ("judged", [texts[0].context[0], "w6"], [])])
    result = fit(Examples(texts, pairs, exchanges=seen), replace(lessons, epochs=1), 0, tmp_path)
    assert (result.learnt_from["exchanges"], result.learnt_from["exchanges left out"]) == (0, 3)
    assert not (tmp_path / "base.safetensors").exists()
