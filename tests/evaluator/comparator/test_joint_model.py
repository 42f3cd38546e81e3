"""The paper's architecture on a tiny encoder: it must learn, resume, and give one answer for both orders."""

import json
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

from evaluator.comparator import joint_model, storage
from evaluator.comparator.architectures import load
from evaluator.comparator.examples import Examples, Exchange
from evaluator.comparator.predict import ALL, Comparator
from evaluator.comparator.training import joint_training
from evaluator.comparator.training.dataset import MIXED
from evaluator.comparator.training.progress import TrainingCancelled
from evaluator.comparator.training.train import fit
from evaluator.comparator.transfer import judge
from evaluator.comparator.utility_model import UtilityModel
from evaluator.encoders import pretrained
from evaluator.encoders.encoding import Encoder, Sequences
from evaluator.encoders.loop import State
from evaluator.encoders.pretrained import BadCheckpoint
from evaluator.judges.texts import Text

SEED = 3
NEW = [Text(("w1 w2 w3 w4", "w5 w6"), f"w7 {word} w8") for word in ("good", "w0", "bad")]  # a context never judged


@pytest.fixture(scope="module")
def fitted(settings, judged, tmp_path_factory):
    """The result and the folder of one training."""
    texts, pairs, scores = judged
    folder = tmp_path_factory.mktemp("joint")
    recipe = replace(settings, architecture="joint", folds=2, epochs=28, learning_rate=3e-3, batch_size=8, from_scratch=True)
    return fit(Examples(texts, pairs, scores=scores), recipe, SEED, folder), folder


@pytest.fixture(scope="module")
def short(settings):
    return replace(settings, architecture="joint", epochs=1, folds=2)


class TestReading:
    def test_context_and_both_outputs_are_read_together(self, tiny_encoder):
        encoder = _encoder(tiny_encoder, 24)
        sequences = encoder.pairs([Text(("w1", "w2"), "w3"), Text(("w1", "w2"), "w4 w5")])
        read = joint_model.triples(sequences, [0, 1], [1, 0], 24)
        words = [encoder.tokenizer.convert_ids_to_tokens(ids) for ids in read.ids]
        assert words[0] == ["[CLS]", "w1", "[SEP]", "w2", "[SEP]", "w3", "[SEP]", "w4", "w5", "[SEP]"]
        assert words[1] == ["[CLS]", "w1", "[SEP]", "w2", "[SEP]", "w4", "w5", "[SEP]", "w3", "[SEP]"]
        assert read.segments[0] == [0, 0, 0, 0, 0, 1, 1, 2, 2, 2] and read.segments[1] == [0, 0, 0, 0, 0, 1, 1, 1, 2, 2]

    @pytest.mark.parametrize(("a", "b", "kept"), [(3, 20, (4, 7)), (20, 3, (7, 4)), (20, 20, (5, 6)), (2, 2, (3, 3))])
    def test_the_longer_output_is_cut_and_the_context_before_it(self, tiny_encoder, a, b, kept):
        encoder = _encoder(tiny_encoder, 12)  # [CLS] and 11 more
        sequences = encoder.pairs([Text(("w1 w2 w3 w4 w5 w6",), " ".join(["w7"] * n)) for n in (a, b)])
        read = joint_model.triples(sequences, [0], [1], 12)
        context = max(0, 11 - sum(kept))
        assert read.segments[0] == [0] * (1 + context) + [1] * kept[0] + [2] * kept[1]
        ends = [i for i, token in enumerate(read.ids[0]) if token == encoder.sep]
        assert (ends[-2], ends[-1]) == (context + kept[0], context + sum(kept))


