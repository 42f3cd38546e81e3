"""A base made once: trainings start from it without learning from dialogues again, and know what it saw."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer, BertConfig, BertModel

from evaluator.comparator import storage
from evaluator.comparator.architectures import load
from evaluator.comparator.base import drawn, load_manifest, make_base
from evaluator.comparator.examples import Examples, Exchange
from evaluator.comparator.supervision import curriculum
from evaluator.comparator.supervision.contrastive import matching_loss
from evaluator.comparator.supervision.pretraining import Lesson
from evaluator.comparator.supervision.self_supervision import exchanges, passes_over
from evaluator.comparator.training import dataset
from evaluator.comparator.training.progress import TrainingCancelled
from evaluator.comparator.training.train import fit
from evaluator.comparator.utility_model import utilities
from evaluator.encoders import pretrained
from evaluator.encoders.encoding import Encoder
from evaluator.encoders.hidden_states import embeddings
from evaluator.encoders.pretrained import BadCheckpoint
from evaluator.judges.texts import Text
from tests.evaluator.comparator.test_pretraining import talk


@pytest.fixture(scope="module")
def quick(settings):
    return replace(settings, folds=2, epochs=1, base_passes=1, base_harder_passes=0.5, contrast_passes=1)


@pytest.fixture(scope="module")
def said(judged) -> list[Exchange]:
    """Forty conversations, and one more in which two of the judged contexts stand."""
    first, second = judged[0][0].context, judged[0][3].context
    return [*talk(40, 0), Exchange(first, ("w1 good",), "seen"), Exchange(second, ("w2 good",), "seen")]


@pytest.fixture(scope="module")
def base(said, quick, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bases") / "general"
    return folder, make_base(said, quick, 0, folder)


@pytest.fixture
def started(quick):
    """The settings of a training that starts from it."""
    return replace(quick, encoder="", base="general")


@pytest.fixture(scope="module")
def teacher(tiny_encoder, tmp_path_factory) -> str:
    """Wider than the student, with weights of its own, four times as large: its cosines differ."""
    folder = tmp_path_factory.mktemp("teacher")
    AutoTokenizer.from_pretrained(tiny_encoder).save_pretrained(folder)
    torch.manual_seed(4)
    encoder = BertModel(BertConfig.from_pretrained(tiny_encoder, hidden_size=48, num_attention_heads=3))
    for weights in encoder.parameters():
        if weights.dim() == 2:
            weights.data *= 4
    encoder.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def trained(base, quick, judged, tmp_path_factory):
    """The result and the folder of a training that starts from it, and what was told meanwhile."""
    texts, pairs, scores = judged
    folder, told = tmp_path_factory.mktemp("run"), []
    given = Examples(texts, pairs, scores=scores, exchanges=talk(10, 5))
    start = replace(quick, encoder="", base="general")
    result = fit(given, start, 0, folder, lambda done, message, point: told.append(message), base_dir=base[0])
    return result, folder, told


class TestMade:
    def test_the_manifest_names_every_file_by_its_hash(self, base):
        folder, manifest = base
        assert load_manifest(folder) == manifest
        assert (manifest["exchanges"], manifest["conversations"]) == (42, 41)
        for name, sha256 in manifest["files"].items():
            path = folder / ("encoder/model.safetensors" if name == "encoder" else f"{name}.safetensors")
            assert pretrained.file_sha256(path) == sha256
        assert len(manifest["files"]) == 5 and not (folder / "teacher").exists()

    def test_the_same_again_is_found_and_another_one_refused(self, base, said, quick):
        folder, manifest = base
        told = []
        assert make_base(said, quick, 0, folder, lambda *what: told.append(what)) == manifest and told == []
        for changed in ((said[:-1], quick, 0), (said, replace(quick, base_passes=2), 0), (said, quick, 1)):
            with pytest.raises(ValueError, match="There is a base general already"):
                make_base(*changed, folder)
        assert load_manifest(folder) == manifest

    def test_one_that_was_cut_goes_on_and_is_no_base_before_its_end(self, base, said, quick, started, judged, tmp_path):
        def cut(done, message, point):
            if message.startswith("Learning from dialogues"):
                raise TrainingCancelled

        with pytest.raises(TrainingCancelled):
            make_base(said, quick, 0, tmp_path / "general", cut)
        matcher = (tmp_path / "general" / "matcher.safetensors").stat().st_mtime_ns
        with pytest.raises(BadCheckpoint, match="manifest.json is missing"):
            fit(Examples(*judged[:2]), started, 0, tmp_path / "run", base_dir=tmp_path / "general")
        assert make_base(said, quick, 0, tmp_path / "general")["sha256"] == base[1]["sha256"]
        assert (tmp_path / "general" / "matcher.safetensors").stat().st_mtime_ns == matcher

    def test_one_conversation_is_none_to_learn_from(self, quick, tmp_path):
        with pytest.raises(ValueError, match="at least two conversations"):
            make_base(talk(1, 0), quick, 0, tmp_path / "lonely")
        assert not (tmp_path / "lonely").exists()

    def test_whole_conversations_are_drawn(self):
        many = exchanges((f"d{i}", [f"{i} {turn}" for turn in range(4)], []) for i in range(10))  # three replies in each
        few = drawn(many, 7, 0)
        assert len(few) == 9 and len({exchange.dialogue for exchange in few}) == 3
        assert few == drawn(many, 7, 0) != drawn(many, 7, 1) and drawn(many, 100, 0) == many

    def test_a_pass_over_many_shows_a_part_and_the_next_one_goes_on(self):
        rounds = passes_over(10, 2.5, 4, np.random.default_rng(0))
        assert [len(shown) for shown in rounds] == [4, 4, 2]
        assert sorted(np.concatenate(rounds)) == list(range(10))
        all_of_them = np.random.default_rng(0)
        assert [r.tolist() for r in passes_over(3, 2, 7_000, np.random.default_rng(0))] == [
            all_of_them.permutation(3).tolist(),
            all_of_them.permutation(3).tolist(),
        ]
        assert passes_over(3, 0, 7_000, np.random.default_rng(0)) == []


class TestStartedFrom:
    def test_nothing_is_learnt_from_dialogues(self, trained, base):
        result, folder, told = trained
        assert not [message for message in told if "ialogues" in message or "replies" in message]
        assert result.learnt_from["exchanges"] == 0 and result.seconds < base[1]["seconds"] + 60
        for name in ("base", "matcher"):
            assert pretrained.file_sha256(folder / f"{name}.safetensors") == base[1]["files"][name]
        assert load(folder).manifest.settings.base == "general"

    def test_it_says_which_judged_contexts_the_base_learnt_from(self, trained, base):
        assert trained[0].base == {"name": "general", "sha256": base[1]["sha256"], "contexts": 60, "known": 2}

    def test_replies_to_those_are_not_looked_up(self, trained, base):
        """The conversation with both has the last two exchanges."""
        whole = storage.load_references(base[0], base[1]["files"]["references"])
        left = load(trained[1]).references
        assert len(whole.counts) == 42 and torch.equal(left.contexts, whole.contexts[:40])
        assert torch.equal(left.replies, whole.replies[: int(whole.counts[:40].sum())])

    def test_a_context_learnt_beside_does_not_see_its_own_replies(self, base, started, judged, tmp_path, monkeypatch):
        texts, pairs, scores = judged
        hidden = []
        monkeypatch.setattr(
            dataset, "beside_pairs", lambda *given: hidden.extend(given[-1]) or (torch.rand(len(texts)), np.zeros(len(texts)))
        )
        beside = np.arange(len(texts)) < 3  # the first context
        result = fit(Examples(texts, pairs, scores=scores, beside=beside), started, 0, tmp_path, base_dir=base[0])
        assert (result.base["contexts"], result.base["known"]) == (59, 1)
        assert len(load(tmp_path).references.counts) == 40  # the second one stands in the same conversation
        assert [rows.tolist() for rows in hidden[:4]] == [[]] * 4

    def test_the_fingerprint_knows_the_files(self, trained, base, said, quick, started, judged, tmp_path):
        """A base whose matcher alone is another."""
        other = make_base(said, replace(quick, contrast_learning_rate=1e-2), 0, tmp_path / "general")
        assert other["files"]["base"] == base[1]["files"]["base"] and other["sha256"] != base[1]["sha256"]
        texts, pairs, scores = judged
        result = fit(Examples(texts, pairs, scores=scores), started, 0, tmp_path / "run", base_dir=tmp_path / "general")
        again = fit(Examples(texts, pairs, scores=scores), started, 0, tmp_path / "again", base_dir=base[0])
        assert result.fingerprint != trained[0].fingerprint == again.fingerprint

    def test_a_joint_comparator_takes_the_encoded_pair_alone(self, base, started, judged, tmp_path):
        joint = replace(started, architecture="joint")
        result = fit(Examples(judged[0][:12], judged[1][:8]), joint, 0, tmp_path, base_dir=base[0])
        assert result.base["known"] == 2 and not (tmp_path / "matcher.safetensors").exists()

    @pytest.mark.parametrize("name", ["base.safetensors", "references.safetensors", "encoder/model.safetensors"])
    def test_a_file_that_is_another_is_refused(self, name, said, quick, started, judged, tmp_path):
        make_base(said, quick, 0, tmp_path / "general")
        (tmp_path / "general" / name).write_bytes(b"another")
        with pytest.raises(BadCheckpoint, match="manifest names"):
            fit(Examples(*judged[:2]), started, 0, tmp_path / "run", base_dir=tmp_path / "general")

    def test_neither_another_encoder_nor_a_name_without_a_folder(self, base, started, quick, judged, tmp_path):
        for wrong, folder, says in (
            (replace(started, encoder=quick.encoder), base[0], "its own encoder"),
            (replace(started, from_scratch=True), base[0], "its own encoder"),
            (started, None, "its folder is given"),
            (quick, base[0], "its folder is given"),
        ):
            with pytest.raises(ValueError, match=says):
                fit(Examples(*judged[:2]), wrong, 0, tmp_path, base_dir=folder)


class TestTaught:
    def test_the_loss_by_hand(self):
        """Two contexts with two replies each. The first one's choice among its first reply and the other's replies, and so on;
        half of each target is the teacher's softmax."""
        scaled = torch.tensor([[2.0, 0.5, 1.0, -1.0], [0.0, 1.5, 0.3, 0.7]])
        told = torch.tensor([[1.0, 0.0, 2.0, 0.5], [0.2, 0.4, -0.5, 1.0]])

        def choice(own: int, candidates: list[tuple[int, int]], soft: float) -> float:
            student = [math.exp(scaled[i, j]) for i, j in candidates]
            teacher = [math.exp(told[i, j]) for i, j in candidates]
            loss = 0.0
            for k in range(len(candidates)):
                wanted = (1 - soft) * (k == own) + soft * teacher[k] / sum(teacher)
                loss -= wanted * math.log(student[k] / sum(student))
            return loss

        def by_hand(soft: float) -> float:
            rows = [choice(0, [(0, 0), (0, 1), (0, 3)], soft), choice(0, [(1, 1), (1, 0), (1, 2)], soft)]
            rows += [choice(0, [(0, 2), (0, 1), (0, 3)], soft), choice(0, [(1, 3), (1, 0), (1, 2)], soft)]
            columns = [choice(j % 2, [(0, j), (1, j)], soft) for j in range(4)]
            return (sum(rows) + sum(columns)) / 4  # a mean over two contexts, of two pairs of choices

        assert float(matching_loss(scaled)) == pytest.approx(by_hand(0.0), abs=1e-5)
        assert float(matching_loss(scaled, told)) == pytest.approx(by_hand(0.5), abs=1e-5)

    @pytest.mark.parametrize("taught", [False, True])
    def test_the_loss_of_a_lesson_by_hand(self, tiny_encoder, quick, taught):
        """Two exchanges with two good replies and two negatives each: every good one is found among the negatives, and every
        reply has a mean score, 0.95 or 0.05. Half of both targets is what the teacher says."""
        own = [[2.0, 1.0, 0.5, -1.0], [0.3, -0.2, 0.1, 0.4]]
        told = [[1.0, 0.0, 2.0, 0.5], [0.2, 0.4, -0.5, 1.0]]
        scores = [[0.9, 0.6, 0.8, 0.7], [0.5, 0.6, 0.4, 0.7]]
        share = 0.5 if taught else 0.0

        def sigmoid(x):
            return 1 / (1 + math.exp(-x))

        found, expected = 0.0, 0.0
        for u, t, said in zip(own, told, scores):
            for good in (0, 1):
                among = [good, 2, 3]
                mine, theirs = (sum(math.exp(x[k]) for k in among) for x in (u, t))
                for k in among:
                    wanted = (1 - share) * (k == good) + share * math.exp(t[k]) / theirs
                    found -= wanted * math.log(math.exp(u[k]) / mine) / 4
            for k, hard in enumerate((0.95, 0.95, 0.05, 0.05)):
                wanted = (1 - share) * hard + share * said[k]
                expected -= (wanted * math.log(sigmoid(u[k])) + (1 - wanted) * math.log(sigmoid(-u[k]))) / 8

        class Student:
            def __call__(self, batch, cosines):
                return torch.tensor(own).view(-1, 1)

            def score_losses(self, u, wanted):
                return torch.nn.functional.binary_cross_entropy_with_logits(u, wanted, reduction="none")

        says = lambda texts: (torch.tensor(told).view(-1), torch.tensor(scores).view(-1)) if len(texts) == 8 else None
        tokenizer = AutoTokenizer.from_pretrained(tiny_encoder)
        lesson = Lesson(talk(2, 0), quick, 0, tokenizer, curriculum.EASY, 1, says if taught else None)
        assert [float(loss) for loss in lesson.losses(Student(), 0)] == pytest.approx([found + expected], abs=1e-5)

    def test_one_that_was_cut_goes_on_with_what_the_teacher_has_learnt(self, teacher, quick, tmp_path):
        said, taught = talk(20, 0), replace(quick, teacher=teacher)
        whole, told, seen = make_base(said, taught, 0, tmp_path / "whole"), [], []

        def cut(done, message, point):
            told.append(done)
            if message.startswith("Learning from dialogues"):
                raise TrainingCancelled

        with pytest.raises(TrainingCancelled):
            make_base(said, taught, 0, tmp_path / "cut", cut)
        learnt = tmp_path / "cut" / "teacher" / "base.safetensors"
        at = learnt.stat().st_mtime_ns

        def watch(done, message, point):
            seen.append(done)
            if learnt.is_file():
                assert learnt.stat().st_mtime_ns == at

        again = make_base(said, taught, 0, tmp_path / "cut", watch)
        assert again["files"] == whole["files"] and again["seconds"] > 0
        assert told == sorted(told) and seen == sorted(seen) and seen[-1] == 1.0
        assert whole["files"] != make_base(said, quick, 0, tmp_path / "alone")["files"]

    def test_a_joint_base_is_taught_too(self, teacher, quick, tmp_path):
        said, joint = talk(20, 0), replace(quick, architecture="joint")
        taught, alone = (
            make_base(said, replace(joint, teacher=name), 0, tmp_path / (name and "taught" or "alone"))
            for name in (teacher, "")
        )
        assert taught["files"]["matcher"] is None and taught["files"]["base"] != alone["files"]["base"]

    def test_the_student_comes_nearer_to_the_teacher(self, teacher, quick, tmp_path):
        """In the cosines of contexts with the replies to others, and in the utilities of those, of which the dialogues alone
        say only that they are low. The teacher has learnt the dialogues first."""
        said = talk(60, 0)
        passes = dict(contrast_passes=3, contrast_learning_rate=2e-3, base_passes=3, base_learning_rate=2e-3)
        long = replace(quick, **passes, base_harder_passes=0, references=False, from_scratch=True)
        others = [Text(e.context, f.replies[0]) for e in said[:20] for f in said[20:40]]

        def cosines(folder, encoder):
            reader = Encoder(pretrained.load_tokenizer(folder), 16)
            sides = [[e.context[-1] for e in said], [e.replies[0] for e in said]]
            contexts, replies = (embeddings(encoder, reader, side) for side in sides)
            return (contexts @ replies.T)[~torch.eye(60, dtype=torch.bool)].numpy()

        def learnt(name, settings):
            made = make_base(said, settings, 0, tmp_path / name)
            assert not (tmp_path / name / "teacher").exists()
            matcher = storage.load_matcher(tmp_path / name, made["files"]["matcher"])
            encoder, base = Encoder(pretrained.load_tokenizer(tmp_path / name), 16), storage.load_base(tmp_path / name)
            u = utilities(base, encoder, encoder.pairs(others), torch.zeros(len(others)), range(len(others)))[:, 0]
            return cosines(tmp_path / name, matcher), u

        wanted = learnt("larger", replace(long, encoder=teacher, from_scratch=False))
        alone, taught = learnt("alone", long), learnt("taught", replace(long, teacher=teacher))
        for theirs, untaught, own in zip(wanted, alone, taught):
            assert np.corrcoef(theirs, own)[0, 1] > np.corrcoef(theirs, untaught)[0, 1] + 0.02

    def test_a_teacher_that_cannot_be_loaded_is_named(self, quick, tmp_path):
        with pytest.raises(ValueError, match="nowhere"):
            make_base(talk(20, 0), replace(quick, teacher="nowhere/at-all"), 0, tmp_path)
