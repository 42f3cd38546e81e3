"""The callback in a real `transformers.Trainer`, with a model that is tiny, against the stub."""

import atexit
import math
from types import SimpleNamespace

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments

from tests.clients.stub_server import StubServer

DATA = [{"input_ids": [n % 5, 1, 2], "labels": [n % 5, 1, 2]} for n in range(8)]


def generate(model, contexts):
    assert not model.training and not torch.is_grad_enabled()
    return [str(int(torch.randint(9, ()))) for _ in contexts]


@pytest.fixture
def stub():
    server = StubServer()
    yield server
    server.kill()


@pytest.fixture
def run(comparena_client, stub, tmp_path, monkeypatch):
    monkeypatch.setattr(comparena_client.Run, "GRACE", 0.5)
    monkeypatch.setattr(comparena_client.Run, "FIRST", 0.01)
    run = comparena_client.Client(stub.url).campaign("talk").run("tiny", folder=tmp_path / "kept")
    yield run
    atexit.unregister(run._leave)


@pytest.fixture
def trained(comparena_trainer, run, tmp_path):
    """trained(...): the trainer after its 8 steps, with an evaluation after every second one."""

    def train(*callbacks, how=None, **arguments):
        torch.manual_seed(0)
        model = GPT2LMHeadModel(GPT2Config(vocab_size=8, n_positions=8, n_embd=8, n_layer=1, n_head=1))
        evaluated = {"eval_strategy": "steps", "eval_steps": 2, "save_strategy": "steps", "save_steps": 2, "logging_steps": 2}
        common = {"max_steps": 8, "per_device_train_batch_size": 4, "use_cpu": True, "report_to": "none", "disable_tqdm": True}
        args = TrainingArguments(output_dir=str(tmp_path / "out"), **(evaluated | common | arguments))
        trainer = Trainer(model=model, args=args, train_dataset=DATA, eval_dataset=DATA, callbacks=list(callbacks))
        if how is not None:
            trainer.add_callback(comparena_trainer.ComparenaCallback(run, generate, **how))
        trainer.train()
        return trainer

    return train


class Logged(TrainerCallback):
    """As those of W&B, MLflow and TensorBoard, which come before the callbacks of a user."""

    def __init__(self):
        self.values = []

    def on_log(self, args, state, control, logs=None, **how):
        self.values.append(dict(logs))


def test_the_strongest_checkpoint_is_kept(trained, run, stub):
    logged = Logged()
    trainer = trained(logged, how={}, metric_for_best_model="comparena", load_best_model_at_end=True)
    assert (trainer.state.best_global_step, trainer.state.best_metric) == (8, 8.0)  # the stub's strength is the step
    assert list(stub.stored) == [2, 4, 6, 8] and run.total == 8
    assert [body["validation_loss"] > 0 for body in stub.bodies] == [True] * 4
    written = [logs["eval_comparena"] for logs in logged.values if "eval_comparena" in logs]
    assert written == [2.0, 4.0, 6.0, 8.0]


def test_it_stops_on_advice_and_not_where_it_only_reports(trained, stub, caplog):
    stub.stops_at = 4
    assert trained(how={"wait": True}).state.global_step == 4
    assert "The training stops at step 4, on advice: Judged by a stub." in caplog.text
    assert caplog.text.count("did not pass its gate") == 1  # whoever watches the training alone learns what its judge is worth
    stub.stored.clear()
    assert trained(how={"wait": True, "stop": False}).state.global_step == 8


def test_a_training_that_is_watched_learns_the_same(trained):
    loss = lambda trainer: [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert loss(trained(how={})) == loss(trained())


def test_while_the_server_is_down_the_training_goes_on(trained, run, stub, caplog):
    stub.kill()
    trainer = trained(how={}, metric_for_best_model="comparena")
    assert trainer.state.global_step == 8 and trainer.state.best_global_step is None
    assert math.isnan(trainer.evaluate()["eval_comparena"])
    again = StubServer(stub.server_port)
    assert [point["step"] for point in run.advice(timeout=20).points] == [2, 4, 6, 8] and list(again.stored) == [2, 4, 6, 8]
    again.kill()
    assert caplog.text.count("no checkpoint becomes the best one") == 1


def test_each_saved_checkpoint_is_reported(trained, run, stub):
    trained(how={"every": "save"}, eval_strategy="no", save_steps=4)
    run.advice(timeout=20)
    assert list(stub.stored) == [4, 8]
    with pytest.raises(ValueError, match="every='evaluate'"):
        trained(how={"every": "save"}, metric_for_best_model="comparena")


def test_only_the_first_process_reports_and_all_stop_together(comparena_trainer, stub, monkeypatch):
    """Two real processes gave the same (torchrun, gloo); here the second one is told what the first would say."""
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "broadcast_object_list", lambda box, src: box.__setitem__(0, (4.5, True)))
    callback = comparena_trainer.ComparenaCallback(None, generate)
    second = SimpleNamespace(global_step=2, is_world_process_zero=False)
    control, metrics = SimpleNamespace(should_training_stop=False), {"eval_loss": 1.0}
    callback.on_evaluate(None, second, control, metrics, model=None)
    assert metrics["eval_comparena"] == 4.5 and control.should_training_stop and stub.bodies == []
