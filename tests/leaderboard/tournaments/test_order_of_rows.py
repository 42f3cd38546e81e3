"""The same answers in another order of rows, and of systems under other names, give the same board to the last digit."""

import io
import json
import random
from pathlib import Path

import pytest
from django.core.management import call_command

from leaderboard.boards import cautions

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
OWN = ("id", "campaign", "tournament", "permalink", "created", "finished", "created_at", "finished_at", "made", "played_at")
SYSTEMS, OTHERS = ("ape", "bee", "emu"), ("zebra", "M 1", "an early name")


def rows(systems: tuple[str, ...], scored: bool) -> tuple[list[dict], list[dict]]:
    """(outputs, answers) of five people on ten contexts"""
    rng, outputs, answers = random.Random(8), [], []
    for n in range(10):
        texts = [
            {"context_id": f"c{n}", "context": f"Q{n}", "system": name, "output": f"{k} on {n}"}
            for k, name in enumerate(systems)
        ]
        outputs += texts
        for who in rng.sample(range(5), 3):
            place = {"context_id": f"c{n}", "annotator": f"p{who}"}
            if scored:
                said = [min(5, max(1, round(rng.gauss(2.5 + 0.4 * k, 1)))) for k in range(3)]
                answers += [place | {"system": s, "aspect": "Quality", "score": v} for s, v in zip(systems, said)]
            else:
                for a, b in ((0, 1), (0, 2), (1, 2)):
                    choice = rng.choices("AB", [2, 3])[0] if rng.random() < 0.8 else "tie"
                    answers.append(place | {"system_a": systems[a], "system_b": systems[b], "choice": choice})
    return outputs, answers


def board(tmp_path: Path, slug: str, systems: tuple[str, ...], scored: bool, seed: int, rating: str) -> dict:
    """As JSON has it."""
    outputs, answers = rows(systems, scored)
    for some in (outputs, answers) if seed else ():
        random.Random(seed).shuffle(some)
    for name, some in (("outputs", outputs), ("answers", answers)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in some))
    call_command("create_campaign", slug, *(["--criterion", "Quality:1:5"] if scored else ["--pairwise"]))
    call_command("import_outputs", slug, str(tmp_path / "outputs.jsonl"))
    call_command(f"import_{'scores' if scored else 'judgments'}", slug, str(tmp_path / "answers.jsonl"))
    call_command("assess_quality", slug)
    about = ["--criterion", "Quality"] if scored else []
    call_command("run_tournament", slug, "--basis", "people", *about, f"--rating={rating}", "--wait", stdout=io.StringIO())
    out = io.StringIO()
    call_command("leaderboard", slug, "--basis", "people", *about, "--json", stdout=out)
    return json.loads(out.getvalue())


def plain(tree):
    """Without what names the campaign and the moment."""
    if isinstance(tree, dict):
        return {name: plain(value) for name, value in tree.items() if name not in OWN}
    return [plain(value) for value in tree] if isinstance(tree, list) else tree


def figures(tree: dict, names: dict[str, str]) -> dict:
    """{(system or two systems, what): figure}, under one set of names"""
    found = {(names[row["system"]], what): row[what] for row in tree["standings"] for what in row.keys() - {"system", "id"}}
    for row in tree["differences"]:
        pair = tuple(sorted((names[row["upper"]], names[row["lower"]])))
        found |= {(*pair, what): abs(row[what]) for what in ("rating", "margin")}
    return found | {one["name"]: one["value"] for one in tree["basis"]["people"]["variances"]}


@pytest.mark.parametrize(("scored", "rating"), [(True, ""), (False, ""), (False, "bradley-terry"), (False, "by-game")])
def test_shuffled_rows_and_renamed_systems_change_no_digit(tmp_path, scored, rating):
    as_it_is, shuffled = (board(tmp_path, f"talk-{seed}", SYSTEMS, scored, seed, rating) for seed in (0, 5))
    assert plain(as_it_is) == plain(shuffled)
    assert as_it_is["provenance"]["signature"] == shuffled["provenance"]["signature"]
    if rating == "by-game":  # which says that names tell the order of its games
        assert cautions.ORDER_OF_GAMES in json.dumps(as_it_is)
        return
    renamed = board(tmp_path, "talk-6", OTHERS, scored, 6, rating)
    ours, theirs = figures(as_it_is, dict(zip(SYSTEMS, SYSTEMS))), figures(renamed, dict(zip(OTHERS, SYSTEMS)))
    within = lambda name: 0.02 if name[-1] == "best" else 0  # drawn at random, with two decimals
    assert {
        name: (ours[name], theirs[name]) for name in ours if ours[name] != pytest.approx(theirs[name], abs=within(name))
    } == {}
