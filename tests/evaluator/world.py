"""A campaign whose people like the word "good" and dislike "bad", and an encoder small enough to learn that at once."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

import io
import json
import random
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from django.core.management import call_command

from annotation.assessment.assess import assess
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.importer import import_judgments, import_outputs, import_scores
from annotation.models import Campaign, User

WORDS = [f"w{i}" for i in range(30)]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SYSTEMS = {"Person": "good", "Fine": "good", "Plain": "w0", "Poor": "bad"}
SCORES = {"Person": 5, "Fine": 4, "Plain": 3, "Poor": 1}


@cache
def tiny_encoder() -> str:
    """A folder with a BERT of hidden size 32, random weights."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    torch.set_num_threads(1)
    folder = mkdtemp(prefix="comparena-tiny-")
    words = [*SPECIAL, "good", "bad", *WORDS]
    tokenizer = Tokenizer(models.WordPiece({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), SPECIAL))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(folder)
    return folder


def recipe(**other) -> dict:
    return {
        "encoder": tiny_encoder(),
        "epochs": 2,
        "learning_rate": 1e-3,
        "head_learning_rate": 2e-2,
        "batch_size": 12,
        "max_length": 32,
        "precision": "fp32",
        **other,
    }


def command(*words) -> dict:
    """What a command says with --json."""
    out = io.StringIO()
    call_command(*words, "--json", stdout=out)
    return json.loads(out.getvalue())


def write(folder: Path, name: str, rows: list[dict]) -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def outputs(contexts: int = 12, seed: int = 0) -> list[dict]:
    rng = random.Random(seed)
    rows = []
    for c in range(contexts):
        turns = [" ".join(rng.choices(WORDS, k=3)) for _ in range(2)]
        for system, word in SYSTEMS.items():
            text = " ".join([*rng.choices(WORDS, k=2), word])
            rows.append({"context_id": f"c{c:02}", "context": turns, "system": system, "output": text})
    return rows


class World:
    """Alice researches the campaign, Charlie is an outsider, Dora is an admin."""

    def __init__(self, folder: Path, client=None, contexts: int = 12, slug: str = "talk", judged: bool = True):
        self.folder, self.client = folder, client
        self.alice = User.objects.create_user(f"alice-{slug}")
        self.charlie = User.objects.create_user(f"charlie-{slug}")
        self.dora = User.objects.create_user(f"dora-{slug}", is_staff=True)
        self.campaign = create_campaign(
            slug=slug, title="Small talk", criteria=[CriterionSpec("Overall"), CriterionSpec("Wit")], user=self.alice
        )
        self.rows = outputs(contexts, seed=len(slug))
        import_outputs(self.campaign, write(folder, "outputs.jsonl", self.rows), human_systems=["Person"])
        if judged:
            self.score("Overall", SCORES)
            self.freeze()

    def score(self, criterion: str, scores: dict[str, int], annotators=("Ann", "Bob"), simulated: bool = False) -> None:
        rows = [
            {
                "context_id": row["context_id"],
                "system": row["system"],
                "aspect": criterion,
                "annotator": annotator,
                "score": scores[row["system"]],
            }
            for row in self.rows
            for annotator in annotators
        ]
        import_scores(self.campaign, write(self.folder, "scores.jsonl", rows), simulated=simulated)

    def judge(self, rows: list[tuple[str, str, str, str, str]]) -> None:
        """(context id, system a, system b, annotator, choice)"""
        texts = {(row["context_id"], row["system"]): row for row in self.rows}
        import_judgments(
            self.campaign,
            write(
                self.folder,
                "judgments.jsonl",
                [
                    {
                        "context_id": c,
                        "context": texts[c, a]["context"],
                        "system_a": a,
                        "output_a": texts[c, a]["output"],
                        "system_b": b,
                        "output_b": texts[c, b]["output"],
                        "annotator": annotator,
                        "choice": choice,
                    }
                    for c, a, b, annotator, choice in rows
                ],
            ),
        )

    def freeze(self):
        self.campaign = Campaign.objects.get(pk=self.campaign.pk)
        return assess(self.campaign, level="interval")

    def get(self, user, path: str):
        self.client.force_login(user)
        return self.client.get(path)

    def post(self, user, path: str, data: dict | None = None):
        self.client.force_login(user)
        return self.client.post(path, data or {})
