"""Which settings win: the best checkpoints of several runs."""

import json

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from annotation.models import Reference
from core.errors import Refused
from leaderboard.models import Run
from tests.leaderboard.runs.conftest import Words, judge_all

pytestmark = pytest.mark.django_db


def trained(world, call, name: str, lengths: list[int], loss: float, logprob: float) -> None:
    """A run whose outputs have so many words at each step."""
    keys = world.campaign.contexts.values_list("key", flat=True)
    call("POST", "runs/", {"name": name})
    for step, length in enumerate(lengths, start=1):
        rows = [{"context_id": key, "output": "w " * length, "logprob": logprob} for key in keys]
        call("POST", f"runs/{name}/checkpoints/", {"step": step, "outputs": rows, "validation_loss": loss})
    judge_all(Run.objects.get(name=name), Words())


def test_the_winner_and_what_else_would_have_chosen(world, call):
    trained(world, call, "small", [1, 2], 2.0, -5.0)
    trained(world, call, "large", [1, 9], 3.0, -4.0)
    found = call("GET", "runs/compare/?name=small&name=large").json()
    # on each of the 12 contexts 9 words beat 2
    assert [(one["name"], one["step"]) for one in found["runs"]] == [("large", 2), ("small", 2)]
    assert found["runs"][0]["win_rate"] > 0.8 and found["runs"][0]["probability"] > 0.95 and found["contexts"] == 12
    assert found["not_worse"] == ["large"]
    Run.objects.filter(name="large").update(warning="Large's judge did not pass.")
    said = call("GET", "runs/compare/?name=small&name=large").json()["said"]
    assert any("Large's judge did not pass." in line for line in said)
    assert said.count(Run.objects.get(name="small").warning) == 1
    chosen = {one["by"]: one["choice"] for one in found["others"]}
    assert chosen == {"validation loss": "small", "mean log probability": "large"}


def test_the_command_also_says_what_metrics_would_have_chosen(world, call, monkeypatch, capsys):
    trained(world, call, "small", [1, 2], 2.0, -5.0)
    trained(world, call, "large", [1, 9], 3.0, -4.0)

    class Fewest(Words):  # "adem" lacks scores, "discriminator" judges half of the contexts, the others prefer short texts
        def __init__(self, judge, *given):
            super().__init__()
            self.name = judge.settings["metric"]
            if self.name == "adem":
                raise Refused("The metric 'adem' needs people's scores to learn from.")

        def utilities(self, written, report):
            half = [np.nan if self.name == "discriminator" and i % 2 else 1.0 for i in range(len(written))]
            return -super().utilities(written, report) * half

    monkeypatch.setattr("evaluator.worker.new_texts.NewTexts", Fewest)
    call_command("compare_runs", "talk", "small", "large", "--json")
    others = {one["by"]: one for one in json.loads(capsys.readouterr().out)["others"]}
    assert {by: one["choice"] for by, one in others.items()} == {
        "validation loss": "small",
        "mean log probability": "large",
        "bleu-234": "small",
        "adem": None,
        "discriminator": "small",
        "reference-free": "small",
    }
    assert others["bleu-234"]["values"] == {"small": -2, "large": -9} and others["discriminator"]["contexts"] == 6
    assert others["adem"]["why"].endswith("people's scores to learn from.")
    call_command("compare_runs", "talk", "small", "large")
    said = capsys.readouterr().out
    assert "large, step 2: the best with" in said and "bleu-234: small (small -2, large -9)" in said
    with pytest.raises(CommandError, match="nosuch"):
        call_command("compare_runs", "talk", "small", "nosuch")


def test_bleu_234_is_worked_out_on_references(world, call, monkeypatch, capsys):
    monkeypatch.setattr("leaderboard.runs.alternatives.METRICS", ("bleu-234",))  # the others learn, which takes long
    for context in world.campaign.contexts.all():
        Reference.objects.get_or_create(context=context, number=1, defaults={"text": "w w"})
    trained(world, call, "small", [1, 2], 2.0, -5.0)
    trained(world, call, "large", [1, 9], 3.0, -4.0)
    call_command("compare_runs", "talk", "small", "large", "--json")
    found = json.loads(capsys.readouterr().out)["others"][-1]
    assert (found["by"], found["choice"], found["contexts"], found["why"]) == ("bleu-234", "small", 12, "")
    assert found["values"]["small"] > found["values"]["large"] > 0


def test_what_the_runs_own_pages_say_goes_along(world, call):
    """Three checkpoints that write the same have no best one that is known; and of one output the judge says nothing."""
    trained(world, call, "small", [2, 2, 2], 2.0, -5.0)
    trained(world, call, "large", [1, 9], 3.0, -4.0)
    Run.objects.get(name="large").checkpoints.filter(step=2).update(unjudged=1)
    said = call("GET", "runs/compare/?name=small&name=large").json()["said"]
    assert "No best checkpoint is known of small: the likeliest one is compared." in said
    assert "Of large at step 2, outputs of which the judge said nothing: 1." in said
    assert "Intervals and probabilities hold for contexts like these: 12 contexts, as this judge sees them." in said


@pytest.mark.parametrize(
    "names, status, said",
    [(["a"], 422, "From 2 to 50 runs"), (["a", "b"], 422, "Nothing of run 'b' is judged"), (["a", "zz"], 404, "")],
)
def test_what_cannot_be_compared_is_refused(world, call, names, status, said):
    trained(world, call, "a", [1], 1.0, -1.0)
    call("POST", "runs/", {"name": "b"})
    answer = call("GET", "runs/compare/?" + "&".join(f"name={name}" for name in names))
    assert answer.status_code == status and said in answer.json()["message"]
