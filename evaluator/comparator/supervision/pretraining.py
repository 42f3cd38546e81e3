"""The self-supervised base: an encoder and a utility that tell which reply answers a context, before anybody judged one.
Every member of a comparator starts from it. It sees no dialogue that a judged context comes from (`supervision.unseen`)."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel

from evaluator.comparator import storage
from evaluator.comparator.examples import Exchange
from evaluator.comparator.references import remember
from evaluator.comparator.settings import Settings
from evaluator.comparator.supervision import curriculum
from evaluator.comparator.supervision.contrastive import TAUGHT, train_matcher
from evaluator.comparator.supervision.negatives import Negatives
from evaluator.comparator.supervision.self_supervision import passes_over
from evaluator.comparator.training.progress import Report
from evaluator.comparator.utility_model import UtilityModel
from evaluator.encoders import devices, loop, pretrained
from evaluator.encoders.encoding import Encoder
from evaluator.judges.texts import Text

GROUPS = 16  # exchanges in a step
GOOD_ONES, BAD_ONES = 2, 2  # replies shown of each: people's, the dialogue's own in one of two cases first, and negatives
SORTED = 8  # so many steps' exchanges are sorted by length and dealt out
GOOD, BAD = 0.95, 0.05  # the mean score that people would give to a reply of people's, and to a negative
TEACHER = "teacher"  # a folder beside the encoder, while it teaches
TEACHER_SHARE = 0.75  # of the progress bar, where there is one
CONTRAST_SHARE = 0.25  # of the progress bar
SHARED = ("pass_most", "weight_decay", "warmup", "head_learning_rate", "from_scratch", "precision")


@dataclass(frozen=True)
class Pretraining:
    """What makes `base.safetensors`, and what stands beside the encoded pair, in a directory that holds the encoder."""

    exchanges: Sequence[Exchange]
    settings: Settings
    seed: int
    directory: Path
    encoder_sha256: str
    progress: Report

    def record(self) -> dict[str, Any]:
        """The base's record, made now or found again, with the SHA-256 of what stands beside the encoded pair ("matcher",
        "references"; None where there is none)."""
        matcher: dict[str, Any] = {"sha256": None, "seconds": 0.0}
        references: dict[str, Any] = {"sha256": None}
        teacher = pretrained.save_encoder(self.settings.teacher, self.directory / TEACHER) if self.settings.teacher else None
        apart = self._fingerprint("contrast_", teacher=teacher)
        if self.settings.architecture == "utility":  # joint has nothing beside the pair
            matcher = storage.made_once(self.directory, "matcher", apart, lambda: self._tune_matcher(apart, teacher))
            if self.settings.references:
                embed = lambda: self._embed_references(matcher["sha256"])
                references = storage.made_once(self.directory, "references", apart, embed)
        both = self._fingerprint("base_", "contrast_", teacher=teacher)
        base = storage.made_once(self.directory, "base", both, lambda: self._learn_lessons(both, teacher))
        shutil.rmtree(self.directory / TEACHER, ignore_errors=True)
        seconds = base["seconds"] + matcher["seconds"]
        return base | {"matcher": matcher["sha256"], "references": references["sha256"], "seconds": seconds}

    def _taught(self, teacher: str) -> "Teacher":
        """The teacher, whose encoder has this SHA-256, after it has learnt the same exchanges: now, or found again."""
        folder = self.directory / TEACHER
        name, settings = self.settings.teacher, self.settings
        larger = replace(settings, encoder=name, teacher="", references=False, from_scratch=False)
        watch = lambda done, message: self.progress(TEACHER_SHARE * done, f"Teacher: {message}")
        made = Pretraining(self.exchanges, larger, self.seed, folder, teacher, watch).record()
        return Teacher(folder, made)

    def _tell(self, done: float, message: str) -> None:
        """How far the work is, after what a teacher has learnt."""
        begin = TEACHER_SHARE if self.settings.teacher else 0.0
        self.progress(begin + (1 - begin) * done, message)

    def _tune_matcher(self, fingerprint: str, teacher: str | None) -> dict[str, Any]:
        state = loop.State(self.directory / "matcher.state", fingerprint)
        tick = lambda done: self._tell(CONTRAST_SHARE * done, "Learning which replies belong to which contexts")
        taught_by = self._taught(teacher) if teacher else None
        larger = (taught_by.folder, taught_by.matcher()) if taught_by else None
        tuned = train_matcher(self.exchanges, self.settings, self.seed, self.directory, state, tick, larger)
        return {"sha256": pretrained.save_weights(tuned, self.directory / "matcher.safetensors"), "seconds": state.seconds()}

    def _embed_references(self, matcher: str) -> dict[str, Any]:
        tokenizer, settings = pretrained.load_tokenizer(self.directory), self.settings
        encoder = Encoder(tokenizer, settings.max_length, settings.max_words, precision=settings.precision)
        apart = storage.load_matcher(self.directory, matcher)
        tick = lambda done: self._tell(CONTRAST_SHARE, "Embedding the dialogues")
        references = remember(self.exchanges, apart, encoder, self.seed, tick)
        return {"sha256": storage.save_references(references, self.directory / "references.safetensors")}

    def _learn_lessons(self, fingerprint: str, teacher: str | None) -> dict[str, Any]:
        """The base goes from the weights after the easy lesson to those after the hard one by `base_harder_share` of the way:
        what was learnt last stays, and little of what was there is lost (Wortsman et al. 2022, "Robust fine-tuning of
        zero-shot models", section 3)."""
        settings, tokenizer = self.settings, pretrained.load_tokenizer(self.directory)
        model = UtilityModel(pretrained.load_encoder(self.directory))
        model.cosine.requires_grad_(False)  # it joins in where people judged
        devices.spare_memory(model.encoder, GROUPS * (GOOD_ONES + BAD_ONES), settings.base_max_length)
        taught_by = self._taught(teacher) if teacher else None
        says = taught_by.base(settings) if taught_by else None
        easy = Lesson(self.exchanges, settings, self.seed, tokenizer, curriculum.EASY, settings.base_passes, says)
        hard = Lesson(self.exchanges, settings, self.seed, tokenizer, curriculum.HARD, settings.base_harder_passes, says, easy)
        first = self._learn(model, easy, settings.base_learning_rate, fingerprint, hard.end)
        before = {name: weights.clone() for name, weights in model.state_dict().items()}
        second = self._learn(model, hard, settings.base_harder_learning_rate, fingerprint, hard.end)
        for name, weights in model.state_dict().items():
            if weights.is_floating_point():
                weights.copy_(torch.lerp(before[name], weights, settings.base_harder_share))
        sha256 = pretrained.save_weights(model, self.directory / "base.safetensors")
        return {"sha256": sha256, "steps": hard.end, "seconds": first + second + (taught_by.seconds if taught_by else 0.0)}

    def _learn(self, model: UtilityModel, lesson: "Lesson", rate: float, fingerprint: str, steps: int) -> float:
        """One of the lessons that have `steps` steps together: its seconds. Its end stays on disk, where a run that is cut in
        the next lesson begins."""

        def after(step: int, loss: float, notes: list[Any]) -> None:
            done = lesson.start + step
            share = CONTRAST_SHARE + (1 - CONTRAST_SHARE) * done / steps
            self._tell(share, f"Learning from dialogues, step {done} of {steps}")

        state = loop.State(self.directory / f"base-{lesson.number}.state", fingerprint)
        losses = lambda step: lesson.losses(model, step)
        seed = [lesson.seed, 1, lesson.number]
        loop.run(model, self.settings, rate, lesson.steps, losses, seed, state, after, save_end=True)
        return state.seconds()

    def _fingerprint(self, *kinds: str, teacher: str | None) -> str:
        """SHA-256 of everything that weights depend on; of the settings, those whose names begin with one of the kinds."""
        recipe = {name: v for name, v in asdict(self.settings).items() if name.startswith(kinds) or name in SHARED}
        recipe |= {"teacher": teacher}
        data = [recipe, self.seed, self.encoder_sha256, storage.FORMAT, [asdict(exchange) for exchange in self.exchanges]]
        return storage.digest(data)


@dataclass(frozen=True)
class Teacher:
    """What a larger encoder has learnt of the same exchanges. Half of what the smaller one is to meet are its answers (Hinton
    et al. 2015, "Distilling the knowledge in a neural network", section 2)."""

    folder: Path
    record: dict[str, Any]  # of its pretraining

    @property
    def seconds(self) -> float:
        return float(self.record["seconds"])

    def matcher(self) -> PreTrainedModel:
        return storage.load_matcher(self.folder, self.record["matcher"])

    def base(self, settings: Settings) -> Callable[[Sequence[Text]], tuple[torch.Tensor, torch.Tensor]]:
        """What its base says of n texts, with its own tokens: utilities (n,) in logits, and mean scores (n,) from 0 to 1."""
        encoder = Encoder(pretrained.load_tokenizer(self.folder), settings.base_max_length, precision=settings.precision)
        model = storage.load_base(self.folder).eval()

        @torch.no_grad()
        def says(texts: Sequence[Text]) -> tuple[torch.Tensor, torch.Tensor]:
            u = model(encoder.batch(encoder.pairs(texts), range(len(texts))), torch.zeros(len(texts)))[:, 0]  # (n,)
            slope, intercept = model.level
            return u, torch.sigmoid(slope * u + intercept)

        return says


class Lesson:
    """What each step shows: exchanges of similar length, each with two of its replies and two negatives of some kinds."""

    def __init__(
        self,
        exchanges: Sequence[Exchange],
        settings: Settings,
        seed: int,
        tokenizer: Any,
        kinds: dict[str, float],
        passes: float,
        teacher: Callable[[Sequence[Text]], tuple[torch.Tensor, torch.Tensor]] | None = None,
        after: "Lesson | None" = None,
    ):
        """kinds: share of each kind of negatives; passes: how often an exchange is shown; teacher: what one says, as from
        `Teacher.base`; after: the lesson before this one"""
        self.teacher = teacher
        self.exchanges, self.seed, self.kinds = exchanges, seed, kinds
        self.number: int = after.number + 1 if after else 1
        self.start: int = after.end if after else 0
        self.encoder = Encoder(tokenizer, settings.base_max_length, precision=settings.precision)
        self.negatives = Negatives(exchanges)
        self.batches = self._deal(passes, settings.pass_most)
        self.steps = len(self.batches)
        self.end: int = self.start + self.steps

    def losses(self, model: UtilityModel, step: int) -> Iterator[torch.Tensor]:
        """Each good reply is to be found among the negatives, and each text has a mean score of its own."""
        rng = np.random.default_rng([self.seed, 2, self.number, step])
        texts = [text for i in self.batches[step] for text in self._group(int(i), rng)]
        batch = self.encoder.batch(self.encoder.pairs(texts), range(len(texts)))
        u = model(batch, torch.zeros(len(texts))).view(-1, GOOD_ONES + BAD_ONES)  # (g, k)
        good, among = u[:, :GOOD_ONES], _among(u)  # (g, 2), (g, 2, 3)
        wanted = u.new_tensor([GOOD] * GOOD_ONES + [BAD] * BAD_ONES).expand_as(u)  # (g, k)
        found = (torch.logsumexp(among, dim=-1) - good).mean()
        if self.teacher:
            told, scores = (said.view_as(u) for said in self.teacher(texts))  # (g, k), (g, k)
            wanted = (1 - TAUGHT) * wanted + TAUGHT * scores
            imitated = -(_among(told).softmax(-1) * among.log_softmax(-1)).sum(-1).mean()
            found = (1 - TAUGHT) * found + TAUGHT * imitated
        yield found + model.score_losses(u.reshape(-1), wanted.reshape(-1)).mean()

    def _group(self, i: int, rng: np.random.Generator) -> list[Text]:
        """An exchange's good replies, then its negatives."""
        context, replies = self.exchanges[i].context, self.exchanges[i].replies
        first = 0 if rng.random() < 0.5 else int(rng.integers(len(replies)))
        others = [reply for k, reply in enumerate(replies) if k != first] or [replies[first]]
        good = [replies[first], *(others[rng.integers(len(others))] for _ in range(GOOD_ONES - 1))]
        chosen = rng.choice(list(self.kinds), size=BAD_ONES, p=list(self.kinds.values()))
        return [Text(context, text) for text in [*good, *(self.negatives.make(kind, i, good[0], rng) for kind in chosen)]]

    def _deal(self, passes: float, most: int) -> list[np.ndarray]:
        rng = np.random.default_rng([self.seed, 3, self.number])
        order = np.array([i for shown in passes_over(len(self.exchanges), passes, most, rng) for i in shown], dtype=int)
        length = np.array([sum(len(turn) for turn in exchange.context) for exchange in self.exchanges])  # characters
        batches = []
        for start in range(0, len(order), GROUPS * SORTED):
            chunk = order[start : start + GROUPS * SORTED]
            chunk = chunk[np.argsort(length[chunk], kind="stable")]
            parts = [chunk[i : i + GROUPS] for i in range(0, len(chunk), GROUPS)]
            batches += [parts[i] for i in rng.permutation(len(parts))]
        return batches


def _among(u: torch.Tensor) -> torch.Tensor:
    """Utilities (g, k) of good replies and bad ones -> (g, 2, 3): each good one, and the bad ones that it is found among"""
    good, bad = u[:, :GOOD_ONES], u[:, GOOD_ONES:]  # (g, 2), (g, 2)
    return torch.cat([good.unsqueeze(-1), bad.unsqueeze(1).expand(-1, GOOD_ONES, -1)], dim=-1)
