"""What an encoder makes of texts: the hidden states of its last layer, and the means of those."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F
from transformers import PreTrainedModel

from evaluator.encoders.devices import texts_at_once, use_bf16
from evaluator.encoders.encoding import Batch, Encoder, Sequences, by_length
from evaluator.encoders.pooling import MEAN, mean_over, pooled

# Up to so many tokens plain attention trains 1.5 times as fast on a CPU as torch's fused one, whose backward pass is slow
# there; beyond, it takes too much memory. Without learning the fused one is as fast or faster.
EAGER_TOKENS = 192
KEPT = 5_000  # strings whose vectors are kept
Tick = Callable[[float], None]  # is told the share that is done, 0..1, after every batch
Kept = dict[tuple[str, ...], torch.Tensor]  # the vectors (s, h) of strings that were embedded together


def hidden_states(encoder: PreTrainedModel, batch: Batch) -> torch.Tensor:
    """The last layer's -> (b, t, h) in fp32"""
    hidden: torch.Tensor = _read(encoder, batch).last_hidden_state.float()
    return hidden


def middle_states(encoder: PreTrainedModel, batch: Batch, share: float) -> torch.Tensor:
    """Those of the layer at this share of all -> (b, t, h) in fp32"""
    every = _read(encoder, batch, output_hidden_states=True).hidden_states  # the embeddings, and each layer's
    hidden: torch.Tensor = every[round(share * (len(every) - 1))].float()
    return hidden


def _read(encoder: PreTrainedModel, batch: Batch, **wanted: bool) -> Any:
    config, kind = encoder.config, encoder.device.type
    if encoder._supports_sdpa and config._attn_implementation in ("sdpa", "eager"):
        plain = kind == "cpu" and torch.is_grad_enabled() and batch.ids.shape[1] <= EAGER_TOKENS
        attention = "eager" if plain else "sdpa"
        if config._attn_implementation != attention:
            encoder.set_attn_implementation(attention)
    with torch.autocast(kind, torch.bfloat16) if use_bf16(batch.precision, encoder.device) else nullcontext():
        return encoder(**arguments_of(encoder, batch), **wanted)


def arguments_of(model: PreTrainedModel, batch: Batch) -> dict[str, torch.Tensor]:
    """What the model is called with; the segments where it knows any."""
    arguments = {"input_ids": batch.ids, "attention_mask": batch.mask}
    if model.config.model_type == "xlnet" or getattr(model.config, "type_vocab_size", 0) > 1:  # XLNet tells any two apart
        arguments["token_type_ids"] = batch.segments
    return arguments


def pair_features(encoder: PreTrainedModel, batch: Batch) -> torch.Tensor:
    """Of each context read with its output: the mean of all tokens, the mean of the output's, and its product with the mean of
    the context's -> (b, 3h) in fp32"""
    hidden = hidden_states(encoder, batch)  # (b, t, h)
    output = F.normalize(mean_over(hidden, batch.mask * batch.segments), dim=-1)  # (b, h)
    context = F.normalize(mean_over(hidden, batch.mask * (1 - batch.segments)), dim=-1)  # (b, h)
    agreement = output * context * math.sqrt(hidden.shape[-1])  # (b, h), of the size of 1
    return torch.cat([mean_over(hidden, batch.mask), output, agreement], dim=-1)  # (b, 3h)


def embed(encoder: PreTrainedModel, batch: Batch) -> torch.Tensor:
    """As sentence-transformers does: the mean of the last hidden states, of length 1 -> (b, h) in fp32"""
    batch = batch.to(encoder.device)
    return F.normalize(mean_over(hidden_states(encoder, batch), batch.mask), dim=-1)


def embeddings(
    model: PreTrainedModel, encoder: Encoder, strings: Sequence[str], tick: Tick | None = None, way: str = MEAN
) -> torch.Tensor:
    """Of each string -> (s, h) fp32 on the model's device, each of length 1; too long a string is embedded by its end. way: of
    `pooling.WAYS`"""
    sequences = encoder.singles(strings, keep_end=True)
    vectors = torch.empty(len(strings), model.config.hidden_size, device=model.device)
    for rows, batch in batches(model, encoder, sequences, tick=tick):
        lengths = torch.tensor(sequences.lengths[rows], device=model.device)  # (b,)
        cls = lengths - 1 if encoder.cls_last else torch.zeros_like(lengths)
        last = (lengths - (3 if encoder.cls_last else 2)).clamp(min=0)
        read = pooled(hidden_states(model, batch), batch.mask, way, cls, last)  # (b, h)
        vectors[rows] = F.normalize(read, dim=-1).clone()
    return vectors


def embeddings_by_string(
    model: PreTrainedModel, encoder: Encoder, strings: Sequence[str], tick: Tick | None = None
) -> dict[str, torch.Tensor]:
    """`embeddings` (h,) of each different string"""
    different = list(dict.fromkeys(strings))
    return dict(zip(different, embeddings(model, encoder, different, tick)))


def kept_embeddings(model: PreTrainedModel, encoder: Encoder, strings: Sequence[str], kept: Kept) -> dict[str, torch.Tensor]:
    """The same of strings that are met together again and again. They are kept together, too: what a string is padded with
    decides its vector's last bits, so with single ones a part of a job would give what this process happened to read before."""
    together = tuple(dict.fromkeys(strings))
    if len(together) > KEPT:
        return embeddings_by_string(model, encoder, together)
    if together not in kept:
        if sum(map(len, kept)) + len(together) > KEPT:
            kept.clear()
        kept[together] = embeddings(model, encoder, together)
    return dict(zip(together, kept[together]))


def batches(
    model: PreTrainedModel, encoder: Encoder, sequences: Sequences, chosen: np.ndarray | None = None, tick: Tick | None = None
) -> Iterator[tuple[np.ndarray, Batch]]:
    """Positions (b,) in `chosen` (c,), by default all, and those sequences on the model's device, of similar length: for
    forward passes without gradients."""
    chosen = np.arange(len(sequences.ids)) if chosen is None else chosen
    done, lengths = 0, sequences.lengths[chosen]
    for rows in by_length(lengths, texts_at_once(model, int(lengths.max(initial=1)))):
        with torch.inference_mode():
            yield rows, encoder.batch(sequences, chosen[rows]).to(model.device)
        done += len(rows)
        if tick:
            tick(done / len(chosen))
