"""Metrics with models of one's choice: a row for each, from one command, as Zhang et al. (2021) set encoders side by side."""

import pytest
import torch
from django.core.management import CommandError
from transformers import XLNetConfig, XLNetLMHeadModel

from annotation.models import Output
from evaluator import tasks
from evaluator.trainings.sources import referenced_outputs
from tests.evaluator.metrics.conftest import saved, tiny_causal, tiny_encoder, tiny_masked  # noqa: F401
from tests.evaluator.world import World, command, write

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
METRICS = ["cosim", "slp-masked", "slp-causal", "perplexity"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory, tiny_encoder, tiny_masked, tiny_causal):  # noqa: F811
    """A name and a folder of each family."""
    torch.manual_seed(4)
    config = XLNetConfig(vocab_size=37, d_model=16, n_layer=1, n_head=2, d_inner=32)
    xlnet = saved(tmp_path_factory.mktemp("xlnet"), XLNetLMHeadModel(config), tiny_encoder)
    found = {}
    for name, source in {"bert": tiny_encoder, "masked": tiny_masked, "gpt": tiny_causal, "xlnet": xlnet}.items():
        found[name] = tmp_path_factory.mktemp("models") / name
        found[name].symlink_to(source)
    return found


def test_each_metric_has_a_row_for_each_model(folders, tmp_path, client, monkeypatch):
    monkeypatch.setenv("COMPARENA_DEVICE", "cpu")
    monkeypatch.setattr("evaluator.worker.judge_tables.candidates.METRICS", METRICS)
    World(tmp_path, client)
    names = [word for name in METRICS for word in ("--judge", name)]
    models = ["--encoder", str(folders["bert"]), "--masked", str(folders["masked"])]
    models += ["--causal", str(folders["gpt"]), str(folders["xlnet"]), str(folders["masked"])]
    said = command("evaluate_judges", "talk", *names, *models)
    rows = {row["name"]: row for row in said["tables"]["all"]["rows"] if row["kind"] == "judge"}
    likelihoods = {f"{metric}, {model}" for metric in ("slp-causal", "perplexity") for model in ("gpt", "xlnet")}
    assert set(rows) == {"cosim, bert", "slp-masked, masked"} | likelihoods
    assert rows["slp-causal, gpt"]["settings"]["weights"] != rows["slp-causal, xlnet"]["settings"]["weights"]
    without = {row["judge"]: row["why"] for row in said["without"]}
    assert "is no causal language model" in without["slp-causal, masked"]
    assert said["options"][-len(models) :] == models


def test_a_model_is_tried_on_another_campaign_and_asked_from_the_page(folders, tmp_path, client, monkeypatch):
    """Set up by a command, offered by its name: no request names a folder."""
    monkeypatch.setattr("evaluator.worker.judge_tables.candidates.METRICS", [])
    world = World(tmp_path, client)
    models = ["--encoder", str(folders["bert"]), "--pooling", "cls"]
    said = command("transfer_judges", "talk", "--judge", "cosim", *models)
    assert [row["judge"] for row in said["rows"]] == ["cosim, bert"] and said["options"] == models
    made = command("set_up_judge", "talk", "--metric", "cosim", *models)
    assert made["judges"] == [{"name": "cosim, bert", "kind": "model metric", "calls": 0}]
    assert "cosim, bert (model metric)" in world.get(world.alice, "/c/talk/comparator/judges/").content.decode()
    asked = {"annotators": "crowd", "judges": ["cosim, bert"]}
    job = world.client.post("/api/campaigns/talk/judges/", asked, "application/json").json()["id"]
    tasks.set_beside_people(job)
    rows = world.get(world.alice, "/api/campaigns/talk/judges/").json()["table"]["tables"]["all"]["rows"]
    (row,) = [row for row in rows if row["kind"] == "judge"]
    assert row["settings"]["vectors"] == "cls of the last layer" and row["settings"]["pooling_by"] == "chosen"
    assert row["correlations"]["sample_pearson"]["value"] == pytest.approx(said["rows"][0]["pearson"])
    for wrong, why in (
        (["--metric", "bleu-4", *models], "'bleu-4' does not read with --encoder"),
        (["--metric", "esm"], "name one"),
    ):
        with pytest.raises(CommandError, match=why):
            command("set_up_judge", "talk", *wrong)


def test_what_generators_say_of_their_outputs_is_a_judge(tmp_path, client, monkeypatch):
    """Likelier outputs first: the metric is the column, and it is what people here say backwards."""
    monkeypatch.setattr("evaluator.worker.judge_tables.candidates.METRICS", ["logprob"])
    world = World(tmp_path, client)
    (why,) = [one["why"] for one in command("evaluate_judges", "talk")["without"] if one["judge"] == "logprob"]
    assert "it needs the generator's own log probability" in why
    given = {"Person": -9.5, "Fine": -8, "Plain": -7, "Poor": -1}
    wrong = [world.rows[0] | {"context_id": "new", "logprob": 0.5}]
    with pytest.raises(CommandError, match="'logprob': is 0.5, but the logarithm of a probability is 0 at most"):
        command("import_outputs", "talk", write(tmp_path, "wrong.jsonl", wrong))
    Output.objects.all().delete()
    rows = [row | {"log_probability": given[row["system"]]} for row in world.rows]
    command("import_outputs", "talk", write(tmp_path, "rows.jsonl", rows))
    (row,) = [r for r in command("evaluate_judges", "talk")["tables"]["all"]["rows"] if r["kind"] == "judge"]
    assert row["outputs"] == len(rows) and row["correlations"]["sample_spearman"]["value"] < -0.9
    outputs = list(Output.objects.select_related("context", "system"))
    assert [text.logprob for text in referenced_outputs(outputs[0].context.campaign, outputs)] == [
        given[output.system.name] for output in outputs
    ]


def test_a_model_that_is_not_there_is_said(folders, tmp_path, client, monkeypatch):
    monkeypatch.setattr("evaluator.worker.judge_tables.candidates.METRICS", METRICS)
    World(tmp_path, client)
    empty = tmp_path / "empty"
    empty.mkdir()
    said = command("evaluate_judges", "talk", "--judge", "cosim", "--encoder", str(empty), str(folders["bert"]))
    assert [row["name"] for row in said["tables"]["all"]["rows"] if row["kind"] == "judge"] == ["cosim, bert"]
    assert f"The model '{empty}' cannot be loaded" in next(r["why"] for r in said["without"] if r["judge"] == "cosim, empty")
    with pytest.raises(CommandError, match="--encoder: two models are called 'empty'"):
        command("evaluate_judges", "talk", "--encoder", str(empty), str(empty))
