"""People's scores of what checkpoints answered, asked for by a campaign of its own (Zhou & Xu 2020, 4.1: 2,000 outputs)."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import django
import numpy as np

from annotation.quality.kappa import fleiss_kappa
from benchmarks.studies.campaign import exported
from benchmarks.studies.judged_sets import lines
from benchmarks.studies.study import Result
from evaluator.judges.texts import Text

OUTPUTS, EACH = 2000, 3  # of all models together, about; people for each
CRITERION = "Overall"


def accepted(slug: str) -> str:
    """The campaign, and which of its snapshots is the latest; none yet where it is to be made."""
    django.setup()
    from annotation.models import Snapshot

    latest = Snapshot.objects.filter(campaign__slug=slug).first()
    return f"{slug} {latest.pk if latest else '-'}"


def answered(slug: str, texts: Sequence[Text], models: Sequence[str]) -> Result:
    """{name, people: True, models, scores: people's means from 1 to 5, NaN where nobody was asked}; texts (n,) and models (n,)
    lie model by model, each in the same contexts. Raises SystemExit, saying what is to be done, until answers are accepted."""
    django.setup()
    from annotation.models import Campaign

    contexts = len(texts) // len(set(models))
    keys = [(f"c{i % contexts}", model) for i, model in enumerate(models)]
    if not Campaign.objects.filter(slug=slug).exists():
        few = min(contexts, max(1, OUTPUTS // len(set(models))))
        rows = [
            {"context_id": context, "context": list(text.context), "system": model, "output": text.output}
            for text, (context, model), i in zip(texts, keys, range(len(texts)))
            if i % contexts < few
        ]
        _made(slug, rows)
        raise SystemExit(
            f"Campaign {slug!r} asks {EACH} people about each of {len(rows)} outputs. Invite them, accept their answers"
            " (comparena assess_quality), and give the same command again: it goes on from there."
        )
    with TemporaryDirectory() as folder:
        exported(slug, Path(folder))
        ratings = lines(Path(folder) / f"{slug}.ratings.jsonl")
    given: dict[tuple[str, str], list[float]] = {}
    for row in ratings:
        given.setdefault((row["context_id"], row["system"]), []).append(row["score"])
    scores = [float(np.mean(given[key])) if key in given else float("nan") for key in keys]
    people = len({row["annotator"] for row in ratings})
    return {"name": f"the annotators of campaign {slug} ({people})", "people": True, "models": list(models), "scores": scores}


Given = Mapping[tuple[str, str], Mapping[str, float]]  # (context, system) -> annotator -> score


def both_ways(ratings: Sequence[dict], judgments: Sequence[dict]) -> Result:
    """{scored, compared: [Fleiss' kappa, outputs, people]}, None without two people on an output. An output that a person
    compared with four others or more of its context has 1 to 5 from them, by how many of four it beats."""
    given: dict[tuple[str, str], dict[str, float]] = {}
    for row in ratings:
        given.setdefault((row["context_id"], row["system"]), {})[row["annotator"]] = row["score"]
    won: dict[tuple[str, str], dict[str, list[bool]]] = {}
    for row in judgments:
        for side, letter in (("a", "A"), ("b", "B")):
            of = won.setdefault((row["context_id"], row[side]), {})
            of.setdefault(row["annotator"], []).append(row["choice"] == letter)
    four = {key: {who: 1 + round(4 * np.mean(w)) for who, w in of.items() if len(w) >= 4} for key, of in won.items()}
    return {"scored": _agreement(given), "compared": _agreement(four)}


def _agreement(given: Given) -> list[float] | None:
    shared = {key: of for key, of in given.items() if len(of) > 1}
    values = sorted({score for of in shared.values() for score in of.values()})
    counts = [[list(of.values()).count(value) for value in values] for of in shared.values()]
    return [fleiss_kappa(counts), len(shared), len({who for of in shared.values() for who in of})] if len(values) > 1 else None


def _made(slug: str, rows: Sequence[dict]) -> None:
    from annotation.campaigns.lifecycle import create_campaign
    from annotation.campaigns.protocol import CriterionSpec
    from annotation.data.importer import import_outputs

    campaign = create_campaign(
        slug=slug, title="How good are these replies?", criteria=[CriterionSpec(CRITERION, 1, 5)], overlap=EACH
    )
    with TemporaryDirectory() as folder:
        file = Path(folder) / "outputs.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        import_outputs(campaign, file)
