"""Reward models and cross-encoders of the hub as pointwise judges: any sequence classifier with one output.

A reward model reads a conversation by its chat template (Ouyang et al. 2022; Lambert et al. 2024, RewardBench, section 3.1); a
cross-encoder reads context and output as a pair (Nogueira & Cho 2019), as sentence-transformers' CrossEncoder does. Both give
one number; what may come after it, such as a sigmoid, changes no order and is left out.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer, PreTrainedModel

from core.errors import Refused
from evaluator.encoders.devices import chosen, texts_at_once
from evaluator.encoders.encoding import by_length
from evaluator.encoders.pretrained import digest, positions
from evaluator.judges.protocol import Numbers, OnProgress, Preferences, by_order
from evaluator.judges.replies import Replies, key_of
from evaluator.judges.texts import Text
from evaluator.metrics.metric import versions

LONGEST = 4096  # tokens, of models that have positions for more: RewardBench's own limit is 2,048


@dataclass(frozen=True)
class RewardModel:
    """A sequence classifier with its tokenizer; replies keep what it said. Follows `judges.protocol.PointwiseJudge`."""

    name: str
    model: PreTrainedModel
    tokenizer: Any
    max_length: int
    replies: Replies = field(default_factory=lambda: Replies(None))
    kind: Literal["pointwise"] = "pointwise"

    @classmethod
    def load(cls, source: str, replies: Replies | None = None) -> "RewardModel":
        """From a folder or a name on the Hugging Face hub. Raises Refused where there is none, or it has not one output."""
        local = Path(source).is_dir()
        try:
            model = AutoModelForSequenceClassification.from_pretrained(source, dtype="auto", local_files_only=local)
            tokenizer = AutoTokenizer.from_pretrained(source, local_files_only=local)
        except (OSError, ValueError, KeyError) as error:
            raise Refused(f"The reward model {source!r} cannot be loaded: {str(error).splitlines()[0]}") from error
        if model.config.num_labels != 1:
            raise Refused(f"The model {source!r} has {model.config.num_labels} outputs; a judge of single outputs has one.")
        if model.config.get_text_config().pad_token_id is None:
            model.config.get_text_config().pad_token_id = tokenizer.pad_token_id
        longest = min(LONGEST, positions(model), tokenizer.model_max_length)
        return cls(Path(source).name, model.to(chosen()).eval(), tokenizer, longest, replies or Replies(None))

    @cached_property
    def settings(self) -> dict[str, Any]:
        template = self.tokenizer.chat_template
        return {
            "reward_model": self.name,
            "weights": digest(self.model),
            "input": "chat template" if template else "pair",
            "template": hashlib.sha256(str(template).encode()).hexdigest()[:12] if template else None,
            "max_length": self.max_length,
            "versions": versions("torch", "transformers"),
        }

    def utilities(self, texts: Sequence[Text], *, on_progress: OnProgress | None = None) -> Numbers:
        """(n,) the model's one output for each, a logit. Too long a context loses its beginning, too long an output its end."""
        where = json.dumps(self.settings, sort_keys=True)
        keys = [key_of({"context": text.context, "output": text.output}, where) for text in texts]
        scores = {key: reply["score"] for key, reply in self.replies.known(keys).items()}
        left = {key: text for key, text in zip(keys, texts, strict=True) if key not in scores}
        for said in self._batches(left):
            self.replies.keep_many({key: {"score": score} for key, score in said.items() if np.isfinite(score)})
            scores |= said
            if on_progress:
                on_progress(len(scores) / len(set(keys)), f"{self.name} judges", None)
        return np.array([scores[key] for key in keys])

    def _batches(self, texts: Mapping[str, Text]) -> Iterator[dict[str, float]]:
        """The scores of some of the texts at a time, by the keys of the texts."""
        keys = list(texts)
        inputs = [self._chat(text) if self.tokenizer.chat_template else self._pair(text) for text in texts.values()]
        lengths = np.array([len(one["input_ids"]) for one in inputs], dtype=int)  # (u,)
        pad = self.tokenizer.pad_token_id
        at_once = 1 if pad is None else texts_at_once(self.model, int(lengths.max(initial=1)))
        for rows in by_length(lengths, at_once):
            batch = [inputs[i] for i in rows]
            padded = (
                self.tokenizer.pad(batch, padding_side="right", return_tensors="pt") if pad is not None else _alone(batch[0])
            )
            with torch.inference_mode():
                logits = self.model(**{name: tensor.to(self.model.device) for name, tensor in padded.items()}).logits  # (b, 1)
            yield dict(zip((keys[i] for i in rows), logits[:, 0].float().cpu().tolist(), strict=True))

    def preferences(self, utility_a: Numbers, utility_b: Numbers) -> Preferences:
        """What the order of the scores says; how sure it is follows from a scale fitted on people's pairs alone."""
        return by_order(utility_a, utility_b)

    def _chat(self, text: Text) -> dict[str, list[int]]:
        """The speakers alternate, and the output is the assistant's. Templates want the user first, so where the assistant
        began, its turn stands in the user's first one. Too long a conversation loses its first tokens."""
        turns = list(text.context) or [""]
        if len(turns) % 2 == 0:
            turns = ["\n".join(turns[:2]), *turns[2:]]
        roles = ["user", "assistant"]
        messages = [{"role": roles[i % 2], "content": turn} for i, turn in enumerate([*turns, text.output])]
        written = self.tokenizer.apply_chat_template(messages, tokenize=False)
        ids = self.tokenizer(written, add_special_tokens=False, verbose=False)["input_ids"][-self.max_length :]
        return {"input_ids": ids, "attention_mask": [1] * len(ids)}

    def _pair(self, text: Text) -> dict[str, list[int]]:
        """The turns of the context, a line each, and the output, as the tokenizer puts two texts together."""
        room = self.max_length - self.tokenizer.num_special_tokens_to_add(pair=True)
        alone = self.tokenizer(text.output, add_special_tokens=False, truncation=True, max_length=room)["input_ids"]
        fits = len(alone) < room  # else the output fills it all
        self.tokenizer.truncation_side = "left" if fits else "right"
        context, cut = ("\n".join(text.context), "only_first") if fits else ("", "only_second")
        return dict(self.tokenizer(context, text.output, truncation=cut, max_length=self.max_length))


def _alone(one: dict[str, list[int]]) -> dict[str, torch.Tensor]:
    """Of a tokenizer that knows no padding."""
    return {name: torch.tensor([values]) for name, values in one.items()}