class TestStarting:
    def test_it_says_of_two_read_together_what_the_unit_says_of_each(self, tiny_encoder):
        unit = UtilityModel(AutoModel.from_pretrained(tiny_encoder))
        torch.nn.init.normal_(unit.utility.weight)
        model = joint_model.JointModel(unit.encoder)
        model.start_from(unit)
        read = torch.randn(5, 4, 32)  # of all; of A, with the context; of B, with the context
        logits = model.answer(torch.cat(list(read), dim=-1))  # (4, 3)
        alone = [unit.utility(torch.cat([read[0], *read[k : k + 2]], dim=-1))[:, 0] for k in (1, 3)]  # (4,) each
        assert (logits[:, 0] - logits[:, 2]).tolist() == pytest.approx((alone[0] - alone[1]).tolist(), abs=1e-4)
        assert logits[:, 1].tolist() == [0.0] * 4


class TestLearning:
    def test_it_learns_which_word_is_good(self, fitted, judged):
        result, _ = fitted
        assert result.heldout_pairwise_accuracy > 0.9
        low, high = result.heldout_pairwise_interval
        assert low <= result.heldout_pairwise_accuracy <= high
        assert result.heldout_three_way_accuracy > 0.85 and result.calibration_error < 0.2
        assert 0.3 < result.longer_is_better_accuracy < 0.7
        assert np.corrcoef(result.utilities, judged[2])[0, 1] > 0.8
        points = [point for point in result.curve if point["fold"] == 0]
        assert [point["epoch"] for point in points] == list(range(1, 29))
        assert points[-1]["train_loss"] < points[0]["train_loss"]

    def test_it_tells_how_often_it_contradicts_itself(self, fitted):
        found = fitted[0].consistency
        assert (found.pairs, found.triples) == (180, 60)  # three pairs and one triple in each of 60 contexts
        assert found.flips_interval[0] <= found.flips <= found.flips_interval[1] < 0.5
        assert 0 <= found.circular <= 0.2

    def test_what_is_loaded_gives_the_heldout_answers(self, fitted, judged):
        texts, pairs, _ = judged
        result, folder = fitted
        comparator = load(folder)
        assert comparator.score(texts) == pytest.approx(result.utilities, abs=1e-5)
        found = comparator.compare([texts[p.a] for p in pairs], [texts[p.b] for p in pairs])
        assert (found.choices == [p.choice for p in pairs]).mean() == pytest.approx(result.heldout_three_way_accuracy)

    def test_both_orders_are_measured_whichever_output_a_pair_names_first(self, short, judged, tmp_path):
        texts, pairs, scores = judged
        turned = [replace(p, a=p.b, b=p.a, target=p.target[::-1]) for p in pairs]
        mixed = [pairs[i] if i % 2 else turned[i] for i in range(len(pairs))]
        fit(Examples(texts, mixed, scores=scores), short, SEED, tmp_path)
        comparator = load(tmp_path)
        for fold in range(2):
            mine = [p for p in mixed if comparator.members([texts[p.a]])[0] == fold]
            a, b = [texts[p.a] for p in mine], [texts[p.b] for p in mine]
            orders = np.array(storage.read_json(tmp_path / f"member-{fold}.json")["orders"])  # (q, 2, 3)
            assert orders[:, 0] == pytest.approx(comparator.one_order(a, b).probabilities, abs=1e-5)
            assert orders[:, 1] == pytest.approx(comparator.one_order(b, a).probabilities[:, ::-1], abs=1e-5)

    def test_a_step_reads_pairs_of_similar_length(self):
        tokens = np.arange(3, 103)  # of the texts in a hundred contexts of two
        ids = [[0] * n for n in np.repeat(tokens, 2)]
        a = np.arange(0, 200, 2)
        data = SimpleNamespace(
            a=a,
            b=a + 1,
            taught_without=lambda fold: np.repeat(np.arange(100) % 5, 2) != fold,
            encoder=SimpleNamespace(max_length=1000),
            sequences=Sequences(ids, [[0] * (len(i) - 1) + [1] for i in ids]),
        )
        made = joint_training.batches(data, 0, 10, np.random.default_rng(1), MIXED)
        assert sorted(np.concatenate(made)) == [i for i in range(100) if i % 5]  # each pair of the other folds once
        spans = [np.ptp(pairs) for pairs in made]  # the tokens rise by one from pair to pair
        assert max(spans) < 35  # 10 of 80 at random span 80 or so

    def test_the_same_seed_gives_the_same_weights_even_after_a_cut(self, short, judged, tmp_path, monkeypatch):
        texts, pairs, scores = judged
        whole = fit(Examples(texts, pairs, scores=scores), short, SEED, tmp_path / "whole")
        monkeypatch.setattr(State, "due", lambda self: True)
        asked = []

        def stop():
            asked.append(1)
            return len(asked) == 8  # in the middle of the first member

        with pytest.raises(TrainingCancelled):
            fit(Examples(texts, pairs, scores=scores), short, SEED, tmp_path / "cut", should_stop=stop)
        assert (tmp_path / "cut" / "member-0.state").is_file() and not (tmp_path / "cut" / "member-0.json").exists()
        resumed = fit(Examples(texts, pairs, scores=scores), short, SEED, tmp_path / "cut")
        assert np.array_equal(resumed.utilities, whole.utilities)
        for member in range(2):
            name = f"member-{member}.safetensors"
            assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
        other = fit(Examples(texts, pairs, scores=scores), short, SEED + 1, tmp_path / "other")
        assert not np.array_equal(other.utilities, whole.utilities)

    def test_without_the_tie_option_it_never_says_tie(self, short, judged, tmp_path):
        texts, pairs, scores = judged
        result = fit(Examples(texts, pairs, scores=scores), replace(short, ties=False), SEED, tmp_path)
        said = load(tmp_path).compare([texts[p.a] for p in pairs], [texts[p.b] for p in pairs])
        assert said.probabilities[:, 1] == pytest.approx(0) and "tie" not in said.choices
        assert np.isfinite([point["train_loss"] for point in result.curve]).all() and result.ties.rate == 0

    def test_members_start_from_the_encoder_of_the_base(self, short, judged, tmp_path):
        texts, pairs, scores = judged
        exchanges = [Exchange(str(i), (f"w{i} w{i + 1} said",), (f"w{i} good", f"w{i + 2}")) for i in range(20)]
        still = replace(short, learning_rate=0.0, weight_decay=0.0, base_passes=1, contrast_passes=1)
        result = fit(Examples(texts, pairs, scores=scores, exchanges=exchanges), still, SEED, tmp_path)
        assert result.learnt_from["exchanges"] == 20
        assert not (tmp_path / "matcher.safetensors").exists() and not (tmp_path / "references.safetensors").exists()
        base, member = storage.load_base(tmp_path), load(tmp_path).models[0]
        untrained = pretrained.load_encoder(tmp_path).state_dict()
        for name, tensor in base.encoder.state_dict().items():
            assert np.array_equal(tensor, member.encoder.state_dict()[name]), name
        assert any(not np.array_equal(tensor, untrained[name]) for name, tensor in base.encoder.state_dict().items())


