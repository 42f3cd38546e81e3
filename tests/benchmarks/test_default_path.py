"""The harness and the way that people take give the same board: import, assess with the default filter, freeze, play."""

import json

import numpy as np
import pytest
from django.core.management import call_command

from annotation.models import Campaign
from benchmarks.validity import default_path
from benchmarks.validity.crowds import Crowd, draw, scenarios
from leaderboard.models import Tournament

pytestmark = pytest.mark.django_db


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def outputs(crowd):
    for c in range(crowd.contexts):
        for s in range(crowd.systems):
            text = f"output {s} on {c}"
            alone = {"group": f"c{c:03}"}  # the harness has no texts, by which contexts might be grouped
            yield alone | {"context_id": f"c{c:03}", "context": [f"context {c}"], "system": f"s{s}", "output": text}


def scores(entered):
    for c, s, a, value in zip(entered.context, entered.system, entered.person, entered.value):
        place = {"context_id": f"c{c:03}", "system": f"s{s}", "annotator": f"a{a:02}"}
        yield place | {"aspect": "Quality", "score": float(value)}


def judgments(entered):
    columns = entered.pair_context, entered.first, entered.second, entered.pair_person, entered.outcome
    for c, i, j, a, outcome in zip(*columns):
        place = {"context_id": f"c{c:03}", "context": [f"context {c}"], "annotator": f"a{a:02}"}
        sides = {"system_a": f"s{i}", "output_a": f"output {i} on {c}", "system_b": f"s{j}", "output_b": f"output {j} on {c}"}
        yield place | sides | {"choice": {1: "A", 0: "tie", -1: "B"}[int(outcome)]}


def played(tmp_path, crowd, entered, *more) -> Tournament:
    call_command("create_campaign", "crowd", "--criterion", "Quality:1:5")
    call_command("import_outputs", "crowd", lines(tmp_path / "outputs.jsonl", outputs(crowd)))
    if crowd.form == "pairs":
        call_command("import_judgments", "crowd", lines(tmp_path / "judgments.jsonl", judgments(entered)))
    else:
        call_command("import_scores", "crowd", lines(tmp_path / "scores.jsonl", scores(entered)))
    call_command("assess_quality", "crowd", *more)
    about = [] if crowd.form == "pairs" else ["--criterion", "Quality"]
    call_command("run_tournament", "crowd", "--basis", "people", *about, "--wait")
    return Campaign.objects.get(slug="crowd").tournaments.get()


@pytest.mark.parametrize("form", ["scores", "pairs"])
def test_the_commands_give_the_harness_board(tmp_path, form):
    crowd = Crowd((0.0, 0.3, 0.6), people=6, contexts=12, form=form)
    entered = draw(crowd, 3)
    expected = default_path.board(crowd, entered)
    board = played(tmp_path, crowd, entered)
    rows = {r.name: r for r in board.ratings.all()}
    found = [rows[f"s{i}"] for i in range(3)]
    assert [row.rating for row in found] == pytest.approx(expected.rating.tolist(), abs=0.01)
    assert [row.low for row in found] == pytest.approx(expected.low.tolist(), abs=0.05)
    assert [row.high for row in found] == pytest.approx(expected.high.tolist(), abs=0.05)
    assert [(row.rank_low, row.rank_high) for row in found] == list(zip(expected.rank_low, expected.rank_high))


@pytest.mark.parametrize("more", [{}, {"pairs_too": 200}], ids=["alone", "beside scores"])
def test_nobody_judges_a_pair_twice(more):
    """A campaign has one answer of each person to each pair."""
    crowd = Crowd(people=6, contexts=12, form="scores" if more else "pairs", **more)
    entered = draw(crowd, 3)
    sides = np.sort(np.stack([entered.first, entered.second]), axis=0)
    judged = np.stack([entered.pair_context, *sides, entered.pair_person])
    assert np.unique(judged, axis=1).shape[1] == judged.shape[1] == (200 if more else 12 * 5 * 3)


def test_the_filter_changes_no_board(tmp_path):
    """What it drops is counted all the same: 12 contexts x 3 systems x 3 scores."""
    crowd = Crowd((0.0, 0.3, 0.6), people=6, contexts=12)
    entered = draw(crowd, 3)
    assert default_path.kept(entered).sum() < len(entered.value) == 108
    board = played(tmp_path, crowd, entered, "--mad", "0.5")
    assert board.played == 108
    assert [r.rating for r in board.ratings.order_by("name")] == pytest.approx(
        default_path.board(crowd, entered).rating.tolist(), abs=0.01
    )


def test_every_scenario_is_of_equal_systems():
    assert all(len(set(crowd.strengths)) == 1 for crowd in scenarios().values())
