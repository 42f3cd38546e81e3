"""Names, numbers, the order of rows and columns, and which end of a scale is best change no figure: the same campaign twice.

What is drawn at random follows the names (resampled intervals, the chance to be best); it is not compared here."""

import csv
import io
import itertools
import json
import random
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command

from annotation.assessment.annotator_review import annotators
from annotation.campaigns.lifecycle import create_campaign
from annotation.campaigns.plan import pilot_figures
from annotation.campaigns.protocol import CriterionSpec
from annotation.data.importer import import_judgments, import_outputs, import_scores

pytestmark = pytest.mark.django_db
SYSTEMS, CONTEXTS, PEOPLE = ("a", "b", "c"), tuple(f"q{n}" for n in range(6)), ("ann", "bob", "cleo")
DRAWN = ("_low", "_high", "_mean", "_sd", "_p", "alpha_corrected", "split_half", "outlook", "reason")
AS = (
    {"a": "z1", "b": "x2", "c": "y3"},
    {c: f"k{n * 5 % 6}" for n, c in enumerate(CONTEXTS)},
    {"ann": "w", "bob": "v", "cleo": "u"},
)
SCALES = {"scores": (1, 5), "yes or no": (0, 1), "slider": (0, 100)}
POINTS = {"pairs": 3, "five points": 5, "seven points": 7}


def answers(kind: str) -> list[dict]:
    draw = np.random.default_rng(7)
    if low_high := SCALES.get(kind):
        low, high = low_high
        rows = []
        for context, (place, system), who in itertools.product(CONTEXTS, enumerate(SYSTEMS), PEOPLE):
            share = np.clip(0.3 + 0.2 * place + draw.normal(0, 0.25), 0, 1)
            rows.append({"context_id": context, "system": system, "annotator": who, "score": low + round(share * (high - low))})
        return [row | {"aspect": "Quality"} for row in rows]
    most = POINTS[kind] // 2
    words = {3: ["", "slightly", "", "much"], 2: ["", "slightly", "much"], 1: ["", ""]}[most]
    rows = []
    for context, (one, other), who in itertools.product(CONTEXTS, itertools.combinations(SYSTEMS, 2), PEOPLE):
        said = int(np.clip(round(most * (draw.normal(0, 0.8) - 0.5)), -most, most))
        row = {"context_id": context, "system_a": one, "system_b": other, "annotator": who}
        row |= {"choice": "A" if said > 0 else "B" if said else "tie", "strength": words[abs(said)], "shown_left": "A"}
        rows.append(row | ({"both_bad": "true"} if said == 0 and most > 1 else {}))
    return rows


def renamed(rows: list[dict]) -> list[dict]:
    """With other names in another order, the rows shuffled, the columns from right to left, every second pair turned."""
    systems, contexts, people = AS
    found = []
    for number, row in enumerate(rows):
        row = (
            row
            | {"context_id": contexts[row["context_id"]]}
            | ({"annotator": people[row["annotator"]]} if "annotator" in row else {})
        )
        row |= {name: systems[row[name]] for name in ("system", "system_a", "system_b") if name in row}
        if "choice" in row and number % 2:
            turned = {"A": "B", "B": "A", "tie": "tie"}[row["choice"]]
            row |= {"system_a": row["system_b"], "system_b": row["system_a"], "choice": turned, "shown_left": "B"}
        found.append(dict(reversed(row.items())))
    random.Random(3).shuffle(found)
    return found


def as_file(folder, rows: list[dict]):
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(name for row in rows for name in row)))
    writer.writeheader()
    writer.writerows(rows)
    file = folder / "rows.csv"
    file.write_text(out.getvalue())
    return file


