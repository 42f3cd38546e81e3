"""Judges on another campaign than the one that taught them, and with fewer of people's scores."""

import csv
import re
import shlex

import numpy as np
import pytest
from django.core.management import CommandError
from django.urls import reverse

from annotation.models import QualityDecision
from evaluator.judge_tables import transfer_exports
from evaluator.metrics import registry
from evaluator.metrics.metric import MetricJudge
from evaluator.worker.judge_tables import transfer
from evaluator.worker.judge_tables.material import material
from tests.evaluator.world import SCORES, World, command

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


@pytest.fixture
def learner(monkeypatch):
    """Stands in for a metric that learns from scores: each last word is worth the mean score of the texts that end with it in
    its training, out of fold or not."""

    def build(name, *, corpus=(), training=None, **other):
        if name != "reference-free":
            return registry.build(name, corpus=corpus, training=training, **other)
        scores = np.asarray(training.scores, dtype=float)
        ends = np.array([text.output.split()[-1] for text in training.texts])
        known = {word: np.nanmean(scores[(ends == word) & np.isfinite(scores)]) for word in set(ends[np.isfinite(scores)])}

        def measure(texts, on_progress=None):
            return np.array([known.get(text.output.split()[-1], 0.5) for text in texts])

        return MetricJudge(name, frozenset(), measure, {"metric": name})

    monkeypatch.setattr(transfer, "build", build)


@pytest.fixture
def contrary(db, tmp_path, client):
    """People who like what those of "talk" dislike."""
    (tmp_path / "other").mkdir()
    world = World(tmp_path / "other", client, slug="contrary", judged=False)
    world.score("Overall", {"Person": 1, "Fine": 2, "Plain": 3, "Poor": 5})
    world.freeze()
    return world


def test_what_was_learnt_on_one_campaign_is_tried_on_the_other(world, contrary, learner):
    said = command("transfer_judges", "talk", "contrary", "--judge", "reference-free", "--judge", "perplexity")
    rows = {(row["train"], row["test"]): row for row in said["rows"]}
    assert len(rows) == 4 and all(row["outputs"] == 48 and row["pairs"] == 72 for row in rows.values())
    assert rows["talk", "talk"]["pearson"] > 0.9 and rows["contrary", "contrary"]["accuracy"] > 0.8
    assert rows["talk", "contrary"]["pearson"] < -0.8 and rows["contrary", "talk"]["accuracy"] < 0.2
    (without,) = said["without"]
    assert without["judge"] == "perplexity" and "needs a causal language model" in without["why"]
    assert [one["campaign"] for one in said["campaigns"]] == ["talk", "contrary"]
    for row in rows.values():
        assert row["pearson_low"] <= row["pearson"] <= row["pearson_high"]
        assert row["accuracy_low"] <= row["accuracy"] <= row["accuracy_high"]


