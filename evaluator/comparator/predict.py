"""A trained comparator at work; `architectures.load` gives the one of a folder. A context seen in training, or one of a group
that was, is judged by the one member that did not see it, any other context by the mean of all members, or by one (`one_each`).
A utility comparator encodes each text once by each member that it needs."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from torch import nn
from transformers import PreTrainedModel

from evaluator.comparator import storage
from evaluator.comparator import untrained as before_training
from evaluator.comparator.new_contexts import WHOLE
from evaluator.comparator.references import beside_pairs
from evaluator.comparator.utility_model import UtilityModel, utilities
from evaluator.encoders import pretrained
from evaluator.encoders.encoding import Encoder
from evaluator.encoders.hidden_states import Kept
from evaluator.judges.protocol import OnProgress, Preferences
from evaluator.judges.texts import BESIDE, Text, context_key

ALL = -1  # judged by the mean of all members
# Of contexts, by the SHA-256 of the matcher that was loaded last, and by what else decides how it reads them: the most tokens
# of a text, and the precision.
_VECTORS: dict[tuple[str | None, int, str], Kept] = {}


def _vectors(matcher: str | None, encoder: Encoder) -> Kept:
    """Kept for as long as the process lives: all checkpoints of a training answer the same contexts, and each may be a job."""
    reads = matcher, encoder.max_length, encoder.precision
    if matcher is None or reads not in _VECTORS:
        _VECTORS.clear()
        _VECTORS[reads] = {}
    return _VECTORS[reads]


class Trained:
    """What both architectures share: the files, and which member judges what."""

    def __init__(self, directory: Path, manifest: storage.Manifest, model: Callable[[PreTrainedModel], nn.Module]):
        """model: an encoder -> a member's, its weights yet to be loaded"""
        self.directory, self.manifest = directory, manifest
        self.head, self.criteria = manifest.head, manifest.criteria
        self.models: list[Any] = [storage.load_member(directory, i, sha256, model) for i, sha256 in enumerate(manifest.members)]
        recipe = manifest.settings
        self.one_each = False  # a new context too is judged by one member
        tokenizer = pretrained.load_tokenizer(directory)
        self.encoder = Encoder(tokenizer, recipe.max_length, recipe.max_words, manifest.familiar, recipe.precision)

    @cached_property
    def untrained(self) -> PreTrainedModel:
        """The encoder before any training."""
        return pretrained.load_encoder(self.directory)

    def differences(
        self,
        texts_a: Sequence[Text],
        texts_b: Sequence[Text],
        on_progress: OnProgress | None = None,
        unlearnt: Sequence[str] = (),
    ) -> np.ndarray:
        """(n,) how far A is ahead of B; unlearnt (n,): by what has not learnt this kind of broken outputs"""
        raise NotImplementedError

    def members(self, texts: Sequence[Text]) -> np.ndarray:
        """(n,) the member that judges each text, or ALL. Of `one_each` the hash of a new context names its member."""
        folds = self._folds(texts)
        members = [ALL if fold in (None, BESIDE) else fold for fold in folds]
        if self.one_each:
            keys = [context_key(text.context) if fold == ALL else "" for text, fold in zip(texts, members)]
            members = [int(key[:8], 16) % len(self.models) if key else fold for key, fold in zip(keys, members)]
        return np.array(members, dtype=int)

    def _folds(self, texts: Sequence[Text]) -> list[int | None]:
        """(n,) as `Manifest.fold_of`; each context is looked up once"""
        places = {(text.context, text.group): text for text in texts}
        found = {place: self.manifest.fold_of(text) for place, text in places.items()}
        return [found[text.context, text.group] for text in texts]

    def disagreement(
        self, texts_a: Sequence[Text], texts_b: Sequence[Text], on_progress: OnProgress | None = None
    ) -> np.ndarray:
        """(n,) standard deviation over the members of what each says of the pair (`differences`), whether it saw the context
        in training or not."""
        of_members = []
        for i, model in enumerate(self.models):
            alone = copy(self)
            alone.models, alone.manifest = [model], replace(self.manifest, folds={})
            watch = on_progress and (lambda done, *what, i=i: on_progress((i + done) / len(self.models), *what))
            of_members.append(alone.differences(texts_a, texts_b, watch))
        spread: np.ndarray = np.std(of_members, axis=0)
        return spread

    def cosines(self, texts: Sequence[Text]) -> np.ndarray:
        """(n,) cosine of each output with the last turns of its context, by the untrained encoder."""
        return beside_pairs(self.untrained, None, self.encoder, texts)[0].numpy()


