"""Several criteria in one comparator: each learnt from its own scores and pairs, read by name, measured by itself."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from evaluator.comparator import storage
from evaluator.comparator.architectures import load
from evaluator.comparator.examples import Examples
from evaluator.comparator.training.dataset import checked
from evaluator.comparator.training.train import fit
from evaluator.comparator.utility_model import UtilityModel
from evaluator.encoders import pretrained
from evaluator.encoders.encoding import Encoder
from evaluator.encoders.pretrained import BadCheckpoint
from evaluator.judges.texts import Text
from evaluator.metaevaluation.pairs import mean_scores, pairs_from_scores

SEED = 3
WORDS = [f"w{i}" for i in range(2, 30)]
NAMES = ["Overall", "Wit"]


@pytest.fixture(scope="module")
def twice_judged():
    """60 contexts x 4 outputs: "good" (5) or "bad" (1) by the first criterion, "w0" (4) or "w1" (2) by the second, which 20
    contexts were not judged by."""
    rng = np.random.default_rng(1)
    texts, overall, wit = [], [], []
    for c in range(60):
        context = tuple(" ".join(rng.choice(WORDS, size=3)) for _ in range(2))
        for quality, score in (("good", 5), ("bad", 1)):
            for kind, wittiness in (("w0", 4), ("w1", 2)):
                overall.append((len(texts), "Ann", score))
                if c < 40:
                    wit.append((len(texts), "Ann", wittiness))
                texts.append(Text(context, " ".join(rng.permutation([*rng.choice(WORDS, size=3), quality, kind]))))
    pairs = pairs_from_scores(overall, texts, (1, 5))
    others = [replace(pair, criterion=1) for pair in pairs_from_scores(wit, texts, (1, 5))]
    scores = np.array([mean_scores(overall, len(texts), (1, 5)), mean_scores(wit, len(texts), (1, 5))]).T
    return texts, [*pairs, *others], scores


@pytest.fixture(scope="module")
def quick(settings):
    return replace(settings, epochs=10)


@pytest.fixture(scope="module")
def both(twice_judged, quick, tmp_path_factory):
    texts, pairs, scores = twice_judged
    folder = tmp_path_factory.mktemp("both")
    return fit(Examples(texts, pairs, scores=scores, criteria=NAMES), quick, SEED, folder), folder


class TestTraining:
    def test_each_criterion_is_learnt_and_measured_out_of_fold(self, both):
        result, _ = both
        first, second = result.criteria
        assert (first["name"], second["name"]) == ("Overall", "Wit")
        assert (first["clear_pairs"], second["clear_pairs"]) == (60 * 4, 40 * 4)  # of 6 pairs a context, 2 are equal
        for row in (first, second):
            assert 0.9 < row["low"] <= row["accuracy"] <= row["high"] and row["longer"] == 0.5 and row["scale"] > 0
        assert first["accuracy"] == result.heldout_pairwise_accuracy
        assert (first["low"], first["high"]) == result.heldout_pairwise_interval
        assert result.pairs == 60 * 6 + 40 * 6 and result.learnt_from["scored outputs"] == 240

    def test_the_columns_say_different_things(self, both, twice_judged):
        result, folder = both
        texts, _, scores = twice_judged
        comparator = load(folder)
        u = comparator.by_criterion(texts)  # (n, 2)
        assert comparator.criteria == NAMES and u.shape == (240, 2)
        assert u[:, 0] == pytest.approx(result.utilities, abs=1e-4)
        assert np.array_equal(comparator.utilities(texts), u[:, 0])
        judged = ~np.isnan(scores[:, 1])
        assert np.corrcoef(u[:, 0], scores[:, 0])[0, 1] > 0.8 > 0.4 > abs(np.corrcoef(u[:, 1], scores[:, 0])[0, 1])
        assert np.corrcoef(u[judged, 1], scores[judged, 1])[0, 1] > 0.8
        assert comparator.by_criterion([]).shape == (0, 2) and comparator.utilities([]).shape == (0,)

    def test_each_column_has_a_scale_of_its_own(self, both, twice_judged):
        result, folder = both
        manifest = storage.load_manifest(folder)
        heads = [manifest.head, *manifest.other_heads]
        assert [head.scale for head in heads] == [row["scale"] for row in result.criteria]
        record = json.loads((folder / "comparator.json").read_text())
        texts, before = twice_judged[0], load(folder).by_criterion(twice_judged[0])
        record["other_heads"][0] |= {"scale": 2 * heads[1].scale, "whole": 2 * heads[1].whole, "guard": 1e9}
        (folder / "comparator.json").write_text(json.dumps(record))
        try:
            after = load(folder).by_criterion(texts)
        finally:
            storage.save_manifest(manifest, folder)
        assert np.array_equal(after[:, 0], before[:, 0]) and after[:, 1] == pytest.approx(2 * before[:, 1])


class TestImpossible:
    def test_a_criterion_without_pairs_is_named(self, twice_judged, quick, tmp_path):
        texts, pairs, scores = twice_judged
        first = [pair for pair in pairs if pair.criterion == 0]
        with pytest.raises(ValueError, match="could be measured by criterion 2 of 2"):
            fit(Examples(texts, first, scores=scores, criteria=NAMES), quick, SEED, tmp_path)

    def test_a_criterion_that_only_what_lies_beside_has_is_named_before_anything_is_trained(
        self, twice_judged, quick, tmp_path
    ):
        texts, pairs, scores = twice_judged
        beside = [i >= len(texts) // 2 for i in range(len(texts))]
        left = [pair for pair in pairs if pair.criterion == 0 or beside[pair.a]]
        with pytest.raises(ValueError, match="could be measured by criterion 2 of 2"):
            fit(Examples(texts, left, scores=scores, criteria=NAMES, beside=beside), quick, SEED, tmp_path)
        assert not list(tmp_path.glob("member-*"))

    def test_a_joint_comparator_learns_one(self, twice_judged, quick, tmp_path):
        texts, pairs, scores = twice_judged
        with pytest.raises(ValueError, match="joint comparator learns one criterion, not 2"):
            fit(Examples(texts, pairs, scores=scores, criteria=NAMES), replace(quick, architecture="joint"), SEED, tmp_path)

    def test_scores_by_more_criteria_than_names(self, twice_judged, quick, tmp_path):
        texts, pairs, scores = twice_judged
        with pytest.raises(ValueError, match="scores by 2 criteria for 1 names"):
            fit(Examples(texts, pairs, scores=scores), quick, SEED, tmp_path)
        one = checked(Examples(texts[:2], pairs[:1], scores=[0.5, 1.0]), quick)
        assert one.scores.tolist() == [[0.5], [1.0]] and one.beside.tolist() == [False, False]
        assert np.isnan(checked(Examples(texts[:2], pairs[:1], criteria=NAMES), quick).scores).all()

    def test_a_file_whose_names_are_not_those_of_its_heads(self, both):
        folder = both[1]
        whole = (folder / "comparator.json").read_text()
        try:
            for names in (["Overall", "Wit", "Wit"], ["Overall"], ["Wit", "Wit"]):
                (folder / "comparator.json").write_text(json.dumps(json.loads(whole) | {"criteria": names}))
                with pytest.raises(BadCheckpoint, match="one criterion for each head"):
                    load(folder)
        finally:
            (folder / "comparator.json").write_text(whole)


def test_every_criterion_starts_as_the_base(settings, tmp_path):
    pretrained.save_encoder(settings.encoder, tmp_path)
    base = UtilityModel(pretrained.load_encoder(tmp_path))
    with torch.no_grad():
        base.utility.weight.normal_()
        base.utility.bias.fill_(0.25)
        base.level.copy_(torch.tensor([2.0, -1.0]))
        base.cosine.fill_(0.5)
    pretrained.save_weights(base, tmp_path / "base.safetensors")
    model = storage.load_base(tmp_path, 3).eval()
    encoder = Encoder(pretrained.load_tokenizer(tmp_path), 32)
    texts = [Text(("w1 w2",), "w3 good"), Text(("w4",), "bad")]
    batch, cosines = encoder.batch(encoder.pairs(texts), range(2)), torch.tensor([0.3, 0.7])
    with torch.no_grad():
        one, three = storage.load_base(tmp_path).eval()(batch, cosines), model(batch, cosines)
    assert one.shape == (2, 1) and three.shape == (2, 3)
    assert torch.allclose(three, one.expand(2, 3), atol=1e-5)
    # -(y log s + (1 - y) log(1 - s)) with s = sigmoid(2 u - 1): at u = 0.5 it is log 2 whatever y is
    losses = model.score_losses(torch.tensor([0.5, 0.5]), torch.tensor([0.0, 1.0]), 2)
    assert losses.tolist() == pytest.approx([np.log(2)] * 2)
