"""A tiny encoder must learn, forget nothing on disk, and judge each context by the member that did not see it."""

import json
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from evaluator.comparator.architectures import load
from evaluator.comparator.examples import Examples
from evaluator.comparator.predict import ALL
from evaluator.comparator.training.progress import TrainingCancelled
from evaluator.comparator.training.train import fit
from evaluator.comparator.training.utility_training import weigh_cosines
from evaluator.comparator.utility_model import UtilityModel
from evaluator.encoders import pretrained
from evaluator.encoders.encoding import Encoder
from evaluator.encoders.pretrained import BadCheckpoint
from evaluator.judges.degenerate_outputs import degenerate_shares
from evaluator.judges.texts import Text, context_key

SEED = 3  # the one that `trained` was trained with

NEW = [Text(("w1 w2 never judged",), "w3 good w4"), Text(("w1 w2 never judged",), "w3 bad w4")]


@pytest.fixture(scope="module")
def few(settings):
    """A quarter of the epochs, for what does not ask how well it learns."""
    return replace(settings, epochs=4)


@pytest.fixture(scope="module")
def short(judged, few, tmp_path_factory):
    """The result and the folder of one training of few epochs."""
    texts, pairs, scores = judged
    folder = tmp_path_factory.mktemp("short")
    return fit(Examples(texts, pairs, scores=scores), few, SEED, folder), folder


@pytest.fixture
def copy(trained, tmp_path):
    return shutil.copytree(trained[1], tmp_path / "copy")


def test_it_learns_which_word_is_good(trained):
    result, _ = trained
    assert result.heldout_pairwise_accuracy > 0.9
    low, high = result.heldout_pairwise_interval
    assert 0.9 < low <= result.heldout_pairwise_accuracy <= high
    assert result.heldout_three_way_accuracy > 0.9
    assert 0.3 < result.longer_is_better_accuracy < 0.7
    assert (result.pairs, result.texts, result.contexts) == (180, 180, 60)
    for fold in range(3):
        points = [point for point in result.curve if point["fold"] == fold]
        assert [point["epoch"] for point in points] == list(range(1, 17))
        assert points[-1]["train_loss"] < points[0]["train_loss"]


def test_unseen_contexts_are_judged_by_what_was_learnt(trained):
    comparator = load(trained[1])
    comparison = comparator.compare(NEW[:1], NEW[1:])
    assert comparison.choices.tolist() == ["A"]
    assert comparison.probabilities[0, 0] > 0.8
    assert comparison.probabilities.sum() == pytest.approx(1)


def test_asked_for_one_member_a_new_context_it_is_the_one_that_its_hash_names(trained, monkeypatch):
    comparator = load(trained[1])
    member = int(context_key(NEW[0].context)[:8], 16) % len(comparator.models)
    alone = load(trained[1])
    alone.models, whole = [alone.models[member]], alone.wholeness
    alone.wholeness = replace(whole, directions=whole.directions[:, [member]], levels=whole.levels[:, [member]])
    comparator.one_each = True
    assert set(comparator.members(NEW)) == {member} and len(comparator.models) > 1
    first = comparator.utilities(NEW)
    assert first == pytest.approx(alone.utilities(NEW), abs=1e-6)
    read = []
    monkeypatch.setattr(Encoder, "singles", _kept(read, Encoder.singles))
    assert comparator.utilities(NEW) == pytest.approx(first, abs=1e-6)
    assert read == [sorted(text.output for text in NEW)] * 3  # by matcher, untrained and for its form; vectors of contexts stay


def _kept(read, singles):
    def noted(encoder, strings, keep_end=False):
        read.append(sorted(strings))
        return singles(encoder, strings, keep_end)

    return noted


def test_a_loaded_comparator_gives_the_heldout_utilities(trained, judged):
    u = load(trained[1]).utilities(judged[0])
    assert u == pytest.approx(trained[0].utilities, abs=1e-4)
    assert np.corrcoef(u, trained[0].utilities)[0, 1] > 0.9999