class Comparator(Trained):
    """The utility comparator. P(A) = sigmoid(u_a - u_b - theta), utilities in logits."""

    kind: Literal["pointwise"] = "pointwise"

    def __init__(self, directory: Path, manifest: storage.Manifest):
        super().__init__(directory, manifest, lambda encoder: UtilityModel(encoder, len(manifest.criteria)))
        self.matcher = storage.load_matcher(directory, manifest.matcher)  # its cosine stands beside the encoded pair
        self.references = storage.load_references(directory, manifest.references)
        self.wholeness = storage.load_wholeness(directory, manifest)
        self._untrained_contexts: Kept = {}
        self._contexts = _vectors(manifest.matcher, self.encoder)

    def utilities(self, texts: Sequence[Text], on_progress: OnProgress | None = None) -> np.ndarray:
        """(n,) by the first criterion, in logits, higher is better."""
        return self.by_criterion(texts, on_progress)[:, 0]

    def score(self, texts: Sequence[Text], on_progress: OnProgress | None = None) -> np.ndarray:
        """(n,) the mean score to be expected of people by the first criterion, from 0 to 1; rises with the utility."""
        return self.expected(self.by_criterion(texts, on_progress))[:, 0]

    def expected(self, u: np.ndarray) -> np.ndarray:
        """Utilities (n, c), or (n, 1) of the first criterion, -> mean scores to be expected of people, from 0 to 1"""
        heads = [self.head, *self.manifest.other_heads]
        return np.stack([head.expected(column) for head, column in zip(heads, u.T)], axis=1)

    def by_criterion(
        self, texts: Sequence[Text], on_progress: OnProgress | None = None, unlearnt: Sequence[str] = ()
    ) -> np.ndarray:
        """(n, c) by each of `criteria`, in logits of its own. Equal texts are encoded once and have equal utilities.

        unlearnt (n,): of each text a kind of broken outputs, by what has not learnt to tell that kind (untrained.py)"""
        if not texts:
            return np.empty((0, len(self.criteria)))
        is_new = [fold is None for fold in self._folds(texts)]
        judged = list(zip(texts, is_new, self.members(texts).tolist(), strict=True))
        each = sorted(
            set(judged), key=lambda one: (one[0].context, one[0].output, *one[1:])
        )  # so that the order given is nothing
        unique = {one: row for row, one in enumerate(each)}
        ordered, new, which = [one[0] for one in each], np.array([one[1] for one in each]), np.array([one[2] for one in each])
        raw, likeness = self._raw(ordered, which, on_progress)  # (m, c), (m,)
        heads = [self.head, *self.manifest.other_heads]
        mixed = np.stack([head.mixed(u, likeness) for head, u in zip(heads, raw.T)], axis=1)  # (m, c)
        mixed, lack = self._in_new_contexts(mixed, ordered, new), self._lack(ordered, which, new)  # (m, c), (m, k)
        rows = np.array([unique[one] for one in judged], dtype=int)  # (n,)
        kinds = [self.wholeness.without(kind) if self.wholeness else 0 for kind in unlearnt] or 0
        mixed, lack = mixed[rows], lack[rows, kinds]  # (n, c), (n,)
        return np.stack([head.utilities(u, texts, lack) for head, u in zip(heads, mixed.T)], axis=1)

    def _in_new_contexts(self, mixed: np.ndarray, texts: Sequence[Text], new: np.ndarray) -> np.ndarray:
        """Utilities (m, c) of the texts, beside the untrained cosines in new contexts"""
        if new.any() and self.manifest.elsewhere:
            these, kept = [text for text, is_new in zip(texts, new) if is_new], self._untrained_contexts
            cosines = before_training.cosines(self.untrained, self.encoder, these, kept=kept)  # (k, 2)
            found = [weights.utilities(u, cosines) for weights, u in zip(self.manifest.elsewhere, mixed[new].T)]
            mixed[new] = np.stack(found, axis=1)
        return mixed

    def _lack(self, texts: Sequence[Text], which: np.ndarray, new: np.ndarray) -> np.ndarray:
        """(m, k) what the texts lack of being whole, to the members that judge them, for each kind left out; (m, 1) zeros where
        it never learnt what is whole"""
        if self.wholeness is None:
            return np.zeros((len(texts), 1))
        lack = self.wholeness.lack(before_training.forms(self.untrained, self.encoder, texts), which)  # (m, k)
        return lack * np.where(new, WHOLE, 1.0)[:, None]

    def differences(
        self,
        texts_a: Sequence[Text],
        texts_b: Sequence[Text],
        on_progress: OnProgress | None = None,
        unlearnt: Sequence[str] = (),
    ) -> np.ndarray:
        """(n,) u_a - u_b in logits; each different text is encoded once; unlearnt (n,): as in `by_criterion`"""
        u = self.by_criterion([*texts_a, *texts_b], on_progress, [*unlearnt, *unlearnt])[:, 0]  # (2n,)
        ahead: np.ndarray = u[: len(texts_a)] - u[len(texts_a) :]
        return ahead

    def preferences(self, u_a: np.ndarray, u_b: np.ndarray) -> Preferences:
        """u_a (n,), u_b (n,) -> P(A better), P(tie), P(B better), and the choice"""
        return self.head.preferences(u_a, u_b)

    def compare(self, texts_a: Sequence[Text], texts_b: Sequence[Text]) -> Preferences:
        """Text by text; each different text is encoded once however many pairs it is in."""
        if len(texts_a) != len(texts_b):
            raise ValueError(f"{len(texts_a)} texts cannot be compared with {len(texts_b)} one by one.")
        u = self.utilities([*texts_a, *texts_b])  # (2n,)
        return self.preferences(u[: len(texts_a)], u[len(texts_a) :])

    one_order = compare  # a utility does not know the order in which two texts are shown

    def _raw(self, texts: list[Text], which: np.ndarray, on_progress: OnProgress | None) -> tuple[np.ndarray, np.ndarray]:
        """Utilities (m, c) before scales and guards, and the likeness to references (m,) beside them"""
        jobs = [((which == i) | (which == ALL)).nonzero()[0] for i in range(len(self.models))]  # texts of each member
        total = len(texts) + sum(len(rows) for rows in jobs)
        done = 0

        def tick(of: int) -> Callable[[float], None] | None:
            start = done
            return on_progress and (lambda part: on_progress((start + part * of) / total, "Judging the texts", None))

        sequences = self.encoder.pairs(texts)
        cosines, likeness = beside_pairs(
            self.matcher, self.references, self.encoder, texts, tick(len(texts)), kept=self._contexts
        )  # (m,), (m,)
        done += len(texts)
        sums, counts = np.zeros((len(texts), len(self.criteria))), np.zeros((len(texts), 1))  # (m, c), (m, 1)
        for model, rows in zip(self.models, jobs, strict=True):
            sums[rows] += utilities(model, self.encoder, sequences, cosines, rows, tick(len(rows)))
            counts[rows] += 1
            done += len(rows)
        return sums / counts, likeness
