"""What judges said, in the files that tools write, through every door: judges' answers and never people's, and all of them in
the account. The right values were read off the small files by hand; each test says how."""

import json

import pytest

from annotation.data.importer import import_file
from annotation.models import LikertScore, PairwiseJudgment, Upload
from core.errors import ImportRefused
from evaluator.judge_tables.imports import judges_of
from evaluator.models import ImportedPair, ImportedScore
from tests.annotation.data.doors import SAMPLES, everywhere, installation

__all__ = ["installation"]
pytestmark = pytest.mark.django_db


def said(campaign) -> list[tuple]:
    """(judge, context, system, score), or (judge, context, first system, P(first), P(tie), second system)"""
    assert not LikertScore.objects.exists() and not PairwiseJudgment.objects.exists()
    scores = ImportedScore.objects.filter(campaign=campaign)
    found = list(scores.values_list("judge__name", "output__context__key", "output__system__name", "value"))
    sides = [f"output_{side}__{name}" for side, name in (("a", "context__key"), ("a", "system__name"), ("b", "system__name"))]
    pairs = ImportedPair.objects.filter(campaign=campaign).values_list("judge__name", *sides, "p_a", "p_tie", "p_b")
    for judge, context, a, b, p_a, p_tie, p_b in pairs:
        first, second, p = (a, b, p_a) if a < b else (b, a, p_b)
        found.append((judge, context, first, round(p, 6), p_tie, second))
    return sorted(found)


def test_alpaca_evals_annotations(installation):
    """preference 1.99: the second text with .99; 1.0: the first."""
    file = "alpaca_annotations.json"
    rows, people, account = everywhere(installation, "judge_pairs", file, said, on=file)
    judge = "weighted_alpaca_eval_gpt4_turbo"
    assert sorted((j, a, p, b) for j, _, a, p, _, b in rows) == [(judge, "m1", 0.01, "m2"), (judge, "m1", 1.0, "m2")]
    assert people == {} and account["new"] == {"judges": 1, "judge_pairs": 2} and account["elsewhere"] == {"outputs": 4}


def test_arena_hards_games(installation, tmp_path):
    """The model is B in the first game, which A wins, and A in the second, which B wins: it loses both."""
    texts = tmp_path / "texts.jsonl"
    row = {"context_id": "1", "context": "Q"}
    texts.write_text("".join(json.dumps(row | {"system": s, "output": s}) + "\n" for s in ("m0", "m1")))
    rows, _, _ = everywhere(installation, "judge_pairs", "arenahard_judgment.jsonl", said, on=texts)
    assert rows == [("gpt-4.1", "1", "m0", 1.0, 0.0, "m1")]


def test_mt_benchs_language_models_beside_people(installation, tmp_path):
    """Both in one file, and the judge was asked in both orders and turned: half for each side."""

    def vote(judge, winner, a="m1", b="m2"):
        row = {"question_id": 81, "model_a": a, "model_b": b, "winner": winner, "judge": judge, "turn": 1}
        turns = {s: [{"role": "user", "content": "Q"}, {"role": "assistant", "content": s}] for s in (a, b)}
        return row | {"conversation_a": turns[a], "conversation_b": turns[b]}

    gpt = ["gpt-4", "pair-v2"]
    file = tmp_path / "votes.jsonl"
    votes = [vote("expert_0", "model_a"), vote(gpt, "model_a"), vote(gpt, "model_a", "m2", "m1")]
    file.write_text("".join(json.dumps(row) + "\n" for row in votes))
    rows, _, account = everywhere(installation, "judge_pairs", file, said, on=file)
    assert rows == [("gpt-4 pair-v2", "81", "m1", 0.5, 0.0, "m2")]
    assert account["rows"] == 2 and account["repeated"] == 1 and account["elsewhere"] == {"outputs": 6, "judgments": 1}
    assert account["assumed"][-1].startswith("1 pairs were judged more than once, as in both orders;")