def test_swap_and_transitivity(trained, judged):
    texts = judged[0][:30]
    comparator = load(trained[1])
    there, back = comparator.compare(texts[:15], texts[15:]), comparator.compare(texts[15:], texts[:15])
    assert np.array_equal(there.probabilities, back.probabilities[:, ::-1])
    swapped = {"A": "B", "tie": "tie", "B": "A"}
    assert there.choices.tolist() == [swapped[choice] for choice in back.choices]
    u = comparator.utilities(texts)
    beats = comparator.preferences(u[:, None].repeat(30, 1), u[None].repeat(30, 0)).choices == "A"  # (30, 30)
    assert not (beats @ beats & ~beats).any()  # A > B and B > C imply A > C


def test_the_same_seed_gives_the_same_comparator(short, judged, few, tmp_path):
    texts, pairs, scores = judged
    again = fit(Examples(texts, pairs, scores=scores), few, SEED, tmp_path / "again")
    assert np.array_equal(again.utilities, short[0].utilities)
    other = fit(Examples(texts, pairs, scores=scores), few, SEED + 1, tmp_path / "other")
    assert not np.array_equal(other.utilities, short[0].utilities)


def test_a_cancelled_training_goes_on_with_the_members_it_has(short, judged, few, tmp_path):
    texts, pairs, scores = judged
    steps = []

    def stop():
        steps.append(1)
        return (tmp_path / "member-0.json").is_file()

    with pytest.raises(TrainingCancelled):
        fit(Examples(texts, pairs, scores=scores), few, SEED, tmp_path, should_stop=stop)
    assert not (tmp_path / "comparator.json").exists()
    with pytest.raises(BadCheckpoint):
        load(tmp_path)
    finished = (tmp_path / "member-0.safetensors").stat().st_ino

    points = []
    resumed = fit(Examples(texts, pairs, scores=scores), few, SEED, tmp_path, lambda f, m, p: points.append((f, m, p)))
    assert (tmp_path / "member-0.safetensors").stat().st_ino == finished
    assert not list(tmp_path.glob("*.state"))
    assert np.array_equal(resumed.utilities, short[0].utilities)
    assert {point["fold"] for _, _, point in points if point} == {1, 2}
    fractions = [fraction for fraction, _, _ in points]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0


def test_what_is_learnt_from_beside_is_not_measured(judged, few, tmp_path):
    texts, pairs, scores = judged
    beside = np.arange(len(texts)) >= 90  # the second half, whole contexts
    result = fit(Examples(texts, pairs, scores=scores, beside=beside), few, SEED, tmp_path)
    assert np.isnan(result.utilities).tolist() == beside.tolist()
    assert result.contexts == 30
    keys = {context_key(text.context) for text in texts[:90]}
    assert set(load(tmp_path).manifest.folds) == keys
    alone = fit(Examples(texts[:90], [p for p in pairs if p.b < 90], scores=scores[:90]), few, SEED, tmp_path)
    assert not np.array_equal(alone.utilities, result.utilities[:90])  # it was learnt from


def test_an_expected_score_rises_with_the_utility(trained, judged):
    comparator = load(trained[1])
    u, expected = comparator.utilities(judged[0]), comparator.score(judged[0])
    assert np.array_equal(np.argsort(u, kind="stable"), np.argsort(expected, kind="stable"))
    assert 0 < expected.min() and expected.max() < 1
    assert np.abs(expected - np.array(judged[2])).mean() < 0.2


def test_other_data_do_not_resume(short, judged, few, tmp_path):
    texts, pairs, _ = judged
    changed = fit(Examples(texts, pairs[:-1]), few, SEED, shutil.copytree(short[1], tmp_path / "copy"))
    assert changed.fingerprint != short[0].fingerprint
    assert {point["fold"] for point in changed.curve} == {0, 1, 2}
    assert not np.array_equal(changed.utilities, short[0].utilities)


def test_a_judged_context_is_judged_by_the_unseen_member_alone(judged, copy):
    texts = [text for text in [*judged[0], *NEW] if not degenerate_shares([text])]  # those that are not lowered
    clean = load(copy)
    before = clean.utilities(texts)
    which = clean.members(texts)
    assert set(which) == {0, 1, 2, ALL}
    for member in range(3):
        path = copy / f"member-{member}.safetensors"
        original = path.read_bytes()
        tensors = load_file(path)
        tensors["utility.bias"] += 7
        save_file(tensors, path)
        record = json.loads((copy / "comparator.json").read_text())
        record["members"][member] = pretrained.file_sha256(path)
        (copy / "comparator.json").write_text(json.dumps(record))
        shift = (load(copy).utilities(texts) - before) / clean.head.scale
        expected = np.where(which == member, 7.0, np.where(which == ALL, 7 / 3 * clean.manifest.elsewhere[0].own, 0.0))
        assert shift == pytest.approx(expected, abs=0.01)  # the bias is rounded to fp16
        path.write_bytes(original)
        record["members"][member] = pretrained.file_sha256(path)
        (copy / "comparator.json").write_text(json.dumps(record))


