"""Everything of a comparator is on one device. Torch's meta device, which computes shapes alone, takes the place of a graphics
card, and whatever is fetched from it is drawn at random."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from evaluator.comparator.architectures import load
from evaluator.comparator.examples import Examples
from evaluator.comparator.supervision.contrastive import train_matcher
from evaluator.comparator.training.progress import TrainingCancelled
from evaluator.comparator.training.train import fit
from evaluator.encoders import devices, pretrained
from evaluator.encoders.loop import State
from tests.evaluator.comparator.test_pretraining import talk

aten = torch.ops.aten
MOVES = (aten._to_copy, aten.copy_)
INDEXED = (aten.index, aten.index_put, aten.index_put_)  # positions may come from the CPU
PRODUCTS = (aten.mm, aten.addmm, aten.bmm, aten.baddbmm)


class OnMeta(TorchDispatchMode):
    """Refuses an operation on tensors of two devices; counts where matrices are multiplied."""

    def __init__(self):
        super().__init__()
        self.products = {"meta": 0, "cpu": 0}

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        kwargs, kind = kwargs or {}, operation.overloadpacket
        if torch._C._dispatch_has_kernel_for_dispatch_key(operation.name(), "CompositeImplicitAutograd"):
            with self:  # what it is made of
                return operation.decompose(*args, **kwargs)
        given = [args[0], *args[2:]] if kind in INDEXED else [args, kwargs]
        where = {t.device.type for t in tree_leaves(given) if isinstance(t, torch.Tensor) and t.dim()}
        if kind is aten._local_scalar_dense and args[0].is_meta:
            return False if args[0].dtype == torch.bool else 0.5
        if kind is aten._to_copy and args[0].is_meta and torch.device(kwargs.get("device", "meta")).type == "cpu":
            return torch.rand(args[0].shape).to(kwargs.get("dtype") or args[0].dtype)
        assert len(where) < 2 or kind in MOVES, f"{operation} on {where}"
        if kind in PRODUCTS:
            self.products[where.pop()] += 1
        return operation(*args, **kwargs)


@pytest.fixture
def on_meta(monkeypatch):
    monkeypatch.setattr(devices, "_named", lambda name: torch.device("meta"))
    with OnMeta() as mode:
        yield mode


@pytest.fixture
def some(judged) -> Examples:
    texts, pairs, scores = judged
    return Examples(texts[:36], [pair for pair in pairs if pair.b < 36], scores=scores[:36], exchanges=talk(40, 0))


@pytest.mark.parametrize("architecture", ["utility", "joint"])
def test_all_of_a_training_and_of_judging_is_on_the_chosen_device(architecture, some, settings, tmp_path, on_meta):
    recipe = replace(settings, architecture=architecture, folds=2, epochs=1, contrast_passes=1, ties=False)
    result = fit(some, recipe, 0, tmp_path)
    assert result.device == "meta" and on_meta.products == {"meta": on_meta.products["meta"], "cpu": 0}
    learning = on_meta.products["meta"]
    comparator = load(tmp_path)
    assert comparator.compare(some.texts[:1], some.texts[1:2]).probabilities.shape == (1, 3)
    assert np.isfinite(comparator.cosines(some.texts[:2])).all()
    assert on_meta.products["meta"] > learning > 100 and on_meta.products["cpu"] == 0


def test_a_tensor_left_behind_is_found(on_meta):
    with pytest.raises(AssertionError, match="aten.mm"):
        torch.ones(2, 2, device="meta") @ torch.ones(2, 2)


def test_a_device_is_named_or_the_best_there_is(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    devices._named.cache_clear()
    monkeypatch.delenv("COMPARENA_DEVICE", raising=False)
    assert devices.chosen() == torch.device("cuda")
    monkeypatch.setenv("COMPARENA_DEVICE", "cuda:1")
    assert devices.chosen() == torch.device("cuda", 1)
    for name in ("cuda:2", "mps", "gpu"):
        monkeypatch.setenv("COMPARENA_DEVICE", name)
        with pytest.raises(ValueError, match=f"no device '{name}' here; there is: cpu, cuda, cuda:0, cuda:1."):
            devices.chosen()
    devices._named.cache_clear()


def test_tokens_are_counted_by_the_devices_memory(settings, tmp_path, monkeypatch):
    """By hand, of 2 layers of width 32 with 2 heads and texts of 100 tokens: a layer takes 68 x 32 + 10 x 2 x 100 = 4176 bytes
    a token, both 8352; half of 83,520,000 bytes holds 5000 such tokens, or 10,000 where one layer at a time is kept."""
    pretrained.save_encoder(settings.encoder, tmp_path)
    encoder = pretrained.load_encoder(tmp_path)
    monkeypatch.setattr(devices, "_memory", lambda device: 83_520_000)
    assert (devices.tokens_at_once(encoder, 100), devices.tokens_at_once(encoder, 100, learning=False)) == (5000, 10_000)
    assert [devices.part_of_step(encoder, 100, on_cpu) for on_cpu in (4096, 9000)] == [4096, 5000]
    assert devices.texts_at_once(encoder, 100) == 64
    assert devices.part_of_step(encoder.to("meta"), 100, 4096) == 5000 and devices.texts_at_once(encoder, 100) == 100
    monkeypatch.setattr(devices, "_memory", lambda device: 1)
    assert (devices.part_of_step(encoder, 100, 4096), devices.texts_at_once(encoder, 100)) == (100, 1)


def test_where_memory_is_short_the_same_is_learnt(settings, tmp_path, monkeypatch):
    pretrained.save_encoder(settings.encoder, tmp_path)
    learnt = []
    for memory in (2**40, 1):
        monkeypatch.setattr(devices, "_memory", lambda device, memory=memory: memory)
        state = State(tmp_path / f"{memory}.state", "")
        encoder = train_matcher(talk(40, 0), replace(settings, contrast_passes=2), 0, tmp_path, state, lambda done: None)
        assert encoder.is_activation_checkpointing == (memory == 1)
        learnt.append(encoder.state_dict())
    untrained = pretrained.load_encoder(tmp_path).state_dict()
    assert any(not torch.equal(learnt[0][name], weights) for name, weights in untrained.items())
    for name, weights in learnt[0].items():
        assert torch.allclose(weights, learnt[1][name], atol=1e-6), name


def test_threads_sleep_while_they_wait_for_each_other():
    """What OpenMP itself says of it, in a process that sets nothing."""
    unset = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_"))}
    program = [sys.executable, "-c", "import evaluator.comparator.settings, torch"]
    told = subprocess.run(program, env=unset | {"OMP_DISPLAY_ENV": "TRUE"}, capture_output=True, text=True, check=True).stderr
    if "OMP_WAIT_POLICY" not in told:
        pytest.skip("torch was built without OpenMP")
    assert "OMP_WAIT_POLICY = 'PASSIVE'" in told


class TestSeveral:
    @pytest.mark.parametrize(
        ("cards", "named", "wanted"),
        [
            (0, "", []),
            (1, "", []),
            (2, "", ["cuda:0", "cuda:1"]),
            (2, "cuda", ["cuda:0", "cuda:1"]),
            (2, "cuda:1", []),
            (2, "cpu", []),
        ],
    )
    def test_each_card_trains_members_unless_one_is_named(self, cards, named, wanted, monkeypatch):
        monkeypatch.setattr(torch.cuda, "device_count", lambda: cards)
        monkeypatch.setenv("COMPARENA_DEVICE", named)
        assert devices.several() == wanted

    def test_members_trained_at_once_are_those_trained_in_turn(self, some, settings, tmp_path, monkeypatch):
        recipe, told = replace(settings, folds=3, epochs=1, next_utterance=False), []
        in_turn = fit(some, recipe, 0, tmp_path / "in turn")
        monkeypatch.setattr(devices, "several", lambda: ["cpu", "cpu"])
        at_once = fit(some, recipe, 0, tmp_path / "at once", lambda done, message, point: told.append(message))
        weights = [(tmp_path / run / "member-2.safetensors").read_bytes() for run in ("in turn", "at once")]
        assert weights[0] == weights[1] and np.array_equal(in_turn.utilities, at_once.utilities, equal_nan=True)
        assert "Training 3 members on 2 devices" in told
        assert not list((tmp_path / "at once").glob("*.state"))

    def test_a_cancelled_training_leaves_no_process(self, some, settings, tmp_path, monkeypatch):
        started, begin = [], subprocess.Popen
        monkeypatch.setattr(subprocess, "Popen", lambda *args, **more: started.append(begin(*args, **more)) or started[-1])
        monkeypatch.setattr(devices, "several", lambda: ["cpu", "cpu"])
        recipe = replace(settings, folds=2, next_utterance=False)
        with pytest.raises(TrainingCancelled):
            fit(some, recipe, 0, tmp_path, should_stop=lambda: len(started) == 2)
        assert [process.returncode for process in started] == [-9, -9]
        assert not (tmp_path / "members.state").exists()