def test_it_is_written_and_shown(world, contrary, learner, tmp_path):
    words = ("transfer_judges", "talk", "contrary", "--judge", "reference-free", "--judge", "perplexity", "--labels")
    with pytest.raises(CommandError, match="The page of judges of 'talk' has no table yet"):
        command(*words, "--page")
    for slug in ("talk", "contrary"):
        command("evaluate_judges", slug, "--judge", "rouge-1", "--page")
    said = command(*words, "--page", "--csv", tmp_path / "t.csv", "--latex", tmp_path / "t.tex")
    with (tmp_path / "t.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["part"] for row in rows] == ["matrix"] * 4 + ["labels"] * 10
    assert float(rows[1]["pearson_low"]) == said["rows"][1]["pearson_low"] and not rows[-1]["pearson_low"]
    tex = (tmp_path / "t.tex").read_text()
    assert tex.count(r"\begin{tabular}") == 2 and "reference-free & talk & contrary & 48 & $-$" in tex
    again = "manage.py transfer_judges talk contrary --judge reference-free --judge perplexity --labels --seed 0"
    assert again in tex and again in transfer_exports.as_text(said)
    page = world.get(world.alice, reverse("judges", args=["talk"])).content.decode()
    assert again in page and "On other campaigns" in page and "With fewer labels" in page
    made = command(*shlex.split(again)[1:])  # the line that the page prints
    assert made["rows"] == said["rows"] and made["labels"] == said["labels"]
    assert ">−0." in page and "[−" in page and not re.search(r"[>\[]-\d", page)
    assert said["cautions"] == [] and "cautions" not in tex and 'class="warning"' not in page.split("On other campaigns")[0]
    with pytest.raises(CommandError, match="cannot be written"):
        command(*words[:5], "--csv", tmp_path / "nowhere" / "t.csv")


def test_its_warnings_go_wherever_it_goes(world, contrary, learner, tmp_path):
    """Of each campaign apart; those of the judges' table on the same page are of its own campaign alone."""
    contrary.campaign.snapshots.update(is_simulated=True)
    QualityDecision.objects.filter(snapshot__campaign=contrary.campaign).update(
        verdict="undefined", report={"reason": "Few_agree."}
    )
    command("evaluate_judges", "talk", "--judge", "rouge-1", "--page")
    command("evaluate_judges", "contrary", "--judge", "rouge-1", "--page")
    words = ("transfer_judges", "talk", "contrary", "--judge", "reference-free", "--page")
    said = command(*words, "--csv", tmp_path / "t.csv", "--latex", tmp_path / "t.tex")
    expected = [
        "contrary: SIMULATED: a program made these judgments.",
        "contrary: The scores of Overall are not accepted: Few_agree.",
    ]
    assert said["cautions"] == expected and transfer_exports.as_text(said).startswith(expected[0])
    with (tmp_path / "t.csv").open() as file:
        assert {row["warnings"] for row in csv.DictReader(file)} == {" ".join(expected)}
    tex = (tmp_path / "t.tex").read_text()
    assert rf"\par {{\footnotesize {expected[0]}}}" in tex and r"not accepted: Few\_agree.}" in tex
    contrary.score("Overall", {**SCORES, "Poor": 2}, annotators=("Cleo",))
    contrary.freeze()
    old = "contrary: These figures come from an earlier snapshot."
    page = world.get(world.alice, reverse("judges", args=["talk"])).content.decode()
    assert all(page.count(text) == 1 for text in (*expected, old))
    table = world.get(world.alice, "/api/campaigns/talk/judges/").json()["table"]
    assert table["cautions"] == [] and table["transfer"]["cautions"][:2] == expected
    assert table["transfer"]["cautions"][2].startswith(old)


def test_ties_come_from_the_people_of_the_first(world, contrary, learner):
    """People of talk give four different scores, so that their pairs hold no tie."""
    d, pairs = np.array([0.0, 0.1, 3.0, 4.0, 5.0, 6.0]), material(world.campaign).source.pairs[:6]
    choices = transfer._by_others(d, pairs, np.array([-4.0, 0.0, 4.0]))
    assert choices.tolist() == ["B", "tie", "A"]  # no ties there, so only 0 is one


def test_fewer_labels(world, learner):
    rows = transfer.fewer_labels("reference-free", material(world.campaign), seed=0)
    assert [row["labels"] for row in rows] == [8, 8, 12, 24, 48]  # of 12 contexts with 4 outputs; two contexts at least
    assert rows[-1]["pearson"] > 0.9
    said = command("transfer_judges", "talk", "--judge", "reference-free", "--labels")
    assert [row["labels"] for row in said["labels"]] == [8, 8, 12, 24, 48]


def test_what_cannot_be_asked(world):
    with pytest.raises(CommandError, match="There is no metric 'nobody'"):
        command("transfer_judges", "talk", "--judge", "nobody")
    with pytest.raises(CommandError, match="does not learn from people's scores"):
        from core.errors import Refused

        try:
            transfer.fewer_labels("rouge-1", material(world.campaign), seed=0)
        except Refused as refused:
            raise CommandError(str(refused)) from refused