def test_a_context_is_in_one_fold_however_it_is_spelt(trained, judged):
    comparator = load(trained[1])
    first = judged[0][0]
    shouted = Text(tuple(turn.upper() + "  " for turn in first.context), "anything")
    assert comparator.members([shouted]) == comparator.members([first]) == comparator.manifest.folds[context_key(first.context)]


def test_equal_and_empty_texts(trained):
    comparator = load(trained[1])
    empty = Text((), "")
    u = comparator.utilities([NEW[0], empty, NEW[0], Text(NEW[0].context, "")])
    assert np.isfinite(u).all() and u[0] == u[2]
    assert comparator.compare([NEW[0]], [NEW[0]]).choices.tolist() == ["tie"]
    assert comparator.utilities([]).shape == (0,)


def test_a_comparator_of_a_time_when_the_teacher_had_another_name_is_read(copy):
    record = json.loads((copy / "comparator.json").read_text())
    record["settings"]["contrast_teacher"] = record["settings"].pop("teacher")
    (copy / "comparator.json").write_text(json.dumps(record))
    assert load(copy).manifest.settings.teacher == ""


def test_progress_while_judging(trained, judged):
    told = []
    load(trained[1]).utilities(judged[0], on_progress=lambda f, m, p: told.append(f))
    assert told == sorted(told) and told[-1] == 1.0


def with_head(folder, **values):
    record = json.loads((folder / "comparator.json").read_text())
    (folder / "comparator.json").write_text(json.dumps(record | {"head": record["head"] | values}))


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda d: (d / "comparator.json").unlink(), "missing"),
        (lambda d: (d / "comparator.json").write_text("{"), "JSON"),
        (lambda d: (d / "comparator.json").write_text("[]"), "object"),
        (lambda d: (d / "comparator.json").write_text('{"format": 99}'), "format"),
        (lambda d: (d / "comparator.json").write_text('{"format": 6}'), "field"),
        (lambda d: with_head(d, references=-1), "references"),
        (lambda d: with_head(d, references=float("nan")), "references"),
        (lambda d: (d / "member-1.safetensors").unlink(), "missing"),
        (lambda d: (d / "member-1.safetensors").write_bytes(b"not weights"), "SHA-256"),
        (lambda d: shutil.copy(d / "member-0.safetensors", d / "member-1.safetensors"), "SHA-256"),
        (lambda d: (d / "encoder" / "model.safetensors").write_bytes(b"short"), "weights"),
        (lambda d: (d / "encoder" / "config.json").unlink(), "configuration"),
        (lambda d: shutil.rmtree(d / "encoder"), "encoder"),
    ],
)
def test_a_spoilt_folder_is_named_in_one_sentence(copy, spoil, says):
    spoil(copy)
    with pytest.raises(BadCheckpoint, match=says) as error:
        load(copy)
    assert "\n" not in str(error.value)


def test_impossible_inputs_are_one_sentence(judged, settings, tmp_path):
    texts, pairs, _ = judged
    with pytest.raises(ValueError, match="no pair"):
        fit(Examples(texts, []), settings, SEED, tmp_path)
    with pytest.raises(ValueError, match="share a context"):
        fit(Examples(texts, [type(pairs[0])(0, 50, (1.0, 0.0, 0.0), 1.0)]), settings, SEED, tmp_path)


def test_without_the_tie_option_and_from_scratch(judged, settings, tmp_path):
    texts, pairs, scores = judged
    plain = replace(settings, ties=False, from_scratch=True)
    result = fit(Examples(texts, pairs, scores=scores), plain, SEED, tmp_path)
    assert result.heldout_pairwise_accuracy > 0.9
    found = load(tmp_path).compare(NEW[:1], NEW[1:])
    assert found.choices.tolist() == ["A"] and found.probabilities[0, 1] == 0