@pytest.mark.parametrize(
    ("file", "texts", "expected"),
    [
        ("lm_eval_samples.jsonl", {"system": "m"}, [("exact_match", "h", "m", 0.0)]),
        ("inspect.json", {}, [("match", "1", "openai/gpt-x", 1.0)]),
    ],
)
def test_harnesses_scorers_are_judges(installation, file, texts, expected):
    how = {"constants": texts} if texts else {}
    rows, people, account = everywhere(installation, "judge_scores", file, said, on=file, texts=texts, **how)
    assert rows == expected and people == {} and account["elsewhere"] == {"outputs": 1}


def test_a_column_for_each_metric(installation, tmp_path):
    file = tmp_path / "scored.csv"
    file.write_text("context_id,context,system,output,F1,my judge\nc1,Q,m1,A,0.5,4\nc1,Q,m2,B,0.25,\n")
    rows, _, account = everywhere(installation, "judge_scores", file, said, on=file, judges=["F1", "my judge"])
    assert rows == [("F1", "c1", "m1", 0.5), ("F1", "c1", "m2", 0.25), ("my judge", "c1", "m1", 4.0)]
    assert account["rows"] == 4 and account["new"] == {"judges": 2, "judge_scores": 3}
    assert account["left_out"] == {"has no score": 1}  # an empty cell


def test_blank_answers_are_left_out_and_the_same_file_twice_changes_nothing(installation, tmp_path):
    file = tmp_path / "scores.csv"
    file.write_text("context_id,system,judge,score\nc1,alpha,J,1\nc1,beta,J,\nc2,alpha,J,N/A\n")
    rows, _, account = everywhere(installation, "judge_scores", file, said, on="common.outputs.jsonl")
    assert rows == [("J", "c1", "alpha", 1.0)] and account["left_out"] == {"has no score": 2}
    again = import_file(ImportedScore.objects.first().campaign, "judge_scores", file)
    assert (again.rows, again.new, again.repeated) == (3, {}, 1)


def test_a_judge_whose_name_another_has_is_told_apart(installation, tmp_path):
    campaign = installation.campaign("talk", outputs="common.outputs.jsonl")
    campaign.judges.create(kind="metric", name="bleu", digest="x")
    file = tmp_path / "scores.jsonl"
    file.write_text(json.dumps({"context_id": "c1", "system": "alpha", "metric": "bleu", "score": 0.3}))
    done = import_file(campaign, "judge_scores", file)
    assert judges_of(campaign) == ["bleu (imported)"]
    assert done.assumed == ["The judge 'bleu' of this file is called 'bleu (imported)', since another judge here has its name."]


def test_scores_of_outputs_that_are_not_there_are_refused(installation):
    campaign = installation.campaign("talk")
    with pytest.raises(ImportRefused, match="has no such output|is the text of no context"):
        import_file(campaign, "judge_pairs", SAMPLES / "alpaca_annotations.json")
    assert not ImportedPair.objects.exists() and judges_of(campaign) == []


def test_the_page_offers_what_else_a_file_holds(installation):
    """An outputs file of AlpacaEval's annotations: once its texts are stored, what the judge said waits, checked."""
    campaign = installation.campaign("talk")
    installation.through("page", campaign, "outputs", SAMPLES / "alpaca_annotations.json")
    first, following = Upload.objects.order_by("created_at")
    assert (following.kind, following.state, first.result["next"]) == ("judge_pairs", "fine", str(following.pk))
    page = installation.client.get(f"/c/talk/import/{first.pk}/").content.decode()
    assert f"/c/talk/import/{following.pk}/" in page and "Import its judge pairs too" in page
    installation.client.post(f"/c/talk/import/{following.pk}/store/")
    following.refresh_from_db()
    assert following.state == "stored" and "next" not in following.result and ImportedPair.objects.count() == 2
