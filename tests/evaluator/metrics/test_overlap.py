"""BLEU, ROUGE and METEOR against the figures that their packages publish."""

import json

import pytest

from evaluator.judges.texts import Referenced
from evaluator.metrics.inputs import MissingInput
from evaluator.metrics.registry import build
from tests.evaluator.metrics.wordnet_files import FILES, write_wordnet

CONTEXT = ("how was it ?",)


def utility(name, output, *references, **given):
    (u,) = build(name, **given).utilities([Referenced(CONTEXT, output, references)])
    return u


def test_bleu_is_sacrebleus():
    """By hand after Papineni et al. (2002): of "this is a fest" beside "this is a test" 3 of 4 words, 2 of 3 pairs and 1 of 2
    triples are there; the fourth, of which there is none, counts 1/2 (Chen & Cherry 2014, method 3)."""
    output, reference = "this is a fest", "this is a test"
    assert utility("bleu-1", output, reference) == pytest.approx(75)
    assert utility("bleu-2", output, reference) == pytest.approx(100 * (3 / 4 * 2 / 3) ** (1 / 2))
    assert utility("bleu-3", output, reference) == pytest.approx(100 * (3 / 4 * 2 / 3 * 1 / 2) ** (1 / 3))
    assert utility("bleu-4", output, reference) == pytest.approx(100 * (3 / 4 * 2 / 3 * 1 / 2 * 1 / 2) ** (1 / 4))
    by_order = [utility(f"bleu-{n}", output, reference) for n in (2, 3, 4)]
    assert utility("bleu-234", output, reference) == pytest.approx(sum(by_order) / 3)


def test_short_outputs_are_sacrebleus():
    """sacrebleu's test_bleu.py, test_case_effective_order: "test" beside "a test" is exp(-1), equal texts are 1."""
    assert utility("bleu-4", "test", "a test") == pytest.approx(36.78794411714425)
    assert utility("bleu-4", "a test", "a test") == pytest.approx(100)


def test_bleu_knows_several_references():
    """The words of both references count, and brevity by the closest in length: 4 of 4 words, 3 of 3 pairs."""
    assert utility("bleu-2", "the dog had bit", "the dog bit", "dog had bit the") == pytest.approx(100)


def test_rouge_is_rouge_scores():
    """rouge_scorer_test.py of rouge-score: testRouge1, testRouge2, testRougeLNonConsecutive, testRougeAllMulti."""
    assert utility("rouge-1", "testing", "testing one two") == pytest.approx(1 / 2)
    assert utility("rouge-2", "testing one", "testing one two") == pytest.approx(2 / 3)
    assert utility("rouge-l", "testing two", "testing one two") == pytest.approx(4 / 5)
    several = [utility(f"rouge-{kind}", "text first", "first text", "first something") for kind in "12l"]
    assert several == pytest.approx([1, 0, 0.5])


def test_meteor_is_nltks(tmp_path):
    """The example in the documentation of nltk.translate.meteor_score: 0.6944; no word of it is matched as a synonym."""
    output = "It is a guide to action which ensures that the military always obeys the commands of the party"
    references = (
        "It is a guide to action that ensures that the military will forever heed Party commands",
        "It is the guiding principle which guarantees the military forces always being under the command of the Party",
        "It is the practical guide for the army always to heed the directions of the party",
    )
    folder = write_wordnet(tmp_path)
    assert utility("meteor", output, *references, wordnet=folder) == pytest.approx(0.6944, abs=5e-5)
    assert utility("meteor", "non matching hypothesis", "this is a cat", wordnet=folder) == 0


def test_meteor_counts_synonyms(tmp_path):
    """Lavie & Agarwal 2007 by hand: both words match in one chunk, so P = R = 1 and the penalty is 0.5 (1/2)^3."""
    folder = write_wordnet(tmp_path)
    assert utility("meteor", "good dog", "good hound", wordnet=folder) == pytest.approx(1 - 0.5 / 8)
    one_of_two = 0.5 * (1 - 0.5)  # P = R = 1/2, one chunk of one word
    assert utility("meteor", "good cat", "good hound", wordnet=folder) == pytest.approx(one_of_two)


def test_meteor_without_wordnet_says_so_in_one_sentence(tmp_path):
    with pytest.raises(MissingInput, match="METEOR needs WordNet's files.*wordnet-base.*there is no .*index.noun"):
        build("meteor", wordnet=tmp_path / "nothing")


@pytest.mark.parametrize("name", ["bleu-1", "bleu-4", "bleu-234", "rouge-1", "rouge-2", "rouge-l", "meteor"])
def test_empty_outputs_have_nothing_in_common(name, tmp_path):
    given = {"wordnet": write_wordnet(tmp_path)} if name == "meteor" else {}
    assert utility(name, "", "this is a test", **given) == 0
    assert utility(name, "?!", "这 是", **given) == 0


@pytest.mark.parametrize("name", ["bleu-4", "rouge-l", "meteor"])
def test_settings_are_json_with_versions(name, tmp_path):
    settings = build(name, wordnet=write_wordnet(tmp_path)).settings
    assert settings["metric"] == name and all(settings["versions"].values())
    assert json.loads(json.dumps(settings)) == settings
    if name == "meteor":
        assert settings["wordnet"] == "9.9" and "9.9" in FILES["data.adj"]
