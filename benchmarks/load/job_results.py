"""A training, a tournament and a file of pairs, as jobs of a small campaign, and their results, to be compared."""

import json
import os
import random
import re
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from benchmarks.load.campaign import sentence

RECIPE = {"max_length": 64}


@dataclass
class Started:
    training: object
    tournament: object
    judged: object


class Material:
    """The campaign (four outputs for each context), a first comparator of it, and a file of pairs."""

    def __init__(self, folder: Path, options):
        os.environ["HF_HUB_OFFLINE"] = "1"
        from evaluator.models import ComparatorVersion
        from evaluator.tasks import run
        from evaluator.trainings.services import start_training
        from tests.evaluator.world import World, recipe

        self.campaign = World(folder, contexts=options.contexts, slug="faults").campaign
        self.recipe = recipe(**RECIPE, epochs=options.epochs)
        run(start_training([self.campaign], recipe=recipe(**RECIPE), foreground=True).job_id)
        self.version = ComparatorVersion.objects.get()
        self.path, self.out = folder / "pairs.jsonl", folder / "judged.jsonl"
        _pairs(self.path, options.pairs)

    def start(self) -> Started:
        """Queue the three for the workers."""
        from evaluator.roster import judge_of
        from evaluator.trainings.services import start_training
        from evaluator.worker import shared_files
        from leaderboard.tournaments.start import start_tournament

        training = start_training([self.campaign], recipe=self.recipe)
        tournament = start_tournament(self.campaign, "judge", judge_of(self.campaign, self.version))
        return Started(training, tournament, shared_files.start(self.version, "compare", self.path))

    def results(self, started: Started) -> dict[str, bytes]:
        """What each gave; empty where it gave nothing."""
        from evaluator.models import ComparatorVersion
        from evaluator.versions.selectors import folder
        from evaluator.worker import shared_files

        trained = ComparatorVersion.objects.filter(run=started.training).first()
        weights = sorted(folder(trained).glob("*.safetensors")) if trained else []
        judged = shared_files.result_file(started.judged.job)
        return {
            "training: weights": b"".join(path.read_bytes() for path in weights),
            "tournament: games, ratings, outputs": _rows(started.tournament),
            "judging job: file": judged.read_bytes() if judged.exists() else b"",
        }

    def forget(self) -> None:
        """What the first comparator said of the outputs, so that a tournament judges them anew."""
        from evaluator.models import Utility

        Utility.objects.filter(version=self.version).delete()


def _pairs(path: Path, count: int, seed: int = 0) -> None:
    draw = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(count):
            turns, a, b = [sentence(draw, 14), sentence(draw, 14)], sentence(draw, 20), sentence(draw, 20)
            file.write(json.dumps({"context": turns, "output_a": a, "output_b": b}) + "\n")


def _rows(tournament) -> bytes:
    """All that a tournament's rows say, in their order, as JSON lines; nothing where it has none."""
    from leaderboard.models import Game, OutputResult, SystemRating

    said = []
    for model, order in ((Game, "number"), (SystemRating, "system"), (OutputResult, "output")):
        names = [f.attname for f in model._meta.concrete_fields if f.name not in ("id", "tournament")]
        rows = model.objects.filter(tournament=tournament).order_by(order).values(*names)
        said += [json.dumps({"row": model.__name__, **row}) + "\n" for row in rows]
    return "".join(said).encode()


def difference(before: bytes, after: bytes) -> str:
    """How many lines differ, and of the first: its number, and each field with both values."""
    lines = list(zip_longest(before.splitlines(), after.splitlines(), fillvalue=b""))
    differ = [(number, *pair) for number, pair in enumerate(lines, start=1) if pair[0] != pair[1]]
    if not differ:
        return "none"
    number, *pair = differ[0]
    try:
        a, b = (json.loads(line or b"{}") for line in pair)
        fields = [f"{name} {a.get(name)!r} and {b.get(name)!r}" for name in {**a, **b} if a.get(name) != b.get(name)]
    except (ValueError, AttributeError):  # no rows
        fields = [f"{len(before):,} and {len(after):,} bytes"]
    return f"{len(differ):,} of {len(lines):,} lines, first line {number}: {', '.join(fields)}"


def keep(results: dict[str, bytes], folder: Path) -> None:
    """Each in a file of its own."""
    folder.mkdir(parents=True)
    for name, content in results.items():
        (folder / re.sub(r"\W+", "-", name)).write_bytes(content)