class TestJudging:
    def test_swapping_the_sides_swaps_the_answer(self, fitted, judged):
        comparator, a, b = load(fitted[1]), judged[0][::3], judged[0][1::3]
        there, back = comparator.compare(a, b), comparator.compare(b, a)
        assert there.probabilities == pytest.approx(back.probabilities[:, ::-1], abs=1e-6)
        assert there.probabilities.sum(-1) == pytest.approx(1)
        swapped = {"A": "B", "tie": "tie", "B": "A"}
        assert there.choices.tolist() == [swapped[choice] for choice in back.choices]

    def test_equal_outputs_tie(self, fitted, judged):
        found = load(fitted[1]).compare(judged[0][:9], judged[0][:9])
        assert set(found.choices) == {"tie"} and np.array_equal(found.probabilities, found.probabilities[:, ::-1])

    def test_the_mean_of_both_orders(self, fitted, judged):
        comparator, a, b = load(fitted[1]), judged[0][::3], judged[0][1::3]
        there, back = comparator.one_order(a, b).probabilities, comparator.one_order(b, a).probabilities
        mean = joint_model.guard((there + back[:, ::-1]) / 2, a, b)
        assert comparator.compare(a, b).probabilities == pytest.approx(mean, abs=1e-6)

    def test_unseen_contexts_are_judged_by_all_members(self, fitted):
        comparator = load(fitted[1])
        assert set(comparator.members(NEW)) == {ALL}
        assert comparator.compare(NEW[:1], NEW[2:]).choices.tolist() == ["A"]
        each = []
        for model in list(comparator.models):
            comparator.models = [model]
            each.append(comparator.compare(NEW[:1], NEW[2:]).probabilities)
        assert load(fitted[1]).compare(NEW[:1], NEW[2:]).probabilities == pytest.approx(np.mean(each, axis=0))

    def test_its_members_differ_by_as_much_as_they_say(self, fitted, judged):
        comparator, a, b = load(fitted[1]), [*judged[0][:9:3], NEW[0]], [*judged[0][2:9:3], NEW[2]]
        each = []
        for model in load(fitted[1]).models:
            alone = load(fitted[1])
            alone.models = [model, model]  # whatever context they are asked about
            each.append(alone.differences(a, b))
        assert comparator.disagreement(a, b) == pytest.approx(np.abs(each[0] - each[1]) / 2, abs=1e-6)  # SD of two
        assert len(comparator.models) == 2 and set(comparator.members(a)) > {ALL}  # it is as it was

    def test_a_score_is_the_mean_of_the_games_in_its_context(self, fitted):
        comparator = load(fitted[1])
        p = comparator.compare([NEW[0], NEW[0], NEW[1]], [NEW[1], NEW[2], NEW[2]]).probabilities
        win, lose = p[:, 0] + p[:, 1] / 2, p[:, 2] + p[:, 1] / 2
        expected = [(win[0] + win[1]) / 2, (lose[0] + win[2]) / 2, (lose[1] + lose[2]) / 2]
        alone = Text(("w9",), "w2")
        assert comparator.score([*NEW, alone]) == pytest.approx([*expected, 0.5], abs=1e-6)
        assert expected == sorted(expected, reverse=True)
        scores, of_pairs = judge(comparator, NEW, [2], [0], None)
        assert scores == pytest.approx(expected, abs=1e-6) and of_pairs == pytest.approx(p[1:2, ::-1], abs=1e-6)
        assert comparator.differences(NEW[:1], NEW[2:]) == pytest.approx(p[1, 0] - p[1, 2], abs=1e-6)

    def test_outputs_of_different_contexts_are_refused(self, fitted):
        with pytest.raises(ValueError, match="one context"):
            load(fitted[1]).compare([Text(("w1",), "w2")], [Text(("w2",), "w2")])

    def test_a_more_degenerate_output_that_is_preferred_changes_places_by_the_difference_of_the_shares(self):
        honest, half, blank = Text(("w1",), "w2"), Text(("w1",), "w2 w2 w2"), Text(("w1",), " ")  # shares 0, 1/2, 1
        p = np.array([[0.1, 0.2, 0.7], [0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.3, 0.4, 0.3], [0.8, 0.2, 0.0]])
        kept = joint_model.guard(p, [honest, honest, blank, blank, half], [blank, blank, blank, honest, honest])
        wanted = [[0.7, 0.2, 0.1], [0.7, 0.2, 0.1], [0.1, 0.2, 0.7], [0.3, 0.4, 0.3], [0.4, 0.2, 0.4]]
        assert kept == pytest.approx(np.array(wanted))