def campaign_of(folder, slug: str, kind: str, rows: list[dict], names=None, best: str = "high"):
    """names: of the systems and contexts, where they are not their own."""
    systems, contexts = names or ({}, {})
    design: dict[str, Any] = {"likert": False, "pairwise": True, "criteria": [], "pair_points": POINTS.get(kind, 3)}
    if kind in SCALES:
        design = {"criteria": [CriterionSpec("Quality", *SCALES[kind], best=best)]}
    campaign = create_campaign(slug=slug, **design)
    texts = [
        {
            "context_id": contexts.get(context, context),
            "context": f"Question {context}?",
            "system": systems.get(system, system),
            "output": f"{system} says {context}",
        }
        for context, system in itertools.product(CONTEXTS, SYSTEMS)
    ]
    import_outputs(campaign, as_file(folder, texts))
    (import_scores if kind in SCALES else import_judgments)(campaign, as_file(folder, rows))
    return campaign


def printed(capsys, *command: str) -> dict:
    call_command(*command, "--json")
    found: dict = json.loads(capsys.readouterr().out)
    return found


def figures(campaign, kind: str, capsys, back: dict) -> dict:
    """back: {the name in this campaign: the name in the first}"""
    agreement = printed(capsys, "assess_quality", campaign.slug)
    report = agreement["criteria"][0] if kind in SCALES else agreement["pairwise"]
    asked = ("--criterion", "Quality" if kind in SCALES else "")
    call_command("run_tournament", campaign.slug, "--basis", "people", *asked, "--seed", "1", "--wait")
    capsys.readouterr()
    board = printed(capsys, "leaderboard", campaign.slug, "--basis", "people", *asked)
    named = lambda row, *keys: {k: back.get(v, v) if k in keys else v for k, v in row.items()}
    standings = [named(row, "name", "system") for row in board["standings"]]
    found = {
        "agreement": {k: v for k, v in report.items() if isinstance(v, int | float) and not k.endswith(DRAWN)},
        "standings": [{k: v for k, v in row.items() if k not in ("id", "best")} for row in standings],
        "differences": [named(row, "upper", "lower") for row in board["differences"]],
        "warnings": len(board["warnings"]),
        "plan": pilot_figures(campaign),
    }
    people = [named(row, "name") for row in annotators(campaign)["people"]]
    assert all((row["severity"] is None) == (kind in POINTS) for row in people)  # nobody is strict about which is better
    found["people"] = [
        {k: v for k, v in row.items() if k not in ("pk", "annotator")} for row in sorted(people, key=lambda row: row["name"])
    ]
    return found


def same(one: Any, other: Any, about: str = "") -> None:
    if isinstance(one, dict):
        assert one.keys() == other.keys(), about
        for key in one:
            same(one[key], other[key], f"{about}.{key}")
    elif isinstance(one, list):
        assert len(one) == len(other), about
        for first, second in zip(one, other):
            same(first, second, f"{about}[]")
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-4, abs=2e-4), about
    else:
        assert one == other, about


@pytest.mark.parametrize("kind", [*SCALES, *POINTS])
def test_names_and_the_order_of_rows_columns_and_sides(tmp_path, capsys, kind):
    rows = answers(kind)
    one = figures(campaign_of(tmp_path, "one", kind, rows), kind, capsys, {})
    systems, contexts, people = AS
    back = {new: old for names in (systems, people) for old, new in names.items()}
    again = campaign_of(tmp_path, "other", kind, renamed(rows), (systems, contexts))
    other = figures(again, kind, capsys, back)
    same(one, other)


@pytest.mark.parametrize("kind", SCALES)
def test_which_end_of_a_scale_is_best(tmp_path, capsys, kind):
    """An estimate in points is the other way about."""
    low, high = SCALES[kind]
    rows = answers(kind)
    turned = [row | {"score": low + high - row["score"]} for row in rows]
    one = figures(campaign_of(tmp_path, "one", kind, rows), kind, capsys, {})
    other = figures(campaign_of(tmp_path, "other", kind, turned, best="low"), kind, capsys, {})
    for board in (one, other):
        for row in [*board["standings"], *board["differences"]]:
            row["points"] = row.pop("own")["value"], row.pop("human_mean", None)
    assert [row["points"][0] for row in other["standings"]] == pytest.approx(
        [low + high - row["points"][0] for row in one["standings"]], abs=1e-3
    )
    for row in [*one["standings"], *one["differences"], *other["standings"], *other["differences"]]:
        del row["points"]
    same(one, other)
