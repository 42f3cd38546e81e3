"""Where models learn and judge: CUDA, Apple's MPS or the CPU. Files are loaded onto `chosen()`, a head is where its encoder is,
and a batch goes where the model is; no other module names a device."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch
from transformers import PreTrainedModel

SETTING = "COMPARENA_DEVICE"
ON_CPU, ELSEWHERE = 64, 1024  # texts that are read together, at most: more are no faster

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # read when CUDA starts; without it sums come in any order


def chosen() -> torch.device:
    """What the environment's COMPARENA_DEVICE names ("cpu", "mps", "cuda", "cuda:1"), else the best there is. Raises
    ValueError with one sentence where there is no such device."""
    return _named(os.environ.get(SETTING, ""))


@cache
def _named(name: str) -> torch.device:
    there = ["cpu", *["mps"] * torch.backends.mps.is_available()]
    there += [kind for i in range(torch.cuda.device_count()) for kind in (f"cuda:{i}", "cuda")]
    if name and name not in there:
        raise ValueError(f"There is no device {name!r} here; there is: {', '.join(sorted(set(there)))}.")
    return torch.device(name or there[-1])


def several() -> list[str]:
    """The graphics cards that may train a member each: where there is more than one, and none of them is named."""
    cards = [f"cuda:{i}" for i in range(torch.cuda.device_count())]
    return cards if len(cards) > 1 and os.environ.get(SETTING, "") in ("", "cuda") else []


def described(device: torch.device) -> str:
    """As a card names it: same description, same seed, same weights."""
    return f"cuda, {torch.cuda.get_device_name(device)}" if device.type == "cuda" else device.type


def use_bf16(precision: str, device: torch.device) -> bool:
    """Whether to run under bf16 autocast; "auto" asks whether the device multiplies bf16 in hardware."""
    if precision not in ("auto", "fp32", "bf16"):
        raise ValueError(f'Precision is "auto", "fp32" or "bf16", not {precision!r}.')
    return _has_bf16(device.type) if precision == "auto" else precision == "bf16"


@cache
def _has_bf16(kind: str) -> bool:
    if kind == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if kind == "mps":
        return torch.backends.mps.is_macos_or_newer(14, 0)
    return kind == "cpu" and bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


@contextmanager
def repeatable(device: torch.device) -> Iterator[None]:
    """Within, random draws leave the caller's as they were, and CUDA adds up in the same order every time, as a CPU does."""
    before, cuda = torch.are_deterministic_algorithms_enabled(), device.type == "cuda"
    torch.use_deterministic_algorithms(before or cuda)
    try:
        with torch.random.fork_rng(devices=[device] if cuda else []):
            yield
    finally:
        torch.use_deterministic_algorithms(before)


def tokens_at_once(encoder: PreTrainedModel, length: int, learning: bool = True) -> int:
    """How many tokens, padding included, the encoder's device holds in memory, in texts of `length` tokens.

    A layer has 68 h + 10 a t bytes for each token in fp32 (Korthikanti et al. 2022, "Reducing activation recomputation in
    large transformer models", section 4.1, which counts 16 bits); only learning keeps those of all layers. Half of the device's
    memory is taken, whatever is free now: so the same training is done in the same parts.
    """
    config = encoder.config
    each = 68 * config.hidden_size + 10 * config.num_attention_heads * length  # bytes
    layers = config.num_hidden_layers if learning else 1
    return max(length, int(_memory(encoder.device) // (2 * each * layers)))


def part_of_step(encoder: PreTrainedModel, length: int, on_cpu: int) -> int:
    """How many tokens are learnt from at once, in texts of `length` tokens: on a CPU at most so many, for its caches."""
    tokens = tokens_at_once(encoder, length)
    return min(on_cpu, tokens) if encoder.device.type == "cpu" else tokens


def texts_at_once(encoder: PreTrainedModel, length: int) -> int:
    """How many texts of at most `length` tokens are read together without learning."""
    return min(ON_CPU if encoder.device.type == "cpu" else ELSEWHERE, tokens_at_once(encoder, length, False) // length)


def spare_memory(encoder: PreTrainedModel, texts: int, length: int) -> None:
    """Where the device does not hold what a step of so many texts keeps for its gradients, that is calculated twice instead."""
    if texts * length > tokens_at_once(encoder, length) and encoder.supports_gradient_checkpointing:
        encoder.activation_checkpointing_enable({"use_reentrant": False})  # the other kind wants embeddings that learn


@cache
def _memory(device: torch.device) -> int:
    """Bytes"""
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory
    if device.type == "mps":
        return torch.mps.recommended_max_memory()
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