class TestFiles:
    def test_each_architecture_is_loaded_as_what_it_is(self, fitted, trained):
        assert type(load(fitted[1])) is joint_model.JointComparator
        assert type(load(trained[1])) is Comparator

    @pytest.mark.parametrize(("named", "says"), [("utility", "weights of this encoder"), ("both", "unknown architecture")])
    def test_an_architecture_that_is_not_the_weights_is_refused(self, fitted, tmp_path, named, says):
        copy = shutil.copytree(fitted[1], tmp_path / "copy")
        record = json.loads((copy / "comparator.json").read_text())
        record["settings"]["architecture"] = named
        (copy / "comparator.json").write_text(json.dumps(record))
        with pytest.raises(BadCheckpoint, match=says):
            load(copy)

    def test_a_comparator_from_before_there_were_two_is_a_utility(self, trained, tmp_path):
        copy = shutil.copytree(trained[1], tmp_path / "copy")
        record = json.loads((copy / "comparator.json").read_text())
        del record["settings"]["architecture"]
        (copy / "comparator.json").write_text(json.dumps(record))
        assert type(load(copy)) is Comparator

    def test_several_criteria_are_not_learnt(self, short, judged, tmp_path):
        with pytest.raises(ValueError, match="learns one criterion, not 2"):
            fit(Examples(judged[0], judged[1], criteria=("Overall", "Wit")), short, SEED, tmp_path)

    def test_an_unknown_one_is_not_trained(self, settings, judged, tmp_path):
        with pytest.raises(ValueError, match="utility or joint"):
            fit(Examples(judged[0], judged[1]), replace(settings, architecture="both"), SEED, tmp_path)