def test_no_text_is_longer_than_the_encoder_has_positions_for(judged, settings, tmp_path):
    texts, pairs, scores = judged
    long = [Text(text.context, text.output + " w1" * 300) for text in texts[:12]]
    shown = [pair for pair in pairs if pair.b < 12]
    result = fit(
        Examples(long, shown, scores=scores[:12]), replace(settings, max_length=512, max_words=1000, epochs=1), SEED, tmp_path
    )
    assert np.isfinite(result.utilities).all()
    assert load(tmp_path).encoder.max_length == 128
    assert (result.cut_contexts, result.cut_outputs) == (12, 12)


def test_a_cosine_that_is_the_same_for_all_weighs_nothing(settings, tmp_path):
    texts = [Text((f"w{i}",), word) for i in range(12) for word in ("good", "bad")]
    pretrained.save_encoder(settings.encoder, tmp_path)
    encoder = Encoder(pretrained.load_tokenizer(tmp_path), 32)
    model = UtilityModel(pretrained.load_encoder(tmp_path))
    for cosines, weighs in ((torch.full((24,), 0.3), False), (torch.linspace(0, 1, 24), True)):
        taught = lambda fold: np.arange(24) % 2 != fold
        data = SimpleNamespace(taught_without=taught, cosines=cosines, encoder=encoder, sequences=encoder.pairs(texts))
        weigh_cosines(model, data, 0, settings)
        assert (model.cosine.item() != 0) == weighs


def test_in_a_long_context_the_cosine_takes_the_place_of_the_encoded_pair(settings, tmp_path):
    """By hand, at a familiarity of a quarter: a quarter of what the pair says, and 2 - 1/4 of what the cosine says."""
    pretrained.save_encoder(settings.encoder, tmp_path)
    encoder = Encoder(pretrained.load_tokenizer(tmp_path), 32)
    model = UtilityModel(pretrained.load_encoder(tmp_path)).eval()
    sequences = encoder.pairs([Text(("w1 w2",), "good")])
    batch, cosine, bias = encoder.batch(sequences, [0]), torch.tensor([0.5]), 0.25
    torch.nn.init.constant_(model.utility.bias, bias)
    with torch.no_grad():
        short = model(batch, cosine).item()
        long = model(replace(batch, familiarity=torch.tensor([0.25])), cosine).item()
    said_by_cosine = 4.0 * 0.5  # its weight at the start
    said_by_pair = short - bias - said_by_cosine
    assert said_by_pair != 0
    assert long == pytest.approx(said_by_pair / 4 + bias + 1.75 * said_by_cosine, abs=1e-5)


@pytest.mark.parametrize("architecture", ["utility", "joint"])
def test_members_leave_out_whole_conversations(judged, few, tmp_path, architecture):
    """Twelve conversations of three contexts, of which the first is the same for all."""
    texts, pairs, scores = judged
    groups = [f"talk {i // 9}" for i in range(108)]
    hello = [("Hello!",) if i % 9 < 3 else text.context for i, text in enumerate(texts[:108])]
    turns = [
        replace(text, context=context, group=group, context_id=f"{i // 3}")
        for i, (text, context, group) in enumerate(zip(texts, hello, groups))
    ]
    given = Examples(turns, [pair for pair in pairs if pair.b < 108], scores=scores[:108])
    result = fit(given, replace(few, epochs=1, architecture=architecture), SEED, tmp_path)
    assert np.isfinite(result.utilities).all() and result.contexts == 36  # openings are measured, and learnt from by nobody
    comparator = load(tmp_path)
    who = comparator.members(turns)
    assert np.bincount(who[::9]).tolist() == [4, 4, 4] and all(len(set(who[i : i + 9])) == 1 for i in range(0, 108, 9))
    assert comparator.members([replace(turns[0], context=("never asked",))]) == who[0]
    assert comparator.members([Text(("Hello!",), "w1")]).tolist() == [ALL]
    assert len(comparator.manifest.folds) == 24 + 12 and comparator.manifest.beside == []
    if architecture == "utility":
        assert comparator.utilities(turns) == pytest.approx(result.utilities, abs=1e-3)