def _encoder(folder: str, max_length: int) -> Encoder:
    return Encoder(AutoTokenizer.from_pretrained(folder), max_length)


class TestSharesOfVotes:
    """Of four people two say A, one a tie, one B. Cross-entropy is least where the model says these shares, not what most say,
    and it is their entropy there (Gibbs' inequality)."""

    SHARES = torch.tensor([[0.5, 0.25, 0.25]], dtype=torch.float64)

    def test_the_joint_models_loss(self):
        losses = lambda said, ties: joint_model.JointModel.losses(
            SimpleNamespace(ties=ties), torch.tensor([said]).log(), self.SHARES
        )
        assert losses([0.5, 0.25, 0.25], True).item() == pytest.approx(1.5 * np.log(2))  # bits: 1/2 * 1 + 1/4 * 2 + 1/4 * 2
        assert all(losses(other, True) > 1.5 * np.log(2) for other in ([0.9, 0.05, 0.05], [0.4, 0.3, 0.3], [0.25, 0.25, 0.5]))
        # without ties five of eight are for A: -5/8 ln 5/8 - 3/8 ln 3/8 = 0.66156
        assert losses([0.625, 1e-9, 0.375], False).item() == pytest.approx(0.66156, abs=1e-5)
        assert all(losses(other, False) > 0.6616 for other in ([0.5, 1e-9, 0.5], [0.75, 1e-9, 0.25]))

    def test_the_utility_models_loss(self):
        d = torch.linspace(-2, 2, 4001, dtype=torch.float64)
        loss = UtilityModel.pair_losses(SimpleNamespace(ties=False), d, self.SHARES.expand(len(d), 3))
        assert d[loss.argmin()].item() == pytest.approx(np.log(5 / 3), abs=1e-3) and loss.min().item() == pytest.approx(
            0.66156, abs=1e-5
        )
        tied = UtilityModel.pair_losses(SimpleNamespace(ties=True, theta=torch.tensor(0.5)), d, self.SHARES.expand(len(d), 3))
        turned = UtilityModel.pair_losses(
            SimpleNamespace(ties=True, theta=torch.tensor(0.5)), -d, self.SHARES.flip(1).expand(len(d), 3)
        )
        assert 0 < d[tied.argmin()] < d[-1] and torch.allclose(tied, turned)
